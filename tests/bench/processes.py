"""What the scripts here share: where things are, programs of other projects, files in
number, and how processes are measured in turns."""
import functools
import importlib.util
import io
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections import namedtuple
from importlib.machinery import SourceFileLoader

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))


@functools.cache
def tool(name):
    """Where tests/support/tools.sh finds a program of another project, or None."""
    found = subprocess.run(
        ['bash', os.path.join(ROOT, 'tests', 'support', 'tools.sh'), name],
        stdout=subprocess.PIPE, text=True)
    return found.stdout.strip() or None


def needed(name):
    """The same of what nothing can be done without."""
    return tool(name) or sys.exit('there is no ' + name)


try:
    import numpy
except ImportError:  # another Python may come first, as in a virtualenv
    python = needed('numpy')
    os.execv(python, [python] + sys.argv)

from pictures import write_ppm  # noqa: E402, needs numpy

BUILD = os.path.join(ROOT, os.environ.get('BUILD', 'build'))
PLACE = os.environ.get('PLACE', os.path.join(BUILD, 'bench'))
GIMGXF = os.path.join(BUILD, 'gimgxf')
SIZE = [int(n) for n in os.environ.get('SIZE', '').split('x') if n]
PROCESSORS = len(os.sched_getaffinity(0))


def script(name):
    """A script that is beside this file, as a module."""
    loader = SourceFileLoader(name, os.path.join(ROOT, 'tests', 'bench', name))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


# Starts processes and tells what they took. It is a small process, since the memory
# that a process has before it becomes a program counts as the program's: less than
# 6 MB are not seen. Where that is wanted, it counts the threads that had a processor
# for 0.3 ms: one that could not be started may be there for a moment, too.
STARTER = '''
import os, sys, time
for line in sys.stdin:
    watch, source, target, words = eval(line)
    begin = time.perf_counter()
    child = os.fork()
    if not child:
        try:
            os.dup2(os.open(source, os.O_RDONLY), 0)
            os.dup2(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.execvp(words[0], words)
        finally:
            os._exit(127)
    ran = {}
    while watch and not os.waitid(os.P_PID, child,
                                  os.WEXITED | os.WNOWAIT | os.WNOHANG):
        try:
            for task in os.listdir("/proc/%d/task" % child):
                with open("/proc/%d/task/%s/schedstat" % (child, task)) as f:
                    ran[task] = int(f.read().split()[0])
        except OSError:
            pass
    threads = sum(spent > 300000 for spent in ran.values())
    _, status, used = os.wait4(child, 0)
    print(time.perf_counter() - begin, used.ru_utime + used.ru_stime,
          used.ru_maxrss / 1000, threads, status, flush=True)
'''
starter = None
Spent = namedtuple('Spent', 'wall cpu mb threads')


class Failed(Exception):
    pass


def run(words, source=os.devnull, target=os.devnull, watch=False):
    """Runs a program, with its stdin and stdout; returns the seconds it took, those
    of the processors, the MB it had at most, and, if watched, its threads."""
    global starter
    starter = starter or subprocess.Popen(
        [sys.executable, '-IS', '-c', STARTER], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    print((watch, source, target, list(words)), file=starter.stdin, flush=True)
    *spent, status = map(float, starter.stdout.readline().split())
    if status:
        raise Failed(' '.join(words) + ' fails')
    return Spent(*spent)


def in_turns(names, measure, rounds, seconds=float('inf'), least=1):
    """What measure(name) returns, by name, as many times: in each round for all, in
    another order. After so many seconds no more rounds begin, but the least."""
    taken = {name: [] for name in names}
    order = random.Random(20240229)
    end = time.monotonic() + seconds
    for turn in range(rounds):
        if turn >= least and time.monotonic() > end:
            break
        for name in order.sample(list(taken), len(taken)):
            taken[name].append(measure(name))
    return taken


def rate(times, count, start=0):
    """The median seconds of a batch of so many files, and files a second, in words;
    also without the start, if that is known."""
    middle = statistics.median(times)
    text = '%7.3f s (%.3f to %.3f), %8.1f files/s' % (
        middle, min(times), max(times), count / middle)
    return text + (', without the start (%.3f s) %8.1f' % (
        start, (count - 1) / (middle - start)) if start else '')


def emptied(*names):
    """A directory with nothing in it."""
    path = os.path.join(*names)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def copies(place, originals, count, copy=shutil.copyfile):
    """Fills a directory with so many files, which are the originals in turns. Returns
    their names."""
    emptied(place)
    names = []
    for i in range(count):
        first = originals[i % len(originals)]
        names.append(os.path.join(place, '%05d%s' % (i, os.path.splitext(first)[1])))
        copy(first, names[-1])
    return names


def jobs(path, names, out):
    """Writes jobs for `gimgxf serve`: rotate90 of these files into a directory."""
    with open(path, 'w', encoding='ascii') as f:
        for name in names:
            f.write('{"op": "rotate90", "input": "%s", "output": "%s"}\n' % (
                name, os.path.join(out, os.path.basename(name))))


def coded(a, *words):
    """The file that a program makes of a picture that it reads as a PPM."""
    ppm = io.BytesIO()
    write_ppm(ppm, a)
    done = subprocess.run(words, input=ppm.getvalue(), capture_output=True)
    if done.returncode or not done.stdout:
        raise Failed(words[0] + ' fails')
    return done.stdout


def cjpeg(a, *options):
    """A JPEG by libjpeg's own program."""
    return coded(a, needed('cjpeg'), '-quality', '88', *options)


def jpeg(a):
    """A JPEG of 4:2:0 by gimgxf itself."""
    return coded(a, GIMGXF, '-q', '--quality', '88', '--format', 'jpeg', 'copy', '-', '-')


def decoded(name, op='copy'):
    """The samples that gimgxf makes of a file: H x W x channels."""
    samples = os.path.join(PLACE, 'samples.npy')
    subprocess.run([GIMGXF, '-q', '--format', 'npy', op, name, samples], check=True)
    got = numpy.load(samples)
    return got[..., None] if got.ndim == 2 else got


def asked(cases, unasked=()):
    """The cases that the command line names, or all but those that have to be."""
    names = sys.argv[1:] or [case for case in cases if case not in unasked]
    if not set(names) <= set(cases):
        sys.exit('tests/bench/%s [CASE...]; cases: %s' % (
            os.path.basename(sys.argv[0]), ', '.join(cases)))
    return names
