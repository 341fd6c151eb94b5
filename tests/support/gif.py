"""GIF files for the tests, and whether one is another one turned.

    gif.py make DIRECTORY       makes one of each kind, sound or odd
    gif.py bad DIRECTORY        makes those that are damaged or hostile
    gif.py compare              reads lines "OP A B", and says where B is not A after OP:
                                of all blocks, and of each frame as browsers show it
    gif.py pillow               the same, of the frames that Pillow shows
    gif.py first                the same, where B is a PAM with alpha of the first frame

Pixels are read and written here from the bytes, by the words of GIF89a."""
import functools
import random
import struct
import sys

import pieces
from apng import pillow
from pieces import judge, read, write
from turns import EXCHANGED, turn

# ---- Writing -----------------------------------------------------------------


def blocks(data, size=255):
    """Sub-blocks, with the empty one."""
    return b''.join(bytes([len(data[i:i + size])]) + data[i:i + size]
                    for i in range(0, len(data), size)) + b'\0'


def lzw(pixels, bits, full='clear', start=True, end=True, early=0, more=()):
    """Codes; `full`: what is done when the table is; `early`: a clear code after so
    many codes; `more`: codes behind the pixels."""
    clear, out, count = 1 << bits, 0, 0
    width = nxt = table = None

    def put(code):
        nonlocal out, count
        out |= code << count
        count += width

    def reset():
        nonlocal width, nxt, table
        table = {(i,): i for i in range(clear)}
        width, nxt = bits + 1, clear + 2

    def grow():
        # What the reader adds lags one code behind, and is not 4096.
        nonlocal width
        if nxt - 1 == 1 << width and width < 12:
            width += 1
    reset()
    if start:
        put(clear)
    run, since = (), 0
    for pixel in pixels:
        if run + (pixel,) in table:
            run += (pixel,)
            continue
        put(table[run])
        since += 1
        if nxt < 4096:
            table[run + (pixel,)] = nxt
        nxt += nxt <= 4096
        grow()
        if (nxt > 4096 and full == 'clear') or (early and since % early == 0):
            put(clear)
            reset()
        run = (pixel,)
    if run:
        put(table[run])
        nxt += nxt <= 4096
        grow()
    for code in more:
        put(code)
        nxt += nxt <= 4096
        grow()
    if end:
        put(clear + 1)
    return out.to_bytes((count + 7) // 8, 'little')


ROWS = ((0, 8), (4, 8), (2, 4), (1, 2))


def order(height, interlaced):
    return ([y for start, step in ROWS for y in range(start, height, step)]
            if interlaced else list(range(height)))


def frame(rows, x=0, y=0, colors=None, bits=None, interlaced=False, sort=False,
          size=255, **how):
    width, height = len(rows[0]) if rows else 0, len(rows)
    flags = interlaced << 6 | sort << 5
    if colors:
        flags |= 0x80 | (len(colors) // 3).bit_length() - 2
    pixels = [p for i in order(height, interlaced) for p in rows[i]]
    bits = bits or max(2, max(pixels).bit_length())
    return (struct.pack('<BHHHHB', 0x2c, x, y, width, height, flags) +
            (colors or b'') + bytes([bits]) +
            blocks(lzw(pixels, bits, **how), size))


def zeros(side):
    """A square frame: each code is a run of zeros that is one longer than before."""
    codes, left, run = [], side * side - 1, 2
    while left >= run:
        codes.append(256 + run)
        left, run = left - run, run + 1
    one = frame([[0]], bits=8, more=codes + [256 + left if left > 1 else 0] * (left > 0))
    return one.replace(struct.pack('<HH', 1, 1), struct.pack('<HH', side, side), 1)


def extension(label, *data):
    return bytes([0x21, label]) + b''.join(blocks(d)[:-1] for d in data) + b'\0'


def control(delay=5, dispose=0, clear=None, user=0):
    return extension(0xf9, struct.pack(
        '<BHB', dispose << 2 | user << 1 | (clear is not None), delay,
        clear or 0))


def application(name, data):
    return extension(0xff, name, data)


MAGIC = b'\1' + bytes(range(255, -1, -1)) + b'\0'


def xmp(packet):
    return b'\x21\xff\x0bXMP DataXMP' + packet + MAGIC


def head(width, height, colors=None, back=0, aspect=0, sort=0, version=b'89a'):
    flags = 0x70 | sort << 3
    if colors:
        flags |= 0x80 | (len(colors) // 3).bit_length() - 2
    return (b'GIF' + version + struct.pack('<HHBBB', width, height, flags, back,
                                           aspect) + (colors or b''))


def palette(n, rng):
    return bytes(rng.randrange(256) for _ in range(3 * n))


def picture(width, height, top, rng):
    """Patches, and some noise."""
    side = rng.choice((1, 2, 5))
    tint = [[rng.randrange(top) for _ in range(width)] for _ in range(height)]
    return [[tint[y // side][x // side] if rng.random() < 0.95 else
             rng.randrange(top) for x in range(width)] for y in range(height)]


LOOP = application(b'NETSCAPE2.0', b'\1\3\0')
PACKET = (b'<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>' + pieces.xmp(
    b'<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    b'dc:format="image/gif" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" %s/>') +
          b'<?xpacket end="w"?>')


def animation(width, height, seed, frames=6, bits=4, **how):
    rng = random.Random(seed)
    out = [head(width, height, palette(1 << bits, rng), 3, 60, 1), LOOP,
           extension(0xfe, b'a comment \xc3\xa9' * 40)]
    for i in range(frames):
        w, h = rng.randint(1, width), rng.randint(1, height)
        if i == 0:
            w, h = width, height
        x, y = rng.randint(0, width - w), rng.randint(0, height - h)
        own = palette(1 << bits, rng) if i % 3 == 2 else None
        out.append(control(i * 7, i % 4, rng.choice((None, 0, 1)), i % 2))
        out.append(frame(picture(w, h, 1 << bits, rng), x, y, own, bits,
                         i % 2 == 1, i % 3 == 2, rng.choice((255, 3, 90)),
                         **how))
    return out + [extension(0xfe, b'behind the frames')]


def kinds():
    """By what they are called."""
    rng = random.Random(7)

    def one(width=19, height=11, top=16, screen=None, colors=16, begin=b'', **how):
        return (head(*(screen or (width, height)), palette(colors, rng)) + begin +
                frame(picture(width, height, top, rng), **how) + b';')
    noise = [[rng.randrange(256) for _ in range(150)] for _ in range(140)]
    made = {
        'animation': b''.join(animation(29, 17, 1)) + b';',
        'many': b''.join(animation(41, 53, 2, 70)) + b';',
        'still': one(),
        'version-87': one().replace(b'89a', b'87a'),
        'one-pixel': one(1, 1),
        'column': one(1, 40, interlaced=True),
        'no-clear': one(start=False),
        'no-end': one(end=False),
        'clears': one(early=3),
        'no-trailer': one()[:-1],
        'behind': one() + b'behind the end; GIF89a',
        'zeros': one()[:-1] + b'\0\0\0' + frame([[1, 2]]) + b'\0;',
        'more-codes': one(more=[1, 2, 3]),
        'few-bits': one(top=2, bits=2),
        'one-bit': one(33, 40, 2, bits=1, colors=2),
        'local': head(19, 11) + frame(picture(19, 11, 8, rng),
                                      colors=palette(8, rng)) + b';',
        'no-palette': head(19, 11) + frame(picture(19, 11, 8, rng)) + b';',
        'past-palette': one(colors=4, top=16),
        'small-screen': one(screen=(5, 3), x=2, y=3),
        'no-screen': one(screen=(0, 0)),
        'within': one(7, 5, screen=(19, 11), x=3, y=4),
        'within-256': one(7, 5, 256, (19, 11), 256, x=3, y=4),
        'beyond': one(screen=(19, 11))[:-1] + control() + frame(
            picture(9, 7, 16, rng), 12, 8, interlaced=True) + b';',
        'far-beyond': one()[:-1] + frame([[1, 2, 3]], 30, 4) + b';',
        'empty': one()[:-1] + struct.pack('<BHHHHBBB', 0x2c, 3, 2, 0, 4, 0, 2,
                                          0) + b';',
        'text': one()[:-1] + extension(1, struct.pack(
            '<4H4B', 1, 2, 8, 8, 8, 8, 0, 1), b'text') + b';',
        'metadata': one(begin=b''.join([
            xmp(PACKET % b'tiff:ImageWidth="19" tiff:ImageLength="11" '
                b'tiff:Orientation="6" exif:GPSLatitude="48,6N"'),
            application(b'ICCRGBG1012', bytes(1000)),
            application(b'UNKNOWN 1.0', b'anything' * 50), extension(7, b'x'),
            extension(0xfe, b'')])),
    }
    for bits in range(2, 9):
        made['bits-%d' % bits] = one(40, 30, 1 << bits, bits=bits,
                                     colors=1 << bits, interlaced=bits % 2)
    for full in 'clear', 'keep':
        made['full-' + full] = head(150, 140, palette(256, rng)) + frame(
            noise, full=full) + b';'
    return made


def bad():
    rng = random.Random(3)
    rows = picture(19, 11, 16, rng)
    begin = head(19, 11, palette(16, rng))
    sound = begin + frame(rows) + b';'
    huge = struct.pack('<BHHHHBB', 0x2c, 0, 0, 65535, 65535, 0, 8)
    at = len(begin) + 10
    return {
        'cut': sound[:-40],
        'cut-second': sound[:-1] + sound[len(begin):-30],
        'no-bits': sound[:at] + b'\0' + sound[at + 1:],
        'bits-9': sound[:at] + b'\t' + sound[at + 1:],
        'few-pixels': begin + frame(rows[:-1]).replace(
            struct.pack('<HH', 19, 10), struct.pack('<HH', 19, 11)) + b';',
        'wrong-code': begin + frame(rows[:2], more=[4000]).replace(
            struct.pack('<HH', 19, 2), struct.pack('<HH', 19, 11)) + b';',
        'no-picture': begin + b';',
        'garbage': sound[:-1] + b'?' + sound[len(begin):],
        'bombs': head(65535, 65535) + (huge + b'\1\0\0') * 40000 + b';',
        'bomb': head(2048, 2048) + zeros(2048) * 90 + b';',
    }


# ---- Reading -----------------------------------------------------------------


def unlzw(data, bits, n):
    clear, at, count = 1 << bits, 0, 8 * len(data)
    table = width = last = None

    def reset():
        nonlocal table, width, last
        table = {i: bytes([i]) for i in range(clear)}
        width, last = bits + 1, None
    reset()
    out, nxt = bytearray(), clear + 2
    while len(out) < n:
        assert at + width <= count, 'codes end early'
        code = int.from_bytes(data[at // 8:at // 8 + 3], 'little') >> at % 8
        code &= (1 << width) - 1
        at += width
        if code == clear:
            reset()
            nxt = clear + 2
            continue
        assert code != clear + 1, 'pixels end early'
        if last is not None and nxt < 4096:
            table[nxt] = last + (table[code][:1] if code != nxt else last[:1])
            nxt += 1
        out += table[code]
        last = table[code]
        if nxt == 1 << width and width < 12:
            width += 1
    return bytes(out[:n])


class Frame:
    pass


class Gif:
    """What a file says: `parts` are bytes that stay, and frames."""

    def __init__(self, name):
        data = self.data = read(name)
        assert data[:6] in (b'GIF87a', b'GIF89a')
        self.width, self.height, flags, back, self.aspect = struct.unpack_from(
            '<HHBBB', data, 6)
        at = 13 + self.size(flags)
        self.colors = data[13:at]
        self.parts = [data[:6], bytes([flags, back]), self.colors]
        self.frames, state = [], (None, 0)
        while at < len(data) and data[at] != 0x3b:
            begin = at
            if data[at] == 0:
                at += 1
            elif data[at] == 0x21:
                at = self.chain(data, at + 2)[1]
                if data[begin + 1] == 0xf9 and data[begin + 2] >= 4:
                    flags = data[begin + 3]
                    state = data[begin + 6] if flags & 1 else None, flags >> 2 & 7
            else:
                at = self.read_frame(data, at, state)
                state = None, 0
                continue
            self.parts.append(data[begin:at])
        self.parts.append(data[at:])
        for f in self.frames:
            if f.width and f.height:
                self.width = max(self.width, f.x + f.width)
                self.height = max(self.height, f.y + f.height)

    @staticmethod
    def size(flags):
        return 3 << (flags & 7) + 1 if flags & 0x80 else 0

    @staticmethod
    def chain(data, at):
        out = b''
        while data[at]:
            out += data[at + 1:at + 1 + data[at]]
            at += 1 + data[at]
        return out, at + 1

    def read_frame(self, data, at, state):
        f = Frame()
        f.x, f.y, f.width, f.height, f.flags = struct.unpack_from('<HHHHB', data,
                                                                  at + 1)
        f.clear, f.dispose = state
        at += 10 + self.size(f.flags)
        f.own = data[at - self.size(f.flags):at]
        codes, end = self.chain(data, at + 1)
        n = f.width * f.height
        pixels = unlzw(codes, data[at], n) if n else b''
        f.rows = [None] * f.height
        for i, y in enumerate(order(f.height, f.flags & 0x40)):
            f.rows[y] = pixels[i * f.width:(i + 1) * f.width]
        f.place = len(self.parts)
        self.parts.append(bytes([f.flags]) + f.own)
        self.frames.append(f)
        return end

    @functools.cached_property
    def shown(self):
        """The screen after each frame, as browsers show it."""
        screen, shown = [[None] * self.width for _ in range(self.height)], []
        for f in self.frames:
            before = [list(row) for row in screen]
            colors = f.own or self.colors
            area = [(x, y) for y in range(f.y, f.y + f.height)
                    for x in range(f.x, f.x + f.width)]
            for x, y in area:
                index = f.rows[y - f.y][x - f.x]
                if index != f.clear:
                    screen[y][x] = colors[3 * index:3 * index + 3] or b'\0\0\0'
            shown.append([list(row) for row in screen])
            if f.dispose == 3:
                screen = before
            for x, y in area if f.dispose == 2 else ():
                screen[y][x] = None
        return shown


read_gif = functools.cache(Gif)


def compare(op, a, b):
    first, second = read_gif(a), read_gif(b)
    swap = op in EXCHANGED
    size = (first.width, first.height)[::-1 if swap else 1]
    if (second.width, second.height) != size:
        return 'the screen is %d x %d' % (second.width, second.height)
    aspect = first.aspect
    if swap and aspect:
        aspect = max(1, round(64 * 64 / (aspect + 15)) - 15)
    if second.aspect != aspect:
        return 'the aspect is %d' % second.aspect
    if first.parts != second.parts:
        return 'other blocks differ'
    for i, (f, g) in enumerate(zip(first.shown, second.shown)):
        if turn(f, op) != g:
            return 'frame %d is shown otherwise' % (i + 1)
    for i, (f, g) in enumerate(zip(first.frames, second.frames)):
        if turn(f.rows, op) != [list(row) for row in g.rows]:
            return 'the pixels of frame %d differ' % (i + 1)
    return None


def first(op, a, b):
    head, data = read(b).split(b'ENDHDR\n', 1)
    rows = turn(read_gif(a).shown[0], op)
    words = head.split()
    if (int(words[2]), int(words[4])) != (len(rows[0]), len(rows)):
        return 'its size'
    deep = int(words[6])
    for i, color in enumerate(c for row in rows for c in row):
        pixel = data[deep * i:deep * (i + 1)]
        clear = deep == 4 and pixel[3] == 0
        if clear != (color is None) or not clear and pixel[:3] != color:
            return 'pixel %d' % i
    return None


def main():
    if sys.argv[1] in ('make', 'bad'):
        for name, data in (kinds if sys.argv[1] == 'make' else bad)().items():
            write('%s/%s.gif' % (sys.argv[2], name), data)
        return
    judge({'compare': compare, 'pillow': pillow, 'first': first}[sys.argv[1]])


if __name__ == '__main__':
    main()
