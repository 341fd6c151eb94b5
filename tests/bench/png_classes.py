"""Classes of pictures that a PNG encoder meets, from photographs to noise of two
values: what tests/bench/png-levels and tests/bench/guard measure. Each is an array
of numpy, H x W x channels, and always the same."""
import random

import numpy

from pictures import SEED, in_bits, scene, screenshot, spread, with_hole


def rng():
    return numpy.random.default_rng(SEED)


def field(width, height, sizes, power, seed=0):
    """Detail of the given sizes, as powers of 2, in floats around 0."""
    made = numpy.random.default_rng(SEED + seed)
    out = numpy.zeros((height, width), numpy.float32)
    for k in sizes:
        n = 2 ** k
        coarse = made.normal(0, 1, (height // n + 2, width // n + 2))
        out += spread(coarse.astype(numpy.float32), n)[:height, :width] * \
            n ** power
    return out


def soft(width, height):
    """A photograph without noise, somewhat out of focus, in 8 bits."""
    light = 128 + field(width, height, range(4, 10), .75) * .8
    return numpy.stack([light + field(width, height, [7], 0, c + 1) * 14
                        for c in range(3)], -1)


def with_noise(a, most, channels=3):
    """Each sample, or the light of each pixel, up to `most` more or less."""
    noise = rng().integers(-most, most + 1, (*a.shape[:2], channels))
    return in_bits(a.round() + noise, 8)


def kodak(width, height):
    """Edges, even and rough areas, and the noise of film: like the pictures of
    the Kodak Photo CD."""
    regions = numpy.digitize(field(width, height, [5, 7], .3),
                             [-7, -3, 0, 2, 5]) + 1
    rough = field(width, height, range(0, 4), .3, 1)
    light = field(width, height, range(5, 9), .6, 2)
    grain = rng().normal(0, 1.2, (height, width)).astype(numpy.float32)
    out = numpy.empty((height, width, 3), numpy.float32)
    for c in range(3):
        tint = field(width, height, [8], 0, 3 + c)
        base = 30 + 31 * (regions * (c + 2) % 7)
        out[..., c] = base + light + tint * 10 + grain + rough * (
            regions * 5 % 4) * 2.5
    return in_bits(out, 8)


def page(width, height):
    """Text as it is rendered: letters with soft edges, at places that are not
    whole pixels, in one column, gray."""
    made = rng()
    letters = []
    for _ in range(60):
        shapes = spread((made.random((6, 4)) < .5).astype(numpy.float32), 4)
        letters += [numpy.roll(shapes, shift, 1) for shift in range(4)]
    words = [made.integers(0, 60, made.integers(1, 11)) for _ in range(3000)]
    a = numpy.full((height, width), 255, numpy.uint8)
    for top in range(100, height - 130, 36):
        at = 120
        while at < width - 400:
            for i in words[made.integers(0, 3000)]:
                ink = letters[4 * i + made.integers(0, 4)]
                a[top:top + 24, at:at + 16] = 255 - (ink * 255).clip(0, 255)
                at += 18
            at += 12
    return a[..., None]


def line_art(width, height):
    """Contours: thin lines with soft edges on white."""
    heights = field(width, height, range(5, 10), .9) / 24
    slope = numpy.hypot(*numpy.gradient(heights)) + 1e-3
    away = abs(heights - heights.round()) / slope
    line = (away - .8).clip(0, 1) * 255
    return in_bits(numpy.dstack([line, line, numpy.maximum(line, 40)]), 8)


def gradient(width, height):
    """Even changes of color, without noise."""
    y, x = numpy.mgrid[0:1:height * 1j, 0:1:width * 1j].astype(numpy.float32)
    far = numpy.hypot(x - .4, y - .3)
    return in_bits(numpy.dstack([x * 255, 255 - far * 180, y * 130 + 60]), 8)


def indices(width, height):
    """A photograph in 216 colors, as indices, with ordered dither."""
    order = numpy.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9],
                         [15, 7, 13, 5]], numpy.float32) / 16 - .5
    tiles = numpy.tile(order, (height // 4 + 1, width // 4 + 1))
    steps = scene(width, height) / 51 + tiles[:height, :width, None]
    r, g, b = numpy.moveaxis(steps.round().clip(0, 5), -1, 0)
    return (r * 36 + g * 6 + b).astype(numpy.uint8)[..., None]


PALETTE = [(r * 51, g * 51, b * 51)
           for r in range(6) for g in range(6) for b in range(6)]


def dither(width, height):
    """A photograph in black and white by random thresholds, in 8 bits."""
    light = scene(width, height, 1)[..., 0]
    black = light < rng().random((height, width)) * 255
    return numpy.where(black, 0, 255).astype(numpy.uint8)[..., None]


def noisy_rgba(width, height):
    alpha = with_hole(numpy.zeros((height, width, 3), numpy.uint8))[..., 3:]
    return numpy.dstack([with_noise(soft(width, height), 2, 1), alpha])


MP12, MP6, MP3 = (4000, 3000), (3000, 2000), (2048, 1536)
CLASSES = {
    'photograph': (MP12, lambda w, h: in_bits(scene(w, h), 8)),
    'noise of 2': (MP12, lambda w, h: with_noise(soft(w, h), 2)),
    'light noise of 2': (MP12, lambda w, h: with_noise(soft(w, h), 2, 1)),
    'noise of 8': (MP6, lambda w, h: with_noise(soft(w, h), 8)),
    'Kodak-like': (MP3, kodak),
    'screenshot': ((3840, 2160), screenshot),
    'text': ((2480, 3508), page),
    'line art': (MP6, line_art),
    'gradient': (MP12, gradient),
    'palette': (MP6, indices),
    'dither': (MP6, dither),
    'gray': (MP12, lambda w, h: in_bits(scene(w, h, 1), 8)),
    'RGBA, noise of 2': (MP12, noisy_rgba),
    '16 bits': (MP6, lambda w, h: in_bits(scene(w, h), 16)),
}

# Those of RGB and 8 bits.
PHOTOGRAPHS = ('photograph', 'noise of 2', 'light noise of 2', 'noise of 8',
               'Kodak-like')

PALETTES = {'palette': PALETTE}
# Names, channels, bits, and colors of a palette.
RGB = ('RGB', 3, 8, 0)
FORMS = [RGB, ('200 colors', 1, 8, 200), ('RGBA', 3, 8, 0), ('gray', 1, 8, 0),
         ('RGB of 16 bits', 3, 16, 0), RGB, ('16 colors', 1, 8, 16),
         ('gray and alpha', 1, 8, 0), ('gray of 16 bits', 1, 16, 0), RGB,
         ('2 colors', 1, 8, 2)]


def drawn(number):
    """Member `number` of a family of pictures: its name, how it is made, and its
    palette. What was fitted to the classes above alone is seen by these."""
    pick = random.Random(number)
    form, channels, bits, colors = FORMS[number % len(FORMS)]
    noise, smooth, text = number * 5 % 13, pick.randint(1, 8), pick.choice(
        [0, 0, .2, .5, .8])
    each = pick.choice([1, channels])

    def paint(width, height):
        light = 128 + field(width, height, range(smooth, 10), .75, number) * .8
        a = numpy.stack([light + field(width, height, [7], 0, number + c) * 14
                         for c in range(channels)], -1)
        a += numpy.random.default_rng(number).integers(
            -noise, noise + 1, (height, width, each))
        a[:int(height * text)] = page(width, int(height * text))
        if colors:
            return (a * (colors / 256)).clip(0, colors - 1).astype(numpy.uint8)
        a = in_bits(a, bits)
        return with_hole(a) if form in ('RGBA', 'gray and alpha') else a
    name = '%s, noise %d, smooth %d, text %d %%' % (form, noise, smooth, text * 100)
    return name, paint, [(i, 255 - i, i // 2) for i in numpy.linspace(
        0, 255, colors).astype(int).tolist()]


FAMILY = {}
for member in range(len(CLASSES)):
    title, painter, palette = drawn(member)
    FAMILY[title] = MP3, painter
    if palette:
        PALETTES[title] = palette
