# A temporary file of a killed run is removed by the next run that meets it; one
# of a run that is alive is not.
. "$ROOT/tests/cli/lib.sh"
# The leak checker of a sanitizer cannot run below strace.
export ASAN_OPTIONS=detect_leaks=0
can_trace || skip_all 'there are no killed runs'
cp "$samples/f-rgb.png" in.png
gives 0 '' rotate90 in.png want.png

# killed FILE: a run that is killed when it has written what is to replace FILE,
# but has not renamed it.
killed() {
    cp in.png "$1"
    (strace -f -o trace -e trace=renameat -e inject=renameat:signal=KILL \
        "$program" -q rotate90 in.png "$1"
    exit $?) 2>/dev/null
    [ -n "$(left "$(dirname "$1")")" ]
}
left() {
    find "$1" -maxdepth 1 -name '.gimgxf-*'
}

mkdir d
check 'a temporary is left' killed d/a.png
check 'it is not renamed' same in.png d/a.png
gives 0 '' rotate90 in.png d/b.png
check 'a new file beside it: it is gone' no_temporary d
killed d/a.png
gives 0 '' rotate90 in.png d/b.png
check 'a replaced file beside it: it is gone' no_temporary d
check 'and that is done' same want.png d/b.png

# By a batch: where it writes, and where it walks, but not if nothing is to be
# done.
rm -rf d
mkdir -p in/sub d
cp in.png in/sub/a.png
killed d/x.png
killed in/sub/a.png
chmod 400 "$(left in/sub)"
gives 0 '' -q --dry-run rotate90 -r -d d in
check 'a dry run leaves it' [ -n "$(left in/sub)" ]
gimgxf rotate90 -r -d d in in 2>/dev/null
check 'a wrong call' [ $? = 2 ]
check 'what is not begun, too' [ -n "$(left in/sub)" ]
gives 0 '' -q rotate90 -r -d d in
check 'where it walks' no_temporary in
check 'below where it writes it is not met' [ -n "$(left d)" ]
gives 0 '' -q -f rotate90 -d d in.png
check 'where it writes' no_temporary d
killed d/x.png
printf '{"op": "rotate90", "input": "in.png", "output": "d/s.png"}\n' |
    gimgxf serve - >answers
check 'serve' no_temporary d

# What is about to be renamed by one that lives, which is stopped when it has
# written its file, and gives it its mode.
killed d/x.png
dead=$(left d)
strace -f -o trace -e trace=fchmod -e inject=fchmod:signal=STOP \
    "$program" -q rotate90 in.png d/x.png 2>/dev/null &
tracer=$!
for ((i = 0; i < 400; i++)); do
    grep -q 'stopped by SIGSTOP' trace 2>/dev/null && break
    sleep 0.05
done
live=$(left d)
check 'the dead one is gone' [ ! -e "$dead" ]
check 'the live one is there' [ -n "$live" ]
gives 0 '' rotate90 in.png d/y.png
gives 0 '' -q -f rotate90 -r -d d in
gives 0 '' -q rotate90 -r -i d
check 'it is still there' [ -e "$live" ]
pid=$(awk '/stopped by SIGSTOP/ { print $1; exit }' trace)
kill -CONT "$pid"
wait $tracer
check 'it is done' [ $? = 0 ]
check 'as it must be' same want.png d/x.png
check 'and nothing is left' no_temporary d

# What only looks like one stays: another name, no file, another user's.
touch d/.gimgxf-short d/.gimgxf-ABCDEFGHIJKL d/.gimgxf-abcdefghijkl.png
mkdir d/.gimgxf-aaaaaaaaaaaa
ln -s ../in.png d/.gimgxf-bbbbbbbbbbbb
mkfifo d/.gimgxf-cccccccccccc
count=6
if [ "$(id -u)" = 0 ]; then
    touch d/.gimgxf-dddddddddddd
    chown 65534 d/.gimgxf-dddddddddddd
    count=7
fi
touch d/.gimgxf-eeeeeeeeeeee
gives 0 '' rotate90 in.png d/y.png
gives 0 '' -q rotate90 -r -i d
check 'ours is gone' absent d/.gimgxf-eeeeeeeeeeee
check 'the others stay' [ "$(left d | wc -l)" = $count ]
check 'the link leads to what it led to' [ -s in.png ]
finish
