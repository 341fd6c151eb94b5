"""The pictures that tests/bench/programs turns, and how they are written: by the words
of each format, where it is not the program that writes them. A picture is an array of numpy,
H x W x channels."""
import struct
import zlib

import numpy

SEED = 20240229


# ---- Pictures ----------------------------------------------------------------

def photo(width, height, strength=5):
    """Gradients with noise, as a photo has them, in 8 bits."""
    noise = numpy.random.default_rng(SEED).normal(
        20, strength, (height, width, 3)).astype(numpy.float32)
    y, x = numpy.mgrid[0:1:height * 1j, 0:1:width * 1j].astype(numpy.float32)
    light = numpy.stack([x, y, (x + y) / 2], -1) * 200
    return (light + noise).clip(0, 255).astype(numpy.uint8)


def with_sky(a):
    """The upper third in one color."""
    a = a.copy()
    a[:len(a) // 3] = (140, 180, 230)
    return a


def spread(coarse, n):
    """Each row and column n times, and what lies between by straight lines."""
    for axis in 0, 1:
        next_one = numpy.roll(coarse, -1, axis)
        t = numpy.arange(n, dtype=numpy.float32) / n
        steps = numpy.expand_dims(coarse, axis + 1)
        steps = steps + (numpy.expand_dims(next_one, axis + 1) - steps) * \
            t.reshape((1, n, 1) if axis == 0 else (1, 1, n))
        shape = list(coarse.shape)
        shape[axis] *= n
        coarse = steps.reshape(shape)
    return coarse


def scene(width, height, channels=3):
    """Detail of all sizes, and the noise of a sensor after its colors have been
    interpolated, in floats around 0 to 255: as large a PNG as photos make."""
    rng = numpy.random.default_rng(SEED)

    def octave(k):
        n = 2 ** k
        coarse = rng.normal(0, 1, (height // n + 2, width // n + 2))
        return spread(coarse.astype(numpy.float32), n)[:height, :width]
    light = 128 + sum(octave(k) * 2 ** (k * .75) * .55 for k in range(2, 10))
    out = numpy.empty((height, width, channels), numpy.float32)
    for c in range(channels):
        noise = rng.normal(0, 3.1, (height, width)).astype(numpy.float32)
        noise += (numpy.roll(noise, 1, 0) + numpy.roll(noise, 1, 1)) / 2
        out[..., c] = light + octave(6) * 12 + noise
    return out


def in_bits(a, bits):
    most = 2 ** bits - 1
    return (a * (most / 255)).clip(0, most).astype(
        numpy.uint8 if bits == 8 else numpy.uint16)


def with_hole(a):
    """Alpha: opaque, but for what lies outside of an ellipse."""
    height, width = a.shape[:2]
    y, x = numpy.ogrid[-1:1:height * 1j, -1:1:width * 1j]
    alpha = numpy.where(x * x + y * y < .8, 255, 0).astype(numpy.uint8)
    return numpy.dstack([a, alpha])


def glyphs(rng):
    """An alphabet of marks as large as letters: 13 x 7, and light between."""
    marks = rng.random((60, 4, 3)) < .55
    letters = numpy.zeros((60, 13, 7), bool)
    letters[:, 2:10, :6] = marks.repeat(2, 1).repeat(2, 2)
    return letters


def screenshot(width, height, with_photo=True):
    """Windows with title bars and lines of text; and a photo in one."""
    rng = numpy.random.default_rng(SEED)
    letters = glyphs(rng)
    words = [rng.integers(0, 60, rng.integers(2, 10)) for _ in range(800)]
    a = numpy.empty((height, width, 3), numpy.uint8)
    a[:] = (245, 246, 248)
    for _ in range(7):
        w, h = rng.integers(width // 6, width // 2), rng.integers(
            height // 5, height // 2)
        x, y = rng.integers(0, width - w), rng.integers(0, height - h)
        a[y:y + h, x:x + w] = rng.integers(225, 256, 3)
        for i in range(min(30, h)):
            a[y + i, x:x + w] = (60 + i, 90 + i, 150 + i)
        for top in range(y + 40, y + h - 14, 15):
            at = x + 10
            ink = rng.integers(0, 120, 3)
            while True:
                word = words[rng.integers(0, 800)]
                if at + 7 * len(word) + 10 > x + w:
                    break
                for i in word:
                    cell = a[top:top + 13, at:at + 7]
                    cell[letters[i]] = ink
                    at += 7
                at += 7
    if with_photo:
        w, h = width // 4, height // 3
        a[height // 2:height // 2 + h, width // 2:width // 2 + w] = in_bits(
            scene(w, h), 8)
    return a


# ---- Files -------------------------------------------------------------------

def write_ppm(f, a):
    f.write(b'P6\n%d %d\n%d\n' % (a.shape[1], a.shape[0], 256 ** a.itemsize - 1) +
            a.astype(a.dtype.newbyteorder('>')).tobytes())


def write_tga(f, a):
    f.write(struct.pack('<3B5x2x2x2H2B', 0, 0, 2, a.shape[1], a.shape[0], 24,
                        0))
    f.write(a[::-1, :, ::-1].tobytes())


def filtered(rows, step):
    """By PNG's filters, each row by that with the smallest sum, as libpng
    does it. `rows` are bytes, `step` those of a pixel. Some rows at a time."""
    above = numpy.zeros_like(rows[:1])
    for at in range(0, len(rows), 64):
        part = rows[at:at + 64]
        b = numpy.concatenate([above, part[:-1]])
        a, c = (numpy.pad(x, ((0, 0), (step, 0)))[:, :-step] for x in (part, b))
        above = part[-1:]
        a, b, c = (x.astype(numpy.int16) for x in (a, b, c))
        pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
        paeth = numpy.where((pa <= pb) & (pa <= pc), a,
                            numpy.where(pb <= pc, b, c))
        guesses = [0 * a, a, b, (a + b) >> 1, paeth]
        tries = [(part - guess).astype(numpy.uint8) for guess in guesses]
        sums = [abs(t.view(numpy.int8).astype(numpy.int16)).sum(1) for t in tries]
        for y, best in enumerate(numpy.argmin(sums, 0)):
            yield bytes([best]) + tries[best][y].tobytes()


def write_png(f, a, palette=None, level=6):
    """Filtered and deflated as libpng does it by default. With a palette, a has
    its indices, and they have as few bits as that needs."""
    height, width, channels = a.shape
    bits = 8 * a.itemsize
    rows = a.astype(a.dtype.newbyteorder('>')).view(numpy.uint8)
    rows = rows.reshape(height, -1)
    if palette:
        bits = next(n for n in (1, 2, 4, 8) if len(palette) <= 1 << n)
        rows = numpy.packbits(numpy.unpackbits(rows[..., None], axis=2)[
            ..., 8 - bits:].reshape(height, -1), axis=1)
    kind = 3 if palette else {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    step = channels * a.itemsize
    z = zlib.compressobj(level, zlib.DEFLATED, 15, 8, zlib.Z_DEFAULT_STRATEGY
                         if palette else zlib.Z_FILTERED)
    rows = ((b'\0' + row.tobytes() for row in rows) if palette
            else filtered(rows, step))
    data = b''.join(map(z.compress, rows)) + z.flush()

    def chunk(name, body):
        f.write(struct.pack('>I', len(body)) + name + body +
                struct.pack('>I', zlib.crc32(name + body)))
    f.write(b'\x89PNG\r\n\x1a\n')
    chunk(b'IHDR', struct.pack('>2I5B', width, height, bits, kind, 0, 0, 0))
    if palette:
        chunk(b'PLTE', bytes(sum(palette, ())))
    for at in range(0, len(data), 8192):
        chunk(b'IDAT', data[at:at + 8192])
    chunk(b'IEND', b'')
