"""Classes of pictures that a PNG encoder meets, from photographs to noise of two
values: what tests/bench/programs and tests/bench/guard measure. Each is an array
of numpy, H x W x channels, and always the same."""
import math
import random
import subprocess

import processes  # finds a Python with numpy
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
# ---- A family of pictures that nobody tuned one by one -------------------------

# What a benchmark of a few classes does not have. Kinds of pictures: floats from 0 to 255, H x W x 3.
def light(pick, w, h, smooth):
    """Detail of sizes from 2 ** smooth on, tinted."""
    seed = pick.randrange(1 << 30)
    base = 128 + field(w, h, range(smooth, 9), .75, seed) * .8
    return numpy.stack([base + field(w, h, [6], 0, seed + c + 1) * 14
                        for c in range(3)], -1)


def noise(pick, w, h, most):
    made = numpy.random.default_rng(pick.randrange(1 << 30))
    return made.integers(-most, most + 1, (h, w, pick.choice([1, 3])))


def noisy(pick, w, h):
    return light(pick, w, h, pick.randint(0, 6)) + noise(pick, w, h, pick.randint(0, 12))


def blurred(pick, w, h):
    a = noisy(pick, w, h)
    for _ in range(pick.randint(1, 3)):
        a = sum(numpy.roll(a, (y, x), (0, 1)) for y in range(3) for x in range(3)) / 9
    return a


def text(pick, w, h):
    a = pick.choice([page, lambda w, h: screenshot(w, h, False), screenshot])(
        max(w, 600), max(h, 400))[:h, :w].astype(numpy.float32)
    ink = numpy.array([pick.randint(0, 90) for _ in range(3)])
    return ink + a * (255 - ink) / 255


def dither(pick, w, h):
    a, made = light(pick, w, h, 2), numpy.random.default_rng(pick.randrange(1 << 30))
    steps, order = pick.choice([1, 1, 3, 5]), numpy.array([[0, 8, 2, 10], [
        12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) / 16 + 1 / 32
    limit = made.random((h, w, 1)) if pick.random() < .5 else numpy.tile(
        order, (h // 4 + 1, w // 4 + 1))[:h, :w, None]
    return numpy.floor(a.clip(0, 255) / 255 * steps + limit) * (255 / steps)


def gradient(pick, w, h):
    y, x = numpy.mgrid[0:1:h * 1j, 0:1:w * 1j].astype(numpy.float32)
    sides = numpy.array([[pick.uniform(-1, 1) for _ in range(3)] for _ in range(3)])
    far = numpy.hypot(x - pick.random(), y - pick.random())
    a = 128 + 120 * (x[..., None] * sides[0] + y[..., None] * sides[1] +
                     far[..., None] * sides[2])
    return a + noise(pick, w, h, 1) if pick.random() < .3 else a


def drawing(pick, w, h):
    """Disks and boxes of one color, with hard or soft edges."""
    y, x = numpy.mgrid[0:h, 0:w].astype(numpy.float32)
    a, soft = numpy.full((h, w, 3), 250, numpy.float32), pick.choice([.01, 1, 3])
    for _ in range(pick.randint(5, 60)):
        x0, y0, r = pick.uniform(0, w), pick.uniform(0, h), pick.uniform(4, h / 4)
        dx, dy = abs(x - x0), abs(y - y0)
        far = numpy.hypot(dx, dy) if pick.random() < .5 else numpy.maximum(dx, dy * 2)
        cover = ((r - far) / soft).clip(0, 1)[..., None]
        a += cover * (numpy.array([pick.randint(0, 255) for _ in range(3)]) - a)
    return a


def repeats(pick, w, h):
    """Bytes that come again after some others, but for a few."""
    made, n = numpy.random.default_rng(pick.randrange(1 << 30)), w * h * 3
    distance, values = int(30000 ** pick.random()), pick.choice([2, 4, 16, 64, 256])
    a = numpy.resize(made.integers(0, values, distance), n) * (255 // (values - 1))
    others = made.random(n) < pick.choice([0, 0, .001, .01, .05])
    return numpy.where(others, made.integers(0, 256, n), a).reshape(h, w, 3) * 1.0


def was_jpeg(pick, w, h):
    a = pick.choice([noisy, lambda _, w, h: kodak(w, h),
                     lambda _, w, h: scene(w, h)])(pick, w, h)
    coded = processes.coded(in_bits(a, 8), processes.GIMGXF, '-q', '--quality',
                            str(pick.choice([40, 60, 75, 90, 96])), '--format', 'jpeg',
                            'copy', '-', '-')
    made = subprocess.run([processes.GIMGXF, '-q', '--format', 'ppm', 'copy', '-', '-'],
                          input=coded, capture_output=True, check=True).stdout
    return numpy.frombuffer(made[-w * h * 3:], numpy.uint8).reshape(h, w, 3) * 1.0


def two(pick, w, h):
    """Rows or columns of one kind, then of another."""
    one, other = pick.sample([noisy, text, gradient, drawing, dither, was_jpeg], 2)
    a, b, share = one(pick, w, h), other(pick, w, h), pick.uniform(.1, .9)
    if pick.random() < .6:
        a[int(h * share):] = b[int(h * share):]
    else:
        a[:, int(w * share):] = b[:, int(w * share):]
    return a


KINDS = [noisy, repeats, text, was_jpeg, two, blurred, dither, gradient, drawing, two]
FORMS = ['RGB', 'RGB', 'gray', 'RGBA', 'RGB of 16 bits', 'palette', 'RGB',
         'gray and alpha', 'gray of 16 bits', '16 colors', '2 colors']


def in_form(a, form, pick):
    """The array and its palette."""
    one = a.mean(-1, keepdims=True) if pick.random() < .5 else a[..., 1:2]
    a = one if form.startswith('gray') else a
    if form in ('RGBA', 'gray and alpha'):
        return with_hole(in_bits(a, 8)), None
    if form.endswith('16 bits'):
        return (in_bits(a, 16) if pick.random() < .6
                else in_bits(a, 8) * numpy.uint16(257)), None
    if form == 'palette':
        r, g, b = numpy.moveaxis((a / 51).round().clip(0, 5), -1, 0)
        return (r * 36 + g * 6 + b).astype(numpy.uint8)[..., None], PALETTE
    if form.endswith('colors'):
        n = int(form.split()[0])
        return (one * (n / 256)).clip(0, n - 1).astype(numpy.uint8), [
            (i * 15, 255 - i * 15, i) for i in range(n)]
    return in_bits(a, 8), None


def drawn(number):
    """Member `number`: its array and its palette, always the same."""
    pick = random.Random(number * 1000003 + 27)
    kind, form = KINDS[number % len(KINDS)], pick.choice(FORMS)
    pixels = 2e6 if number % 12 == 5 else pick.uniform(2e5, 6e5)
    wide = pick.uniform(.6, 1.8)
    w, h = int(math.sqrt(pixels * wide)), int(math.sqrt(pixels / wide))
    return in_form(kind(pick, w, h), form, pick)


FAMILY = {'family %d, %s' % (n, KINDS[n % len(KINDS)].__name__): n for n in range(300)}
