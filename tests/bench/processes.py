"""What the scripts here share: where things are, programs of other projects, and how
a process is measured."""
import functools
import importlib.util
import os
import subprocess
import sys
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
    import numpy  # noqa: F401, of pictures
except ImportError:  # another Python may come first, as in a virtualenv
    python = needed('numpy')
    os.execv(python, [python] + sys.argv)

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
