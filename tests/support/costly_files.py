"""Small files that would cost much.

    costly_files.py check PROGRAM PLACE  turns each, and sound ones that may look
                                         like them

Each is what a hostile file can be: it is sound, or nearly, and takes time or
memory out of all proportion to its size unless a program bounds both. None may
take more than 256 MB, by the system's own count: it ends with an output, or with
a message and none. The sound ones must be turned."""
import functools
import hashlib
import io
import math
import os
import resource
import struct
import subprocess
import sys
import zipfile
import zlib

from apng import actl, fctl, fdat
from pieces import (EXIF, XMP, app1, chunk, extended_xmp, passes, png, segment, write,
                    xmp)

# ---- Formats -----------------------------------------------------------------


@functools.cache
def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)


def deflate(*parts):
    """A zlib stream of these (bytes, how many times), as small as they get but for a
    few bytes between them: what comes again is deflated once."""
    out, adler = b'\x78\xda', 1
    for data, times in parts:
        out += deflated(data) * times
        for _ in range(times):
            adler = zlib.adler32(data, adler)
    return out + b'\3\0' + struct.pack('>I', adler)


ZEROS = bytes(1 << 24)


def deflate_zeros(size):
    return deflate((ZEROS, size // len(ZEROS)), (ZEROS[:size % len(ZEROS)], 1))


def deflate_text(repeated, size):
    """A packet of XMP of a text, again and again."""
    head, tail = xmp(b'|').split(b'|')
    block = repeated * ((4 << 20) // len(repeated))
    return deflate((head, 1), (block, size // len(block)), (tail, 1))


def passes_size(width, height, pixel):
    """The bytes of an interlaced picture, of so many bytes a pixel."""
    return sum(h * (1 + w * pixel) for *_, w, h in passes(width, height))


STEPS = segment(0xdb, b'\0' + b'\1' * 64)


def frame(code, width, height, samplings=(0x11,)):
    """A frame header; code 0xc0 is baseline, 0xc2 progressive, 0xc9
    arithmetic."""
    parts = b''.join(bytes((i + 1, s, 0)) for i, s in enumerate(samplings))
    return segment(code, struct.pack('>BHHB', 8, height, width,
                                     len(samplings)) + parts)


def scan(components=1, begin=0, end=63, bits=0):
    tables = b''.join(bytes((i + 1, 0)) for i in range(components))
    return segment(0xda, bytes((components,)) + tables +
                   bytes((begin, end, bits)))


def codes(table, symbols):
    """A Huffman table: code i has i + 1 bits."""
    counts = bytes(1 if i < len(symbols) else 0 for i in range(16))
    return segment(0xc4, bytes((table,)) + counts + bytes(symbols))


def jpeg(*parts):
    return b'\xff\xd8' + b''.join(parts) + b'\xff\xd9'


def gray_jpeg(width, height, bits, *segments):
    """Baseline; its codes are of a bit each."""
    return jpeg(*segments, STEPS, frame(0xc0, width, height), codes(0x00, [0]),
                codes(0x10, [0]), scan(), bits)


def small_jpeg(*segments):
    """One of 8 x 8 pixels, with these segments in it."""
    return gray_jpeg(8, 8, b'\x3f', *segments)


# ---- Metadata ----------------------------------------------------------------

def many_packets(size):
    """Many packets of Extended XMP, each in a portion of its own and named by
    its digest, beside a long packet in which each might be named."""
    parts = [app1(XMP, xmp(b'<rdf:Description/>' * 3500))]
    n = 0
    while sum(map(len, parts[:1])) + 84 * n < size:
        text = b'%07d' % n
        guid = hashlib.md5(text).hexdigest().upper().encode()
        parts += extended_xmp(text, guid)
        n += 1
    return small_jpeg(*parts)


def directory(entries, count=None):
    """A TIFF directory behind its header, of entries (tag, type, count, value)."""
    return (b'II*\0' + struct.pack('<IH', 8, count or len(entries)) +
            b''.join(struct.pack('<HHII', *e) for e in entries) +
            struct.pack('<I', 8))


def long_exif():
    """A long directory, to which all tags of others lead, and its link too."""
    links = [(0x8769, 4, 1, 8), (0x8825, 4, 1, 8), (0xa005, 4, 1, 8),
             (0x0201, 4, 1, 8), (0x0202, 4, 1, 60000)]
    return directory([(0x9000, 2, 65000, 8)] * 5440 + links)


def strips_exif(size):
    """Directories of GPS, each value of which is compared with each strip of a
    thumbnail, of a byte each."""
    strips = (size - 8000) // 9
    offsets, counts = 8000 + strips, 8000 + 5 * strips
    block = bytearray(size)

    def put(at, entries, link=0):
        block[at:at + 6 + 12 * len(entries)] = (
            struct.pack('<H', len(entries)) +
            b''.join(struct.pack('<HHII', *e) for e in entries) +
            struct.pack('<I', link))

    block[:8] = b'II*\0' + struct.pack('<I', 8)
    put(8, [(0x8825, 4, 1, 2000 + 1000 * i) for i in range(5)], 200)
    put(200, [(0x0111, 4, strips, offsets), (0x0117, 4, strips, counts)])
    for at in range(2000, 7000, 1000):
        put(at, [(i, 5, 1, at + 740 + 8 * i) for i in range(30)])
    for i in range(strips):
        struct.pack_into('<I', block, offsets + 4 * i, 8000 + i)
        struct.pack_into('<I', block, counts + 4 * i, 1)
    return bytes(block)


def metadata_png(*chunks):
    return png(1, 1, 8, 0, zlib.compress(bytes(2)), *chunks)


def raw_profile_png(chunks, size):
    """EXIF of zeros, in hexadecimal."""
    text = zlib.compress(b'\nexif\n%8d\n' % size + b'00' * size)
    body = b'Raw profile type exif\0\0' + text
    return metadata_png(*[chunk(b'zTXt', body)] * chunks)


def packed_xmp_png(repeated, size):
    """A small chunk of much XMP."""
    return metadata_png(chunk(b'zTXt', b'XML:com.adobe.xmp\0\0' +
                              deflate_text(repeated, size)))


# Prefixes that each stand for two namespaces in turn.
NAMESPACES = b''.join(b'<a xmlns:p%d="http://ns.adobe.com/tiff/1.0/" xmlns:p%d="u:x"/>' %
                      (i, i) for i in range(8))


def thumbnail_exif():
    """With a thumbnail of few bytes and many scans."""
    scans = many_scans(60, 1024)
    links = [(0x0201, 4, 1, 56), (0x0202, 4, 1, len(scans))]
    return (directory([(0x0112, 3, 1, 1)])[:-4] + struct.pack('<IH', 26, 2) +
            b''.join(struct.pack('<HHII', *e) for e in links) + bytes(4) + scans)


def mpf_jpeg(pictures, behind):
    """A list of pictures that all are the ones behind, or a part of them."""
    inner = small_jpeg()
    listed = 26 + 4
    head = directory([(0xb002, 7, 16 * pictures, listed)])[:26] + bytes(4)

    def file(begin):
        entries = b''.join(
            struct.pack('<IIIHH', 0, len(inner) * (behind - i % behind),
                        begin + len(inner) * (i % behind), 0, 0)
            for i in range(pictures))
        return small_jpeg(segment(0xe2, b'MPF\0' + head + entries))

    return file(len(file(0)) - 10) + inner * behind


def regions_jpeg(regions):
    """Very many faces in a packet of XMP."""
    face = (b'<rdf:li><rdf:Description mwg-rs:Type="Face"><mwg-rs:Area '
            b'stArea:x="0.5" stArea:y="0.5" stArea:w="0.1" stArea:h="0.1"/>'
            b'</rdf:Description></rdf:li>')
    return small_jpeg(app1(XMP, xmp(
        b'<rdf:Description xmlns:mwg-rs="http://www.metadataworkinggroup.com/'
        b'schemas/regions/" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#">'
        b'<mwg-rs:Regions><mwg-rs:RegionList><rdf:Bag>' + face * regions +
        b'</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions></rdf:Description>')))


def xmp_png(repeated):
    """XMP of 60 MB that is but one text, again and again."""
    return metadata_png(chunk(b'iTXt', b'XML:com.adobe.xmp\0\1\0\0\0' +
                              deflate_text(repeated, 60 << 20)))


def icc_png():
    """A profile that inflates to 63 MB, as the only metadata."""
    return png(1, 1, 8, 2, zlib.compress(bytes(4)),
               chunk(b'iCCP', b'a\0\0' + deflate_zeros(63 << 20)))


def parts_png(parts):
    """Chunks of samples that each look like a stream of their own, and become
    63 MB, of which the picture has room for a part."""
    part = deflate_zeros(63 << 20)[2:-4]
    flushed = part[:1 << 16]
    first = b'\x78\x9c' + flushed
    return (png(4000, 4000, 8, 2, first)[:-12] +
            chunk(b'IDAT', flushed) * (parts - 1) + chunk(b'IEND'))


def empty_blocks_png(blocks):
    """Samples behind stored blocks of no bytes."""
    stream = (b'\x78\x9c' + b'\0\0\0\xff\xff' * blocks +
              zlib.compress(bytes(2))[2:])
    return png(1, 1, 8, 0, stream)


def empty_chunks_png(chunks):
    whole = metadata_png()
    return whole[:33] + chunk(b'IDAT') * chunks + whole[33:]


def frames_apng(frames, width, height):
    """An animation of many large flat frames, all the same bytes."""
    samples = deflate_zeros((width + 1) * height)
    return png(width, height, 8, 0, samples, actl(frames), fctl(0, width, height),
               behind=b''.join(fctl(n, width, height) + fdat(n + 1, samples)
                               for n in range(1, 2 * frames - 1, 2)))


# ---- JPEG --------------------------------------------------------------------


def arithmetic_jpeg(width, height, samplings=(0x11,) * 3):
    """All that an arithmetic decoder needs to make blocks without end."""
    return jpeg(STEPS, frame(0xc9, width, height, samplings),
                scan(len(samplings)))


def blocks(width, height):
    return ((width + 7) // 8) * ((height + 7) // 8)


def many_scans(scans, side):
    """One scan of the DC coefficients, of a bit a block, then many of others:
    a code of 0xe0 and 14 bits ends 32767 blocks at once (T.81, G.1.2.2)."""
    n = blocks(side, side)
    parts = [STEPS, frame(0xc2, side, side), codes(0x00, [0]),
             codes(0x10, [0xe0]), scan(1, 0, 0), bytes((n + 7) // 8)]
    runs = (n + 32766) // 32767
    bits = ('0' + '1' * 14) * runs
    bits += '1' * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, 'big')
    data = data.replace(b'\xff', b'\xff\0')
    for i in range(scans - 1):
        at = 1 + i % 63
        parts += [scan(1, at, at), data]
    return jpeg(*parts)


def restarts(width, height):
    """A restart marker after each block of two bits."""
    n = blocks(width, height)
    data = b''.join(b'\x3f\xff' + bytes((0xd0 + i % 8,)) for i in range(8))
    return gray_jpeg(width, height, (data * (n // 8 + 1))[:3 * n - 2],
                     segment(0xdd, b'\0\1'))


def baseline_rows(width, height):
    return gray_jpeg(width, height, bytes((blocks(width, height) + 3) // 4))


# ---- Formats without a library -----------------------------------------------


def run_length_bmp(width, height):
    """Ends at once: what is left of such a BMP is the color 0."""
    colors = bytes(8)
    body = b'\0\1'
    at = 54 + len(colors)
    return (b'BM' + struct.pack('<IHHI', at + len(body), 0, 0, at) +
            struct.pack('<IiiHHIIiiII', 40, width, height, 1, 8, 1, len(body),
                        2835, 2835, 2, 0) + colors + body)


def run_length_tga(width, height, packets):
    """Packets of 128 pixels each, of 4 bytes."""
    head = struct.pack('<BBBHHBHHHHBB', 0, 0, 10, 0, 0, 0, 0, 0, width, height,
                       32, 8)
    return head + b'\xff\1\2\3\4' * packets


def npy(shape):
    head = ("{'descr': '|u1', 'fortran_order': False, 'shape': %s, }" %
            (shape,)).encode()
    head += b' ' * (-(len(head) + 11) % 64) + b'\n'
    return b'\x93NUMPY\1\0' + struct.pack('<H', len(head)) + head + bytes(100)


def bomb_npz(members, shape):
    """Arrays of zeros."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for i in range(members):
            with file.open('%d.npy' % i, 'w', force_zip64=True) as member:
                member.write(npy(shape)[:-100])
                for _ in range(shape[0]):
                    member.write(bytes(math.prod(shape[1:])))
    return out.getvalue()


def old_runs_hdr(width, height):
    """Old run lengths: a repeat count that grows by 256 each time."""
    return (b'#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n' %
            (height, width) + b'\2\2\2\2' + b'\1\1\1\xff' * 16)


FILES = {
    # In memory at once only where both pictures are compared.
    'bits.png': lambda: png(16000, 16000, 1, 0, deflate_zeros(2001 * 16000)),
    'comments-30000.jpg': lambda: small_jpeg(segment(0xfe) * 30000),
    'segments-60000.jpg': lambda: small_jpeg(segment(0xe2, b'x') * 60000),
    'comments-250000.jpg': lambda: small_jpeg(segment(0xfe) * 250000),
    'extended-437k.jpg': lambda: many_packets(437000),
    'extended-873k.jpg': lambda: many_packets(873000),
    'xmp-65k.png': lambda: packed_xmp_png(
        b'<rdf:li xml:lang="x-default" tiff:Orientation="1"/>', 63 << 20),
    'tags.png': lambda: xmp_png(b'<'),
    'nested.png': lambda: xmp_png(b'<tiff:a>'),
    'begun-comments.png': lambda: xmp_png(b'<!--'),
    'profile-64k.png': icc_png,
    'frames.png': lambda: frames_apng(400, 1000, 1000),
    'frames-columns.png': lambda: frames_apng(1000, 1, 100000),
    'frames-rows.png': lambda: frames_apng(300, 100000, 1),
    'chunks-60000.png': lambda: metadata_png(*[chunk(b'tEXt', b'a\0')] * 60000),
    'arithmetic.jpg': lambda: arithmetic_jpeg(12900, 12900),
    'arithmetic-gray.jpg': lambda: arithmetic_jpeg(20000, 20000, (0x11,)),
    'arithmetic-wide.jpg': lambda: arithmetic_jpeg(65500, 7600, (0x11,)),
    'scans-200.jpg': lambda: many_scans(200, 22000),
    'flat-gray.png': lambda: png(16000, 16000, 8, 0,
                                 deflate_zeros(16001 * 16000)),
    'flat-alpha.png': lambda: png(8000, 8000, 8, 6,
                                  deflate_zeros(32001 * 8000)),
    'column.png': lambda: png(1, 8000000, 16, 6, deflate_zeros(9 * 8000000)),
    'column-gray.png': lambda: png(1, 8000000, 1, 0, deflate_zeros(16000000)),
    'row.png': lambda: png(8000000, 1, 8, 6, deflate_zeros(32000001)),
    'row-bits.png': lambda: png(8000000, 1, 1, 0, deflate_zeros(1000001)),
    'column-palette.png': lambda: png(1, 8000000, 8, 3, deflate_zeros(16000000),
                                      chunk(b'PLTE', bytes(6))),
    'row-adam7.png': lambda: png(8000000, 1, 8, 6, deflate_zeros(
        passes_size(8000000, 1, 4)), interlaced=1),
    'column-adam7.png': lambda: png(1, 4000000, 8, 0, deflate_zeros(8000000),
                                    interlaced=1),
    'cut.png': lambda: png(22000, 22000, 16, 6, deflate_zeros(1 << 16)),
    'run-length.bmp': lambda: run_length_bmp(22000, 22000),
    'run-length-wide.bmp': lambda: run_length_bmp(30000000, 16),
    'run-length.tga': lambda: run_length_tga(22000, 22000, 8),
    'old-run-length.hdr': lambda: old_runs_hdr(22000, 22000),
    'cut.npy': lambda: npy((22000, 22000, 4)),
    'cut-planes.npy': lambda: npy((64, 11000, 11000)),
    'cut.pfm': lambda: b'PF\n22000 22000\n-1.0\n' + bytes(200),
    'cut.ppm': lambda: b'P6 22000 22000 65535\n' + bytes(200),
    'cut.pam': lambda: (b'P7\nWIDTH 22000\nHEIGHT 22000\nDEPTH 16\nMAXVAL 65535'
                        b'\nENDHDR\n' + bytes(200)),
    'cut.bmp': lambda: run_length_bmp(22000, 22000)[:70],
    'directories.jpg': lambda: small_jpeg(*[app1(EXIF, long_exif())] * 15),
    'listed.jpg': lambda: mpf_jpeg(4000, 400),
    'thumbnails.jpg': lambda: small_jpeg(*[app1(EXIF, thumbnail_exif())] * 100),
    'strips.jpg': lambda: small_jpeg(*[app1(EXIF, strips_exif(65000))] * 15),
    'strips.png': lambda: metadata_png(chunk(b'eXIf', strips_exif(1 << 20))),
    'raw-profile.png': lambda: raw_profile_png(10, 20 << 20),
    'namespaces.png': lambda: packed_xmp_png(NAMESPACES, 60 << 20),
    # As short as they are: 12 bytes.
    'resources.jpg': lambda: small_jpeg(*[segment(
        0xed, b'Photoshop 3.0\0' + b'8BIM\4\4\0\0\0\0\0\0' * 5400)] * 15),
    'regions.jpg': lambda: regions_jpeg(380),
    'restarts.jpg': lambda: restarts(4800, 4800),
    'header.jpg': lambda: baseline_rows(65500, 65500)[:200],
    'coefficients.jpg': lambda: many_scans(1, 65500)[:60000],
    'parts.png': lambda: parts_png(16),
    'empty-blocks.png': lambda: empty_blocks_png(200000),
    'empty-chunks.png': lambda: empty_chunks_png(80000),
    'frames-small.png': lambda: frames_apng(12000, 8, 8),
    'comments.ppm': lambda: b'P6\n' + b'#\n' * 60000 + b'1 1 255\n' + bytes(3),
    'numbers-cut.ppm': lambda: b'P3 10000 1200 255\n' + b'0 ' * 500000,
    'numbers.ppm': lambda: b'P3 22000 22000 255\n' + b'0 ' * 500000,
    'members.npz': lambda: bomb_npz(3000, (1, 1)),
    'bomb.npz': lambda: bomb_npz(1, (16000, 8000, 3)),
    'resolution.hdr': lambda: (b'#?RADIANCE\n' + b'EXPOSURE=1\n' * 60000 +
                               b'FORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n' +
                               bytes(4)),
}


# As flat as pictures get, in files as small as programs make them.
SOUND = {
    'scans.jpg': lambda: many_scans(200, 512),
    'progressive.jpg': lambda: many_scans(12, 6400),
    'baseline.jpg': lambda: baseline_rows(8000, 6400),
    'gray.png': lambda: png(8000, 8000, 8, 0, deflate_zeros(8001 * 8000)),
    'fax.png': lambda: png(9920, 7008, 1, 0, deflate_zeros(1241 * 7008)),
    'alpha.png': lambda: png(8000, 3800, 8, 6, deflate_zeros(32001 * 3800)),
    'strip.png': lambda: png(16, 60000, 8, 2, deflate_zeros(49 * 60000)),
    'profile.png': icc_png,
    'runs.tga': lambda: run_length_tga(6400, 5000, 50 * 5000),
    'plain.npy': lambda: npy((10, 10)),
    'frames-flat.png': lambda: frames_apng(100, 1000, 1000),
}


# ---- Turning them ------------------------------------------------------------

MOST = 256 << 10  # KiB resident


def limit():
    # A program that takes what it may not would take what others need.
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))


def turn(program, options, place, name):
    """Returns the status, the resident KiB, the last line of stderr, and the
    size of the output; None if there is none."""
    out = os.path.join(place, 'out' + os.path.splitext(name)[1])
    if os.path.exists(out):
        os.remove(out)
    path = os.path.join(place, name)
    words = ['--backend', 'cpu', *options, 'rotate90', path, out]
    if options in READERS:
        words = [*options, path] + [path] * (options == READERS[0])
    with open(os.path.join(place, 'said'), 'w+b') as said:
        child = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL,
                                 stderr=said, preexec_fn=limit)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        line = said.read().decode(errors='replace').strip().split('\n')[-1]
    size = os.path.getsize(out) if os.path.exists(out) else None
    return child.returncode, used.ru_maxrss, line, size


def is_good(status, line, size, options, sound):
    if status == 0:
        return bool(size) or options in READERS
    return not sound and status == 1 and size is None and line != ''


# Side by side, files take what each of them takes.
READERS = [['relate'], ['check', '-j', '1'], ['info']]
SETS = [[], ['--tolerant'], ['--verify'], *READERS[:2]]

# What costs is beside the pixels; with what is done there alone.
METADATA = ('chunks-60000.png', 'directories.jpg', 'extended-437k.jpg',
            'listed.jpg', 'namespaces.png', 'raw-profile.png', 'regions.jpg',
            'nested.png', 'resources.jpg', 'strips.jpg', 'strips.png',
            'tags.png', 'xmp-65k.png')
METADATA_SETS = [['--strip=gps'], ['--tag-only'], READERS[2]]

# But for WHOLE=1 each is turned as it is and in one of the other ways, by turns; what
# takes long in one way only; and what test-budget turns itself, in none.
LONG = ('alpha.png', 'baseline.jpg', 'begun-comments.png', 'bits.png', 'bomb.npz',
        'column-adam7.png', 'column-gray.png', 'column-palette.png', 'fax.png',
        'flat-alpha.png', 'frames-flat.png', 'frames-small.png',
        'gray.png', 'namespaces.png', 'parts.png', 'progressive.jpg',
        'raw-profile.png', 'restarts.jpg', 'row-adam7.png', 'row-bits.png',
        'row.png', 'runs.tga', 'strips.jpg', 'strips.png', 'xmp-65k.png')
ALIKE = 'flat-gray.png', 'nested.png', 'tags.png', 'thumbnails.jpg'


# What more threads than there are processors may take more memory for.
THREADED = ('parts.png',)


def sets_of(name):
    sets = SETS + METADATA_SETS * (name in METADATA)
    many = [['-j', '16']] * (name in THREADED)
    if os.environ.get('WHOLE') == '1':
        return sets + many
    at = [*FILES, *SOUND].index(name)
    if name in LONG:
        return [sets[at % len(sets)]] + many
    return [] if name in ALIKE else [sets[0], sets[1 + at % (len(sets) - 1)]]


def check(program, place):
    failed = passed = 0
    for files, most in (FILES, MOST), (SOUND, 1 << 20):
        for name, make in files.items():
            sets = sets_of(name)
            if not sets:
                continue
            write(os.path.join(place, name), make())
            for options in sets:
                status, used, line, size = turn(program, options, place, name)
                if (is_good(status, line, size, options,
                            files is SOUND) and
                        used <= most):
                    passed += 1
                    continue
                failed += 1
                print('FAIL %s %s: status %d, %d MiB, %s' %
                      (name, ' '.join(options), status, used >> 10, line))
            os.remove(os.path.join(place, name))
    print('%d passed, %d failed' % (passed, failed))
    return failed == 0


if __name__ == '__main__':
    sys.exit(not check(*sys.argv[2:]))
