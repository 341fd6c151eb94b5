"""Pictures of 5 x 3 in the formats that have few public samples, to fuzz with:
(name, bytes) of each."""
import io
import struct

import numpy

WIDTH, HEIGHT = 5, 3
RGB = bytes((i * 37 + 11) % 256 for i in range(3 * WIDTH * HEIGHT))
GRAY = RGB[:WIDTH * HEIGHT]


def bmp(bits, compression, palette, pixels):
    head = struct.pack('<IiiHHIIiiII', 40, WIDTH, HEIGHT, 1, bits, compression,
                       len(pixels), 2835, 2835, len(palette) // 4, 0)
    at = 14 + len(head) + len(palette)
    return b'BM' + struct.pack('<IHHI', at + len(pixels), 0, 0, at) + head + \
        palette + pixels


def bmps():
    palette = bytes(i * 5 % 256 for i in range(4 * 16))
    yield 'palette', bmp(8, 0, palette, (b'\1\2\3\4\5' + bytes(3)) * 3)
    yield 'bits', bmp(1, 0, palette[:8], b'\xa8\0\0\0' * 3)
    yield 'runs', bmp(8, 1, palette, b'\5\1\0\0' + b'\0\5\1\2\3\4\5\0\0\0' +
                      b'\2\3\0\2\1\0\2\1\0\1')
    yield 'nibbles', bmp(4, 2, palette, b'\5\x12\0\0' * 3 + b'\0\1')
    yield 'fields', bmp(16, 3, struct.pack('<III', 0xf800, 0x7e0, 0x1f),
                        (GRAY[:10] + bytes(2)) * 3)


def tga(kind, bits, pixels, palette=b'', flags=0):
    return struct.pack('<BBBHHBHHHHBB', 0, len(palette) > 0, kind, 0,
                       len(palette) // 3, 24 if palette else 0, 0, 0, WIDTH,
                       HEIGHT, bits, flags) + palette + pixels


def tgas():
    palette = bytes(range(24))
    yield 'alpha', tga(2, 32, (RGB + GRAY)[:60], flags=0x28)
    yield 'fives', tga(2, 16, RGB[:30], flags=0x10)
    yield 'gray', tga(3, 8, GRAY, flags=0x20)
    yield 'palette', tga(1, 8, bytes(i % 8 for i in GRAY), palette)
    yield 'runs', tga(10, 24, (b'\x84\1\2\3' + b'\4' + RGB[:15]) * 2)
    yield 'gray-runs', tga(11, 8, b'\x8e\x20')
    yield 'footer', tga(2, 24, RGB) + bytes(8) + b'TRUEVISION-XFILE.\0'


def qois():
    head = b'qoif' + struct.pack('>II', WIDTH, HEIGHT)
    end = bytes(7) + b'\1'
    colors = b''.join(b'\xfe' + RGB[i:i + 3] for i in range(0, 21, 3))
    yield 'rgb', head + b'\3\0' + colors + b'\x6a\x80\x88\xc4\x35' + end
    yield 'alpha', head + b'\4\1\xff\1\2\3\4' + colors + b'\x0e\xc5' + end


def arrays():
    bytes_of, floats = numpy.frombuffer(RGB, 'u1').reshape(5, 3, 3), numpy.eye(3, 5, 0, 'f4')
    for name, save, *what in (('fortran.npy', numpy.save, floats.astype('>u2', 'F')),
                              ('floats.npy', numpy.save, floats),
                              ('stored.npz', numpy.savez, bytes_of, floats),
                              ('deflated.npz', numpy.savez_compressed, bytes_of, floats)):
        file = io.BytesIO()
        save(file, *what)
        yield name, file.getvalue()


def others():
    size = b'%d %d\n' % (WIDTH, HEIGHT)
    yield 'deep.pgm', b'P5\n' + size + b'1023\n' + b'\1\2' * 15
    yield 'bits.pbm', b'P4\n' + size + b'\xa8\x50\xf8'
    yield 'text.ppm', b'P3 2 1 255 1 2 3\n4 5 6\n'
    yield 'alpha.pam', b'P7\nWIDTH 5\nHEIGHT 3\nDEPTH 4\nMAXVAL 255\n' \
        b'TUPLTYPE RGB_ALPHA\nENDHDR\n' + RGB + GRAY
    yield 'runs.hdr', b'#?RADIANCE\nEXPOSURE=2\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n' \
        b'\2\2\0\x08' + b'\x88\x40' * 4


def pictures():
    for name, data in bmps():
        yield name + '.bmp', data
    for name, data in tgas():
        yield name + '.tga', data
    for name, data in qois():
        yield name + '.qoi', data
    yield from arrays()
    yield from others()
