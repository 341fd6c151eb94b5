"""Animated PNG files for the tests, and whether one is another one turned.

    apng.py make DIRECTORY        makes one of each kind
    apng.py compare               reads lines "OP A B", and prints those of which B is
                                  not A after OP, frame by frame
    apng.py pillow                the same of the composed frames that Pillow shows
    apng.py special DIRECTORY     makes those that are damaged, hostile or otherwise
                                  special

Samples are read here from the bytes, by the words of the standard."""
import functools
import random
import struct
import sys
import zlib

from pieces import chunk, exif, judge, passes, read, write
from turns import TAGS, turn

KINDS = [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (8, 2), (16, 2), (1, 3),
         (2, 3), (4, 3), (8, 3), (8, 4), (16, 4), (8, 6), (16, 6)]
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

# ---- Writing -----------------------------------------------------------------


class Kind:
    def __init__(self, depth, color, adam7):
        self.depth, self.color, self.adam7 = depth, color, adam7
        self.channels = CHANNELS[color]
        self.bits = depth * self.channels

    def head(self, width, height):
        return b'\x89PNG\r\n\x1a\n' + chunk(
            b'IHDR', struct.pack('>IIBBBBB', width, height, self.depth,
                                 self.color, 0, 0, self.adam7))

    def passes(self, width, height):
        return passes(width, height, self.adam7)

    def pack(self, pixels):
        """The bytes of a row of pixels, which are tuples of samples."""
        bits = ''.join(format(s, '0%db' % self.depth)
                       for pixel in pixels for s in pixel)
        bits += '0' * (-len(bits) % 8)
        return int(bits, 2).to_bytes(len(bits) // 8, 'big')

    def unpack(self, row, width):
        step, samples = self.depth, row
        if step != 8:
            bits = format(int.from_bytes(row, 'big'), '0%db' % (8 * len(row)))
            samples = [int(bits[i * step:(i + 1) * step], 2)
                       for i in range(width * self.channels)]
        return [tuple(samples[i:i + self.channels])
                for i in range(0, len(samples), self.channels)]

    def samples(self, rows):
        """Filtered by Sub and None, which is enough, and deflated."""
        raw, step = b'', max(self.bits // 8, 1)
        for x, y, dx, dy, _, _ in self.passes(len(rows[0]), len(rows)):
            for i, row in enumerate(rows[y::dy]):
                data = self.pack(row[x::dx])
                if i % 2:
                    data = bytes((b - (data[k - step] if k >= step else 0)) %
                                 256 for k, b in enumerate(data))
                raw += bytes([i % 2]) + data
        return zlib.compress(raw)


def actl(frames, plays=0):
    return chunk(b'acTL', struct.pack('>II', frames, plays))


def fctl(number, width, height, x=0, y=0, delay=(1, 10), dispose=0, blend=0):
    return chunk(b'fcTL', struct.pack('>IIIIIHHBB', number, width, height, x,
                                      y, *delay, dispose, blend))


def fdat(number, data):
    return chunk(b'fdAT', struct.pack('>I', number) + data)


def noise(kind, width, height, rng):
    """Samples; alpha is often all or nothing, as blending needs."""
    top = (1 << kind.depth) - 1

    def pixel():
        samples = [rng.randint(0, top) for _ in range(kind.channels)]
        if kind.color & 4 and rng.random() < 0.6:
            samples[-1] = rng.choice((0, top))
        return tuple(samples)
    return [[pixel() for _ in range(width)] for _ in range(height)]


def colors(kind, rng):
    """PLTE and tRNS, before the image data."""
    if kind.color == 3:
        n = 1 << kind.depth
        return (chunk(b'PLTE', rng.randbytes(3 * n)) +
                chunk(b'tRNS', bytes(rng.choice((0, 99, 255))
                                     for _ in range(n))))
    if kind.color in (0, 2):
        return chunk(b'tRNS', struct.pack('>H', 1) * kind.channels)
    return b''


def pieces(data, count, rng):
    """Some may be empty."""
    cuts = sorted(rng.randint(0, len(data)) for _ in range(count - 1))
    return [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]


def animation(kind, apart, width=13, height=9, frames=7, plays=0, more=b'',
              behind=b''):
    rng = random.Random(repr((kind.depth, kind.color, kind.adam7, apart)))
    delays = [(1, 10), (3, 100), (5, 0), (0, 7), (65535, 1000), (2, 25)]
    out = [kind.head(width, height), more, actl(frames, plays),
           colors(kind, rng)]
    number = 0
    if not apart:
        out.append(fctl(0, width, height, delay=delays[0]))
        number = 1
    data = kind.samples(noise(kind, width, height, rng))
    out += [chunk(b'IDAT', data[:30]), chunk(b'IDAT', data[30:])]
    for i in range(0 if apart else 1, frames):
        w, h = rng.randint(1, width), rng.randint(1, height)
        x, y = rng.randint(0, width - w), rng.randint(0, height - h)
        out.append(fctl(number, w, h, x, y, delays[i % 6], i % 3, i // 3 % 2))
        data = kind.samples(noise(kind, w, h, rng))
        number += 1
        for piece in pieces(data, rng.choice((1, 2, 9)), rng):
            out.append(fdat(number, piece))
            number += 1
        out.append(chunk(b'tEXt', b'a\0b'))
    return b''.join(out) + behind + chunk(b'IEND')


def make(directory):
    for depth, color in KINDS:
        for adam7 in 0, 1:
            for apart in 0, 1:
                write('%s/%d-%d-%d-%d.png' % (directory, depth, color, adam7, apart),
                      animation(Kind(depth, color, adam7), apart))
    for apart in 0, 1:
        write('%s/one-%d.png' % (directory, apart),
              animation(Kind(8, 6, 0), apart, 5, 7, 1, 3))


# ---- Special ones ------------------------------------------------------------


def tagged(tag, behind=False):
    """With all that says how samples look, what is tied to the file, and an
    orientation, which may stand behind all frames."""
    more = (chunk(b'cICP', bytes([9, 16, 0, 1])) +
            chunk(b'mDCV', bytes(range(24))) + chunk(b'cLLI', bytes(8)))
    tied = chunk(b'caBX', b'signature') + chunk(b'iDOT', bytes(28))
    if behind:
        return animation(Kind(8, 6, 0), 1, more=more + tied,
                         behind=chunk(b'eXIf', exif(tag)))
    return animation(Kind(8, 6, 0), 0,
                     more=more + chunk(b'eXIf', exif(tag)) + tied)


def as_rgba(rows):
    return Kind(8, 6, 0).samples([[pixel + (255,) for pixel in row]
                                  for row in rows])


def special():
    """By what they are called."""
    kind, rng = Kind(8, 2, 0), random.Random(1)
    full = kind.samples(noise(kind, 8, 6, rng))
    part = kind.samples(noise(kind, 3, 2, rng))
    idat, iend = chunk(b'IDAT', full), chunk(b'IEND')
    cut = chunk(b'IDAT', full[:len(full) // 2])
    random_pixels = random.Random(1)
    pixels = noise(kind, 8, 6, random_pixels), noise(kind, 3, 2, random_pixels)
    other = noise(kind, 3, 2, random_pixels)

    def with_alpha(last):
        frames = [as_rgba(rows) for rows in (*pixels, last)]
        return b''.join([
            Kind(8, 6, 0).head(8, 6), actl(3), first, chunk(b'IDAT', frames[0]),
            second[0], fdat(2, frames[1]), third[0], fdat(4, frames[2]), iend])

    def file(frames, *chunks, plays=0):
        return b''.join([kind.head(8, 6), actl(frames, plays) * (frames > 0),
                         *chunks, iend])
    first = fctl(0, 8, 6)
    second = fctl(1, 3, 2, 5, 4), fdat(2, part)
    third = fctl(3, 3, 2), fdat(4, part)
    bomb = zlib.compress(bytes(10000 * 1251), 9)
    return {
        'tagged': tagged(6),
        'upright': tagged(1),
        **{'tag-%d' % tag: tagged(tag, tag % 2) for tag in range(1, 9)},
        'many': animation(Kind(8, 2, 0), 1, 53, 31, 100),
        'sound': file(3, first, idat, *second, *third),
        # Each is 'sound' but for what it is called by.
        'alpha': with_alpha(pixels[1]),
        'alpha-other': with_alpha(other),
        'cut': file(3, first, cut, *second, *third),
        'cut-end': file(0, cut, chunk(b'eXIf', exif(6)))[:-12] +
                   chunk(b'tEXt', b'a\0b')[:-3],
        'cut-front': file(0, chunk(b'tEXt', b'a\0b')[:-4] + bytes(4), cut,
                          chunk(b'eXIf', exif(6))),
        'cut-late': file(0, cut, chunk(b'PLTE', bytes(3)), idat,
                         chunk(b'tEXt', b'a\0b')[:-4] + bytes(4),
                         chunk(b'eXIf', exif(6)), chunk(b'e If')),
        'cut-passes': Kind(8, 2, 1).head(8, 6) + cut + chunk(
            b'eXIf', exif(6)) + iend,
        'cut-tagged': file(0, cut, chunk(b'eXIf', exif(6)),
                           chunk(b'tEXt', b'a\0b')),
        'still': file(0, idat),
        'plays': file(3, first, idat, *second, *third, plays=2),
        'fewer': file(2, first, idat, *second),
        'delay': file(3, first, idat, *second,
                      fctl(3, 3, 2, delay=(1, 11)), third[1]),
        'first-delay': file(3, fctl(0, 8, 6, delay=(2, 10)), idat, *second,
                            *third),
        'disposal': file(3, first, idat, fctl(1, 3, 2, 5, 4, dispose=1),
                         second[1], *third),
        'blending': file(3, first, idat, *second, fctl(3, 3, 2, blend=1),
                         third[1]),
        'place': file(3, first, idat, fctl(1, 3, 2, 4, 4), second[1], *third),
        'samples': file(3, first, idat, *second, third[0],
                        fdat(4, kind.samples(noise(kind, 3, 2, rng)))),
        'size': file(3, first, idat, fctl(1, 2, 3, 5, 3),
                     fdat(2, kind.samples(noise(kind, 2, 3, rng))), *third),
        'no-frames': file(2, idat),
        'too-few': file(3, first, idat, *second),
        'too-many': file(1, first, idat, *second),
        'order': file(3, first, idat, fctl(2, 3, 2), fdat(1, part), *third),
        'gap': file(3, first, idat, fctl(1, 3, 2), fdat(3, part),
                    fctl(4, 3, 2), fdat(5, part)),
        'outside': file(3, first, idat, fctl(1, 3, 2, 6, 4), fdat(2, part),
                        *third),
        'far-outside': file(2, first, idat, fctl(1, 3, 2, 0xffffffff, 4),
                            fdat(2, part)),
        'nothing': file(2, first, idat, fctl(1, 0, 2), fdat(2, part)),
        'no-fctl': file(1, first, idat, fdat(1, part)),
        'no-fdat': file(3, first, idat, fctl(1, 3, 2), fctl(2, 3, 2),
                        fdat(3, part)),
        'last-no-fdat': file(2, first, idat, fctl(1, 3, 2)),
        'early-fdat': file(1, first, fdat(1, part), idat),
        'small-first': file(1, fctl(0, 3, 2), idat),
        'two-first': file(2, first, fctl(1, 8, 6), idat),
        'two-actl': file(1, actl(1), first, idat),
        'late-actl': file(0, first, idat, actl(1)),
        'short-actl': file(0, chunk(b'acTL', b'\0\0\0\1'), first, idat),
        'dispose': file(2, first, idat, fctl(1, 3, 2, dispose=3),
                        fdat(2, part)),
        'no-actl': file(0, first, idat, *second),
        'short-data': file(2, first, idat, fctl(1, 3, 2), fdat(2, part[:9])),
        'bad-data': file(2, first, idat, fctl(1, 3, 2),
                         fdat(2, b'\x78\x9c' + b'\xff' * 9)),
        'both-bad': file(3, first, idat, fctl(1, 3, 2), fdat(2, b''),
                         fctl(3, 3, 2), fdat(4, b'')),
        'short-fdat': file(2, first, idat, fctl(1, 3, 2),
                           chunk(b'fdAT', b'\0\0\2')),
        'bomb': (Kind(1, 0, 0).head(10000, 10000) + actl(6) +
                 fctl(0, 10000, 10000) + chunk(b'IDAT', bomb) +
                 b''.join(fctl(2 * i + 1, 10000, 10000) +
                          fdat(2 * i + 2, bomb) for i in range(5)) + iend),
    }


# ---- Reading -----------------------------------------------------------------


def predict(kind, a, b, c):
    """The filters' predictions, of left, above and above left."""
    if kind < 4:
        return (0, a, b, (a + b) // 2)[kind]
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def read_samples(kind, width, height, data):
    stream = zlib.decompressobj()
    raw = stream.decompress(data)
    assert stream.eof and not stream.unused_data, 'not one stream'
    rows, at, step = [[None] * width for _ in range(height)], 0, max(
        kind.bits // 8, 1)
    for x, y, dx, dy, w, h in kind.passes(width, height):
        size = (w * kind.bits + 7) // 8
        prior = bytearray(size)
        for i in range(h):
            row = bytearray(raw[at + 1:at + 1 + size])
            for k in range(size if raw[at] else 0):
                left, corner = (row[k - step], prior[k - step]) if (
                    k >= step) else (0, 0)
                row[k] = (row[k] + predict(raw[at], left, prior[k],
                                           corner)) % 256
            at += 1 + size
            prior = row
            rows[y + i * dy][x::dx] = kind.unpack(row, w)
    assert at == len(raw), 'too many samples'
    return rows


class Animation:
    """What a file says, in an order that does not depend on pieces."""

    def __init__(self, name):
        data = read(name)
        at, number, self.other, self.frames = 8, 0, [], []
        self.actl, pictures, control, after = None, [b''], None, False
        while at < len(data):
            size, = struct.unpack_from('>I', data, at)
            kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
            crc, = struct.unpack_from('>I', data, at + 8 + size)
            assert crc == zlib.crc32(kind + body), 'CRC of %s' % kind
            at += 12 + size
            if kind == b'IHDR':
                (self.width, self.height, depth, color, _, _,
                 adam7) = struct.unpack('>IIBBBBB', body)
                self.kind = Kind(depth, color, adam7)
            elif kind == b'acTL':
                self.actl = struct.unpack('>II', body)
            elif kind in (b'fcTL', b'fdAT'):
                assert struct.unpack_from('>I', body) == (number,), 'order'
                number += 1
                if kind == b'fcTL':
                    control = struct.unpack('>IIIIHHBB', body[4:])
                    self.frames.append(control)
                    if after:
                        pictures.append(b'')
                else:
                    pictures[-1] += body[4:]
            elif kind == b'IDAT':
                after = True
                pictures[0] += body
                self.apart = control is None
            else:
                self.other.append((kind, body))
        if self.actl:
            assert self.actl[0] == len(self.frames), 'number of frames'
        sizes = [(self.width, self.height)] + [
            f[:2] for f in self.frames[0 if self.apart else 1:]]
        self.pictures = [read_samples(self.kind, w, h, picture)
                         for (w, h), picture in zip(sizes, pictures)]


read_animation = functools.cache(Animation)


def turn_place(op, width, height, frame):
    w, h, x, y = frame[:4]
    canvas = turn([[x <= i < x + w and y <= k < y + h for i in range(width)]
                   for k in range(height)], op)
    rows = [k for k, row in enumerate(canvas) if any(row)]
    columns = [i for i in range(len(canvas[0])) if any(
        row[i] for row in canvas)]
    return (len(columns), len(rows), columns[0], rows[0]) + frame[4:]


def compare(op, a, b):
    """OP may be a tag, 1 to 8: all frames are as it shows them, and it is 1."""
    a, b = read_animation(a), read_animation(b)
    other = a.other
    if op.isdigit():
        assert (b'eXIf', exif(int(op))) in other, 'tag'
        other = [(b'eXIf', exif(1)) if kind == b'eXIf' else (kind, body)
                 for kind, body in other if kind not in (b'caBX', b'iDOT')]
        op = TAGS[int(op) - 1]
    assert (a.kind.depth, a.kind.color, a.kind.adam7) == (
        b.kind.depth, b.kind.color, b.kind.adam7), 'kind'
    assert a.actl == b.actl and a.apart == b.apart, 'acTL'
    assert other == b.other, 'other chunks'
    assert [turn_place(op, a.width, a.height, f)
            for f in a.frames] == b.frames, 'places'
    assert [turn(p, op) for p in a.pictures] == b.pictures, 'samples'


@functools.cache
def shown(name):
    """The duration and the pixels of each frame, as Pillow composes them."""
    from PIL import Image, ImageSequence
    frames = []
    with Image.open(name) as image:
        for frame in ImageSequence.Iterator(image):
            rgba = frame.convert('RGBA')
            data, w = rgba.tobytes(), 4 * rgba.width
            frames.append((frame.info.get('duration'), [
                [row[i:i + 4] for i in range(0, w, 4)]
                for row in (data[i:i + w] for i in range(0, len(data), w))]))
    return frames


def pillow(op, a, b):
    want = [(time, turn(rows, op)) for time, rows in shown(a)]
    assert want == shown(b), 'as shown'


def main(what, *arguments):
    if what == 'make':
        make(*arguments)
    elif what == 'special':
        for name, data in special().items():
            write('%s/%s.png' % (arguments[0], name), data)
    else:
        judge({'compare': compare, 'pillow': pillow}[what])


if __name__ == '__main__':
    main(*sys.argv[1:])
