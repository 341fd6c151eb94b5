"""Arrays that are more than --max-memory, turned through a temporary file by gimgxf
and by numpy.

large_arrays.py GIMGXF OPTION...: makes arrays below the current directory, has
gimgxf turn them within 16 MB with these options, and compares what it writes with
numpy: all bytes, the type, the shape and the order. Ends with "N passed, M failed".
"""
import os
import subprocess
import sys

import numpy as np

from arrays import TURNS, same, saved
from pieces import read, write

# Type, shape, layout, order: pixels from one byte to many.
ARRAYS = [
    ('u1', (23, 501, 403, 3), 'nhwc', 'C'),
    ('u1', (701, 703, 27), 'hwc', 'F'),
    ('u1', (47, 501, 603), 'nhw', 'C'),
    ('u1', (9, 3, 603, 901), 'nchw', 'C'),
    ('>u2', (23, 503, 603), 'nhw', 'C'),
    ('<f4', (401, 403, 19), 'hwc', 'F'),
    ('>f8', (21, 301, 203), 'nhw', 'C'),
    ('V7', (27, 301, 203), 'nhw', 'C'),
    ('<c32', (27, 101, 93, 3), 'nhwc', 'C'),
]

# Pictures that are more than a piece are refused.
LARGE = [
    ('u1', (1803, 1601, 3), 'hwc', 'C'),
    ('>u2', (2003, 2301), 'auto', 'F'),
]

# Otherwise each array goes through some of the turns.
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
    return '' if same(read('out.npy'), saved(want, order)) else 'another array'


def cut(array):
    """Cuts the file short: its array has zeros at its end then."""
    whole = read('in.npy')
    left = len(whole) // 3
    write('cut.npy', whole[:left])
    flat = array.reshape(-1).copy()
    flat[left - (len(whole) - array.nbytes):] = 0
    return flat.reshape(array.shape)


def main(program, *options):
    rng = np.random.default_rng(15)
    failures = passed = 0
    for i, (type_, shape, layout, order) in enumerate(ARRAYS):
        array = make(rng, type_, shape, order)
        write('in.npy', saved(array, order))
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
    for type_, shape, layout, order in LARGE:
        write('in.npy', saved(make(rng, type_, shape, order), order))
        status, said = turn(program, [*options, 'rotate90'], 'in.npy', 'none.npy',
                            layout)
        refused = status == 1 and 'of --max-memory' in said
        failures += not refused
        passed += refused
        if not refused:
            print('FAIL %s %s is refused: %s' % (type_, shape, said))
    print('%d passed, %d failed' % (passed, failures))


if __name__ == '__main__':
    main(*sys.argv[1:])
