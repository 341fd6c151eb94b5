"""Puts metadata that is too short to be any into pictures.

    short_metadata.py JPEG PNG DIR    a file in DIR for each piece and length

A piece is the head of a segment or a chunk, cut after each of its bytes and
with a few behind it. The pictures are whole, so every file can be turned.
"""
import os
import sys

from pieces import chunk, read, segment, write

SEGMENTS = [
    (0xe0, b'JFIF\0'), (0xe0, b'JFXX\0\x10'), (0xe0, b'JFXX\0\x11'),
    (0xe0, b'JFXX\0\x13'), (0xe1, b'Exif\0\0MM\0*\0\0\0\x08'),
    (0xe1, b'http://ns.adobe.com/xap/1.0/\0<'),
    (0xe1, b'http://ns.adobe.com/xmp/extension/\0' + b'0' * 40),
    (0xe2, b'ICC_PROFILE\0\1\1'), (0xe2, b'MPF\0MM\0*\0\0\0\x08'),
    (0xeb, b'JP\0\1'), (0xed, b'Photoshop 3.0\x008BIM\x04\x0c\0\0\0\0\0\1'),
    (0xee, b'Adobe'), (0xfe, b''),
]
CHUNKS = [
    'gAMA', 'cHRM', 'sRGB', 'iCCP', 'cICP', 'mDCV', 'cLLI', 'sBIT', 'bKGD',
    'hIST', 'sPLT', 'pCAL', 'tIME', 'pHYs', 'oFFs', 'vpAg', 'caNv', 'sCAL',
    'orNT', 'eXIf', 'tEXt', 'zTXt', 'iTXt', 'xxXx',
]
KEYWORDS = [b'XML:com.adobe.xmp', b'Raw profile type exif',
            b'Raw profile type xmp', b'Raw profile type APP1', b'Comment']


def jpegs(base):
    for marker, head in SEGMENTS:
        for n in range(len(head) + 4):
            body = (head + b'\xff\0\1')[:n]
            yield base[:2] + segment(marker, body) + base[2:]


def pngs(base):
    at = 8 + 25  # behind IHDR
    for name in CHUNKS:
        for n in range(20):
            for byte in (b'\0', b'1'):
                yield base[:at] + chunk(name.encode(), byte * n) + base[at:]
    for name in (b'tEXt', b'zTXt', b'iTXt'):
        for word in KEYWORDS:
            for n in range(8):
                body = word + b'\0' * n + (b'' if n % 2 else b'\nexif\n4\n')
                yield base[:at] + chunk(name, body) + base[at:]


def main():
    for kind, base, made in (('jpg', sys.argv[1], jpegs),
                             ('png', sys.argv[2], pngs)):
        for i, picture in enumerate(made(read(base))):
            write(os.path.join(sys.argv[3], '%s-%03d.%s' % (kind, i, kind)), picture)


main()
