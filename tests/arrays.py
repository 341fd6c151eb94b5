"""Arrays as numpy, Pillow and OpenCV make them, turned by gimgxf and by numpy.

arrays.py GIMGXF OPTION...: makes arrays of every type, layout and order below
the current directory, has gimgxf turn them with these options, and compares
what it writes with np.rot90, np.flip and np.swapaxes: all bytes, the type, the
shape and the order. Ends with "N passed, M failed".
"""
import io
import itertools
import os
import random
import subprocess
import sys
import zipfile

import numpy as np

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
        with open(os.path.join(asked, name), 'wb') as file:
            file.write(saved(a, order))
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
                with open(path, 'rb') as file:
                    got = file.read()
                os.remove(path)
            except OSError as error:
                got = str(error).encode()
            check(f'{op} {asked} {a.dtype.str} {a.shape} {order}',
                  got[:1] == b'\x93' and same(got, want), got[:128])


def main():
    random.seed(1)
    turn_all(sys.argv[1:], make_all())
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0)


main()
