#!/usr/bin/env python3
"""Raw files of cameras and TIFF files, built as their formats are described, and
the orientation that they must have after a turn, without gimgxf.
raw_pictures.py make DIR writes them; raw_pictures.py check OPERATION DIR OUT
compares those of two directories."""
import os
import struct
import sys

from pieces import box, read, write, xmp_tag
import tiff
from tiff import SIZES, Writer
from turns import then


def turned(orientation, operation):
    return orientation or 1 if operation == 'upright' else then(orientation or 1, operation)


# ---- Building ----------------------------------------------------------------

class Tiff(Writer):
    """With another magic number, if one is given, and a gap behind the head."""

    def __init__(self, order, big=False, magic=None, gap=b''):
        super().__init__(order, big)
        self.out[:4] = magic or self.out[:4]
        self.out += gap

    def ifd(self, entries, page=False):
        """Appends an IFD of {tag: (type, values or bytes)}; a page is linked."""
        return self.directory({tag: (kind, [values] if isinstance(values, int) else values)
                               for tag, (kind, values) in entries.items()},
                              self.link if page else None)


def tag(orientation, kind=3):
    return {274: (kind, orientation)} if orientation is not None else {}


def exif(orientation, order='<'):
    block = Tiff(order)
    block.ifd({271: (2, b'Maker\0'), **tag(orientation)}, True)
    block.ifd({259: (3, 6), **tag(orientation)}, True)
    return bytes(block.out)


def jpeg(orientation, order='<'):
    block = b'Exif\0\0' + exif(orientation, order)
    return (b'\xff\xd8\xff\xe1' + struct.pack('>H', len(block) + 2) + block +
            b'\xff\xdb\0\4ab\xff\xd9')


def picture(file, width, height, compression, photometric, data):
    return {256: (3, width), 257: (3, height), 258: (3, 8), 259: (3, compression),
            262: (3, photometric), 273: (4, file.append(data)),
            277: (3, max(1, len(data) // (width * height))), 279: (4, len(data))}


SAMPLES = bytes(range(200, 256)) * 3


def raw(name, o, order='<', big=False):
    """One of a camera: `o` is its orientation, or None."""
    magic = {'orf': b'IIRO', 'orf2': b'IIRS', 'orfm': b'MMOR', 'rw2': b'IIU\0'}
    gap = {'cr2': b'CR\2\0' + bytes(4), 'rw2': bytes(16)}
    f = Tiff(order, big, magic.get(name), gap.get(name, b''))
    sensor = picture(f, 60, 40, {'arw': 32767, 'nef': 34713, 'pef': 65535,
                                 'srw': 32770}.get(name, 1), 32803, SAMPLES)
    small = {254: (4, 1), 271: (2, b'Maker of it\0'),
             **picture(f, 6, 4, 1, 2, bytes(72)), **tag(o)}
    if name == 'cr2':
        f.ifd({**picture(f, 60, 40, 6, 6, jpeg(o)), **tag(o)}, True)
        f.ifd({513: (4, f.append(jpeg(o))), 514: (4, len(jpeg(o)))}, True)
        f.ifd(picture(f, 6, 4, 6, 2, bytes(72)), True)
        f.ifd(picture(f, 60, 40, 6, 1, SAMPLES), True)
    elif name in ('pef', 'dngcfa', 'orf', 'orf2', 'orfm'):
        more = {50706: (1, b'\1\4\0\0')} if name == 'dngcfa' else {}
        f.ifd({**sensor, **tag(o), **more}, True)
        f.ifd({**picture(f, 6, 4, 6, 6, b'\xff\xd8\xff\xd9')}, True)
    elif name == 'rw2':
        f.ifd({2: (3, 140), 3: (3, 40), 46: (7, jpeg(o)), 273: (4, 0xffffffff),
               279: (4, 0), 280: (4, f.append(bytes(6400))), **tag(o)}, True)
    else:
        subs = [f.ifd({254: (4, 1), 513: (4, f.append(jpeg(o, '>'))),
                       514: (4, len(jpeg(o))),
                       **tag(o if name == 'nef' else None)}),
                f.ifd({**sensor, **tag(o if name == 'nef' else None)})]
        small[330] = (13, subs)
        if name == 'dng':
            small[50706] = (1, b'\1\4\0\0')
            small[34665] = (4, f.ifd({36864: (7, b'0230'), **tag(o)}))
            if o:
                small[700] = (1, xmp_tag(o))
        f.ifd(small, True)
        if name == 'arw':
            f.ifd({259: (3, 6), 513: (4, f.append(jpeg(None))), **tag(o)}, True)
    return bytes(f.out)


CANON = bytes.fromhex('85c0b687820f11e08111f4ce462b6a48')


def cr3(o, order):
    return (box(b'ftyp', b'crx \0\0\0\1crx isom') +
            box(b'moov', box(b'uuid', CANON, box(b'CNCV', b'Canon'),
                             box(b'CMT1', exif(o, order))), box(b'mvhd')) +
            box(b'mdat', SAMPLES))


def raf(o, order):
    picture_of_it = jpeg(o, order)
    sizes = struct.pack('>IHHHH', 1, 0x111, 4, 40, 60)
    at = 148 + len(picture_of_it)
    head = (b'FUJIFILMCCD-RAW 0201FF392201'.ljust(84, b'\0') +
            struct.pack('>IIIIII', 148, len(picture_of_it), at, len(sizes),
                        at + len(sizes), len(SAMPLES)))
    return head.ljust(148, b'\0') + picture_of_it + sizes + SAMPLES


def pages(o, order, big, kind):
    """A TIFF of pages with and without the tag, the second with a SubIFD."""
    f = Tiff(order, big)
    for i in range(4):
        more = tag(o, kind) if i % 2 == 0 else tag(i + 4) if i > 1 else {}
        if i == 1:
            more[330] = (18 if big else 13, [
                f.ifd(picture(f, 3, 2, 1, 1, bytes(6))),
                f.ifd({**picture(f, 3, 2, 1, 1, bytes(6)), **tag(7)})])
        if i == 2 and o:
            more[700] = (7, xmp_tag(o))
        f.ifd({**picture(f, 6, 4, 1, 1, bytes([i]) * 24), **more}, True)
    return bytes(f.out)


def make(place):
    def put(name, data):
        write(os.path.join(place, name), data)
    os.makedirs(place, exist_ok=True)
    for o in [None, *range(1, 9)]:
        n = o or 0
        for name in ('dng', 'dngcfa', 'nef', 'arw', 'srw', 'pef'):
            for order in '<>':
                side = 'le' if order == '<' else 'be'
                put(f'{name}-{side}-{n}.{name[:3]}', raw(name, o, order))
        put(f'big-{n}.dng', raw('dng', o, '>', True))
        put(f'canon-{n}.cr2', raw('cr2', o))
        for name in ('orf', 'orf2', 'rw2'):
            put(f'{name}-{n}.{name[:3]}', raw(name, o))
        put(f'orfm-{n}.orf', raw('orfm', o, '>'))
        for order in '<>':
            for big in (False, True):
                put('pages-%d%d-%d.tif' % (order == '>', big, n),
                      pages(o, order, big, 3))
            if o:
                put('long-%d-%d.tif' % (order == '>', n),
                      pages(o, order, False, 4))
                put('canon-%d-%d.cr3' % (order == '>', n), cr3(o, order))
                put('fuji-%d-%d.raf' % (order == '>', n), raf(o, order))


# ---- Judging -----------------------------------------------------------------

class Reader:
    """Every place of a file that says an orientation: in `says` its value, in
    `bytes` where it stands; and what each page has."""

    def __init__(self, data):
        self.data, self.says, self.bytes, self.pages = data, {}, set(), []
        self.links = set()  # where the places of pages stand
        start = data.find(b'tiff:Orientation="')
        if start > 0 and not data.startswith(b'FUJI'):
            self.says['XMP'] = data[start + 18] - 48
            self.bytes.add(start + 18)
        if data[4:12] == b'ftypcrx ':
            self.tiff('CMT1', data.index(b'CMT1') + 4)
        elif data.startswith(b'FUJI'):
            self.tiff('JPEG', 148 + 12)
        else:
            self.tiff('', 0)

    def tiff(self, name, base):
        block = tiff.Reader(self.data, base)
        self.links.update(range(base + block.room, base + 2 * block.room))
        for i, tags in enumerate(block.pages):
            self.ifd(f'{name}.{i}', block, tags)

    def ifd(self, name, block, tags):
        self.links.update(range(tags.link, tags.link + block.room))
        self.pages.append({k: v for k, (_, v) in tags.items()
                           if k not in (46, 274, 700)})
        if 274 in tags:
            self.says[name] = block.values(tags, 274)[0]
            self.bytes.update(range(tags.where[274], tags.where[274] + SIZES[tags[274][0]]))
        inner = [(f'{name}.{k}', place) for k, place in enumerate(block.values(tags, 330))]
        inner += [(name + '.exif', place) for place in block.values(tags, 34665)]
        for one, place in inner:
            self.ifd(one, block, next(block.chain(place)))
        for tag in {46, 273, 513} & set(tags):
            start = tags.where[46] if tag == 46 else block.values(tags, tag)[0]
            if self.data[start + 6:start + 10] == b'Exif':
                self.tiff(name + '.jpeg', start + 12)


def wanted(name, was, operation):
    """What each place must say then."""
    if operation in ('copy', 'upright'):
        return dict(was)
    if name.endswith('.tif'):
        want = {k: turned(v, operation) for k, v in was.items()}
        for i in range(4):
            if f'.{i}' not in was and turned(None, operation) != 1:
                want[f'.{i}'] = turned(None, operation)
        return want
    first = next(iter(v for k, v in was.items() if k != 'XMP'), None)
    is_now = turned(first, operation)
    want = dict.fromkeys(was, is_now)
    if '.0' not in was and 'CMT1.0' not in was and 'JPEG.0' not in was and \
            is_now != 1:
        want['.0'] = is_now
    return want


def check(operation, place, out):
    names, wrong = sorted(os.listdir(place)), 0
    for name in names:
        before = read(os.path.join(place, name))
        try:
            after = read(os.path.join(out, name))
        except OSError:
            print(name, 'is missing')
            wrong += 1
            continue
        was, now = Reader(before), Reader(after)
        want = wanted(name, was.says, operation)
        where = was.bytes
        added = len(want) > len(was.says)
        if added:  # the links to IFDs that have moved to the end
            where = where | was.links
        same = (len(after) > len(before)) == added and \
            all(a == b or i in where
                for i, (a, b) in enumerate(zip(before, after)))
        if now.says != want or now.pages != was.pages or not same:
            print(f'{name}: {operation}: {was.says} became {now.says}, not '
                  f'{want}; else the same: {same}')
            wrong += 1
    return wrong


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        make(sys.argv[2])
    else:
        sys.exit(1 if check(*sys.argv[2:5]) else 0)
