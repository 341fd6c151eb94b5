"""JPEG files with more behind the first picture: made, and looked at.

    jpeg_trailers.py make KIND FILE
    jpeg_trailers.py check KIND OP BEFORE AFTER

Pictures are coded by cjpeg and djpeg. What MPF and the container directory say
is written and read here, from the text of the standards (CIPA DC-007; Ultra HDR
1.1): none of it goes through what is tested.
"""
import re
import struct
import subprocess
import sys

import pieces
from pieces import exif, read, segment, write
import turns

FILM = b'\0\0\0\x18ftypmp42\0\0\0\0' + bytes(range(256)) * 3

# What a kind has: the size of the first picture; those after it, as (width,
# height, may be turned); the byte order of MPF, or none; the form of the
# directory, or none; what stands at the end; the orientation tag of the first
# one; whether it is a case of its own.
KINDS = {
    'ultrahdr': dict(more=[(24, 16, True)], mpf='>', xmp='attribute'),
    'ultrahdr-elements': dict(more=[(24, 16, True)], mpf='<', xmp='element'),
    'motion': dict(more=[(24, 16, True)], mpf='>', xmp='attribute', end=FILM),
    'film-only': dict(more=[], xmp='attribute', end=FILM),
    'stereo': dict(more=[(48, 32, True)], mpf='<'),
    'gaps': dict(more=[(24, 16, True), (48, 32, True)], mpf='>', gap=b'\0' * 9),
    'other-shape': dict(more=[(24, 16, True), (16, 40, False)], mpf='>'),
    'odd': dict(more=[(23, 15, True)], mpf='>'),
    'trim': dict(first=(100, 70), more=[(25, 18, True), (99, 69, True)],
                 mpf='>', apart=True),
    'broken': dict(more=[(24, 16, True), None], mpf='>'),
    'tagged': dict(more=[(24, 16, True)], mpf='>', xmp='attribute', tag=6),
}


def picture(width, height, segments=b'', sample='2x2'):
    """Smooth, and left by no turn as it is."""
    samples = bytes(min(255, v) for y in range(height) for x in range(width)
                    for v in (20 + 200 * x // width, 20 + 200 * y // height,
                              20 + (400 * x // width + 200 * y // height) // 3))
    ppm = b'P6 %d %d 255\n' % (width, height) + samples
    jpeg = subprocess.run(['cjpeg', '-quality', '90', '-sample', sample],
                          input=ppm, capture_output=True, check=True).stdout
    return jpeg[:2] + segments + jpeg[2:]


def xmp(form, items):
    text = ('<rdf:Description '
            'xmlns:Container="http://ns.google.com/photos/1.0/container/" '
            'xmlns:Item="http://ns.google.com/photos/1.0/container/item/" '
            'xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" '
            'hdrgm:Version="1.0"><Container:Directory><rdf:Seq>')
    for item in items:
        if form == 'attribute':
            inner = ' '.join('Item:%s="%s"' % pair for pair in item)
            text += ('<rdf:li rdf:parseType="Resource"><Container:Item %s/>'
                     '</rdf:li>' % inner)
        else:
            inner = ''.join('<Item:%s>%s</Item:%s>' % (k, v, k)
                            for k, v in item)
            text += ('<rdf:li rdf:parseType="Resource"><Container:Item '
                     'rdf:parseType="Resource">%s</Container:Item></rdf:li>'
                     % inner)
    text += '</rdf:Seq></Container:Directory></rdf:Description>'
    return segment(0xe1, b'http://ns.adobe.com/xap/1.0/\0' +
                   pieces.xmp(text.encode()))


def mpf(order, entries):
    """`entries`: (attribute, size, offset) of each picture."""
    head = {'>': b'MM\0*', '<': b'II*\0'}[order]
    at = 8 + 2 + 3 * 12 + 4
    block = head + struct.pack(order + 'IH', 8, 3)
    block += struct.pack(order + 'HHI4s', 0xb000, 7, 4, b'0100')
    block += struct.pack(order + 'HHII', 0xb001, 4, 1, len(entries))
    block += struct.pack(order + 'HHII', 0xb002, 7, 16 * len(entries), at)
    block += struct.pack(order + 'I', 0)
    for attribute, size, offset in entries:
        block += struct.pack(order + 'IIIHH', attribute, size, offset, 0, 0)
    return segment(0xe2, b'MPF\0' + block)


def gain_map(width, height):
    text = (b'http://ns.adobe.com/xap/1.0/\0<rdf:Description xmlns:hdrgm='
            b'"http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" '
            b'hdrgm:GainMapMax="2.5"/>')
    iso = b'urn:iso:std:iso:ts:21496:-1\0\0\0\0\0'
    return picture(width, height, segment(0xe1, text) + segment(0xe2, iso),
                   '1x1')


def make(kind):
    what = KINDS[kind]
    more = [gain_map(*m[:2]) if m else b'\xff\xd8\xff\xd9 no picture'
            for m in what['more']]
    gap, end = what.get('gap', b''), what.get('end', b'')
    lead = segment(0xe1, b'Exif\0\0' + exif(what['tag'])) if 'tag' in what else b''
    if 'xmp' in what:
        items = [(('Mime', 'image/jpeg'), ('Semantic', 'Primary'))]
        items += [(('Mime', 'image/jpeg'), ('Semantic', 'GainMap'),
                   ('Length', len(m))) for m in more]
        if end:
            items += [(('Length', len(end)), ('Mime', 'video/mp4'),
                       ('Semantic', 'MotionPhoto'))]
        lead += xmp(what['xmp'], items)
    count = len(more) + 1
    first = picture(*what.get('first', (48, 32)))
    if 'mpf' in what:
        # From the header of the block to the end of the first picture.
        size = len(mpf(what['mpf'], [(0, 0, 0)] * count))
        behind = size - 8 + len(first) - 2
        entries = [(0x20030000, len(lead) + size + len(first), 0)]
        for m in more:
            behind += len(gap)
            entries.append((0, len(m), behind))
            behind += len(m)
        lead += mpf(what['mpf'], entries)
    return first[:2] + lead + first[2:] + b''.join(gap + m for m in more) + end


def segments(jpeg):
    """(marker, data, where the data begins) of each, up to the scan."""
    at = 2
    while jpeg[at + 1] != 0xda:
        if jpeg[at + 1] == 0xff:  # it may be repeated
            at += 1
            continue
        size = struct.unpack('>H', jpeg[at + 2:at + 4])[0]
        yield jpeg[at + 1], jpeg[at + 4:at + 2 + size], at + 4
        at += 2 + size


def entries_of(jpeg):
    for marker, data, at in segments(jpeg):
        if marker == 0xe2 and data[:4] == b'MPF\0':
            order = {b'MM': '>', b'II': '<'}[data[4:6]]
            count, place = struct.unpack(order + 'II', data[4 + 8 + 2 + 12 + 12
                                                            + 4:][:8])
            for i in range(count // 16):
                yield (at + 4,) + struct.unpack(
                    order + 'III', data[4 + place + 16 * i:][:12])


def lengths_of(jpeg):
    for marker, data, _ in segments(jpeg):
        if marker == 0xe1 and data.startswith(b'http://ns.adobe.com/xap/'):
            return [int(n) for n in
                    re.findall(rb'Item:Length(?:="|>)(\d+)', data)]
    return []


def end_of_first(jpeg):
    """Behind the first EOI that is not in a segment."""
    at = 2
    for _, data, begin in segments(jpeg):
        at = begin + len(data)
    return jpeg.index(b'\xff\xd9', at) + 2


def samples(jpeg):
    return turns.pixels(subprocess.run(['djpeg', '-ppm'], input=jpeg,
                                       capture_output=True, check=True).stdout)


def is_turned(before, after, op):
    want, got = turns.turned(op, samples(before)), samples(after)
    return want[:2] == got[:2] and max(
        abs(i - k) for a, b in zip(want[2], got[2]) for i, k in zip(a, b)) <= 12


def others(jpeg):
    """The segments that no turn concerns."""
    return [(m, d) for m, d, _ in segments(jpeg)
            if m >= 0xe0 and d[:4] not in (b'MPF\0', b'Exif')
            and b'Container:Directory' not in d]


def pictures(jpeg):
    """All of them, by MPF, or by the directory where there is none."""
    end = end_of_first(jpeg)
    entries = list(entries_of(jpeg))
    if entries:
        assert entries[0][3] == 0 and entries[0][2] == end, entries[0]
        return [jpeg[:end]] + [jpeg[base + offset:base + offset + size]
                               for base, _, size, offset in entries[1:]]
    found = [jpeg[:end]]
    for length in lengths_of(jpeg):
        found.append(jpeg[end:end + length])
        end += length
    return found


def check(kind, op, before, after):
    what = KINDS[kind]
    was, now = pictures(before), pictures(after)
    # The tag, then the operation.
    turned = {'copy': 'rotate90', 'rotate270': 'copy'}[op] \
        if kind == 'tagged' else op
    assert len(was) == len(now), 'the number of pictures'
    assert is_turned(was[0], now[0], turned), 'the first picture'
    for i, m in enumerate(what['more']):
        if m and m[2]:
            assert is_turned(was[i + 1], now[i + 1], turned), 'picture'
            assert others(was[i + 1]) == others(now[i + 1]), 'its segments'
            assert turned != 'copy' or was[i + 1] == now[i + 1], 'its bytes'
        else:
            assert was[i + 1] == now[i + 1], 'a picture that stays'
    assert others(before) == others(after), 'segments'
    if 'xmp' in what:
        expect = [len(p) for p in now[1:len(what['more']) + 1]]
        expect += [len(what['end'])] if 'end' in what else []
        assert lengths_of(after) == expect, (lengths_of(after), expect)
    assert after.endswith(what.get('end', b'')), 'the end'
    rest = end_of_first(after) + sum(map(len, now[1:]))
    rest += len(what.get('gap', b'')) * len(what['more'])
    if not what.get('xmp'):
        assert len(after) == rest, (len(after), rest)


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        write(sys.argv[3], make(sys.argv[2]))
    elif sys.argv[1] == 'same':  # sample by sample, each picture
        a, b = (list(map(samples, pictures(read(name)))) for name in sys.argv[2:4])
        sys.exit(len(a) < 2 or a != b)
    elif sys.argv[1] == 'sizes':  # of each picture
        print(*('%dx%d' % samples(p)[:2] for p in pictures(read(sys.argv[2]))))
    elif sys.argv[1] == 'kinds':  # but those that are cases of their own
        print('\n'.join(k for k, v in KINDS.items() if 'apart' not in v))
    else:
        check(sys.argv[2], sys.argv[3], read(sys.argv[4]), read(sys.argv[5]))
