"""Makes HEIF files of many shapes, and judges what a turn has made of them:
    heif_files.py make              writes them here
    heif_files.py check OP IN OUT   fails unless OUT is IN, turned
    heif_files.py orientation FILE [ITEM]
                                    prints that of irot and imir
The data of the items is noise: nobody decodes it."""
import random
import struct
import sys

import pieces
from heif_reader import CORNERS, EXIF, Heif, turned
from pieces import exif, judge, read, write, xmp_tag


def box(kind, *parts, head=8):
    return pieces.box(kind.encode(), *parts, head=head)


def full(kind, version, flags, *parts, **more):
    return box(kind, struct.pack('>I', version << 24 | flags), *parts, **more)


def noise(seed, n):
    return random.Random(seed).randbytes(n)


ISPE = lambda w, h: full('ispe', 0, 0, struct.pack('>II', w, h))
IROT = lambda angle: box('irot', bytes([angle]))
IMIR = lambda axis: box('imir', bytes([axis]))
CLAP = lambda *v: box('clap', struct.pack('>IIIIiIiI', *v))
GRID = bytes([0, 0, 0, 1]) + struct.pack('>HH', 80, 24)


class File:
    """items: number: (type, data, [properties]); properties that are the same
    bytes are one, unless `apart`. The primary item is 1."""

    def __init__(self, items, refs=(), groups=(), **how):
        self.items, self.refs, self.groups = items, refs, groups
        self.how = dict(iloc=1, sizes=0x4440, wide=False, ipma=0, primary=1,
                        brand=b'heic', order='fmd', free=0, head=8, tail=b'',
                        idat=(), apart=False, extents=1, plain=(), lists='one', unnamed=())
        assert not set(how) - set(self.how), how
        self.how.update(how)

    def properties(self):
        props, lists = [], {}
        for number, (_, _, wanted) in self.items.items():
            for p in wanted:
                if p not in props or self.how['apart']:
                    props.append(p)
                lists.setdefault(number, []).append(
                    (p[4:8] in (b'irot', b'imir', b'clap') and
                     number not in self.how['plain'],
                     len(props) if self.how['apart'] else props.index(p) + 1))
        wide, long = self.how['wide'], self.how['ipma']
        numbers = sorted(lists, reverse=self.how['lists'] == 'reversed')
        parts = [[n] for n in numbers] if self.how['lists'] == 'each' else [numbers]
        bodies = []
        for part in parts:
            body = struct.pack('>I', len(part))
            for number in part:
                body += struct.pack('>IB' if long else '>HB', number,
                                    len(lists[number]))
                for essential, p in lists[number]:
                    body += struct.pack('>H' if wide else '>B',
                                        essential << (15 if wide else 7) | p)
            bodies.append(full('ipma', long, wide, body))
        return box('iprp', box('ipco', *props), *bodies)

    def iloc(self, where):
        version, sizes = self.how['iloc'], self.how['sizes']
        off, length, base, index = (sizes >> s & 15 for s in (12, 8, 4, 0))
        pack = lambda v, n: v.to_bytes(n, 'big')
        out = pack(sizes, 2) + pack(len(where), 4 if version == 2 else 2)
        for number, (method, at, parts) in where.items():
            out += pack(number, 4 if version == 2 else 2)
            out += pack(method, 2) if version else b''
            start = at if not off else at // 2 if base else 0
            out += pack(0, 2) + pack(start, base) + pack(len(parts), 2)
            for n in parts:
                out += pack(0, index if version else 0)
                out += pack(at - start, off) + pack(n, length)
                at += n
        return full('iloc', version, 0, out)

    def meta(self, at):
        how, where, idat = self.how, {}, b''
        for number, (kind, data, _) in self.items.items():
            inside = number in how['idat']
            cut = len(data) // 3 if how['extents'] == 2 else 0
            parts = [cut, len(data) - cut] if cut else [len(data)]
            where[number] = (inside, len(idat) if inside else at, parts)
            if inside:
                idat += data
            else:
                at += len(data)
        infe = b''.join(
            full('infe', 2, 0, struct.pack('>HH4s', n, 0, kind.encode()), b'\0',
                 b'application/rdf+xml\0' if kind == 'mime' else b'')
            for n, (kind, _, _) in self.items.items() if n not in how['unnamed'])
        refs = b''.join(box(kind, struct.pack('>HH', a, len(to)), *(
            struct.pack('>H', n) for n in to)) for kind, a, to in self.refs)
        groups = b''.join(full(kind, 0, 0, struct.pack('>II', 900, len(of)), *(
            struct.pack('>I', n) for n in of)) for kind, of in self.groups)
        return full(
            'meta', 0, 0, full('hdlr', 0, 0, b'\0\0\0\0pict', bytes(13)),
            full('pitm', 0, 0, struct.pack('>H', how['primary'])),
            self.iloc(where),
            full('iinf', 0, 0, struct.pack(
                '>H', len(self.items) - len(how['unnamed'])), infe),
            full('iref', 0, 0, refs) if refs else b'', self.properties(),
            box('idat', idat) if idat else b'',
            box('grpl', groups) if groups else b'',
            head=how['head'])

    def bytes(self):
        how = self.how
        ftyp = box('ftyp', how['brand'], bytes(4), b'mif1', how['brand'])
        data = b''.join(d for n, (_, d, _) in self.items.items()
                        if n not in how['idat'])
        free = box('free', bytes(how['free'])) if how['free'] else b''
        mdat = box('mdat', data, head=how['head'] or 8)
        at = len(ftyp) + len(mdat) - len(data)
        if how['order'] == 'fmd':
            at += len(self.meta(0)) + len(free)
            return ftyp + self.meta(at) + free + mdat + how['tail']
        return ftyp + mdat + self.meta(at) + how['tail']


def picture(seed, *props, size=(80, 48), kind='hvc1'):
    return kind, noise(seed, 90 + seed), [box('hvcC', b'\1'), ISPE(*size), *props]


def mini(orientation):
    head = orientation - 1 | 3 << 3 | 0 << 5
    return box('ftyp', b'mif3avif') + box(
        'mini', bytes([0, head, 79 >> 1, (79 & 1) << 7 | 47, 0]), noise(9, 60))


def files():
    one = {1: picture(1)}
    r3 = {1: picture(1, IROT(3)), 2: picture(2, size=(20, 12))}
    tiles = {n: picture(n, size=(40, 24)) for n in (2, 3)}
    hdr = {1: picture(1, IROT(3)), 2: picture(2, size=(40, 24)),
           3: ('tmap', noise(3, 62), [ISPE(48, 80), IROT(0)])}
    tmap = [('dimg', 3, [1, 2])]
    yield 'plain', File(one)
    yield 'iloc0', File(one, iloc=0, sizes=0x4400)
    yield 'iloc2', File(one, iloc=2, sizes=0x8888, extents=2)
    yield 'base', File(one, iloc=1, sizes=0x0440)
    yield 'based', File({**one, 2: picture(2)}, sizes=0x4480, extents=2)
    yield 'wide', File(one, wide=True, ipma=1)
    yield 'long', File({**one, 2: ('hvc1', b'x', [
        box('free', bytes([i])) for i in range(127)])})
    yield 'late', File(one, order='fdm')
    yield 'open', File(one, order='fdm', head=0)
    yield '64', File(one, head=16)
    for n in (3, 10, 18, 40, 3000):
        yield 'free%d' % n, File(one, free=n)
    yield 'tail', File(one, tail=box('mpvd', noise(5, 70)) + box('sefd', noise(
        6, 20)) + b'SEFT' + noise(7, 3))
    yield 'film', File(one, tail=box('ftyp', b'mp42') + box('moov', b'more'))
    yield 'clap', File({1: picture(1, CLAP(41, 2, 30, 1, 3, 2, -5, 1))})
    for i, props in enumerate([[IROT(0)], [IROT(1)], [IMIR(0)], [IMIR(1)],
                               [IROT(2), IMIR(1)], [IMIR(0), IROT(1)],
                               [IROT(3), CLAP(20, 1, 31, 1, 3, 2, -5, 2)],
                               [IMIR(1), IROT(3), CLAP(20, 1, 31, 1, 3, 2, 0, 1),
                                IROT(1)]]):
        yield 'own%d' % i, File({1: picture(1, *props)})
    yield 'loose', File({1: picture(1, IROT(1))}, plain=(1,))
    yield 'middle', File({1: ('hvc1', b'data', [ISPE(80, 48), IROT(1), box(
        'pixi', b'\0\0\0\0\3\x08\x08\x08')])})
    yield 'alpha', File(r3, [('auxl', 2, [1])])
    for how in 'each', 'reversed':
        yield 'lists-' + how, File(r3, [('auxl', 2, [1])], lists=how)
        yield how, File({1: picture(1, IROT(3)), 2: picture(2, IROT(3))},
                        [('auxl', 2, [1])], lists=how)
    yield 'thumb', File(r3, [('thmb', 2, [1])], free=400)
    yield 'upright-thumb', File({**r3, 2: picture(2, size=(12, 20))},
                                [('thmb', 2, [1])])
    yield 'both', File({1: picture(1, IROT(1)), 2: picture(2, IROT(1))},
                       [('thmb', 2, [1])])
    yield 'composed', File({1: picture(1, IROT(1)), 2: picture(2, IMIR(0))},
                           [('auxl', 2, [1])])
    yield 'other', File({1: picture(1, IROT(1)), 2: picture(2, IROT(1))})
    yield 'apart', File({1: picture(1, IROT(1)), 2: picture(2, IROT(1))},
                        apart=True)
    yield 'grid', File({**tiles, 1: ('grid', GRID, [ISPE(80, 24), IROT(0)])},
                       [('dimg', 1, [2, 3])], idat=(1,))
    yield 'fallback', File({**tiles, 1: ('grid', GRID, [ISPE(80, 24)])},
                           [('dimg', 1, [2, 3])], [('altr', [1, 2])], idat=(1,))
    yield 'hdr', File(hdr, tmap, [('altr', [3, 1])])
    for n in 1, 3:
        yield 'unnamed%d' % n, File(
            {1: picture(1, IROT(n)), 2: picture(2, IROT(3))}, unnamed=(2,))
    yield 'lost', File({**{n: hdr[n] for n in (2, 3)}, 4: picture(4)}, tmap,
                       [('altr', [3, 4])], primary=4)
    for name, of in ('nothing', [7]), ('picture', [1]):
        yield 'blend-' + name, File({1: hdr[1], 3: hdr[3]}, [('dimg', 3, of)],
                                    primary=3)
    yield 'hdr-flat', File({**hdr, 1: picture(1, IROT(0)),
                            3: ('tmap', noise(3, 62), [ISPE(80, 48), IROT(0)])},
                           tmap)
    for n, size in (0, (80, 48)), (3, (48, 80)):
        yield 'hdr-own%d' % n, File(
            {1: picture(1, IROT(n)), 2: picture(2, IROT(n), size=(40, 24)),
             3: ('tmap', noise(3, 62), [ISPE(*size), IROT(0)])}, tmap)
    yield 'stereo', File({1: picture(1), 2: picture(2)}, [], [('ster', [2, 1])])
    yield 'iden', File({2: picture(2, IROT(3)),
                        1: ('iden', b'', [ISPE(48, 80), IMIR(0)])},
                       [('dimg', 1, [2])])
    yield 'iden-of', File({1: picture(1, CLAP(40, 1, 30, 1, 2, 1, 3, 1)),
                           2: ('iden', b'', [ISPE(40, 30), CLAP(
                               20, 1, 11, 1, 5, 2, -3, 1), IROT(3)])},
                          [('dimg', 2, [1])])
    for n in (1, 6, 7):
        yield 'exif%d' % n, File({**one, 2: ('Exif', bytes(4) + exif(n), []), 3: (
            'mime', xmp_tag(6), [])}, [('cdsc', 2, [1]), ('cdsc', 3, [1])], extents=2)
        yield 'irot-exif%d' % n, File({1: picture(1, IROT(2)), 2: ('Exif', b'\0\0\0\6Exif\0\0' + exif(
            n, False), [])}, idat=(2,))
    yield 'mini', mini(6)


def others_exif(heif, number):
    return any(k == 'cdsc' and a == number and heif.primary not in to
               for k, a, to in heif.refs)


def start(heif):
    """Where the corners of the primary item are shown, also by EXIF alone."""
    if any(k in ('irot', 'imir') for _, k, _ in heif.transforms(heif.primary)):
        return heif.shown(heif.primary), None
    for number, (kind, _) in heif.items.items():
        data = heif.content(number) if kind == 'Exif' else b''
        if data and not others_exif(heif, number):
            at = data.index(b'MM\0*' if b'MM\0*' in data else b'II*\0')
            value = data[at + 18:at + 20]
            value = EXIF[value[0] or value[1]]
            return turned(CORNERS, value), value if value != 'copy' else None
    return CORNERS, None


def with_it(heif):
    """The items that are shown with the primary one, and whose they are."""
    made = {a: to for k, a, to in heif.refs if k == 'dimg' and
            heif.items[a][0] == 'tmap'}
    tiles = {n for k, a, to in heif.refs if k == 'dimg' and a not in made
             for n in to}
    found, more = {heif.primary: None}, True
    while more:
        more = False
        new = {a: to[0] for k, a, to in heif.refs
               if k in ('auxl', 'thmb') and to[0] in found}
        for a, to in made.items():
            if to[0] in found:
                new.update({a: None, to[1]: to[0]})
        for _, of in heif.groups:
            if set(of) & set(found):
                new.update((n, None) for n in of if n not in tiles)
        for n in new:
            if n not in found:
                found[n], more = new[n], True
    return found


def check(op, before, after):
    a, b = Heif(before), Heif(after)
    if a.mini:
        want = turned(turned(CORNERS, EXIF[a.mini_orientation()]), op)
        assert turned(CORNERS, EXIF[b.mini_orientation()]) == want
        assert len(before) == len(after)
        return
    shown, by_exif = start(a)
    assert (a.items, a.refs, a.groups) == (b.items, b.refs, b.groups)
    assert a.orders == b.orders, 'ipma is sorted in another way'
    kept = [(k, before[x:y]) for k, x, y, _ in a.top if k not in
            ('meta', 'free', 'mdat')]
    assert kept == [(k, after[x:y]) for k, x, y, _ in b.top if k not in
                    ('meta', 'free', 'mdat')], 'another box has changed'
    changed = before != after
    if not changed:
        assert op == 'upright' and not by_exif, 'nothing has changed'
        return
    for number, (kind, _) in a.items.items():
        x, y = a.content(number), b.content(number)
        if kind == 'Exif':
            at = x.index(b'MM\0*' if b'MM\0*' in x else b'II*\0') + 18
            x = x[:at] + (b'\0\1' if b'MM\0*' in x else b'\1\0') + x[at + 2:]
        if kind == 'mime':
            x = x.replace(b'Orientation="6"', b'Orientation="1"')
        assert x == y, 'the data of item %d' % number
    group = with_it(a)
    for number in set(a.lists) - set(a.items):
        assert a.listed(number) == b.listed(number), 'another list has changed'
    for number in a.items:
        kinds = [k for _, k, _ in b.transforms(number)]
        whose, own = number, a.transforms(number)
        while not a.transforms(whose) and group.get(whose):
            whose = group[whose]
            w, h = a.size(number) or (1, 1)
            if a.shown(whose)[1][0] == a.shown(whose)[0][0] and \
                    (w > h) != (a.size(whose)[0] > a.size(whose)[1]):
                whose = number
                break
        want = a.shown(whose)
        if number in group and a.items[number][0] != 'tmap':
            want = turned(turned(want, by_exif or 'copy'), op)
            assert by_exif or kinds == sorted(
                kinds, key=['clap', 'irot', 'imir'].index), 'order'
            assert all(e for e, _, _ in b.transforms(number))
        fed = any(k == 'dimg' and n == number and set(to) & set(group) and
                  a.items[n][0] == 'iden' for k, n, to in a.refs)
        if fed:
            inner = turned(a.shown(1), 'copy')
            total = lambda h: [h.shown(number)[CORNERS.index(p)]
                               for p in h.shown(1)]
            assert total(a) == total(b), 'item %d is shown otherwise' % number
        else:
            assert b.shown(number) == want, 'item %d' % number
            assert kind == 'tmap' or not own or a.cut(number) == b.cut(number), 'cut'
        if number not in group and not fed:
            assert a.listed(number) == b.listed(number), 'a list has changed'
        rest = [p for _, k, p in a.listed(number) if k not in
                ('clap', 'irot', 'imir', 'ispe')]
        assert rest == [p for _, k, p in b.listed(number) if k not in
                        ('clap', 'irot', 'imir', 'ispe')], 'properties'
        if a.items[number][0] == 'tmap' and a.size(number):
            across = b.shown(1)[1][0] == b.shown(1)[0][0]
            w, h = b.size(1)
            assert b.size(number) == ((h, w) if across else (w, h)), 'tmap'


def main():
    if sys.argv[1] == 'make':
        for name, file in files():
            data = file if isinstance(file, bytes) else file.bytes()
            suffix = {'mini': '.avif', 'lost': '.heif', 'blend': '.heif'}.get(
                name.split('-')[0], '.heic')
            write(name + suffix, data)
        return
    if sys.argv[1] == 'orientation':
        number = int((sys.argv + ['1'])[3])
        shown = Heif(read(sys.argv[2])).shown(number)
        print(next(n for n in range(1, 9)
                   if turned(CORNERS, EXIF[n]) == shown))
        return
    judge(lambda op, before, after: check(op, read(before), read(after)))


main()
