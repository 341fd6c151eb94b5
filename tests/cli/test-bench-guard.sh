# tests/bench/guard calls worse what is worse: by numbers that are given, so that no
# clock counts, and of programs one of which writes larger files.
. "$ROOT/tests/cli/lib.sh"
needs numpy cjpeg

# What is said of a build whose runs are a list in Python, with so many threads and
# bytes, beside one of 20 runs of 1 s, 1 s of processors and 10 MB, 2 threads and 1000
# bytes.
cat >judge.py <<'END'
import os
import runpy
import sys
sys.path.append(os.environ['ROOT'] + '/tests/bench')
import processes  # finds a Python with numpy
guard = runpy.run_path(processes.ROOT + '/tests/bench/guard')


def build(runs, threads=2, size=1000):
    made = guard['Build']('x')
    made.runs = {1: runs, 2: runs}
    made.threads, made.bytes = int(threads), int(size)
    return made


for words, certain in guard['faults'](build([(1, 1, 10)] * 20),
                                      build(eval(sys.argv[1]), *sys.argv[2:])):
    print('surely' if certain else 'perhaps', words)
END
while IFS='|' read -r name arguments wanted; do
    eval "ROOT=$ROOT python3 judge.py $arguments" >said 2>&1
    check "$name: $(cat said)" [ "$(paste -sd ';' said)" = "$wanted" ]
done <<'END'
the same|'[(1, 1, 10)] * 20'|
better|'[(.5, .6, 5)] * 20' 3 500|
a little worse|'[(1.09, 1.09, 11.9)] * 20' 2 1009|
slower|'[(1.2, 1, 10)] * 20'|surely wall at -j 1 is 1.20 of before;surely wall at -j 2 is 1.20 of before
more of processors|'[(1, 1.2, 10)] * 20'|surely CPU at -j 1 is 1.20 of before;surely CPU at -j 2 is 1.20 of before
hungrier|'[(1, 1, 13)] * 20'|surely memory at -j 1 is 1.30 of before;surely memory at -j 2 is 1.30 of before
larger|'[(1, 1, 10)] * 20' 2 1020|surely size at -j 2 is 1.02 of before
a thread lost|'[(1, 1, 10)] * 20' 1|surely 1 threads ran, and 2 before
a thread gained, at a price|'[(.9, 1.2, 13)] * 20' 3|surely CPU at -j 1 is 1.20 of before;surely memory at -j 1 is 1.30 of before
few runs|'[(1.2, 1, 10)] * 9'|perhaps wall at -j 1 is 1.20 of before;perhaps wall at -j 2 is 1.20 of before
one undisturbed run|'[(w, 1, 10) for w in [1.9] * 19 + [1]]'|
END

# guarded STATUS AFTER CLASS...: the guard, as it is called, with tiny pictures. What
# it says of time is not looked at: other work on the machine may decide that.
guarded() {
    local status=$1 after=$2
    shift 2
    BUILD=${program%/*} PLACE=$PWD/bench SIZE=130x70 BUDGET=0 \
        "$ROOT/tests/bench/guard" "$program" "$after" "$@" >out 2>&1
    local got=$?
    grep '^WORSE' out | grep -qv ': \(wall\|CPU\) at' || got=0
    check "status of $after $*: $(grep WORSE out)" [ $got = "$status" ]
}
guarded 0 "$program" 'PNG, gradient' palette start-up PNGs 'family 17,'
check 'a line for each class' [ "$(grep -c ' | [0-9], [0-9] | 1.000' out)" = 5 ]
printf '#!/bin/sh\nexec "%s" --png-level 0 "$@"\n' "$program" >stub
chmod +x stub
guarded 1 ./stub 'PNG, gradient'
check 'what is larger' grep -q '^WORSE PNG, gradient: size' out
printf '#!/bin/sh\nexit 1\n' >stub
guarded 1 ./stub gradient
check 'what fails' grep -q '^WORSE PNG, gradient: .*stub .* fails' out
finish
