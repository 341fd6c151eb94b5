"""PNG files that are more than 16 MB, before and after a turn, in a few bytes.

large_pngs.py: makes them in the current directory, of rows of noise that repeat."""
import random
import struct
import zlib

from apng import Kind, actl, fctl, fdat
from pieces import chunk, write

# A palette and a color that are transparent, few bits; then interlaced ones.
PICTURES = {
    'palette': Kind(8, 3, 0),
    'key': Kind(16, 2, 0),
    'bits': Kind(2, 0, 0),
    'passes': Kind(8, 2, 1),
    'passes-bits': Kind(1, 0, 1),
    'passes-palette': Kind(4, 3, 1),
    'passes-deep': Kind(16, 6, 1),
}


def chunks(kind, rng):
    if kind.color == 3:
        n = min(250, 1 << kind.depth)
        return (chunk(b'PLTE', rng.randbytes(3 * n)) +
                chunk(b'tRNS', rng.randbytes(n * 4 // 5)))
    if kind.color == 2 and kind.depth == 16:
        return chunk(b'tRNS', struct.pack('>3H', 1, 1, 1))
    return b''


def samples(kind, width, height, rng):
    """Every fourth row has no samples but 0 and 1, of which the key is one."""
    stream, parts = zlib.compressobj(1), []
    for _, _, _, _, w, h in kind.passes(width, height):
        size = (w * kind.bits + 7) // 8
        rows = [b'\0' + rng.randbytes(size) for _ in range(31)]
        rows[::4] = [b'\0' + bytes(rng.randint(0, 9) and i & 1
                                   for i in range(size)) for _ in rows[::4]]
        for y in range(h):
            parts.append(stream.compress(rows[y * y % 31]))
    return b''.join(parts) + stream.flush()


def moving(kind, apart):
    """Frames that are larger than memory, at odd places, and a small one."""
    rng, width, height = random.Random(1), 1601, 1803
    out = [kind.head(width, height),
           actl(4 - apart), chunks(kind, rng)]
    number = 0
    if not apart:
        out.append(fctl(0, width, height))
        number = 1
    out.append(chunk(b'IDAT', samples(kind, width, height, rng)))
    for i, (w, h) in enumerate([(1599, 1801), (7, 3), (1601, 1802)]):
        data = samples(kind, w, h, rng)
        out += [fctl(number, w, h, (width - w) // 2, height - h, dispose=i,
                     blend=i % 2),
                fdat(number + 1, data[:5]), fdat(number + 2, data[5:])]
        number += 3
    return b''.join(out) + chunk(b'IEND')


def main():
    for name, kind, apart in (('moving', Kind(8, 2, 0), 0),
                              ('apart', Kind(8, 6, 0), 1),
                              ('moving-passes', Kind(8, 2, 1), 0)):
        write(name + '.png', moving(kind, apart))
    for name, kind in PICTURES.items():
        rng = random.Random(name)
        size = kind.channels * (1 + (kind.depth == 16))
        width, height = 9000000 // size // 2503, 2503
        write(name + '.png', kind.head(width, height) + chunks(kind, rng) +
              chunk(b'IDAT', samples(kind, width, height, rng)) + chunk(b'IEND'))


if __name__ == '__main__':
    main()
