"""What exiftool finds in a JPEG, or a PNG, before and after a turn.

    jpeg_tags.py make FILE          puts tags of all kinds into a JPEG
    jpeg_tags.py make FILE THUMB    as many as fit into a PNG, and a thumbnail
    jpeg_tags.py profiles JPEG PNG  puts those of the JPEG into a PNG as text
    jpeg_tags.py check OP BEFORE AFTER

All tags are the same but for those that the turn makes false, and these are
what is worked out here from the definition of the turn.
"""
import hashlib
import json
import struct
import subprocess
import sys

from pieces import EXIF, EXTENSION, raw_profile, read, segments, write
from turns import EXCHANGED, goes

WIDTH, HEIGHT = 400, 240  # as the tags say
TAGS = [
    '-IFD0:Orientation#=1', '-XMP-tiff:Orientation#=1',
    '-IFD0:XResolution=300', '-IFD0:YResolution=200',
    '-ExifIFD:ExifImageWidth=400', '-ExifIFD:ExifImageHeight=240',
    '-XMP-tiff:ImageWidth=400', '-XMP-tiff:ImageHeight=240',
    '-XMP-exif:ExifImageWidth=400', '-XMP-exif:ExifImageHeight=240',
    '-ExifIFD:SubjectArea=100 60 30 20', '-ExifIFD:SubjectLocation=10 20',
    '-ExifIFD:FocalPlaneXResolution=1000',
    '-ExifIFD:FocalPlaneYResolution=2000', '-GPS:GPSLatitude=12.5',
    '-GPS:GPSLatitudeRef=N', '-IFD0:Artist=somebody',
    '-ExifIFD:UserComment=a comment', '-JFIF:XResolution=72',
    '-JFIF:YResolution=144', '-IPTC:Keywords=one', '-IPTC:Keywords=two',
    '-Photoshop:CopyrightFlag#=1', '-XMP-dc:Subject=one', '-XMP-dc:Title=name',
    '-XMP-mwg-rs:RegionInfo={AppliedToDimensions={W=400,H=240,Unit=pixel},'
    'RegionList=[{Area={X=0.25,Y=0.125,W=0.1,H=0.05,Unit=normalized},'
    'Name=somebody,Type=Face},{Area={X=0.7,Y=0.6,W=0.2,H=0.3,'
    'Unit=normalized},Name=other,Type=Face}]}',
    '-Comment=a comment of JPEG',
]
# More than fits into one segment: it becomes Extended XMP.
LONG = b'long ' * 20000
PAIRS = [
    ('IFD0:XResolution', 'IFD0:YResolution'),
    ('JFIF:XResolution', 'JFIF:YResolution'),
    ('ExifIFD:ExifImageWidth', 'ExifIFD:ExifImageHeight'),
    ('ExifIFD:FocalPlaneXResolution', 'ExifIFD:FocalPlaneYResolution'),
    ('XMP-tiff:ImageWidth', 'XMP-tiff:ImageHeight'),
    ('XMP-exif:ExifImageWidth', 'XMP-exif:ExifImageHeight'),
    ('File:ImageWidth', 'File:ImageHeight'),
    ('PNG:ImageWidth', 'PNG:ImageHeight'),
]
CODING = ('System:', 'ExifTool:', 'Composite:', 'SourceFile',
          'File:YCbCrSubSampling', 'File:EncodingProcess',
          'XMP-xmpNote:HasExtendedXMP', 'IFD1:ThumbnailLength',
          'IFD1:ThumbnailOffset', 'IFD1:ThumbnailImage')


def tags(name):
    said = subprocess.run(['exiftool', '-j', '-struct', '-a', '-G1', '-n',
                           name], capture_output=True, check=True).stdout
    return {k: v for k, v in json.loads(said)[0].items()
            if not k.startswith(CODING)}


def make(name, thumbnail=None):
    if thumbnail:
        subprocess.run(['exiftool', '-q', '-m', '-overwrite_original'] + TAGS
                       + ['-ThumbnailImage<=' + thumbnail, name], check=True)
        return
    write('long.txt', LONG)
    subprocess.run(['exiftool', '-q', '-m', '-overwrite_original'] + TAGS
                   + ['-XMP-dc:Description<=long.txt', name], check=True)


def blob(tag, name):
    return subprocess.run(['exiftool', '-b', tag, name], capture_output=True,
                          check=True).stdout


def profiles(jpeg, png):
    """EXIF as text, XMP deflated, before the pixels."""
    data = read(png)
    at = 8 + 12 + 13
    data = (data[:at] + raw_profile('exif', EXIF + blob('-Exif', jpeg), False) +
            raw_profile('xmp', blob('-XMP', jpeg)) + data[at:])
    write(png, data)


def near(a, b):
    return all(abs(float(p) - float(q)) < 1e-9 for p, q in zip(a, b))


def turn_regions(op, before, after):
    info, now = (t.pop('XMP-mwg-rs:RegionInfo') for t in (before, after))
    size, size_now = (i.pop('AppliedToDimensions') for i in (info, now))
    if op in EXCHANGED:
        size['W'], size['H'] = size['H'], size['W']
    assert size == size_now, size_now
    for a, b in zip(info['RegionList'], now['RegionList']):
        a, b = a.pop('Area'), b.pop('Area')
        w, h = (a['H'], a['W']) if op in EXCHANGED else (a['W'], a['H'])
        x, y = goes(op, a['X'], a['Y'], 2, 2)
        assert near((x, y, w, h), (b['X'], b['Y'], b['W'], b['H'])), (a, b)
    assert info == now, now


def check_guid(name):
    """What names Extended XMP is the digest of it."""
    jpeg = read(name)
    parts, main = {}, b''
    head = EXTENSION
    for _, data in segments(jpeg):
        if data.startswith(head):
            guid, whole, offset = struct.unpack('>32sII',
                                                data[len(head):][:40])
            parts[offset] = data[len(head) + 40:]
        elif data.startswith(b'http://ns.adobe.com/xap/'):
            main = data
    text = b''.join(parts[k] for k in sorted(parts))
    assert len(text) == whole, (len(text), whole)
    digest = hashlib.md5(text).hexdigest().upper().encode()
    assert digest == guid and digest in main, (digest, guid)


def check(op, name, turned):
    before, after = tags(name), tags(turned)
    if name.endswith('.jpg'):
        check_guid(name)
        check_guid(turned)
    turn_regions(op, before, after)
    if op in EXCHANGED:
        for x, y in [p for p in PAIRS if p[0] in before]:
            before[x], before[y] = before[y], before[x]
    area = list(map(int, before.pop('ExifIFD:SubjectArea').split()))
    if op in EXCHANGED:
        area[2:] = area[:1:-1]
    area[:2] = goes(op, *area[:2], WIDTH, HEIGHT)
    assert list(map(int, after.pop('ExifIFD:SubjectArea').split())) == area
    place = goes(op, *map(int, before.pop('ExifIFD:SubjectLocation').split()), WIDTH,
                 HEIGHT)
    assert tuple(map(int, after.pop('ExifIFD:SubjectLocation').split())) == place
    for key in before.keys() | after.keys():
        assert before.get(key) == after.get(key), \
            (key, before.get(key), after.get(key))
    assert len(after) > 30, after


if __name__ == '__main__':
    {'make': make, 'profiles': profiles, 'check': check}[sys.argv[1]](
        *sys.argv[2:])
