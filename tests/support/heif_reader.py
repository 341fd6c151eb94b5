"""Reads HEIF files by the standards alone (ISO/IEC 23008-12, 14496-12): what is
shown of each item, and the data of each. Knows nothing of gimgxf's code."""
import struct

import pieces
from turns import TAGS, goes

# A turn is where the corners of a picture go: those at (0, 0), (1, 0), (0, 1),
# (1, 1), each as the place (x, y) at which it is shown.
CORNERS = [(0, 0), (1, 0), (0, 1), (1, 1)]
EXIF = [None, *TAGS]


def turned(corners, op):
    return [goes('copy' if op == 'upright' else op, x, y, 2, 2) for x, y in corners]


def boxes(data, at, end):
    for kind, *places in pieces.boxes(data[:end], at):
        yield kind.decode('latin1'), *places


class Bits:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def take(self, n):
        value = int.from_bytes(self.data[self.at:self.at + n], 'big')
        self.at += n
        return value


class Heif:
    def __init__(self, data):
        self.data = data
        self.top = list(boxes(data, 0, len(data)))
        self.mini = next((b for b in self.top if b[0] == 'mini'), None)
        meta = next((b for b in self.top if b[0] == 'meta'), None)
        self.items, self.refs, self.groups, self.lists = {}, [], [], {}
        self.props, self.where, self.idat = [], {}, b''
        self.orders = []
        if not meta:
            return
        for box in boxes(data, meta[1] + 4, meta[2]):
            getattr(self, 'read_' + box[0].strip(), lambda *_: None)(*box[1:3])

    def read_pitm(self, at, end):
        self.primary = Bits(self.data, at + 4).take(4 if self.data[at] else 2)

    def read_idat(self, at, end):
        self.idat = self.data[at:end]

    def read_iinf(self, at, end):
        for kind, a, e, _ in boxes(self.data, at + (8 if self.data[at] else 6),
                                   end):
            b = Bits(self.data, a)
            version, flags = b.take(1), b.take(3)
            number, _ = b.take(4 if version == 3 else 2), b.take(2)
            kind = self.data[b.at:b.at + 4].decode('latin1')
            self.items[number] = (kind, flags & 1)

    def read_iref(self, at, end):
        n = 4 if self.data[at] else 2
        for kind, a, e, _ in boxes(self.data, at + 4, end):
            b = Bits(self.data, a)
            first, count = b.take(n), b.take(2)
            self.refs.append((kind, first, [b.take(n) for _ in range(count)]))

    def read_grpl(self, at, end):
        for kind, a, e, _ in boxes(self.data, at, end):
            b = Bits(self.data, a + 8)
            self.groups.append((kind, [b.take(4) for _ in range(b.take(4))]))

    def read_iloc(self, at, end):
        b = Bits(self.data, at)
        version, _, sizes = b.take(1), b.take(3), b.take(2)
        off, length, base, index = (sizes >> s & 15 for s in (12, 8, 4, 0))
        for _ in range(b.take(4 if version == 2 else 2)):
            number = b.take(4 if version == 2 else 2)
            method = b.take(2) & 15 if version else 0
            ref, start, extents = b.take(2), b.take(base), []
            for _ in range(b.take(2)):
                b.take(index if version else 0)
                extents.append((start + b.take(off), b.take(length)))
            self.where[number] = (method, ref, extents)

    def read_iprp(self, at, end):
        for kind, a, e, _ in boxes(self.data, at, end):
            if kind == 'ipco':
                self.props += [(k, self.data[x:y]) for k, x, y, _ in
                               boxes(self.data, a, e)]
        for kind, a, e, _ in boxes(self.data, at, end):
            if kind != 'ipma':
                continue
            b = Bits(self.data, a)
            version, flags, last = b.take(1), b.take(3), -1
            for _ in range(b.take(4)):
                number = b.take(4 if version else 2)
                self.orders.append(number > last)
                last, here = number, []
                for _ in range(b.take(1)):
                    v = b.take(2 if flags & 1 else 1)
                    top = 15 if flags & 1 else 7
                    if v & ((1 << top) - 1):
                        here.append((v >> top, v & ((1 << top) - 1)))
                assert number not in self.lists, 'listed twice'
                self.lists[number] = here
            assert b.at == e, 'ipma has another size'

    def content(self, number):
        """The data of an item, with the orientation in EXIF and XMP masked."""
        method, ref, extents = self.where.get(number, (0, 0, []))
        data = self.idat if method == 1 else self.data
        if method > 1:
            return extents
        out = b''
        for start, length in extents:
            assert start + length <= len(data), 'beyond the end'
            out += data[start:start + length] if length else b'open'
        return out

    def listed(self, number):
        return [(e, *self.props[p - 1]) for e, p in self.lists.get(number, [])]

    def size(self, number):
        return next((struct.unpack('>II', p[4:12]) for _, k, p in
                     self.listed(number) if k == 'ispe'), None)

    def shown(self, number):
        """Where the corners of an item go, as listed."""
        corners = CORNERS
        for _, kind, body in self.listed(number):
            if kind == 'irot':
                for _ in range(body[0] & 3):
                    corners = turned(corners, 'rotate270')
            if kind == 'imir':
                corners = turned(corners, 'fliph' if body[0] & 1 else 'flipv')
        return corners

    def transforms(self, number):
        return [(e, k, p) for e, k, p in self.listed(number)
                if k in ('clap', 'irot', 'imir')]

    def cut(self, number):
        """The rectangle of the stored picture that is shown, by its corners:
        in the order of CORNERS, of the picture as stored."""
        from fractions import Fraction as F
        w, h = self.size(number) or (0, 0)
        to = [(F(x * w), F(y * h)) for x, y in CORNERS]
        # Where stored points are shown is an affine map: its images of three.
        point = [(F(0), F(0)), (F(1), F(0)), (F(0), F(1))]
        rect = (F(0), F(0), F(w), F(h))
        back = (F(1), F(0), F(0), F(0), F(1), F(0))
        for _, kind, body in self.listed(number):
            x0, y0, x1, y1 = rect
            if kind == 'clap':
                v = struct.unpack('>IIIIiIiI', body[:32])
                cw, ch, dx, dy = (F(v[i], v[i + 1]) for i in (0, 2, 4, 6))
                mx, my = (x0 + x1) / 2 + dx, (y0 + y1) / 2 + dy
                rect = (mx - cw / 2, my - ch / 2, mx + cw / 2, my + ch / 2)
                continue
            if kind == 'irot':
                for _ in range(body[0] & 3):  # (x, y) is shown at (y, -x)
                    x0, y0, x1, y1 = rect
                    rect = (y0, -x1, y1, -x0)
                    a, b, c, d, e, f = back
                    back = (d, e, f, -a, -b, -c)
            if kind == 'imir':
                a, b, c, d, e, f = back
                if body[0] & 1:
                    rect, back = (-x1, y0, -x0, y1), (-a, -b, -c, d, e, f)
                else:
                    rect, back = (x0, -y1, x1, -y0), (a, b, c, -d, -e, -f)
        a, b, c, d, e, f = back
        det = a * e - b * d
        def undo(x, y):
            return ((e * (x - c) - b * (y - f)) / det,
                    (-d * (x - c) + a * (y - f)) / det)
        p, q = undo(rect[0], rect[1]), undo(rect[2], rect[3])
        return tuple(sorted((p[0], q[0]))) + tuple(sorted((p[1], q[1])))

    def mini_orientation(self):
        return (self.data[self.mini[1] + 1] & 7) + 1
