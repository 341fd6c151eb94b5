#!/usr/bin/env python3
"""QOI files, written as the reference encoder does, without gimgxf:
qoi.py make DIR writes pictures; qoi.py check OPERATION IN OUT compares OUT, which
is a QOI or a PAM, with IN turned."""
import random
import struct
import sys

from turns import SOURCES


def signed(value):
    return (value + 128) % 256 - 128


def difference(color, last):
    r, g, b = (signed(color[i] - last[i]) for i in range(3))
    if color[3] != last[3]:
        return bytes((0xff,) + color)
    if all(-2 <= v <= 1 for v in (r, g, b)):
        return bytes([0x40 | (r + 2) << 4 | (g + 2) << 2 | (b + 2)])
    r, b = signed(r - g), signed(b - g)
    if -8 <= r <= 7 and -32 <= g <= 31 and -8 <= b <= 7:
        return bytes([0x80 | (g + 32), (r + 8) << 4 | (b + 8)])
    return bytes((0xfe,) + color[:3])


def write(width, height, channels, space, pixels):
    out = bytearray(struct.pack('>4sIIBB', b'qoif', width, height, channels, space))
    table, last, run = [(0, 0, 0, 0)] * 64, (0, 0, 0, 255), 0
    for color in pixels + [None]:
        if run == 62 or (run and color != last):
            out.append(0xc0 | (run - 1))
            run = 0
        if color == last:
            run += 1
        elif color:
            place = sum(a * b for a, b in zip(color, (3, 5, 7, 11))) % 64
            out += bytes([place]) if table[place] == color else difference(color, last)
            table[place] = last = color
    return bytes(out) + bytes(7) + b'\1'


def pictures():
    random.seed(5)
    kinds = {'noise': lambda i: random.randrange(256), 'few': lambda i: random.randrange(3) * 90,
             'soft': lambda i: (i // 4 * 2 + random.randrange(5)) % 256,
             'runs': lambda i: i // 800 % 2 * 255}
    for name, make in kinds.items():
        for width, height, channels in (31, 17, 3), (70, 9, 4), (1, 63, 4), (62, 2, 3):
            values = [make(i) for i in range(width * height * 4)]
            pixels = [tuple(values[i:i + 4]) for i in range(0, len(values), 4)]
            if channels == 3:
                pixels = [p[:3] + (255,) for p in pixels]
            yield '%s-%d' % (name, width), width, height, channels, pixels


def main():
    for i, (name, width, height, channels, pixels) in enumerate(pictures()):
        if sys.argv[1] == 'make':
            with open(name + '.qoi', 'wb') as f:
                f.write(write(width, height, channels, i % 2, pixels))
        elif name + '.qoi' == sys.argv[3]:
            turn = SOURCES[sys.argv[2]]
            w, h = width, height
            if turn(1, 0, 9, 9)[0] == turn(0, 0, 9, 9)[0]:  # columns become rows
                w, h = h, w
            at = [turn(x, y, width, height) for y in range(h) for x in range(w)]
            turned = [pixels[x + y * width] for x, y in at]
            with open(sys.argv[4], 'rb') as f:
                made = f.read()
            if made.startswith(b'P7'):
                want = b''.join(bytes(p[:channels]) for p in turned)
                made = made[made.index(b'ENDHDR\n') + 7:]
            else:
                want = write(w, h, channels, i % 2, turned)
            sys.exit(made != want)


main()
