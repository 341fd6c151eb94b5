"""Each system call that a job makes fails once, in each of several ways.

    faults.py PROGRAM PLACE

PLACE is a directory for files. strace lets one call fail, from the one on with
which the process confines itself: those before load libraries. What has to come of
it: the output is the old file or the new one, whole; status 0 only with the new one,
and otherwise 1 or 2 with a message; and nothing is left beside it, unless removing
that is what failed. The last line counts the runs."""
import collections
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

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


class Case:
    def __init__(self, program, place, name):
        self.program, self.place, self.name = program, place, name
        self.words, self.outputs, self.there = CASES[name]
        self.new = None

    def set_up(self, place):
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        sample = os.path.join(SAMPLES, 'f-rgb.png')
        shutil.copyfile(sample, os.path.join(place, 'in.png'))
        if self.there:
            shutil.copyfile(sample, os.path.join(place, 'out.png'))
        with open(sample, 'rb') as f:
            self.old = f.read() if self.there else None

    def run(self, place, *options):
        self.set_up(place)
        return subprocess.run(
            ['strace', '-f', '-qq', '-o', os.path.join(place, 'trace'),
             *options, self.program, '-q', '-j', '1', *self.words], cwd=place,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=60)

    def contents(self, place):
        def read(name):
            try:
                with open(os.path.join(place, name), 'rb') as f:
                    return f.read()
            except FileNotFoundError:
                return None
        return [read(name) for name in self.outputs]

    def points(self):
        """Which calls there are: (name, which one of them)."""
        place = os.path.join(self.place, self.name)
        done = self.run(place, '-e', 'trace=prctl,' + ','.join(ERRORS))
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
        done = self.run(place, '-e', 'trace=' + call, '-e', 'inject=%s:error=%s:'
                        'when=%d' % (call, error, which))
        now, wrong = self.contents(place), []
        for old, new, is_now in zip([self.old] * len(now), self.new, now):
            if is_now not in (old, new):
                wrong.append('the output is neither old nor new')
            elif done.returncode == 0 and is_now != new:
                wrong.append('status 0, and the output is not the new one')
        if done.returncode not in (0, 1, 2):
            wrong.append('status %d' % done.returncode)
        if done.returncode and not done.stderr:
            wrong.append('status %d without a word' % done.returncode)
        left = [name for _, _, names in os.walk(place) for name in names
                if name.startswith('.gimgxf-')]
        if left and call != 'unlinkat':
            wrong.append('left: ' + ', '.join(left))
        shutil.rmtree(place)
        return ['%s, %s %d: %s: %s' % (self.name, call, which, error, w)
                for w in wrong]


def main():
    program, place = sys.argv[1:]
    runs = []
    for name in CASES:
        case = Case(program, place, name)
        runs += [(case, call, which, error) for call, which in case.points()
                 for error in ERRORS[call]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda r: r[0].fault(*r[1:]), runs))
    failed = [r for r in results if r]
    for result in failed:
        print('FAIL', '; '.join(result))
    print('%d passed, %d failed' % (len(results) - len(failed), len(failed)))
    return 1 if failed or not results else 0


sys.exit(main())
