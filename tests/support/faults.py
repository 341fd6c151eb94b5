"""Jobs whose system calls fail, whose files come in pieces, whose threads cannot
be started.

    faults.py PROGRAM LIBRARY PLACE STEP

LIBRARY is preload/faults.c, built, or "" for none; PLACE is a directory for files.
strace lets one call fail, in each of several ways, from the one on with which the
process confines itself: those before load libraries. Of these faults each STEPth is
tried, with 0 none.

What has to come of all: the output is the old file or the new one, whole; status 0 only
with the new one, and otherwise 1 or 2 with a message; and nothing is left beside it,
unless removing that is what failed. Pieces and interruptions change nothing at all. The
last line counts the runs."""
import collections
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pieces import read, write

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, '..', '..', 'samples')
FILES = ['openat', 'openat2', 'read', 'pread64', 'write', 'pwrite64', 'close',
         'fstat', 'newfstatat', 'statx', 'linkat', 'renameat', 'renameat2',
         'unlinkat', 'fsync', 'fdatasync', 'ftruncate', 'fchmod', 'fchown',
         'mkdirat', 'flock', 'getdents64', 'utimensat', 'lseek', 'fgetxattr',
         'flistxattr', 'fsetxattr', 'fcntl', 'getrandom']
ERRORS = {name: ['EIO', 'EINTR', 'ENOSPC', 'EDQUOT'] for name in FILES}
ERRORS['mmap'] = ['ENOMEM']
ERRORS['clone'] = ['EAGAIN']

# What is set for the library, where nothing may go wrong: with a file of 36 KB
# enough pieces for any loop.
PIECES = [{'FAULTS_MOST': '1'}, {'FAULTS_MOST': '1000', 'FAULTS_EINTR': '1'},
          {'FAULTS_EINTR': '1'}]
THREADS = 8  # that are let fail, one after the other; more than any case starts

# Of each case: the words, the files that are written, and whether these are
# there before, which is as the input.
CASES = {
    'a new file': (['rotate90', 'in.png', 'out.png'], ['out.png'], False),
    'a file that is replaced': (['rotate90', 'in.png', 'out.png'],
                                ['out.png'], True),
    'modes and times': (['-p', 'rotate90', 'in.png', 'out.png'], ['out.png'],
                        True),
    'in place': (['rotate90', '-i', '--backup', '.old', 'out.png'],
                 ['out.png'], True),
    'a batch': (['rotate90', '-d', 'deep/out', '--manifest', 'log', 'in.png'],
                ['deep/out/in.png'], False),
    'a stack': (['rotate90', '--stack', 'out.npy', 'in.png'], ['out.npy'],
                False),
}


# The same, of what has several threads.
THREAD_CASES = {
    'a large PNG': (['rotate90', '-j', '4', 'large.png', 'out.png'],
                    ['out.png'], True),
    'a JPEG': (['rotate90', '-j', '4', 'large.jpg', 'out.jpg'], ['out.jpg'],
               False),
    'a batch on threads': (
        ['rotate90', '-j', '3', '-d', 'out', 'in.png', 'large.png', 'large.jpg'],
        ['out/in.png', 'out/large.png', 'out/large.jpg'], False),
}


class Case:
    def __init__(self, program, place, name, case=None):
        self.program, self.place, self.name = program, place, name
        self.words, self.outputs, self.there = \
            case or {**CASES, **THREAD_CASES}[name]
        self.old = self.new = None

    def set_up(self, place):
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        sample = os.path.join(SAMPLES, 'f-rgb.png')
        shutil.copyfile(sample, os.path.join(place, 'in.png'))
        if any('large' in word for word in self.words):
            for name in ('large.png', 'large.jpg'):
                os.link(os.path.join(self.place, name),
                        os.path.join(place, name))
        if self.there:
            shutil.copyfile(sample, os.path.join(place, 'out.png'))
        self.old = read(sample) if self.there else None

    def run(self, place, before, settings=None, **more):
        """Runs it behind these words, with these in its environment."""
        self.set_up(place)
        jobs = [] if '-j' in self.words else ['-j', '1']
        return subprocess.run(
            [*before, self.program, '-q', *jobs, *self.words], cwd=place,
            env={**os.environ, **(settings or {})}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False, timeout=1200, **more)

    def trace(self, place, *options):
        return self.run(place, ['strace', '-f', '-qq', '-o',
                                os.path.join(place, 'trace'), *options])

    def contents(self, place):
        paths = [os.path.join(place, name) for name in self.outputs]
        return [read(path) if os.path.exists(path) else None for path in paths]

    def points(self):
        """Which calls there are: (name, which one of them)."""
        place = os.path.join(self.place, self.name)
        done = self.trace(place, '-e', 'trace=prctl,' + ','.join(ERRORS))
        assert done.returncode == 0, done.stderr
        self.new = self.contents(place)
        counts, found, begun = collections.Counter(), [], False
        with open(os.path.join(place, 'trace'), encoding='ascii') as trace:
            for line in trace:
                call = re.match(r'\d+ +(\w+)\(', line)
                if not call:
                    continue
                begun = begun or 'PR_SET_NO_NEW_PRIVS' in line
                counts[call[1]] += 1
                if begun and call[1] in ERRORS:
                    found.append((call[1], counts[call[1]]))
        return found

    def fault(self, call, which, error):
        """Lets one call fail. Returns what is wrong with what came of it."""
        place = os.path.join(self.place, '%s %s %d %s' % (self.name, call,
                                                          which, error))
        done = self.trace(place, '-e', 'trace=' + call, '-e',
                          'inject=%s:error=%s:when=%d' % (call, error, which))
        return self.judge(done, place, '%s %d: %s' % (call, which, error),
                          may_leave=call == 'unlinkat')

    def judge(self, done, place, what, may_leave=False, statuses=(0, 1, 2)):
        now, wrong = self.contents(place), []
        for new, is_now in zip(self.new, now):
            if is_now not in (self.old, new):
                wrong.append('the output is neither old nor new')
            elif done.returncode == 0 and is_now != new:
                wrong.append('status 0, and the output is not the new one')
        if done.returncode not in statuses:
            wrong.append('status %d' % done.returncode)
        if done.returncode and not done.stderr:
            wrong.append('status %d without a word' % done.returncode)
        left = [name for _, _, names in os.walk(place) for name in names
                if name.startswith('.gimgxf-')]
        if left and not may_leave:
            wrong.append('left: ' + ', '.join(left))
        shutil.rmtree(place)
        return ['%s, %s: %s' % (self.name, what, w) for w in wrong]

    def preloaded(self, settings):
        """Runs it with the library, which these settings steer."""
        what = ' '.join('%s=%s' % pair for pair in settings.items()
                        if pair[0] != 'LD_PRELOAD')
        place = os.path.join(self.place, '%s %s' % (self.name, what))
        done = self.run(place, [], settings)
        if 'FAULTS_THREAD' in settings:
            return self.judge(done, place, what)
        same = done.returncode == 0 and not done.stderr and \
            self.contents(place) == self.new
        shutil.rmtree(place)
        return [] if same else ['%s, %s: status %d, %s' % (
            self.name, what, done.returncode, done.stderr.decode())]

    def plain(self):
        """Finds what the outputs are when nothing fails."""
        place = os.path.join(self.place, self.name)
        done = self.run(place, [])
        assert done.returncode == 0, done.stderr
        self.new = self.contents(place)


def make_large(program, place):
    """Pictures that several threads code."""
    write(os.path.join(place, 'large.ppm'), b'P6 640 608 255\n' + bytes(
        (x * x + y * 3 + c * 50) % 251 for y in range(608)
        for x in range(640) for c in range(3)))
    for name in ('large.png', 'large.jpg'):
        subprocess.run([program, '-q', 'copy', 'large.ppm', name], cwd=place,
                       check=True)


def system_calls(program, place, step):
    """All faults of system calls: functions that return what is wrong."""
    runs = []
    for name in CASES:
        case = Case(program, place, name)
        runs += [partial(case.fault, call, which, error)
                 for call, which in case.points() for error in ERRORS[call]]
    return runs[::step]


def preloads(program, library, place):
    """The same of pieces and threads."""
    runs = []
    for name in {**CASES, **THREAD_CASES}:
        case = Case(program, place, name)
        case.plain()
        settings = PIECES
        if name in THREAD_CASES:
            settings = [{'FAULTS_THREAD': str(n), **more} for more in (
                {}, {'FAULTS_THREADS': '1'}) for n in range(1, THREADS + 1)]
        runs += [partial(case.preloaded, {'LD_PRELOAD': library, **setting})
                 for setting in settings]
    return runs


def report(runs):
    """Does all of them, and says what is wrong."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda run: run(), runs))
    failed = [r for r in results if r]
    for result in failed:
        print('FAIL', '; '.join(result))
    print('%d passed, %d failed' % (len(results) - len(failed), len(failed)))
    return 1 if failed or not results else 0


def main():
    program, library, place, step = sys.argv[1:]
    make_large(program, place)
    runs = system_calls(program, place, int(step)) if int(step) else []
    if library:
        runs += preloads(program, library, place)
    return report(runs)


if __name__ == '__main__':
    sys.exit(main())
