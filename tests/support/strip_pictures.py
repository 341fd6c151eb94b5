"""Pictures full of metadata, and what --strip=... has to leave of it.

    strip_pictures.py make JPEG PNG DIR   puts it into copies, full.jpg, full.png
    strip_pictures.py check LIST FILE [turned]    what is, and is not, in a file
                        that was stripped of LIST, as far as this file reads it
"""
import hashlib
import re
import struct
import sys
import zlib

from pieces import (EXIF, EXTENSION, XMP, app1, chunk, chunks, extended_xmp,
                    raw_profile, read, resource, segment, write, xmp)
from tiff import Writer

# Every piece has a mark of its own, so that bytes that stay are found.
MARKS = {
    'gps': [b'GPSDATUM-MARK', struct.pack('>6I', 40, 1, 26, 1, 4613, 100),
            b'11.1111N', b'22.2222E', b'33.3333', b'44.4444', b'55.5555',
            b'66.6666', b'77.7777', b'88.8888'],
    'thumbnail': [b'THUMB-EXIF-MARK', b'THUMB-PS-MARK', b'THUMB-XMP-MARK',
                  b'THUMB-JFXX-MARK', b'THUMB-JFIF-MARK'],
    'xmp': [b'XMP-MARK', b'XMPMORE-MARK', b'XMP-PS-MARK'],
    'exif': [b'EXIF-MARK', b'EXIF-PS-MARK'],
    'icc': [b'ICC-MARK'],
    'other': [b'COMMENT-MARK', b'IPTC-MARK', b'City-MARK'],
}
# What of it stands where.
WITHIN = {b'11.1111N': 'xmp', b'22.2222E': 'xmp', b'33.3333': 'xmp',
          b'44.4444': 'xmp', b'55.5555': 'xmp', b'66.6666': 'xmp',
          b'77.7777': 'xmp', b'88.8888': 'text', b'GPSDATUM-MARK': 'exif',
          b'THUMB-EXIF-MARK': 'exif', b'THUMB-XMP-MARK': 'xmp',
          b'City-MARK': 'xmp'}
WITHIN[MARKS['gps'][1]] = 'exif'


def exif(mark, thumbnail):
    """IFD0 with a name, an orientation, and links; then all else."""
    block, place = Writer('>'), (5, MARKS['gps'][1])
    sub = {0x9003: (2, b'2026:01:02 03:04:05\0'), 0x927c: (7, b'MakerNote-ok')}
    gps = {0: (1, b'\2\3\0\0'), 1: (2, b'N\0'), 2: place, 3: (2, b'E\0'), 4: place,
           18: (2, b'GPSDATUM-MARK\0')}
    block.directory({0x010f: (2, mark + b'\0'), 0x0112: (3, [1]), 0x8769: (4, [sub]),
                     0x8825: (4, [gps])}, block.link)
    if thumbnail:
        block.thumbnail(thumbnail)
    return bytes(block.out)


def packet(mark, more=''):
    return xmp(('<rdf:Description rdf:about="" '
            'xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:dc="http://purl.'
            'org/dc/elements/1.1/" xmlns:gpsns="urn:x" xmlns:dji="http://www.dji.'
            'com/drone-dji/1.0/" xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_'
            'pos#" xmlns:dwc="http://rs.tdwg.org/dwc/index.htm" xmlns:ext="http:'
            '//iptc.org/std/Iptc4xmpExt/2008-02-29/" xmlns:ps="http://ns.adobe.'
            'com/photoshop/1.0/" xmlns:xmpNote="http://ns.adobe.com/xmp/note/" '
            'xmlns:xap="http://ns.adobe.com/xap/1.0/" xmlns:img="http://ns.adobe.'
            'com/xap/1.0/g/img/" exif:GPSLatitude="11.1111N" '
            'dji:GpsLongtitude = \'33.3333\' ps:City="City-MARK" %s>'
            '<exif:GPSLongitude>22.2222E</exif:GPSLongitude><geo:lat>44.4444'
            '</geo:lat><dc:title>%s</dc:title><dwc:Event rdf:parseType='
            '"Resource"><dwc:decimalLatitude>55.5555</dwc:decimalLatitude>'
            '</dwc:Event><ext:LocationCreated><rdf:Bag><rdf:li ext:City="a" '
            'exif:GPSAltitude="66.6666"/></rdf:Bag></ext:LocationCreated>'
            '<exif:GPSTrack><rdf:Seq><rdf:li>77.7777</rdf:li></rdf:Seq>'
            '</exif:GPSTrack><xap:Thumbnails><rdf:Alt><rdf:li img:width="1" '
            'img:image="THUMB-XMP-MARK"/></rdf:Alt></xap:Thumbnails>'
            '</rdf:Description>' % (more, mark)).encode())


def with_mark(jpeg, mark):
    return jpeg[:2] + segment(0xe5, mark) + jpeg[2:]


def full_jpeg(jpeg):
    more = packet('XMPMORE-MARK')
    guid = hashlib.md5(more).hexdigest().upper()
    thumb = with_mark(jpeg, b'THUMB-EXIF-MARK')
    ps_thumb = struct.pack('>7I', 1, 16, 24, 48, 1152, len(jpeg) + 20, 0x180001)
    ps = (resource(1028, b'\x1c\2\x5a\0\x09IPTC-MARK') +
          resource(1036, ps_thumb + with_mark(jpeg, b'THUMB-PS-MARK')) +
          resource(1058, exif(b'EXIF-PS-MARK', b'')) +
          resource(1060, packet('XMP-PS-MARK')) +
          resource(1005, b'\0\x48\0\0\0\1\0\1\0\x48\0\0\0\1\0\1'))
    jfif = b'JFIF\0\1\2\1\0\x48\0\x48\5\1' + b'THUMB-JFIF-MARK'
    jfxx = b'JFXX\0\x13\6\1' + b'THUMB-JFXX-MARK' + b'\0\0\0'
    assert jpeg[2:4] == b'\xff\xe0'
    rest = jpeg[4 + struct.unpack('>H', jpeg[4:6])[0]:]
    return (jpeg[:2] + segment(0xe0, jfif) + segment(0xe0, jfxx) +
            app1(EXIF, exif(b'EXIF-MARK', thumb)) + app1(XMP, packet(
                'XMP-MARK', 'xmpNote:HasExtendedXMP="%s"' % guid)) +
            b''.join(extended_xmp(more, guid.encode(), 700)) +
            segment(0xe2, b'ICC_PROFILE\0\1\1' + b'ICC-MARK') +
            segment(0xed, b'Photoshop 3.0\0' + ps) +
            segment(0xfe, b'COMMENT-MARK') + rest)


def full_png(png, jpeg):
    thumb = with_mark(jpeg, b'THUMB-EXIF-MARK')
    both = exif(b'EXIF-MARK', thumb)
    text = packet('XMP-MARK')
    return (png[:33] + chunk(b'iCCP', b'x\0\0' + zlib.compress(b'ICC-MARK')) +
            chunk(b'eXIf', both) +
            chunk(b'iTXt', b'XML:com.adobe.xmp\0\1\0\0\0' + zlib.compress(text)) +
            raw_profile('exif', EXIF + both) + raw_profile('xmp', text) +
            raw_profile('APP1', EXIF + both) + raw_profile('APP1', XMP + text) +
            chunk(b'tEXt', b'exif:GPSLatitude\x0088.8888') +
            chunk(b'tEXt', b'Comment\0COMMENT-MARK') + png[33:])


def said(data):
    """All that a file says, as bytes, deflated and hexadecimal texts opened."""
    if data[:4] != b'\x89PNG':
        end = data.rindex(b'\xff\xda')
        # The pieces of Extended XMP, put together.
        pieces = re.findall(re.escape(EXTENSION) + rb'[0-9A-F]{32}.{8}',
                            data[:end], re.S)
        return data[:end], len(pieces)
    out = b''
    for name, body in chunks(data):
        if name != b'IDAT':
            out += name + body
        if name in (b'zTXt', b'iCCP'):
            body = zlib.decompress(body[body.index(b'\0') + 2:])
        elif name == b'iTXt' and body.startswith(b'XML:'):
            body = zlib.decompress(body[22:])
        if name == b'zTXt':
            body = bytes.fromhex(b''.join(body.split()[2:]).decode())
        if name != b'IDAT':
            out += body
    return out, 0


def digest_is_right(data):
    """Whether the first packet names the other one by its digest."""
    lead = EXTENSION
    whole, at, guid = b'', 0, None
    while (at := data.find(lead, at)) >= 0:
        size = struct.unpack('>H', data[at - 2:at])[0] - 2
        guid = data[at + 35:at + 67]
        whole += data[at + 75:at + size]
        at += size
    named = re.search(rb'HasExtendedXMP="([0-9A-F]{32})"', data)
    return guid is None or (
        named and named.group(1) == guid ==
        hashlib.md5(whole).hexdigest().upper().encode())


def check(words, path, turned):
    data = read(path)
    text, _ = said(data)
    png = data[:4] == b'\x89PNG'
    bad = []
    for kind, marks in MARKS.items():
        for mark in marks:
            gone = kind in words or WITHIN.get(mark) in words
            if mark == b'88.8888':
                gone = gone or 'exif' in words
            only_jpeg = b'-PS-' in mark or b'JFXX' in mark or b'JFIF' in mark \
                or mark in (b'XMPMORE-MARK', b'IPTC-MARK')
            if png and only_jpeg or not png and mark == b'88.8888':
                continue
            if b'THUMB' in mark and b'XMP' not in mark and turned and not gone:
                continue # it was coded anew
            if (mark in text) == gone:
                bad.append('%s is %s' % (mark, 'there' if gone else 'gone'))
    if not png and not digest_is_right(data):
        bad.append('the digest of Extended XMP')
    if 'exif' not in words and text.count(b'MakerNote-ok') == 0:
        bad.append('maker note')
    if bad:
        sys.exit('; '.join(bad))


def main():
    if sys.argv[1] == 'check':
        check(sys.argv[2].split(','), sys.argv[3], len(sys.argv) > 4)
        return
    jpeg = read(sys.argv[2])
    write(sys.argv[4] + '/full.jpg', full_jpeg(jpeg))
    write(sys.argv[4] + '/full.png', full_png(read(sys.argv[3]), jpeg))


if __name__ == '__main__':
    main()
