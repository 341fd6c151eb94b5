"""Each call of CUDA fails once, and all from it on.

    gpu_faults.py PROGRAM PLACE STEP

PROGRAM is gimgxf on the runtime of tests/fake_gpu; PLACE is a directory for files;
of the faults each STEPth is tried. With nothing failing it writes what the processor
writes. What has to come of each fault: the output is the old file, or that; status 0
only with that, and otherwise 1, or 3 where the device was asked for, with a message;
and nothing is left beside it. The last line counts the runs."""
import os
import sys
from functools import partial

sys.dont_write_bytecode = True
from faults import Case, make_large, report  # noqa: E402

# As in faults.py; the backend comes before these words.
CASES = {
    'a picture': (['rotate90', 'large.png', 'out.png'], ['out.png'], True),
    'coefficients': (['rotate90', 'large.jpg', 'out.jpg'], ['out.jpg'], False),
    'a picture in pieces': (
        ['--max-vram', '200K', 'rotate90', 'large.png', 'out.png'], ['out.png'],
        True),
    'in place': (['rotate90', '-i', 'out.png'], ['out.png'], True),
    'a batch': (['rotate90', '-j', '2', '-d', 'out', 'in.png', 'large.png'],
                ['out/in.png', 'out/large.png'], False),
    'coded scans': (['rotate90', '-j', '2', '-d', 'out', 'large.jpg', 'in.png'],
                    ['out/large.jpg', 'out/in.png'], False),
    'scans to samples': (
        ['rotate90', '-j', '2', '-d', 'out', '--format', 'npy', 'large.jpg',
         'in.png'], ['out/large.npy', 'out/in.npy'], False),
    'PNG files to arrays': (
        ['rotate90', '-j', '2', '-d', 'out', '--format', 'npy', 'large.png',
         'in.png'], ['out/large.npy', 'out/in.npy'], False),
}


def count_calls(case, place):
    """How many calls there are when none fails."""
    read, write = os.pipe()
    done = case.run(place, [], {'GPU_COUNT': str(write)}, pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as f:
        count = int(f.read())
    assert done.returncode == 0, done.stderr
    return count


def fault(case, at, times):
    what = 'call %d fails%s' % (at, '' if times else ', and all after it')
    place = os.path.join(case.place, '%s %d %d' % (case.name, at, times))
    done = case.run(place, [], {'GPU_FAIL_AT': str(at),
                                'GPU_FAIL_FOR': str(times)})
    return case.judge(done, place, what, statuses=(0, 1, 3))


def faults(program, place, name):
    """All of a case: functions that return what is wrong."""
    words, outputs, there = CASES[name]
    by = {}
    for backend in ('cpu', 'cuda'):
        case = Case(program, place, name,
                    (['--backend', backend, *words], outputs, there))
        case.plain()
        by[backend] = case
    assert by['cuda'].new == by['cpu'].new, name
    count = count_calls(by['cuda'], os.path.join(place, name))
    assert count > 10, 'only %d calls of CUDA: %s' % (count, name)
    return [partial(fault, by['cuda'], at, times)
            for at in range(1, count + 1) for times in (1, 0)]


def main():
    program, place, step = sys.argv[1:]
    make_large(program, place)
    runs = [run for name in CASES for run in faults(program, place, name)]
    return report(runs[::int(step)])


sys.exit(main())
