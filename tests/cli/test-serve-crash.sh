# Jobs of serve that end their worker process: all other jobs are answered, and
# nothing is done twice in place. dies.c, loaded before the program, ends it.
. "$ROOT/tests/cli/lib.sh"
. "$ROOT/tests/cli/dying.sh"
needs python3
build_dies || skip_all 'processes that die'

# job ID INPUT OUTPUT
job() {
    printf '{"id": %s, "op": "rotate90", "input": "%s", "output": "%s"}\n' "$@"
}

# gone PID: whether a process has ended.
gone() {
    [ ! -e "/proc/$1" ] || grep -q "^State:.Z" "/proc/$1/status" 2>/dev/null
}

# terminate PID: one more SIGTERM; whether that was the last.
terminate() {
    kill -TERM "$1" 2>/dev/null
    gone "$1"
}

# reading N: whether N slow jobs have begun.
reading() {
    [ "$(cat reading 2>/dev/null | wc -c)" = "$1" ]
}

cp "$samples/f-rgb.png" a.png
marked dies-by-11 dies.png
marked dies-once once.png
marked reads-slowly slow.png
gimgxf rotate90 a.png want.png
gimgxf rotate90 once.png want-once.png
gimgxf rotate90 want.png want-twice.png
by_11='the job ended its process by signal 11 (Segmentation fault); the output was not written'

# Some of many.
for ((i = 0; i < 60; i++)); do
    case $((i % 10)) in
    3) job $i dies.png o$i.png ;;
    *) job $i a.png o$i.png ;;
    esac
done >jobs
serve <jobs >answers 2>said
check 'some of many: status' [ $? = 1 ]
check 'some of many: all are answered, in order' \
    cmp -s <(seq 0 59) <(member id <answers)
check 'some of many: nothing on stderr' [ ! -s said ]
for ((i = 0; i < 60; i++)); do
    if [ $((i % 10)) = 3 ]; then
        check "job $i fails" grep -qF "\"error\": \"$by_11\"" \
            <(sed -n $((i + 1))p answers)
        check "job $i writes nothing" absent o$i.png
    else
        check "job $i" same o$i.png want.png
    fi
done
check 'some of many: the others are done' \
    [ "$(member status <answers | grep -c done)" = 54 ]

# One that comes when all is well again; the process is another one.
touch once
{
    job 1 once.png p1.png
    job 2 a.png p2.png
} | serve >answers
check 'killed once: what was under way is done again' \
    [ "$(member id <answers | tr '\n' ' ')" = '1 2 ' ]
check 'killed once: the other one' same p2.png want.png

# In place, at any instant: once, or not at all and told.
for when in dies-before- dies-after-; do
    touch once
    for ((i = 0; i < 20; i++)); do
        cp a.png in$i.png
        job $i in$i.png in$i.png
    done >jobs
    cp a.png ${when}1.png
    job 20 ${when}1.png ${when}1.png >>jobs
    serve -j 4 <jobs >answers
    check "in place, $when: it died" absent once
    check "in place, $when: all are answered, in order" \
        cmp -s <(seq 0 20) <(member id <answers)
    mv ${when}1.png in20.png
    for ((i = 0; i <= 20; i++)); do
        case $(sed -n $((i + 1))p answers | member status) in
        '"done"') check "in place, $when$i: turned once" same in$i.png want.png ;;
        *) check "in place, $when$i: not turned" same in$i.png a.png ;;
        esac
    done
    check "in place, $when: the others are done" \
        [ "$(member status <answers | head -n 20 | grep -c done)" = 20 ]
done
cp a.png dies-after-2.png
touch once
job 1 dies-after-2.png dies-after-2.png | serve >answers
check 'written, but not answered' [ "$(member status <answers)" = '"done"' ]
check 'written, but not answered: told' \
    grep -q 'by signal 9 .* before it could answer; the output was written' answers
check 'written, but not answered: once' same dies-after-2.png want.png
cp a.png dies-before-2.png
touch once
job 1 dies-before-2.png dies-before-2.png | serve >answers
check 'not written: told' grep -q 'by signal 9 .*; the output was not written' \
    answers
check 'not written' same dies-before-2.png a.png

# The same below a root, in a directory that is made. dies.c looks for a file
# beside the root.
mkdir root
cp a.png root/a.png
touch once
{
    job 1 a.png new/dies-before-3.png
    job 2 a.png new/x.png
} | serve --sandbox=off --root root >answers
check 'below a root: it died' absent once
check 'below a root: answered' [ "$(member id <answers | tr '\n' ' ')" = '1 2 ' ]
check 'below a root: the other one' same root/new/x.png want.png
# What it left half is removed by the next job that makes the same file.
job 3 a.png new/dies-before-3.png | serve --sandbox=off --root root >answers
check 'below a root: nothing is left half' no_temporary root

# Killed before it is ready: another one is started, but not again and again.
touch unready-1 unready-2
job 1 a.png u.png | serve >answers 2>said
check 'killed before it is ready: status' [ $? = 0 ]
check 'killed before it is ready: twice' absent unready-2
check 'killed before it is ready: done' same u.png want.png
check 'killed before it is ready: nothing is said' [ ! -s said ]
touch unready-1 unready-2 unready-3
job 1 a.png v.png | serve >answers 2>said
check 'killed three times: status' [ $? = 1 ]
check 'killed three times: told' [ "$(cat said)" = \
    'gimgxf: a worker process ended before it was ready' ]
check 'killed three times: nothing is written' absent v.png

# From outside: while it works, and while it waits.
LD_PRELOAD=$PWD/dies.so begin -j 2
job 1 a.png q1.png >&7
check 'from outside: a job' eventually lines answers 1
first=$(worker $server)
kill -KILL "$first"
job 2 a.png q2.png >&7
check 'killed while it waits: the next job' eventually lines answers 2
check 'killed while it waits: done' same q2.png want.png
second=$(worker $server)
check 'killed while it waits: another process' \
    [ "$first" != "${second:-$first}" ]
{
    job 3 slow.png q3.png
    job 4 slow.png q4.png
    job 5 a.png q5.png
} >&7
check 'killed at work: it works' eventually reading 2
kill -SEGV "$second"
touch go
check 'killed at work: all are answered' eventually lines answers 5
check 'killed at work: the others are done' \
    [ "$(member status <answers | grep -c done)" = 4 ]
check 'killed at work: told' \
    grep -q '"id": [34].*ended its process by signal 11' answers
rm -f reading go
job 6 slow.png q6.png >&7
check 'killed at one job: it works' eventually reading 1
kill -KILL $(workers $server)
check 'killed at one job: it is answered' eventually lines answers 6
check 'killed at one job: it fails' grep -q '"id": 6.*by signal 9 (Killed)' answers

# SIGTERM finishes what has begun; a second one does not.
rm -f reading go
job 7 slow.png q7.png >&7
check 'SIGTERM at work: it works' eventually reading 1
kill -TERM $server
touch go
wait $server 2>/dev/null
check 'SIGTERM at work: status' [ $? = 143 ]
check 'SIGTERM at work: what had begun is answered' \
    grep -q '"id": 7.*"status": "done"' answers
check 'nothing on stderr' [ ! -s said ]
exec 7>&-
LD_PRELOAD=$PWD/dies.so begin
job 1 a.png r1.png >&7
check 'a job' eventually lines answers 1
rm -f reading go
job 2 slow.png r2.png >&7
check 'SIGTERM twice: it works' eventually reading 1
second=$(worker $server)
check 'SIGTERM twice: it ends' eventually terminate $server
wait $server 2>/dev/null
check 'SIGTERM twice: status' [ $? = 143 ]
check 'SIGTERM twice: not answered' lines answers 1
check 'SIGTERM twice: the process ended, too' [ ! -e "/proc/$second" ]
exec 7>&-

# Without its supervisor it ends.
begin
job 1 a.png s1.png >&7
check 'a job' eventually lines answers 1
second=$(worker $server)
check 'there is a process' [ -n "$second" ]
disown $server # so that the shell says nothing of it
kill -KILL $server
check 'SIGKILL: the other process ends' eventually gone "$second"
exec 7>&-

# Nobody takes the answers.
for ((i = 0; i < 300; i++)); do
    job $i a.png t.png
done >jobs
set -o pipefail
"$program" --backend "$GIMGXF_BACKEND" serve - <jobs | head -n 1 >/dev/null
check 'a closed pipe' [ $? = 141 ]
"$program" --backend "$GIMGXF_BACKEND" serve - <jobs 2>said >/dev/full
check 'a full disk: status' [ $? = 1 ]
check 'a full disk: told' grep -q 'standard output cannot be written' said
finish
