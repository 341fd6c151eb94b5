"""What the scripts here share: where things are, ImageMagick, and how a process is
measured."""
import importlib.util
import os
import subprocess
import sys
from collections import namedtuple
from importlib.machinery import SourceFileLoader

try:
    import numpy  # noqa: F401, of pictures
except ImportError:  # another Python may come first, as in a virtualenv
    if sys.executable == '/usr/bin/python3':
        raise
    os.execv('/usr/bin/python3', ['/usr/bin/python3'] + sys.argv)

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
BUILD = os.path.join(ROOT, os.environ.get('BUILD', 'build'))
PLACE = os.environ.get('PLACE', os.path.join(BUILD, 'bench'))
GIMGXF = os.path.join(BUILD, 'gimgxf')
SIZE = [int(n) for n in os.environ.get('SIZE', '').split('x') if n]


def script(name):
    """A script that is beside this file, as a module."""
    loader = SourceFileLoader(name, os.path.join(ROOT, 'tests', 'bench', name))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def magick():
    """ImageMagick; what is called convert may be another program."""
    for name in 'magick', 'convert-im6', '/usr/bin/convert', 'convert':
        try:
            answer = subprocess.run([name, '-version'], capture_output=True)
        except OSError:
            continue
        if b'ImageMagick' in answer.stdout:
            return name
    return None


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
        ['/usr/bin/python3', '-IS', '-c', STARTER], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    print((watch, source, target, list(words)), file=starter.stdin, flush=True)
    *spent, status = map(float, starter.stdout.readline().split())
    if status:
        raise Failed(' '.join(words) + ' fails')
    return Spent(*spent)
