"""Turns of pictures, where nothing matters but which pixel goes where."""
import math
import re

# Where the pixel x, y of a turned picture was in one of w x h, by turn, in the order
# of the orientations 1 to 8 (EXIF 2.3, Orientation).
SOURCES = {
    'copy': lambda x, y, w, h: (x, y),
    'fliph': lambda x, y, w, h: (w - 1 - x, y),
    'rotate180': lambda x, y, w, h: (w - 1 - x, h - 1 - y),
    'flipv': lambda x, y, w, h: (x, h - 1 - y),
    'transpose': lambda x, y, w, h: (y, x),
    'rotate90': lambda x, y, w, h: (y, h - 1 - x),
    'transverse': lambda x, y, w, h: (w - 1 - y, h - 1 - x),
    'rotate270': lambda x, y, w, h: (w - 1 - y, x),
}
EXCHANGED = list(SOURCES)[4:]  # width and height
TAGS = list(SOURCES)  # what orientation 1 shows, and so on


def goes(op, x, y, w, h):
    """Where the pixel x, y of a picture of w x h goes: where the inverse takes it from."""
    back = {'rotate90': 'rotate270', 'rotate270': 'rotate90'}.get(op, op)
    return SOURCES[back](x, y, *((h, w) if op in EXCHANGED else (w, h)))


def turn(rows, op):
    """Rows of anything, turned."""
    x, y = SOURCES[op](0, 0, 2, 2)
    if op in EXCHANGED:
        rows, x, y = zip(*rows), y, x
    return [list(row)[::-1 if x else 1] for row in rows][::-1 if y else 1]


def then(tag, op):
    """The orientation that shows what `tag` shows, turned."""
    grid = [[1, 2], [3, 4]]
    seen = turn(turn(grid, TAGS[tag - 1]), op)
    return next(n for n in range(1, 9) if turn(grid, TAGS[n - 1]) == seen)


def pixels(ppm):
    """Of a PPM of 8 bits width, height, and all pixels, of three bytes."""
    head = re.match(rb'P6\s+(\d+)\s+(\d+)\s+255\s', ppm)
    body = ppm[head.end():]
    return int(head[1]), int(head[2]), [body[i:i + 3] for i in range(0, len(body), 3)]


def turned(op, picture):
    """The same of a picture that is turned."""
    w, h, old = picture
    rows = turn([old[i:i + w] for i in range(0, w * h, w)], op)
    return len(rows[0]), len(rows), [pixel for row in rows for pixel in row]


def decibels(a, b):
    """The signal to noise of two pictures of a size."""
    assert a[:2] == b[:2]
    square = sum((i - k) ** 2 for p, q in zip(a[2], b[2]) for i, k in zip(p, q))
    return 10 * math.log10(3 * len(a[2]) * 255 ** 2 / max(square, 1))
