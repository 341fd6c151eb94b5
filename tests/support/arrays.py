"""Arrays as numpy and Pillow make them, turned by gimgxf and by numpy.

arrays.py GIMGXF OPTION...: makes arrays of every type, layout and order below
the current directory, has gimgxf turn them with these options, and compares
what it writes with np.rot90, np.flip and np.swapaxes: all bytes, the type, the
shape and the order. Then the same of archives of arrays (NPZ), made in every
way that ZIP has, and damaged; and pictures as Pillow reads them beside what
gimgxf makes arrays of. Ends with "N passed, M failed".
"""
import io
import itertools
import os
import random
import subprocess
import sys
import zipfile

import numpy as np

from pieces import read, write

TURNS = {
    'copy': lambda a, h, w: a,
    'fliph': lambda a, h, w: np.flip(a, w),
    'flipv': lambda a, h, w: np.flip(a, h),
    'rotate180': lambda a, h, w: np.rot90(a, 2, (h, w)),
    'rotate90': lambda a, h, w: np.rot90(a, -1, (h, w)),
    'rotate270': lambda a, h, w: np.rot90(a, 1, (h, w)),
    'transpose': lambda a, h, w: np.swapaxes(a, h, w),
    'transverse': lambda a, h, w: np.swapaxes(np.flip(a, (h, w)), h, w),
}

TYPES = ('? i1 u1 <i2 >i2 <u2 >u2 <i4 >u4 <i8 >u8 <f2 >f2 <f4 >f4 <f8 >f8 '
         '<f16 <c8 >c8 <c16 >c16 <c32 S1 S5 <U3 >U1 V4 V7 <M8[ns] '
         '>m8[25s]').split()
FEW = 'u1 >u2 <f4 >f8 <c16'.split()

# The shapes that each layout is tried with. The largest are for FEW types.
AUTO = {
    'hw': [(37, 53), (300, 517)],
    'hwc': [(37, 53, 1), (37, 53, 2), (37, 53, 3), (37, 53, 4), (300, 517, 3)],
    'chw': [(1, 37, 53), (2, 37, 53), (3, 37, 53), (4, 2, 9), (3, 300, 517)],
    'nhwc': [(1, 37, 53, 3), (100, 6, 7, 4)],
    'nchw': [(1, 3, 37, 53), (100, 4, 7, 6)],
}
ASKED = {
    'hwc': [(3, 30, 3), (37, 53, 7), (20, 30, 70), (40, 30)],
    'chw': [(3, 30, 3), (70, 20, 30), (40, 30)],
    'nhw': [(3, 20, 30), (200, 6, 7), (3, 4, 4)],
    'nhwc': [(3, 4, 4, 4), (9, 20, 30, 7)],
    'nchw': [(3, 4, 4, 4), (9, 7, 20, 30)],
}

passed = failed = 0


def check(name, good, why=''):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print('FAIL', name, why)


def array(dtype, shape):
    """Random bytes of a type; what is no valid value of it is one nevertheless."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind in 'b':
        data = bytes(random.choices((0, 1), k=count))
    elif dtype.kind in 'SU':
        data = np.array(random.choices(['a', 'bcd', '', 'xyzuv'], k=count),
                        dtype).tobytes()
    else:
        data = random.randbytes(count * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape)


def descr(data):
    """The type and the order that a file names."""
    text = data[10:data.index(b'\n')].decode()
    named = eval(text)
    return named['descr'], named['fortran_order'], named['shape']


def same(got, want):
    """Whether two files hold the same array, byte for byte."""
    if descr(got) != descr(want):
        return False
    return got[10 + int.from_bytes(got[8:10], 'little'):] == \
        want[10 + int.from_bytes(want[8:10], 'little'):]


def saved(a, order):
    """np.save in this order, of an array of any strides."""
    out = io.BytesIO()
    np.save(out, np.asarray(a, order=order).copy(order=order))
    return out.getvalue()


def axes(layout, a):
    """The axes of rows and columns."""
    if a.ndim == 2:
        return 0, 1
    if a.ndim == 4 and layout in ('hwc', 'chw'):
        layout = 'n' + layout
    return layout.index('h'), layout.index('w')


def cases():
    """Each (directory, layout asked for, axes, name, array, order)."""
    for layout, shapes in AUTO.items():
        for shape in shapes:
            for dtype, order in itertools.product(TYPES, 'CF'):
                if np.prod(shape) < 3000 or dtype in FEW:
                    yield 'auto', layout, shape, dtype, order
    for layout, shapes in ASKED.items():
        for shape in shapes:
            for dtype, order in itertools.product(FEW, 'CF'):
                yield layout, layout, shape, dtype, order


def make_all():
    made = {}
    for n, (asked, layout, shape, dtype, order) in enumerate(cases()):
        a = array(dtype, shape)
        os.makedirs(asked, exist_ok=True)
        name = f'{n}.npy'
        write(os.path.join(asked, name), saved(a, order))
        made.setdefault(asked, []).append((name, layout, a, order))
    return made


def turn_all(gimgxf, made):
    for (asked, files), op in itertools.product(made.items(), TURNS):
        done = subprocess.run(
            gimgxf + [op, '-q', '--layout', asked, '-r', '-d', 'out', asked],
            capture_output=True)
        check(f'{op} --layout {asked}', done.returncode == 0, done.stderr)
        for name, layout, a, order in files:
            want = saved(TURNS[op](a, *axes(layout, a)), order)
            path = os.path.join('out', name)
            if not os.path.exists(path):
                path = os.path.join('out', asked, name)
            try:
                got = read(path)
                os.remove(path)
            except OSError as error:
                got = str(error).encode()
            check(f'{op} {asked} {a.dtype.str} {a.shape} {order}',
                  got[:1] == b'\x93' and same(got, want), got[:128])


# ---- Archives ---------------------------------------------------------------

LABELS = 'shape (64,) has 1 axis, where pictures have 2 to 4; numpy.reshape ' \
    'makes them so'


class Stream(io.RawIOBase):
    """Where nobody can go back, so that sizes stand behind the data."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += data
        return len(data)


def archive(members, method=zipfile.ZIP_STORED, stream=False, comment=b''):
    """(name, bytes) as a ZIP."""
    out = Stream() if stream else io.BytesIO()
    with zipfile.ZipFile(out, 'w', method) as z:
        for name, data in members:
            entry = zipfile.ZipInfo(name, (2020, 2, 29, 12, 34, 56))
            entry.compress_type = method
            entry.external_attr = 0o640 << 16
            entry.comment = b'of ' + name.encode()
            entry.extra = b'\xfe\xca\x03\x00abc'
            with z.open(entry, 'w', force_zip64=stream) as file:
                file.write(data)
        z.comment = comment
    return bytes(out.data) if stream else out.getvalue()


def run(gimgxf, *words):
    done = subprocess.run(gimgxf + ['-f'] + list(words), capture_output=True,
                          text=True)
    return done.returncode, done.stderr


def members():
    images = array('u1', (64, 24, 32, 3))
    large = array('<f4', (700, 800)).copy()
    large[100:600] = 1
    return [('images.npy', saved(images, 'C'), images),
            ('labels.npy', saved(np.arange(64), 'C'), None),
            ('note.txt', b'no array\n', None),
            ('deep/größe.npy', saved(large, 'F'), large)]


def facts(entry):
    return (entry.filename, entry.compress_type, entry.date_time,
            entry.external_attr, entry.comment, entry.create_system,
            entry.extra[-7:], entry.flag_bits & 0x800)


def check_archive(name, before, after, inside, op):
    a, b = zipfile.ZipFile(io.BytesIO(before)), zipfile.ZipFile(after)
    check(name, b.testzip() is None)
    check(name, a.comment == b.comment)
    check(name, [facts(x) for x in a.infolist()] ==
          [facts(x) for x in b.infolist()],
          (a.infolist(), b.infolist()))
    for member, data, whole in inside:
        got = b.read(member)
        if whole is None:
            check(f'{name}: {member}', got == data)
        else:
            h = whole.ndim // 4
            order = 'F' if descr(data)[1] else 'C'
            check(f'{name}: {member}',
                  same(got, saved(TURNS[op](whole, h, h + 1), order)))


def turn_archives(gimgxf):
    inside = members()
    warned = ''.join(
        f"gimgxf: a.npz: warning: member '{name}' is kept as it is: {why}\n"
        for name, why in (('labels.npy', LABELS),
                          ('note.txt', 'not an array')))
    for method, stream in itertools.product((zipfile.ZIP_STORED,
                                             zipfile.ZIP_DEFLATED),
                                            (False, True)):
        data = archive([m[:2] for m in inside], method, stream, b'remark')
        for op in 'rotate90', 'fliph', 'transverse':
            write('a.npz', data)
            got = run(gimgxf, op, 'a.npz', 'out.npz')
            check(f'{op} an archive', got == (0, warned), got)
            check_archive(f'{op}, method {method}, stream {stream}', data,
                          'out.npz', inside, op)
    run(gimgxf, '-q', 'copy', 'a.npz', 'out.npz')
    check('a copy is the same', read('out.npz') == data)
    np.savez('a.npz', x=array('u1', (5, 6)), y=array('u1', (7, 8, 3)))
    check('what np.savez writes', run(gimgxf, 'fliph', 'a.npz', 'out.npz') ==
          (0, ''))
    with np.load('a.npz') as a, np.load('out.npz') as b:
        check('np.load finds all', a.files == b.files and
              all(np.array_equal(np.flip(a[k], 1), b[k]) for k in a.files))


def refuse(gimgxf, data, why, *words):
    write('bad.npz', data)
    status, said = run(gimgxf, *words, 'rotate90', 'bad.npz', 'bad-out.npz')
    check(why, (status, said) == (1, f'gimgxf: bad.npz: {why}\n'), said)
    check('nothing is written', not os.path.exists('bad-out.npz'))


def put(data, at, value):
    return data[:at] + value + data[at + len(value):]


def refuse_archives(gimgxf):
    picture = saved(array('u1', (20, 30)), 'C')
    one = archive([('a.npy', picture)])
    two = archive([('a.npy', picture), ('b.npy', picture)])
    packed = archive([('a.npy', picture)], zipfile.ZIP_DEFLATED)
    entry, at = one.index(b'PK\1\2'), two.rindex(b'PK\1\2')
    local = two.index(b'PK\3\4', 1)
    where = two.index(b'PK\1\2')
    refuse(gimgxf, put(one, 200, b'?' if one[200:201] != b'?' else b'!'),
           "member 'a.npy': its data are damaged: the CRC is wrong")
    refuse(gimgxf, put(packed, 60, b'\xff' * 8),
           "member 'a.npy': its data are damaged")
    refuse(gimgxf, one[:-1],
           'the archive has no end: it is cut short or damaged')
    refuse(gimgxf, put(one, entry, b'XX'),
           'the directory of the archive is damaged')
    refuse(gimgxf, put(one, entry + 8, b'\1'),
           "member 'a.npy': it is encrypted; extract it first")
    refuse(gimgxf, put(put(one, entry + 10, b'\14'), 8, b'\14'),
           "member 'a.npy': its compression, method 12, is unknown; "
           'numpy.savez_compressed deflates')
    refuse(gimgxf, put(one, entry + 20, b'\xff\xff\xff\0'),
           "member 'a.npy': it lies outside of the archive")
    refuse(gimgxf, put(one, entry + 42, b'\xff\xff\xff\0'),
           "member 'a.npy': it lies outside of the archive")
    refuse(gimgxf, put(one, entry + 24, b'\xff\xff\xff\0'),
           "member 'a.npy': its sizes contradict each other")
    refuse(gimgxf, put(packed, packed.index(b'PK\1\2') + 24, b'\0\0\0\x70'),
           "member 'a.npy': so few bytes cannot hold what it claims to hold")
    refuse(gimgxf, put(two, at + 46, b'a'),
           "member 'a.npy': its header is damaged")
    # The first member takes the second one with it.
    size = (local + 50).to_bytes(4, 'little')
    refuse(gimgxf, put(two, where + 20, size + size),
           "member 'b.npy': it overlaps another member")
    bomb = archive([(f'{i}.npy', saved(np.zeros((1000, 1000)), 'C'))
                    for i in range(9)], zipfile.ZIP_DEFLATED)
    refuse(gimgxf, bomb, 'the members of an NPZ need 138M bytes, more than the '
           '15360K of --max-memory; --max-memory 138M allows them',
           '--max-memory', '15M')
    refuse(gimgxf, bomb, "member '0.npy': 1000 x 1000 pixels are more than "
           'the 999K of --max-pixels; --max-pixels 1000K allows them', '--max-pixels', '999999')
    refuse(gimgxf, archive([('a.npy', picture),
                            ('b.npy', saved(array('u1', (3, 9, 3)), 'C'))]),
           "member 'b.npy': shape (3, 9, 3) can be read with the channels "
           'first or last; --layout chw or hwc says which')
    refuse(gimgxf, archive([('a.npy', picture[:-1])]),
           "member 'a.npy': 599 bytes of data, where its shape needs 600")
    refuse(gimgxf, archive([('a.npy', b'\x93NUMPY\1\0\0\0')]),
           "member 'a.npy': its header is malformed")
    status, said = run(gimgxf, 'fliph', 'a.npz', 'out.npy')
    check('an archive is not converted',
          (status, said) == (1, 'gimgxf: a.npz: the arrays of an NPZ are '
                             'turned as NPZ, and not converted; save the '
                             'array to convert as NPY\n'), said)


# ---- Pictures ---------------------------------------------------------------

def turn_pictures(gimgxf):
    """From an array to a picture and back, as Pillow reads it."""
    try:
        from PIL import Image
    except ImportError:
        print('skipped Pillow: it is not there')
        return
    kinds = [('u1', (40, 50)), ('u1', (40, 50, 3)), ('u1', (40, 50, 4)),
             ('<u2', (40, 50)), ('>u2', (40, 50))]
    for dtype, shape in kinds:
        a = array(dtype, shape)
        for order, layout in itertools.product('CF', ('hwc', 'chw')):
            stored = a if layout == 'hwc' or a.ndim == 2 \
                else a.transpose(2, 0, 1)
            write('p.npy', saved(stored, order))
            name = f'{dtype} {shape} {order} {layout}'
            check(name, run(gimgxf, 'rotate90', 'p.npy', 'p.png') == (0, ''))
            check(name, np.array_equal(np.asarray(Image.open('p.png')),
                                       np.rot90(a, -1)))
            check(name, run(gimgxf, '-q', '--layout', layout, 'rotate270',
                            'p.png', 'back.npy') == (0, ''))
            back = np.load('back.npy')
            check(name, np.array_equal(back, stored), back.shape)


def main():
    random.seed(1)
    gimgxf = sys.argv[1:]
    turn_all(gimgxf, make_all())
    turn_archives(gimgxf)
    # No backend has a part in what is refused and converted: these are many
    # processes, and each would start a GPU.
    refuse_archives(gimgxf[:1])
    turn_pictures(gimgxf[:1])
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
