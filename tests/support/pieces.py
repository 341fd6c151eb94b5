"""What files are made of: chunks of PNG, segments of JPEG, resources of Photoshop,
EXIF, XMP and boxes; and whole files, read, written and judged."""
import struct
import sys
import zlib


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def write(path, data):
    with open(path, 'wb') as file:
        file.write(data)



def judge(check):
    """Prints each line OP IN OUT of stdin of which check(OP, IN, OUT) says that OUT is
    not IN after OP, and why: what it returns or raises."""
    for line in sys.stdin:
        try:
            why = check(*line.split())
        except (AssertionError, LookupError, OSError, ValueError, struct.error,
                zlib.error) as error:
            why = '%s: %s' % (type(error).__name__, error)
        if why:
            print(line.strip() + ':', why)


# Of interlaced PNG: the first column and row, and how far the next ones are.
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
          (1, 0, 2, 2), (0, 1, 1, 2)]


def passes(width, height, interlaced=True):
    """x0, y0, dx, dy, width and height of each that has a pixel."""
    for x, y, dx, dy in PASSES if interlaced else [(0, 0, 1, 1)]:
        w, h = (width - x + dx - 1) // dx, (height - y + dy - 1) // dy
        if w > 0 and h > 0:
            yield x, y, dx, dy, w, h


def chunk(name, data=b''):
    body = name + data
    return struct.pack('>I', len(data)) + body + struct.pack(
        '>I', zlib.crc32(body))


def chunks(data):
    """The name and the bytes of each chunk of a PNG."""
    at = 8
    while at + 12 <= len(data):
        size = int.from_bytes(data[at:at + 4], 'big')
        yield data[at + 4:at + 8], data[at + 8:at + 8 + size]
        at += 12 + size


def segment(marker, data=b''):
    return struct.pack('>BBH', 0xff, marker, len(data) + 2) + data


def segments(data):
    """The marker and the bytes of each segment of a JPEG before its scans."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xff and data[at + 1] != 0xda:
        size = int.from_bytes(data[at + 2:at + 4], 'big')
        yield data[at + 1], data[at + 4:at + 2 + size]
        at += 2 + size


EXIF, XMP = b'Exif\0\0', b'http://ns.adobe.com/xap/1.0/\0'
EXTENSION = b'http://ns.adobe.com/xmp/extension/\0'


def app1(head, block):
    """A segment of EXIF or XMP."""
    return segment(0xe1, head + block)


def extended_xmp(packet, guid, *cuts):
    """The segments of a packet that is too long for one, which is cut there."""
    return [app1(EXTENSION, guid + struct.pack('>II', len(packet), a) + packet[a:b])
            for a, b in zip((0, *cuts), (*cuts, len(packet)))]


def raw_profile(kind, block, packed=True):
    """A block as ImageMagick puts it into a text of PNG."""
    digits, key = block.hex(), b'Raw profile type ' + kind.encode() + b'\0'
    text = ('\n%s\n%8d\n' % (kind, len(block)) + ''.join(
        digits[i:i + 72] + '\n' for i in range(0, len(digits), 72))).encode()
    return (chunk(b'zTXt', key + b'\0' + zlib.compress(text)) if packed else
            chunk(b'tEXt', key + text))


def resource(number, data):
    return (b'8BIM' + struct.pack('>HHI', number, 0, len(data)) + data +
            b'\0' * (len(data) % 2))


def box(kind, *parts, head=8):
    """Of ISO/IEC 14496-12; `head`: 8 or 16 bytes, or 0: it goes on to the end."""
    body = b''.join(parts)
    if head == 16:
        return struct.pack('>I4sQ', 1, kind, 16 + len(body)) + body
    return struct.pack('>I4s', head and 8 + len(body), kind) + body


def boxes(data, at=0):
    """The kind of each, where its body begins and ends, and where it begins."""
    end = len(data)
    while at + 8 <= end:
        size, kind = struct.unpack_from('>I4s', data, at)
        body = at + (16 if size == 1 else 8)
        if size == 1:
            size, = struct.unpack_from('>Q', data, at + 8)
        stop = at + size if size else end
        if not body <= stop <= end:
            return
        yield kind, body, stop, at
        at = stop


def png(width, height, depth, color, samples, *before, interlaced=0, behind=b''):
    """A whole file of these zlib samples."""
    head = struct.pack('>IIBBBBB', width, height, depth, color, 0, 0, interlaced)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + b''.join(before) +
            chunk(b'IDAT', samples) + behind + chunk(b'IEND'))


def exif(tag, big=True):
    """A block that says an orientation alone."""
    return (b'MM\0*' if big else b'II*\0') + struct.pack(
        ('>' if big else '<') + 'IHHHIHHI', 8, 1, 0x112, 3, 1, tag, 0, 0)


def xmp(body):
    """A packet of what stands in the RDF."""
    return (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf='
            b'"http://www.w3.org/1999/02/22-rdf-syntax-ns#">' + body +
            b'</rdf:RDF></x:xmpmeta>')


def xmp_tag(tag):
    """A packet that says an orientation alone."""
    return xmp(b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" '
               b'tiff:Orientation="%d"/>' % tag)
