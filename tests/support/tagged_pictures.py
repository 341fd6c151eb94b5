"""Pictures that say their orientation in all the places there are.

    tagged_pictures.py make JPEG PNG DIR    puts tags into copies of both
    tagged_pictures.py turn N PNM OUT       a PPM as orientation N has it shown

Names in DIR say what a viewer has to see, and what has to be said:
PLACES-VALUE[-OTHER].jpg, where the first place counts.
"""
import sys
import zlib

import pieces
from pieces import EXIF, XMP, app1, chunk, exif, extended_xmp, raw_profile, read, write
import turns

TIFF = 'http://ns.adobe.com/tiff/1.0/'


def xmp(n, element=False, prefix='tiff', more=''):
    inner = '>' if element else ' %s:Orientation="%d">' % (prefix, n)
    if element:
        inner += '<%s:Orientation> %d </%s:Orientation>' % (prefix, n, prefix)
    return pieces.xmp(('<rdf:Description rdf:about="" xmlns:%s="%s"%s%s'
                       '</rdf:Description>' % (prefix, TIFF, more, inner)).encode())


def extended(n):
    """The word stands across the end of a piece."""
    whole = xmp(n, True)
    cut = whole.index(b'entation')
    guid = b'0123456789ABCDEF' * 2
    made = app1(XMP, xmp(0, more=' xmlns:xmpNote="http://ns.adobe.com/xmp/note/"'
                        ' xmpNote:HasExtendedXMP="%s"' % guid.decode()))
    return made + b''.join(extended_xmp(whole, guid, cut)[::-1])


def itxt(packet, packed=False):
    body = b'XML:com.adobe.xmp\0' + bytes((packed, 0)) + b'\0\0'
    return chunk(b'iTXt', body + (zlib.compress(packet) if packed else packet))


# What stands before the pixels; behind them; the place that counts.
JPEGS = {
    'exif': (lambda n: app1(EXIF, exif(n)), 'EXIF'),
    'attribute': (lambda n: app1(XMP, xmp(n)), 'XMP'),
    'element': (lambda n: app1(XMP, xmp(n, True, 't')), 'XMP'),
    'extended': (extended, 'XMP'),
    'empty-exif': (lambda n: app1(EXIF, b'') + app1(XMP, xmp(n)),
                   'XMP'),
    'both': (lambda n: app1(XMP, xmp(n)) + app1(EXIF, exif(n)), 'EXIF'),
}
PNGS = {
    'exif': (lambda n: chunk(b'eXIf', exif(n)), 'EXIF'),
    'attribute': (lambda n: itxt(xmp(n)), 'XMP'),
    'element': (lambda n: itxt(xmp(n, True), True), 'XMP'),
    'rawexif': (lambda n: raw_profile('exif', EXIF + exif(n)), 'EXIF'),
    'rawapp1': (lambda n: raw_profile('APP1', EXIF + exif(n), False), 'EXIF'),
    'rawxmp': (lambda n: raw_profile('xmp', xmp(n)), 'XMP'),
    'rawapp1xmp': (lambda n: raw_profile('APP1', XMP + xmp(n)), 'XMP'),
    'ornt': (lambda n: chunk(b'orNT', bytes((n,))), 'orNT'),
    'both': (lambda n: itxt(xmp(n)) + chunk(b'eXIf', exif(n)), 'EXIF'),
}


def contradictions():
    """Name, the JPEG's segments, the PNG's chunks before and behind."""
    for n, other in ((6, 1), (1, 6), (3, 8)):
        yield ('EXIF-%d-XMP-%d' % (n, other),
               app1(XMP, xmp(other)) + app1(EXIF, exif(n)),
               chunk(b'eXIf', exif(n)), itxt(xmp(other)))
        yield ('EXIF-%d-XMP-%d-b' % (n, other),
               app1(EXIF, exif(n)) + app1(XMP, xmp(other, True)),
               itxt(xmp(other, True)), chunk(b'eXIf', exif(n)))


def make(jpeg, png, folder):
    jpeg, png, folder = read(jpeg), read(png), folder + '/'
    end = len(png) - 12  # where IEND is
    for n in range(1, 9):
        for name, (made, place) in JPEGS.items():
            write(folder + '%s-%d-%s.jpg' % (place, n, name),
                  jpeg[:2] + made(n) + jpeg[2:])
        for name, (made, place) in PNGS.items():
            write(folder + '%s-%d-%s.png' % (place, n, name),
                  png[:33] + made(n) + png[33:])
            write(folder + '%s-%d-%s-behind.png' % (place, n, name),
                  png[:end] + made(n) + png[end:])
    for name, segments, before, behind in contradictions():
        write(folder + name + '.jpg', jpeg[:2] + segments + jpeg[2:])
        write(folder + name + '.png',
              png[:33] + before + png[33:end] + behind + png[end:])


def turn(n, source, target):
    w, h, pixels = turns.turned(turns.TAGS[int(n) - 1], turns.pixels(read(source)))
    write(target, b'P6\n%d %d\n255\n' % (w, h) + b''.join(pixels))


{'make': make, 'turn': turn}[sys.argv[1]](*sys.argv[2:])
