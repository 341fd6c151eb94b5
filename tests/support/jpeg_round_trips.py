"""JPEG files as cameras make them, turned and turned back: all is as it was.

    jpeg_round_trips.py PROGRAM BACKEND [CORPUS]

Makes some two hundred files whose size is whole MCUs, and takes those of that
kind from a folder of pictures with an INDEX.tsv. Each is turned by one of the
seven turns and then by what undoes it. Coefficients and tables are compared as
jpegtran brings them to one form, all else as bytes, but for how long a coded
picture is: its Huffman tables are its own.

What is looked for in EXIF is found here from the text of the standard (EXIF
2.3, TIFF 6.0).
"""
import os
import random
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jpeg_trailers as trailers

UNDO = {'fliph': 'fliph', 'rotate180': 'rotate180', 'flipv': 'flipv',
        'transpose': 'transpose', 'transverse': 'transverse',
        'rotate90': 'rotate270', 'rotate270': 'rotate90'}
OPS = list(UNDO)
COUNT = 203
SAMPLES = ['1x1', '2x1', '1x2', '2x2', '4x1']
CODINGS = [['-baseline'], ['-optimize'], ['-progressive'],
           ['-restart', '1B'], ['-restart', '1'],
           ['-progressive', '-restart', '2']]


# ---- Files -------------------------------------------------------------------

def coded(width, height, options):
    """Smooth, and left by no turn as it is; without JFIF."""
    samples = bytes(v & 255 for y in range(height) for x in range(width)
                    for v in (x * 255 // width, y * 255 // height,
                              (x * y >> 3) + 5 * x))
    ppm = b'P6 %d %d 255\n' % (width, height) + samples
    jpeg = subprocess.run(['cjpeg', '-quality', '85'] + options, input=ppm,
                          capture_output=True, check=True).stdout
    jfif = 4 + struct.unpack('>H', jpeg[4:6])[0]
    return jpeg[:2] + jpeg[jfif:], jpeg[2:jfif]


def make_exif(order, width, height, thumbnail):
    """Values that do not fit into an entry lie between IFD0 and IFD1; the
    thumbnail is last, and the maker note counts from nowhere."""
    def entry(tag, kind, count, value):
        short = kind == 3 and count == 1
        return struct.pack(order + ('HHIHH' if short else 'HHII'), tag, kind,
                           count, *([value, 0] if short else [value]))

    def ifd(entries, link):
        return (struct.pack(order + 'H', len(entries)) + b''.join(entries)
                + struct.pack(order + 'I', link))
    note = b'maker\0' + bytes(range(0, 255, 7))
    rationals = struct.pack(order + '4I', 300, 1, 200, 1)
    area = struct.pack(order + '4H', width // 3, height // 4, 20, 10)
    ifd0_at, exif_at = 8, 8 + 2 + 6 * 12 + 4
    values_at = exif_at + 2 + 4 * 12 + 4
    area_at = values_at + len(rationals)
    note_at = area_at + len(area)
    ifd1_at = note_at + len(note) + len(note) % 2
    thumbnail_at = ifd1_at + 2 + 3 * 12 + 4
    ifd0 = ifd([entry(0x100, 4, 1, width), entry(0x101, 4, 1, height),
                entry(0x112, 3, 1, 1), entry(0x11a, 5, 1, values_at),
                entry(0x11b, 5, 1, values_at + 8),
                entry(0x8769, 4, 1, exif_at)], ifd1_at if thumbnail else 0)
    exif = ifd([entry(0x927c, 7, len(note), note_at),
                entry(0x9214, 3, 4, area_at), entry(0xa002, 3, 1, width),
                entry(0xa003, 3, 1, height)], 0)
    block = {'<': b'II*\0', '>': b'MM\0*'}[order]
    block += struct.pack(order + 'I', ifd0_at) + ifd0 + exif
    block += rationals + area + note + b'\0' * (len(note) % 2)
    if thumbnail:
        block += ifd([entry(0x103, 3, 1, 6), entry(0x201, 4, 1, thumbnail_at),
                      entry(0x202, 4, 1, len(thumbnail))], 0) + thumbnail
    return trailers.segment(0xe1, b'Exif\0\0' + block)


def make_xmp(width, height):
    text = ('<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta '
            'xmlns:x="adobe:ns:meta/"><rdf:Description '
            'xmlns:tiff="http://ns.adobe.com/tiff/1.0/" '
            'xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:mwg-rs='
            '"http://www.metadataworkinggroup.com/schemas/regions/" '
            'xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#" xmlns:MPReg='
            '"http://ns.microsoft.com/photo/1.2/t/Region#" '
            'tiff:Orientation="1" tiff:ImageWidth="%d" tiff:ImageLength="%d" '
            'exif:PixelXDimension="%d" exif:PixelYDimension="%d">'
            '<mwg-rs:Area stArea:x="0.25" stArea:y="0.125" stArea:w="0.5" '
            'stArea:h="0.06" stArea:unit="normalized"/>'
            '<MPReg:Rectangle>0.25, 0.12, 0.50, 0.06</MPReg:Rectangle>'
            '</rdf:Description></x:xmpmeta>\n' % (width, height, width, height)
            + 20 * ' ' + '<?xpacket end="w"?>')
    return trailers.segment(0xe1, b'http://ns.adobe.com/xap/1.0/\0'
                            + text.encode())


def make_icc(rand):
    profile = rand.randbytes(500)
    return b''.join(trailers.segment(0xe2, b'ICC_PROFILE\0%c\2' % (i + 1)
                                     + profile[250 * i:250 * i + 250])
                    for i in range(2))


def make_photoshop():
    resolution = struct.pack('>IHHIHH', 300 << 16, 1, 1, 200 << 16, 1, 1)
    return trailers.segment(
        0xed, b'Photoshop 3.0\0' b'8BIM\x03\xed\0\0' + struct.pack('>I', 16)
        + resolution + b'8BIM\x04\x04\0\0\0\0\0\x09\x1c\2\5\0\4name\0')


class Maker:
    """Pictures that several files have are coded once."""

    def __init__(self):
        self.rand = random.Random(8)
        self.known = {}

    def picture(self, size, options):
        key = (size, tuple(options))
        if key not in self.known:
            self.known[key] = coded(*size, options)
        return self.known[key]

    def small(self, options, wide):
        """A thumbnail, a gain map or a preview."""
        return self.picture((48, 32) if wide else (32, 32), options)

    def mpf(self, first, rand):
        """Puts MPF into the first picture, and others behind it."""
        gain, jfif = self.small(['-grayscale'], True)
        other = self.small(['-sample', '2x1', '-progressive'], True)[0]
        rand_xmp = make_xmp(48, 32)
        more = [gain[:2] + jfif + rand_xmp + gain[2:], other]
        more = more[:rand.randint(1, 2)]
        order = rand.choice('<>')
        size = len(trailers.mpf(order, [(0, 0, 0)] * (len(more) + 1)))
        behind, entries = size - 8 + len(first) - 2, []
        for picture in more:
            entries.append((0, len(picture), behind))
            behind += len(picture)
        entries.insert(0, (0x20030000, len(first) + size, 0))
        end = trailers.FILM if rand.random() < 0.5 else b''
        return (first[:2] + trailers.mpf(order, entries) + first[2:]
                + b''.join(more) + end)

    def make(self, number):
        rand = self.rand
        size = rand.choice([(96, 64), (64, 96), (160, 96)])
        if number % 2:  # as broad as MPF's other pictures
            size = (96, 64)
        options = CODINGS[number % len(CODINGS)] \
            + ['-sample', SAMPLES[number % len(SAMPLES)]]
        if rand.random() < 0.1:
            options = CODINGS[number % len(CODINGS)] + ['-grayscale']
        jpeg, jfif = self.picture(size, options)
        thumbnail = b''
        if rand.random() < 0.7:
            plain, its_jfif = self.small(
                ['-sample', rand.choice(SAMPLES[:4])], rand.random() < 0.5)
            thumbnail = plain if rand.random() < 0.5 \
                else plain[:2] + its_jfif + plain[2:]
        lead = jfif if rand.random() < 0.4 else b''
        if rand.random() < 0.9:
            lead += make_exif(rand.choice('<>'), *size, thumbnail)
        for chance, part in ((0.5, make_xmp(*size)), (0.4, make_icc(rand)),
                             (0.3, make_photoshop()),
                             (0.3, trailers.segment(0xfe, b'a comment')),
                             (0.3, trailers.segment(0xe7, b'of a maker'))):
            if rand.random() < chance:
                lead += part
        if number % 2 and rand.random() < 0.6:
            first = self.mpf(jpeg[:2] + lead + jpeg[2:], rand)
            return first
        return jpeg[:2] + lead + jpeg[2:]


# ---- What is the same --------------------------------------------------------

def one_form(jpeg):
    return subprocess.run(['jpegtran', '-copy', 'none', '-optimize'],
                          input=jpeg, capture_output=True).stdout


def frame(jpeg):
    """The frame header, and the restart interval."""
    return [(m, d) for m, d, _ in trailers.segments(jpeg)
            if (0xc0 <= m <= 0xcf and m not in (0xc4, 0xc8, 0xcc))
            or m == 0xdd]


def is_whole(jpeg):
    """A size of whole MCUs, in up to 4 components of 8 bits."""
    for marker, data in frame(jpeg):
        if marker != 0xdd:
            bits, height, width, count = struct.unpack('>BHHB', data[:6])
            if bits != 8 or count > 4 or not width or not height:
                return False
            factors = [data[7 + 3 * i] for i in range(count)]
            across = max(f >> 4 for f in factors) if count > 1 else 1
            down = max(f & 15 for f in factors) if count > 1 else 1
            return width % (8 * across) == 0 and height % (8 * down) == 0
    return False


def exif_words(block):
    """The orientation, and of the thumbnail: where its two entries stand, and
    its place and length; 0 for what there is not."""
    order = {b'II': '<', b'MM': '>'}.get(block[:2])
    found = {'orientation': 0, 'entries': [], 'at': 0, 'length': 0}

    def entries(at):
        if not 8 <= at <= len(block) - 2:
            return [], 0
        count = struct.unpack(order + 'H', block[at:at + 2])[0]
        places = [at + 2 + 12 * i for i in range(count)
                  if at + 2 + 12 * i + 12 <= len(block)]
        link = block[at + 2 + 12 * count:][:4]
        return places, struct.unpack(order + 'I', link)[0] \
            if len(link) == 4 else 0

    def value(at):
        kind = struct.unpack(order + 'H', block[at + 2:at + 4])[0]
        return struct.unpack(order + ('H' if kind == 3 else 'I'),
                             block[at + 8:at + (10 if kind == 3 else 12)])[0]
    if order is None or len(block) < 8:
        return found
    first, link = entries(struct.unpack(order + 'I', block[4:8])[0])
    for at in first:
        if struct.unpack(order + 'H', block[at:at + 2])[0] == 0x112:
            found['orientation'] = value(at)
    for at in entries(link)[0]:
        tag = struct.unpack(order + 'H', block[at:at + 2])[0]
        if tag in (0x201, 0x202):
            found['entries'].append(at)
            found['at' if tag == 0x201 else 'length'] = value(at)
    return found


def orientation(jpeg):
    for marker, data, _ in trailers.segments(jpeg):
        if marker == 0xe1 and data[:6] == b'Exif\0\0':
            return exif_words(data[6:])['orientation']
    return 0


def same_exif(was, now):
    """All but the thumbnail and what says where it is; and its picture."""
    a, b = exif_words(was), exif_words(now)
    assert a['entries'] == b['entries'], 'entries of the thumbnail'
    if a['length'] and was[a['at']:][:2] == b'\xff\xd8':
        files = [x[w['at']:w['at'] + w['length']]
                 for x, w in ((was, a), (now, b))]
        if is_whole(files[0]):
            assert one_form(files[0]) == one_form(files[1]), 'the thumbnail'
        length = max(len(was), len(now))
        was, now = (bytearray(x.ljust(length, b'\0')) for x in (was, now))
        for x in (was, now):
            for w in (a, b):
                x[w['at']:w['at'] + w['length']] = bytes(w['length'])
                for at in w['entries']:
                    x[at + 2:at + 12] = bytes(10)
            del x[length:]
    assert was == now, 'EXIF'


def same_segment(was, now):
    if was[:6] == b'Exif\0\0':
        same_exif(was[6:], now[6:])
    elif was[:4] == b'MPF\0':  # what it says is followed elsewhere
        assert len(was) == len(now), 'MPF'
    else:
        assert re.sub(rb'(Item:Length[^0-9]*)\d+', rb'\1', was) \
            == re.sub(rb'(Item:Length[^0-9]*)\d+', rb'\1', now), was[:20]


def same_file(was, now):
    a, b = ([s for s in trailers.segments(x) if s[0] >= 0xe0]
            for x in (was, now))
    assert [s[0] for s in a] == [s[0] for s in b], 'the order of segments'
    for s, t in zip(a, b):
        same_segment(s[1], t[1])
    assert frame(was) == frame(now), 'the frame'
    assert one_form(was) == one_form(now), 'coefficients'


def same_pictures(was, now):
    a, b = trailers.pictures(was), trailers.pictures(now)
    assert len(a) == len(b), 'the number of pictures'
    for x, y in zip(a, b):
        same_file(x, y)
    rest = [x[sum(map(len, pictures)):] for x, pictures in ((was, a), (now, b))]
    assert rest[0] == rest[1], 'what stands at the end'


# ---- There and back ----------------------------------------------------------

def turn(program, backend, op, name, to):
    return subprocess.run([program, '--backend', backend, op, name, to],
                          capture_output=True)


def round_trip(program, backend, number, name, made):
    """None, or what was wrong; files of others may hold what is no matter here.
    """
    op = OPS[number % len(OPS)]
    there, back = 'there%d.jpg' % number, 'back%d.jpg' % number
    try:
        for way in ((op, name, there), (UNDO[op], there, back)):
            done = turn(program, backend, *way)
            if done.returncode or (made and done.stderr):
                return '%s: %s' % (op, done.stderr.decode('utf-8', 'replace'))
        with open(name, 'rb') as f, open(there, 'rb') as g, \
                open(back, 'rb') as h:
            was, once, now = f.read(), g.read(), h.read()
        if made:
            assert one_form(was) != one_form(once), 'nothing was turned'
            same_pictures(was, now)
        elif b'not kept' not in done.stderr:
            same_file(was, now)
    except AssertionError as error:
        return '%s: %s' % (op, error)
    finally:
        for left in (there, back):
            if os.path.exists(left):
                os.remove(left)
    return None


def from_corpus(corpus):
    """Sound files of whole MCUs that are stored as they are shown."""
    index = os.path.join(corpus, 'INDEX.tsv')
    if not os.path.exists(index):
        return
    with open(index, encoding='utf-8') as lines:
        for line in lines:
            field = line.split('\t')
            if len(field) < 3 or field[1:3] != ['valid', 'jpeg']:
                continue
            name = os.path.join(corpus, field[0])
            with open(name, 'rb') as f:
                jpeg = f.read()
            if is_whole(jpeg) and orientation(jpeg) in (0, 1):
                yield name


def main(program, backend, corpus=None):
    maker, jobs = Maker(), []
    for number in range(COUNT):
        name = 'made%d.jpg' % number
        with open(name, 'wb') as f:
            f.write(maker.make(number))
        jobs.append((name, True))
    if corpus:
        jobs += [(name, False) for name in from_corpus(corpus)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = list(pool.map(lambda i: round_trip(program, backend, i,
                                                   *jobs[i]),
                              range(len(jobs))))
    for (name, _), what in zip(jobs, wrong):
        if what:
            print('FAIL %s, %s' % (name, what))
    failed = sum(what is not None for what in wrong)
    print('%d passed, %d failed' % (len(jobs) - failed, failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
