"""Arrays that are more than --max-memory, turned through a temporary file by gimgxf
and by numpy.

large_arrays.py GIMGXF OPTION...: makes arrays below the current directory, has
gimgxf turn them within 16 MB with these options, and compares what it writes with
numpy: all bytes, the type, the shape and the order. Ends with "N passed, M failed".
"""
import os
import subprocess
import sys
import zipfile

import numpy as np

from arrays import TURNS, same, saved

# Type, shape, layout, order: one picture and several, smaller and larger than a piece,
# and pixels from one byte to many.
ARRAYS = [
    ('u1', (1803, 1601, 3), 'hwc', 'C'),
    ('u1', (1601, 1803, 3), 'hwc', 'F'),
    ('u1', (3, 1603, 1801), 'chw', 'C'),
    ('u1', (31, 501, 603), 'nhw', 'C'),
    ('u1', (4, 1301, 703, 3), 'nhwc', 'C'),
    ('u1', (123, 121, 603), 'hwc', 'C'),
    ('u1', (900001, 10), 'auto', 'C'),
    ('>u2', (2003, 2301), 'auto', 'C'),
    ('<f4', (1701, 1403), 'auto', 'F'),
    ('>f8', (1101, 1003), 'auto', 'C'),
    ('<c16', (801, 803), 'auto', 'C'),
    ('V7', (1001, 1303), 'auto', 'C'),
    ('<c32', (301, 43, 21), 'hwc', 'C'),
]


# Otherwise each array, and each kind of archive, goes through some of the turns.
WHOLE = os.environ.get('WHOLE') == '1'


def make(rng, type_, shape, order):
    size = int(np.prod(shape)) * np.dtype(type_).itemsize
    flat = np.frombuffer(rng.bytes(size), type_)
    return flat.reshape(shape, order=order)


def axes(layout):
    h = layout.index('h') if layout != 'auto' else 0
    return h, h + 1


def turn(program, options, name, out, layout):
    words = [program, '-v', '--max-memory', '16M', '--layout', layout, *options]
    made = subprocess.run([*words, name, out], capture_output=True)
    return made.returncode, made.stderr.decode()


def check(program, options, name, want, layout, order):
    status, said = turn(program, options, name, 'out.npy', layout)
    if status or 'through a temporary file' not in said:
        return said
    with open('out.npy', 'rb') as file:
        return '' if same(file.read(), saved(want, order)) else 'another array'


def cut(array):
    """Cuts the file short: its array has zeros at its end then."""
    with open('in.npy', 'rb') as file:
        whole = file.read()
    left = len(whole) // 3
    with open('cut.npy', 'wb') as file:
        file.write(whole[:left])
    flat = array.reshape(-1).copy()
    flat[left - (len(whole) - array.nbytes):] = 0
    return flat.reshape(array.shape)


def read(name):
    with open(name, 'rb') as file:
        return file.read()


def make_archive(rng, name, method):
    """Arrays that are large and small, and what is none; every second byte is
    noise, so that matches are found, but not everywhere."""
    arrays = {'small': rng.integers(0, 256, (37, 53, 3), 'u1'),
              'large': rng.integers(0, 256, (2003, 1601, 3), 'u1'),
              'pictures': rng.integers(0, 256, (5, 1301, 703, 3), 'u1')}
    arrays['large'][::2] = arrays['large'][0]
    with zipfile.ZipFile(name, 'w', method) as archive:
        for key, array in arrays.items():
            archive.writestr(key + '.npy', saved(array, 'C'))
        archive.writestr('noise.npy', rng.bytes(9999999))
    return arrays


def check_archive(program, options, name, arrays, op):
    """As numpy turns them, and as they become in memory."""
    words = [program, *options, op, name]
    whole = subprocess.run([*words, 'whole.npz'], capture_output=True)
    less = subprocess.run([*words, 'less.npz', '-v', '--max-memory', '16M'],
                          capture_output=True)
    if whole.returncode or less.returncode:
        return less.stderr.decode()
    if op != 'copy' and b'temporary file' not in less.stderr:
        return 'not through a file'
    if read('whole.npz') != read('less.npz'):
        return 'another archive than in memory'
    with zipfile.ZipFile('less.npz') as archive:
        if archive.testzip():
            return 'damaged'
        for key, array in arrays.items():
            h = array.ndim - 3
            want = saved(TURNS[op](array, h, h + 1), 'C')
            if not same(archive.read(key + '.npy'), want):
                return 'another array: ' + key
    return ''


def damage(program, options, name):
    """A member whose CRC is wrong, or whose data are."""
    data = bytearray(read(name))
    data[len(data) // 3] ^= 255
    with open('bad.npz', 'wb') as file:
        file.write(data)
    said = [subprocess.run([program, *options, *more, 'rotate90', 'bad.npz',
                            'gone.npz'], capture_output=True)
            for more in ([], ['--max-memory', '16M'])]
    if said[0].returncode != 1 or said[0].stderr != said[1].stderr:
        return repr([made.stderr for made in said])
    return ''


def main(program, *options):
    rng = np.random.default_rng(15)
    failures = passed = 0
    for i, (type_, shape, layout, order) in enumerate(ARRAYS):
        array = make(rng, type_, shape, order)
        with open('in.npy', 'wb') as file:
            file.write(saved(array, order))
        ops = list(TURNS)[1:] if i < 3 else ['rotate90', 'flipv', 'transverse']
        if not WHOLE:
            ops = ops[i % 3::3]
        whys = {op: check(program, [*options, op], 'in.npy',
                          TURNS[op](array, *axes(layout)), layout, order)
                for op in ops}
        if i == 0:
            short = cut(array)
            for op in 'rotate270', 'flipv':
                whys['cut, ' + op] = check(
                    program, [*options, '--tolerant', op], 'cut.npy',
                    TURNS[op](short, *axes(layout)), layout, order)
        for op, why in whys.items():
            failures += why != ''
            passed += why == ''
            if why:
                print('FAIL %s %s %s %s: %s' % (type_, shape, order, op, why))
    for name, method in (('stored', zipfile.ZIP_STORED),
                         ('deflated', zipfile.ZIP_DEFLATED)):
        arrays = make_archive(rng, 'in.npz', method)
        ops = list(TURNS) if WHOLE else list(TURNS)[len(name) % 2::4]
        whys = {op: check_archive(program, options, 'in.npz', arrays, op)
                for op in ops}
        whys['damaged'] = damage(program, options, 'in.npz')
        for op, why in whys.items():
            failures += why != ''
            passed += why == ''
            if why:
                print('FAIL %s %s: %s' % (name, op, why))
    print('%d passed, %d failed' % (passed, failures))


if __name__ == '__main__':
    main(*sys.argv[1:])
