#!/usr/bin/env python3
"""TIFF files, written and read without gimgxf and libtiff:
tiff.py make [FOLDER]   writes pictures of many kinds
tiff.py check           reads lines "OP IN OUT", and compares all pictures of OUT with
                        those of IN, turned by OP and their tags; and the other tags
tiff.py tag N IN OUT    the same file with orientation N in all of its pictures
tiff.py old JPEG OUT    a TIFF of JPEG in the old style, and a thumbnail in it
tiff.py chroma JPEG OUT  YCbCr with half the chroma, its bits the other way round,
                        beside a JPEG file as a thumbnail
tiff.py again TAG AS IN OUT  the same file, whose tag is another one, once more
tiff.py field TAG FILE  prints the values of a tag, of a sub-directory too"""
import os
import random
import struct
import sys
import zlib

from pieces import judge, read, write
from turns import TAGS, turn

SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
LETTERS = {1: 'B', 3: 'H', 4: 'I', 12: 'd', 13: 'I', 16: 'Q', 18: 'Q'}
LEADS = 330, 34665, 34853, 40965


def pack(order, kind, values):
    if isinstance(values, bytes):
        return values
    if kind == 5:
        return b''.join(struct.pack(order + '2I', *v) for v in values)
    return struct.pack('%s%d%s' % (order, len(values), LETTERS[kind]), *values)


def packbits(data):
    out = b''
    for at in range(0, len(data), 100):
        part = data[at:at + 100]
        out += bytes([len(part) - 1]) + part
    return out


def unpackbits(data):
    out, at = bytearray(), 0
    while at < len(data):
        n = data[at]
        if n < 128:
            out += data[at + 1:at + 2 + n]
            at += n + 2
        else:
            out += data[at + 1:at + 2] * (257 - n if n > 128 else 0)
            at += 2
    return bytes(out)


class Writer:
    """A file; tags are {number: (type, values)}, where values of a tag that leads
    to directories are lists of such tags, or of pictures."""

    def __init__(self, order='<', big=False):
        self.order, self.big = order, big
        self.out = bytearray(b'MM' if order == '>' else b'II')
        self.out += struct.pack(order + ('3HQ' if big else 'HI'),
                                *((43, 8, 0, 0) if big else (42, 0)))
        self.link = len(self.out) - (8 if big else 4)

    def append(self, data):
        self.out += bytes(len(self.out) % 2)
        self.out += data
        return len(self.out) - len(data)

    def directory(self, tags, link=None):
        word = 'Q' if self.big else 'I'
        room, entries = struct.calcsize(word), b''
        for tag, (kind, values) in sorted(tags.items()):
            if tag in LEADS and isinstance(values[0], dict):
                values = [self.directory(v) for v in values]
            data = pack(self.order, kind, values)
            count = len(data) // SIZES[kind]
            if len(data) > room:
                data = struct.pack(self.order + word, self.append(data))
            entries += struct.pack(self.order + 'HH' + word, tag, kind, count) + \
                data.ljust(room, b'\0')
        at = self.append(struct.pack(self.order + ('Q' if self.big else 'H'),
                                     len(tags)) + entries + bytes(room))
        if link is not None:
            self.out[link:link + room] = struct.pack(self.order + word, at)
            self.link = len(self.out) - room
        return at

    def thumbnail(self, jpeg):
        """Appends a directory of a thumbnail, which stands behind it."""
        at = self.append(b'') + 2 + 3 * 12 + 4
        self.directory({0x103: (3, [6]), 0x201: (4, [at]), 0x202: (4, [len(jpeg)])},
                       self.link)
        self.append(jpeg)

    def picture(self, size, bits, samples=1, tile=None, rows=None, separate=False,
                compression=1, predictor=1, fill=1, kind=1, photometric=1, tags=(),
                noise=random.Random(7)):
        w, h = size
        planes, each = (samples, 1) if separate else (1, samples)
        tw, th = tile or (w, rows or h)
        parts = []
        for _ in range(planes * -(-h // th) * -(-w // tw)):
            n = (tw * each * bits + 7) // 8
            left = h - len(parts) % -(-h // th) * th if not tile else th
            data = b''.join(self.row(noise, n, tw * each * bits)
                            for _ in range(min(th, left)))
            if predictor == 2:
                data = b''.join(bytes((r[i] - (r[i - each] if i >= each else 0)) % 256
                                      for i in range(n)) for r in
                                (data[k:k + n] for k in range(0, len(data), n)))
            data = {1: bytes, 8: zlib.compress, 32946: zlib.compress,
                    32773: packbits}[compression](data)
            if fill == 2:
                data = bytes(int('{:08b}'.format(b)[::-1], 2) for b in data)
            parts.append(data)
        word = 16 if self.big else 4
        offsets = [self.append(p) for p in parts]
        made = {256: (3, [w]), 257: (3, [h]), 258: (3, [bits] * samples),
                259: (3, [compression]), 262: (3, [photometric]),
                277: (3, [samples]), 284: (3, [2 if separate else 1]),
                339: (3, [kind] * samples),
                324 if tile else 273: (word, offsets),
                325 if tile else 279: (word, [len(p) for p in parts])}
        if tile:
            made.update({322: (3, [tw]), 323: (3, [th])})
        else:
            made[278] = (3, [th])
        if predictor > 1:
            made[317] = (3, [predictor])
        if fill > 1:
            made[266] = (3, [fill])
        made.update(tags)
        return made

    @staticmethod
    def row(noise, n, bits):
        row = bytearray(noise.choice((0, 0, 255, noise.randrange(256)))
                        for _ in range(n))
        if bits % 8:
            row[-1] &= 0xff << (8 - bits % 8)
        return bytes(row)


class Tags(dict):
    """Of a directory {number: (type, bytes)}; and where each value and the link
    to the next directory stand."""

    def __init__(self):
        super().__init__()
        self.where, self.link = {}, 0


class Reader:
    """Of a file, or of bytes, in which it begins at `base`."""

    def __init__(self, name, base=0):
        self.data, self.base = name if isinstance(name, bytes) else read(name), base
        self.order = '>' if self.data[base:base + 2] == b'MM' else '<'
        self.big = struct.unpack_from(self.order + 'H', self.data, base + 2)[0] == 43
        self.word = 'Q' if self.big else 'I'
        self.room = struct.calcsize(self.word)
        self.pages = self.chain(self.at(base + self.room))

    def at(self, place):
        return struct.unpack_from(self.order + self.word, self.data, place)[0]

    def chain(self, place):
        while place:
            tags, place = Tags(), place + self.base
            head, each = (8, 20) if self.big else (2, 12)
            n = struct.unpack_from(self.order + ('Q' if self.big else 'H'), self.data,
                                   place)[0]
            for entry in range(place + head, place + head + n * each, each):
                tag, kind = struct.unpack_from(self.order + 'HH', self.data, entry)
                size = self.at(entry + 4) * SIZES[kind]
                where = entry + 4 + self.room
                where = where if size <= self.room else self.base + self.at(where)
                tags[tag] = kind, self.data[where:where + size]
                tags.where[tag] = where
            tags.link = place + head + n * each
            yield tags
            place = self.at(tags.link)

    def values(self, tags, tag, otherwise=()):
        if tag not in tags:
            return list(otherwise)
        kind, data = tags[tag]
        if kind not in LETTERS:
            return data
        return list(struct.unpack('%s%d%s' % (self.order, len(data) // SIZES[kind],
                                              LETTERS[kind]), data))

    def all(self, pages=None):
        """All directories, those behind others too."""
        for tags in self.pages if pages is None else pages:
            yield tags
            for tag in LEADS:
                for place in self.values(tags, tag):
                    yield from self.all(self.chain(place))

    def pixels(self, tags):
        """Rows of pixels, each a number, planes one after the other."""
        one = lambda tag, otherwise=1: self.values(tags, tag, [otherwise])[0]
        w, h, bits, samples = one(256), one(257), one(258), one(277)
        planes, each = (samples, 1) if one(284) == 2 else (1, samples)
        tiled = 324 in tags
        tw, th = (one(322), one(323)) if tiled else (w, min(one(278, h), h))
        sizes = self.values(tags, 325 if tiled else 279)
        across, down = -(-w // tw), -(-h // th)
        rows = [[0] * w for _ in range(planes * h)]
        for i, place in enumerate(self.values(tags, 324 if tiled else 273)):
            data = self.data[place:place + sizes[i]]
            if one(266) == 2:
                data = bytes(int('{:08b}'.format(b)[::-1], 2) for b in data)
            data = {1: bytes, 8: zlib.decompress, 32946: zlib.decompress,
                    32773: unpackbits}[one(259)](data)
            n = (tw * each * bits + 7) // 8
            x0, y0 = i % across * tw, i // across % down * th
            for k in range(min(th, h - y0)):
                row = bytearray(data[k * n:k * n + n])
                for j in range(each, n if one(317) == 2 else 0):
                    row[j] = (row[j] + row[j - each]) % 256
                number = int.from_bytes(row, 'big')
                size, mask = each * bits, (1 << each * bits) - 1
                for x in range(min(tw, w - x0)):
                    rows[i // (across * down) * h + y0 + k][x0 + x] = \
                        number >> (8 * n - (x + 1) * size) & mask
        return w, h, rows


def turned(op, w, h, rows):
    planes = [turn(rows[at:at + h], op) for at in range(0, len(rows), h)]
    return len(planes[0][0]), len(planes[0]), sum(planes, [])


PAIRS = {282: 283, 283: 282, 40962: 40963, 40963: 40962, 322: 323, 323: 322}
COMPUTED = {256, 257, 273, 274, 278, 279, 324, 325, 37396} | set(LEADS)


def check(op, before, after):
    a, b = Reader(before), Reader(after)
    assert (a.order, a.big) == (b.order, b.big), 'another kind of file'
    ins, outs = list(a.all()), list(b.all())
    assert len(ins) == len(outs), 'other directories'
    flips = False
    for was, made in zip(ins, outs):
        if 256 in was:
            tag = a.values(was, 274, [1])[0]
            shown = turned(TAGS[tag - 1] if 1 <= tag <= 8 else 'copy',
                           *a.pixels(was))
            want = turned(op, *shown)
            assert want == b.pixels(made), 'other pixels'
            flips = want[0] != len(a.pixels(was)[2][0])
            assert b.values(made, 274, [1]) == [1], 'its tag'
        assert sorted(was) == sorted(PAIRS.get(t, t) if flips else t for t in made)
        for tag in set(was) - COMPUTED:
            other = PAIRS.get(tag, tag) if flips else tag
            assert was[tag] == made[other], 'tag %d' % tag


def retag(n, before, after):
    reader = Reader(before)
    data = bytearray(reader.data)
    for tags in reader.all():
        if 274 in tags:
            entry = struct.pack(reader.order + 'HH' + reader.word, 274, 3, 1)
            at = -1
            while (at := data.find(entry, at + 1)) >= 0:
                data[at + len(entry):at + len(entry) + 2] = struct.pack(
                    reader.order + 'H', int(n))
    write(after, data)


def again(tag, other, before, after):
    reader = Reader(before)
    head = struct.pack(reader.order + 'HH', int(tag), 5)
    write(after, reader.data.replace(head, struct.pack(
        reader.order + 'HH', int(other), 5)))


def save(name, writer, *pages):
    for tags in pages:
        writer.directory(tags, writer.link)
    write(name, writer.out)


def make(folder='.'):
    os.chdir(folder)
    tag = {274: (3, [1])}
    rich = {**tag, 282: (5, [(72, 1)]), 283: (5, [(300, 1)]), 270: (2, b'what\0'),
            33723: (7, b'\x1c\2\0IPTC'), 65000: (7, bytes(range(99))),
            34665: (4, [{37396: (3, [3, 5]), 40962: (4, [23]), 40963: (4, [17]),
                         37500: (7, bytes(50))}])}
    kinds = [('bits', 1, 1, 0), ('two', 2, 1, 1), ('four', 4, 3, 1), ('ten', 10, 1, 1),
             ('twelve', 12, 3, 1), ('fourteen', 14, 4, 1), ('gray', 8, 1, 1),
             ('rgb', 8, 3, 2), ('rgba', 8, 4, 2), ('five', 8, 5, 1), ('rgb16', 16, 3, 2),
             ('wide', 24, 1, 1), ('float', 32, 3, 2), ('double', 64, 1, 1),
             ('complex', 128, 1, 1), ('odd', 5, 1, 1)]
    for i, (name, bits, samples, meaning) in enumerate(kinds):
        w = Writer('<>'[i % 2], i % 3 == 0)
        how = dict(bits=bits, samples=samples, photometric=meaning, tags=rich,
                   kind=3 if bits in (32, 64) else 6 if bits == 128 else 1)
        more = ({'rows': 5}, {'tile': (16, 32)}, {'separate': samples > 1},
                {'rows': 7, 'compression': 32773}, {'compression': 8, 'rows': 6},
                {'tile': (32, 16), 'compression': 32946})[i % 6]
        save(name + '.tif', w, w.picture((23, 17), **how, **more))
    w = Writer('>')
    save('predicted.tif', w, w.picture((23, 17), 8, 3, rows=4, photometric=2, tags=tag,
                                       compression=8, predictor=2))
    w = Writer()
    save('reversed.tif', w, w.picture((23, 17), 1, fill=2, tags=tag))
    w = Writer(big=True)
    small = w.picture((11, 8), 8, tags={**tag, 254: (4, [1])})
    save('pages.tif', w, w.picture((23, 17), 8, tags={**tag, 330: (18, [small])}),
         w.picture((9, 40), 8, 3, photometric=2, tags=tag),
         w.picture((11, 8), 1, tags={**tag, 254: (4, [4])}, photometric=4))
    geo = {34735: (3, [1, 1, 0, 1, 1025, 0, 1, 1])}
    for name, tags in (('geo', {33550: (12, [2.5, 3.5, 0.]),
                                33922: (12, [0., 0., 0., 1000., 2000., 0.]), **geo}),
                       ('matrix', {34264: (12, [2., .5, 0., 7., -.25, -3., 0., 9.] +
                                           [0.] * 7 + [1.]),
                                   34735: (3, [1, 1, 0, 1, 1025, 0, 1, 2])}),
                       ('rpc', {50844: (12, [0.] * 92)}),
                       ('ome', {270: (2, b'<?xml?><OME><Pixels SizeX="23" SizeY="17" '
                                      b'PhysicalSizeX="2"/></OME>\0')}),
                       ('shaped', {270: (2, b'{"shape": [17, 23]}\0')}),
                       ('imagej', {270: (2, b'ImageJ=1.5\nimages=9\nslices=9\n\0')}),
                       ('packet', {700: (3, [0x4142, 0x4344])}),
                       ('stk', {33629: (4, [1, 2])}),
                       ('subject', {34665: (4, [{0x9214: (3, [3, 5, 4, 2])}])})):
        w = Writer()
        save(name + '.tif', w, w.picture((23, 17), 8, tags=tags))
    w = Writer()
    blocks = {530: (3, [2, 2]), 279: (4, [12 * 9 * 6]), 277: (3, [3]),
              258: (3, [8, 8, 8]), 339: (3, [1] * 3)}
    save('blocks.tif', w, w.picture((72, 9), 8, photometric=6, tags={
        **blocks, 256: (3, [24]), 257: (3, [18]), 278: (3, [18])}))
    # Pages whose Exif has SubIFDs that lead nowhere, and one that has its own.
    w = Writer()
    damaged = {34665: (4, [{330: (4, [99999]), 36864: (7, b'0230')}])}
    sound = {34665: (4, [{36864: (7, b'0230'), 40965: (4, [{1: (2, b'R98\0')}])}])}
    save('damaged.tif', w, *[w.picture((23, 17), 8, tags=damaged) for _ in range(6)],
         w.picture((23, 17), 8, tags=sound))
    w = Writer()
    small = w.picture((11, 8), 8, tags={254: (4, [1])})
    first, nowhere = w.directory(small), w.link
    w.directory(small, len(w.out) - 4)
    w.link = nowhere
    save('chain.tif', w, w.picture((23, 17), 8, tags={330: (4, [first])}))
    w = Writer()
    save('layers.tif', w, w.picture((23, 17), 8, tags={37724: (7, bytes(30))}))
    w = Writer()
    four = w.append(b'\xf0\1\0\x10')  # T.6 that ends behind its fourth row
    save('few.tif', w, w.picture((99, 99), 1, tags={
        259: (3, [4]), 273: (4, [four]), 279: (4, [4])}))
    w = Writer()
    save('loop.tif', w, w.picture((23, 17), 8), w.picture((23, 17), 8))
    data = bytearray(w.out)
    data[w.link:w.link + 4] = data[4:8]
    write('loop.tif', data)
    write('cut.tif', data[:w.link - 20])


def old_jpeg(jpeg, name):
    """The samples of a JPEG file without a tag of orientation, as it would be in an
    old TIFF; and a thumbnail that is no JPEG, though it says so."""
    data = read(jpeg)
    at = next(i for i in range(2, len(data)) if data[i] == 0xff and
              data[i + 1] in (0xc0, 0xc2))
    h, w, samples = struct.unpack_from('>HHB', data, at + 5)
    factors = data[at + 11]
    writer = Writer()
    place = writer.append(data)
    thumb = writer.picture((4, 2), 8, tags={254: (4, [1]), 259: (3, [7])})
    writer.directory({
        256: (3, [w]), 257: (3, [h]), 258: (3, [8] * samples), 259: (3, [6]),
        262: (3, [6 if samples == 3 else 1]), 273: (4, [place]), 274: (3, [1]),
        277: (3, [samples]), 278: (3, [h]), 279: (4, [len(data)]), 330: (4, [thumb]),
        512: (3, [1]), 513: (4, [place]), 514: (4, [len(data)]),
        **({530: (3, [factors >> 4, factors & 15])} if samples == 3 else {})},
        writer.link)
    writer.directory({513: (4, [writer.append(data)]), 514: (4, [len(data)])},
                     writer.link)
    write(name, writer.out)


def chroma(jpeg, name):
    data = read(jpeg)
    w, h = 16, 10
    samples = bytes(range(40, 40 + w * h // 4 * 6 % 200)) * 9
    samples = samples[:w * h // 4 * 6]
    flipped = bytes(int('{:08b}'.format(b)[::-1], 2) for b in samples)
    writer = Writer()
    thumb, place = writer.append(data), writer.append(flipped)
    writer.directory({
        256: (3, [w]), 257: (3, [h]), 258: (3, [8] * 3), 259: (3, [1]), 262: (3, [6]),
        266: (3, [2]), 273: (4, [place]), 277: (3, [3]), 278: (3, [h]),
        279: (4, [len(flipped)]), 513: (4, [thumb]), 514: (4, [len(data)]),
        530: (3, [2, 2])}, writer.link)
    write(name, writer.out)


def field(tag, name):
    reader = Reader(name)
    for tags in reader.all():
        if int(tag) in tags:
            print(reader.values(tags, int(tag)))


if __name__ == '__main__':
    {'make': make, 'check': lambda: judge(check), 'tag': retag,
     'old': old_jpeg, 'chroma': chroma,
     'field': field, 'again': again}[sys.argv[1]](*sys.argv[2:])
