#!/usr/bin/env python3
"""JPEG XL files, made and read by the standard alone (ISO/IEC 18181), without
gimgxf: their headers have every kind of field, what follows them is noise.

jxl_files.py make N DIR  writes N files, 0.jxl and so on; prints their names, sizes
                         and whether one that is cut must be refused
jxl_files.py check       reads lines "OPERATION IN OUT", and prints those of which OUT
                         is not IN turned, or something else as well
jxl_files.py tags FILE   prints the orientations of header, EXIF and XMP
"""
import ctypes
import random
import struct
import sys

import pieces
from pieces import box, judge, read, write, xmp_tag
from turns import then


def turned(orientation, op):
    return orientation if op == 'upright' else then(orientation, op)


# ---- Bits: one description of the fields, to write and to read --------------

class Writer:
    """Writes fields that chance chooses, but for those that `fixed` names."""

    def __init__(self, **fixed):
        self.bits, self.fixed, self.values = [], fixed, []

    def put(self, n, value):
        self.bits += [value >> i & 1 for i in range(n)]
        return value

    def u(self, name, n, choices=None):
        value = self.fixed.get(name)
        if value is None:
            value = random.choice(choices or [0, 1, (1 << n) - 1,
                                              random.randrange(1 << n)])
        self.values.append((name, value))
        return self.put(n, value)

    def u32(self, name, *codes, choices=None):
        select = random.randrange(4)
        bits, base = codes[select]
        extra = random.randrange(1 << bits)
        want = self.fixed.get(name, random.choice(choices) if choices else None)
        if want is not None:
            fits = [i for i, (b, o) in enumerate(codes) if o <= want < o + (1 << b)]
            select = random.choice(fits)
            bits, base = codes[select]
            extra = want - base
        self.put(2, select)
        self.values.append((name, base + self.put(bits, extra)))
        return base + extra


class Reader:
    def __init__(self, data):
        self.data, self.at, self.values = data, 0, []

    def get(self, n):
        value = 0
        for i in range(n):
            value |= (self.data[self.at >> 3] >> (self.at & 7) & 1) << i
            self.at += 1
        return value

    def u(self, name, n, choices=None):
        self.values.append((name, self.get(n)))
        return self.values[-1][1]

    def u32(self, name, *codes, choices=None):
        bits, base = codes[self.get(2)]
        self.values.append((name, base + self.get(bits)))
        return self.values[-1][1]


def enum(io, name, choices):
    return io.u32(name, (0, 0), (0, 1), (4, 2), (6, 18), choices=choices)


def size(io, name):
    side = [(9, 1), (13, 1), (18, 1), (30, 1)]
    small = io.u(name + 'small', 1)
    height = (io.u(name + 'height8', 5) + 1) * 8 if small else io.u32(
        name + 'height', *side)
    ratio = io.u(name + 'ratio', 3)
    if ratio:
        a, b = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)][ratio - 1]
        return height * a // b, height
    width = (io.u(name + 'width8', 5) + 1) * 8 if small else io.u32(
        name + 'width', *side)
    return width, height


def preview(io):
    codes = [(0, 16), (0, 32), (5, 1), (9, 33)] if io.u('div8', 1) else [
        (6, 1), (8, 65), (10, 321), (12, 1345)]
    io.u32('preview height', *codes)
    if not io.u('preview ratio', 3):
        io.u32('preview width', *codes)


def animation(io):
    io.u32('ticks', (0, 100), (0, 1000), (10, 1), (30, 1))
    io.u32('a second', (0, 1), (0, 1001), (8, 1), (10, 1))
    io.u32('loops', (0, 0), (3, 0), (16, 0), (32, 0))
    io.u('timecodes', 1)


def depth(io, name):
    if io.u(name + 'float', 1):
        io.u32(name + 'bits', (0, 32), (0, 16), (0, 24), (6, 1), choices=[16, 24, 32])
        io.u(name + 'exponent', 4, [4])
    else:
        io.u32(name + 'bits', (0, 8), (0, 10), (0, 12), (6, 1), choices=range(1, 32))


def channel(io):
    if io.u('channel default', 1):
        return
    kind = enum(io, 'type', [0, 1, 2, 3, 4, 5, 6, 16])
    depth(io, 'channel ')
    io.u32('shift', (0, 0), (0, 3), (0, 4), (3, 1), choices=range(4))
    for i in range(io.u32('name', (0, 0), (4, 0), (5, 16), (10, 48))):
        io.u('letter', 8)
    if kind == 0:
        io.u('associated', 1)
    elif kind == 2:
        for i in range(4):
            io.u('spot', 16)
    elif kind == 5:
        io.u32('cfa', (0, 1), (2, 0), (4, 3), (8, 19))


def point(io):
    for axis in 'xy':
        io.u32(axis, (19, 0), (19, 524288), (20, 1048576), (21, 2097152))


def colors(io):
    if io.u('colors default', 1):
        return
    profile = io.u('profile', 1)
    space = enum(io, 'space', [0, 1, 2])
    if profile:
        return
    if space != 2 and enum(io, 'white', [1, 2, 10, 11]) == 2:
        point(io)
    if space not in (1, 2) and enum(io, 'primaries', [1, 2, 9, 11]) == 2:
        for i in range(3):
            point(io)
    if space != 2:
        if io.u('has gamma', 1):
            io.u('gamma', 24)
        else:
            enum(io, 'transfer', [1, 8, 13, 16, 17, 18])
    enum(io, 'intent', [0, 1, 2, 3])


def header(io):
    """Visits all up to the tone mapping; returns the size as stored."""
    stored = size(io, '')
    if io.u('all default', 1, [0, 0, 0, 1]):
        return stored
    extra = io.u('extra', 1)
    if extra:
        io.u('orientation', 3)
        if io.u('intrinsic', 1):
            size(io, 'intrinsic ')
        if io.u('preview', 1):
            preview(io)
        if io.u('animation', 1):
            animation(io)
    depth(io, '')
    io.u('modular 16', 1)
    for i in range(io.u32('channels', (0, 0), (0, 1), (4, 2), (12, 1),
                          choices=[0, 0, 1, 2, 5, 200])):
        channel(io)
    io.u('xyb', 1)
    colors(io)
    if extra and not io.u('tone default', 1):
        io.u('nits', 16, [0x5bf8, 0x7000])
        io.u('least nits', 16, [0])
        io.u('relative', 1)
        io.u('linear below', 16, [0])
    io.u('extensions', 2, [0])
    return stored


def meaning(data):
    """What a codestream says: orientation, all else, and the bits behind it."""
    assert data[:2] == b'\xff\x0a'
    io = Reader(data[2:])
    stored = header(io)
    fields = [(k, v) for k, v in io.values if k not in (
        'small', 'height8', 'height', 'ratio', 'width8', 'width')]
    if fields[0] == ('all default', 1):
        fields = [('float', 0), ('bits', 8), ('modular 16', 1), ('channels', 0),
                  ('xyb', 1), ('colors default', 1), ('extensions', 0)]
    names = dict(fields)
    orientation = names.get('orientation', 0) + 1
    none = {'all default': 0, 'extra': 0, 'orientation': 0, 'intrinsic': 0,
            'preview': 0, 'animation': 0, 'tone default': 1}
    tone = [(k, v) for k, v in fields if k in (
        'nits', 'least nits', 'relative', 'linear below')]
    fields = [(k, v) for k, v in fields if k != 'orientation' and (
        (k, v) not in tone) and not (k in none and (k == 'extra' or k == 'tone default'
                                                    or none[k] == v))]
    if [v for k, v in tone] == [0x5bf8, 0, 0, 0]:
        tone = []
    rest = [data[2 + (i >> 3)] >> (i & 7) & 1
            for i in range(io.at, min(8 * len(data) - 16, io.at + 4000))]
    return orientation, (stored, fields, tone, rest), data[-40:], (
        'orientation' in names)


NOISE = 300  # bytes


# ---- Boxes -------------------------------------------------------------------

def boxes(data):
    end = 0
    for kind, body, end, at in pieces.boxes(data):
        yield kind, data[body:end], data[at:at + 4] == bytes(4)
    assert end == len(data), (end, len(data))


def tiff(orientation, big):
    order = '>' if big else '<'
    return struct.pack(order + '2sHI', b'MM' if big else b'II', 42, 8) + struct.pack(
        order + 'HHHIHHHHIII', 2, 0x0112, 3, 1, orientation, 0, 0x0131, 2, 2, 0x4100 << 16
        if big else 0x41, 0) + b'end' if orientation else struct.pack(
            order + '2sHIHI', b'MM' if big else b'II', 42, 8, 0, 0)


def packed(data):
    """Brotli that stores its bytes (RFC 7932, 9.2)."""
    lead = (len(data) - 1) << 4 | 1 << 20
    return struct.pack('<I', lead)[:3] + data + b'\3'


def unpacked(data):
    out = ctypes.create_string_buffer(1 << 16)
    count = ctypes.c_size_t(len(out))
    ctypes.CDLL('libbrotlidec.so.1').BrotliDecoderDecompress(
        ctypes.c_size_t(len(data)), data, ctypes.byref(count), out)
    return out.raw[:count.value]


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def metadata():
    """Boxes of chance: EXIF, XMP, how to make a JPEG again, and unknown ones."""
    orientation = random.choice([0, 1, 6, 3])
    exif = b'\0\0\0\0' + tiff(orientation, random.random() < .5)
    out = [box(b'uuid', random.randbytes(20)), box(b'jxll', b'\x0a')][:random.randrange(3)]
    kinds = random.choice(['', 'e', 'x', 'ex', 'j', 'ej', 'Ej', 'Exj', 'eXj', 'E', 'i'])
    made = {'e': box(b'Exif', exif), 'E': box(b'brob', b'Exif' + packed(exif)),
            'x': box(b'xml ', xmp_tag(6)), 'X': box(b'brob', b'xml ' + packed(xmp_tag(5))),
            'j': box(b'jbrd', random.randbytes(30)),
            'i': box(b'jxli', b'\2' + bytes(8) + varint(random.choice([100, 125, 16380])) +
                     b'\1\1\x90\1\1\1')}
    return out + [made[k] for k in kinds]


def container(codestream):
    out = [box(b'JXL ', b'\r\n\x87\n'), box(b'ftyp', b'jxl \0\0\0\0jxl ')]
    beside = metadata()
    kind = random.choice(['bare', 'jxlc', 'long', 'open', 'jxlp'])
    if kind == 'bare':
        return codestream
    if kind == 'jxlp':
        cuts = sorted(random.sample(range(len(codestream) - NOISE, len(codestream)),
                                    random.randrange(1, 5)))
        cuts = [0] + cuts + [len(codestream)]
        made = []
        for i in range(len(cuts) - 1):
            number = i | (0x80000000 if i == len(cuts) - 2 else 0)
            made.append(box(b'jxlp', struct.pack('>I', number) +
                              codestream[cuts[i]:cuts[i + 1]],
                              head=16 if random.random() < .2 else 8))
        return b''.join(out + made[:1] + beside + made[1:])
    stream = box(b'jxlc', codestream, head={'long': 16, 'open': 0}.get(kind, 8))
    return b''.join(out + beside + [stream] if kind == 'open' or random.random() < .5
                    else out + [stream] + beside)


def parts(data):
    """The codestream; and what the boxes beside it hold."""
    if data[:2] == b'\xff\x0a':
        return data, []
    stream, beside = b'', []
    for kind, body, is_open in boxes(data):
        if kind == b'jxlp':
            stream += body[4:]
            beside.append((kind, body[:4]))
        elif kind == b'jxlc':
            stream += body
            beside.append((kind, is_open))
        elif kind == b'brob':
            beside.append((body[:4], unpacked(body[4:])))
        else:
            beside.append((kind, body))
    return stream, beside


def tag_at(exif):
    return exif.find(b'\x01\x12\0\3' if exif[4:5] == b'M' else b'\x12\1\3\0')


def tags(beside):
    exif = xml = None
    for kind, body in beside:
        if kind == b'Exif':
            at = tag_at(body)
            exif = 0 if at < 0 else body[at + 9] if body[4:5] == b'M' else body[at + 8]
        if kind == b'xml ':
            xml = int(body.split(b'tiff:Orientation="')[1][:1])
    return exif, xml


def plain(beside, rebuilt):
    """What must not change: all but the digits of the tags, and the index."""
    out = []
    for kind, body in beside:
        if kind == b'Exif':
            at = tag_at(body)
            body = body[:at + 8] + body[at + 10:] if at > 0 else body
        if kind == b'xml ':
            body = body.split(b'tiff:Orientation="')[0] + body.split(b'"')[-1]
        if kind == b'jxli':
            first = 0
            for i, b in enumerate(body[9:]):
                first |= (b & 127) << 7 * i
                if b < 128:
                    break
            out.append((kind, first))
            body = body[:9] + body[10 + i:]
        if kind != b'jbrd' or rebuilt:
            out.append((kind, body))
    return out


def check(op, before, after):
    a, b = parts(before), parts(after)
    was, says, tail, had = meaning(a[0])
    now, still, end, has = meaning(b[0])
    assert now == turned(was, op), 'orientation %d, not %d' % (now, turned(was, op))
    assert says == still, 'other fields: %s, not %s' % (still, says)
    assert tail == end, 'the end of the codestream'
    grown = len(b[0]) - len(a[0])
    assert grown == (0 if had or op == 'upright' else 3 if grown == 3 else 7), grown
    exif = tags(a[1])[0]
    rebuilt = (b'jbrd' in dict(a[1])) and (op == 'upright' or bool(exif) or now == 1)
    assert rebuilt == (b'jbrd' in dict(b[1])), 'jbrd'
    want = now if rebuilt and (exif or now == 1) else 1
    for value in tags(b[1]):
        assert not value or value == want, 'a tag says %s, not %d' % (tags(b[1]), want)
    old, new = plain(a[1], rebuilt), plain(b[1], rebuilt)
    for x, y in zip(old, new):
        if x[0] == b'jxli' and isinstance(x[1], int):
            assert y[1] == x[1] + grown, 'the index'
        else:
            assert x == y, (x, y)
    assert len(old) == len(new)


def main():
    if sys.argv[1] == 'make':
        for i in range(int(sys.argv[2])):
            random.seed(i)
            w = Writer(profile=0) if i % 3 else Writer()
            stored = header(w)
            w.put(-len(w.bits) % 8, 0x55)
            stream = b'\xff\x0a' + bytes(
                sum(b << k for k, b in enumerate(w.bits[j:j + 8]))
                for j in range(0, len(w.bits), 8)) + random.randbytes(NOISE)
            data = container(stream)
            write('%s/%d.jxl' % (sys.argv[3], i), data)
            ends = data[0] == 0 and b'\0\0\0\0jxlc' not in data
            print('%d.jxl %d %d %s' % (i, *stored, 'cut' if ends else 'any'))
    elif sys.argv[1] == 'tags':
        stream, beside = parts(read(sys.argv[2]))
        print(meaning(stream)[0], *tags(beside))
    else:
        judge(lambda op, before, after: check(op, read(before), read(after)))


main()
