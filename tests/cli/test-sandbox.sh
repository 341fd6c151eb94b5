# A decoder that a picture has taken over can do little. The program is one whose
# decoder of HDR does what the picture says (tests/broken/hdr.c). Where a GPU may be
# used it can do what the driver needs as well.
. "$ROOT/tests/cli/lib.sh"
needs python3
program=$(dirname "$program")/broken/gimgxf
[ -x "$program" ] || skip_all 'the broken decoder was not built'
has_driver() {
    [ "$GIMGXF_BACKEND" = cuda ]
}
gimgxf -v copy "$samples/f.ppm" x.png 2>stderr
! grep 'not confined' stderr || skip_all 'no sandbox here'

mkdir in out else
touch else/secret
cp "$samples/f.ppm" in/a.ppm
cp "$samples/f.ppm" in/z.ppm

# attack WORD ARGUMENT: makes the picture in/m.hdr.
attack() {
    printf '#?BROKEN %s %s\n' "$1" "$2" >in/m.hdr
}

# worked: whether it did, by what is said in `stderr` or was done in else/.
worked() {
    grep -q 'it worked' stderr || [ -e else/made ]
}

not() {
    ! "$@"
}

# attempts WORD ARGUMENT STATUS: an attack that does what it wants without the
# sandbox, and ends with this status in it.
attempts() {
    local status
    attack "$1" "$2"
    rm -f else/made
    gimgxf --sandbox=off copy in/m.hdr out/m.png 2>stderr
    check "$1: works without the sandbox" eventually worked
    rm -f else/made
    (gimgxf copy in/m.hdr out/m.png 2>stderr) 2>/dev/null
    status=$?
    check "$1: does not work in it" not worked
    check "$1: status $status" [ "$status" = "$3" ]
    check "$1: nothing is written" absent out/m.png
}

check 'a driver: told' [ "$(grep -c 'confined, with what the driver' stderr)" = \
    "$(has_driver && echo 1 || echo 0)" ]

# What no driver calls either is refused where there is one, since it may try.
killed=159 # by SIGSYS
! has_driver || killed=1
while read -r -u 3 word argument status; do
    attempts $word "${argument/#else/$PWD/else}" $status
done 3<<END
read else/secret 1
list else 1
write else/made 1
run else/made $killed
fork else/made $killed
socket - $killed
chmod else/secret 1
END
has_driver || attempts code - 1
python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX)
s.bind("else/socket")
s.listen(9)
time.sleep(1000)' &
listener=$!
check 'somebody listens' eventually [ -S else/socket ]
attempts connect "$PWD/else/socket" $killed
kill $listener
attack read /proc/version
gimgxf copy in/m.hdr out/m.png 2>stderr
check 'what the kernel says: read by a driver alone' \
    [ "$(worked && echo 1)" = "$(has_driver && echo 1)" ]

# The devices of a GPU are made before, if they are not there.
mkdir bin
printf '#!/bin/sh\necho "$@" >>made\n' >bin/nvidia-modprobe
chmod +x bin/nvidia-modprobe
PATH=$PWD/bin:$PATH gimgxf copy "$samples/f.ppm" x.png
is_made=
! has_driver || [ -e /dev/nvidia-uvm ] || is_made='-c 0 -u'
check 'the devices are made' [ "$(cat made 2>/dev/null)" = "$is_made" ]

# Beside the output files are made, and not read where the format of the input
# never needs a temporary file.
echo 'of another' >out/neighbour
attack read "$PWD/out/neighbour"
gimgxf copy in/m.hdr out/m.png 2>stderr
check 'beside the output: not read' not worked
gimgxf --max-memory 512M copy in/m.hdr out/m.png 2>stderr
check 'beside the output: nor with less memory' not worked
rm out/neighbour

sleep 100 &
attack signal $!
gimgxf copy in/m.hdr out/m.png 2>stderr
check 'signal: does not work' not worked
check 'signal: the process lives' kill $!

# A batch, of which the other pictures are done; and their descriptions.
attack read "$PWD/else/secret"
tells 1 'in/m.hdr: refused: Permission denied' rotate90 -r -d out in
check 'a batch: the others' [ -e out/a.ppm -a -e out/z.ppm ]
tells 1 'in/m.hdr: refused: Permission denied' \
    rotate90 -d out/named in/a.ppm in/m.hdr in/z.ppm
check 'a list: the others' [ -e out/named/a.ppm -a -e out/named/z.ppm ]
attack write in/made
gimgxf rotate90 -r -d out in 2>stderr
check 'inputs are not written to' absent in/made
# What is read keeps its mode, where nothing is written.
attack fchmod in/a.ppm
chmod 640 in/a.ppm
tells 1 'in/m.hdr: .*refused: Operation not permitted' check in/a.ppm in/m.hdr
check 'inputs keep their mode' [ "$(stat -c %a in/a.ppm)" = 640 ]
gimgxf -q rotate90 -d out/fresh in/a.ppm in/z.ppm
chmod 604 out/fresh/a.ppm
gimgxf -q rotate90 -d out/fresh in/a.ppm in/z.ppm
check 'what replaces a file has its mode' [ "$(stat -c %a out/fresh/a.ppm)" = 604 ]
attack read "$PWD/else/secret"
tells 1 'refused: Permission denied' info in/a.ppm in/m.hdr
tells 1 'refused: Permission denied' check in/a.ppm in/m.hdr
attack read in/a.ppm
tells 1 'refused: Permission denied' relate "$samples/f.ppm" in/m.hdr
"$program" relate --sandbox=off "$samples/f.ppm" in/m.hdr 2>stderr
check 'relate: without the sandbox' worked
attack read "$PWD/else/secret"

# is_confined PID: whether its system calls are filtered.
is_confined() {
    grep -q '^Seccomp:[[:space:]]*2' "/proc/$1/status"
}

# An output that appears when the rights are given up already is replaced like any
# other: its mode, its attributes and, as root, its owner stay.
mkfifo slow.ppm
"$program" --backend "$GIMGXF_BACKEND" -f rotate90 slow.ppm out/late.png 2>stderr &
check 'a late output: confined' eventually is_confined $!
echo old >out/late.png
chmod 600 out/late.png
[ "$(id -u)" != 0 ] || chown 12345:12345 out/late.png
owner=$(stat -c %u:%g out/late.png)
python3 -c 'import os; os.setxattr("out/late.png", "user.note", b"kept")' 2>/dev/null
note=$?
cat "$samples/f.ppm" >slow.ppm
wait $!
check 'a late output: replaced' [ $? = 0 ]
check 'a late output: no word' lines stderr 0
check 'a late output: a picture' [ "$(wc -c <out/late.png)" -gt 50 ]
check 'a late output: mode and owner' \
    [ "$(stat -c %a:%u:%g out/late.png)" = "600:$owner" ]
if [ $note = 0 ]; then
    check 'a late output: attributes' python3 -c 'import os
assert os.getxattr("out/late.png", "user.note") == b"kept"'
fi

# Where a rule cannot be made there are none, rather than some that refuse files.
for ((n = 4; n < 12; n++)); do
    (ulimit -n $n && gimgxf rotate90 "$samples/f.ppm" out/few.png) 2>stderr
    check "$n descriptors: not refused by a rule" not grep 'Permission denied' stderr
done
if can_trace; then
    strace -f -o /dev/null -e inject=landlock_add_rule:error=ENOMEM "$program" \
        --backend "$GIMGXF_BACKEND" -v rotate90 "$samples/f.ppm" out/few.png 2>stderr
    check 'no memory for a rule: done' [ $? = 0 ]
    check 'no memory for a rule: told' grep -q \
        'not confined to its files: a rule cannot be made: Cannot allocate memory' stderr
    { printf 'P5 3001 1603 65535\n' && head -c 9621206 /dev/zero; } >large.pgm
    strace -f -o /dev/null -e inject=fallocate:error=EPERM "$program" \
        --backend "$GIMGXF_BACKEND" -v --max-memory 16M rotate90 large.pgm out/large.pgm \
        2>stderr
    check 'no room set aside: done' [ $? = 0 ]
    check 'no room set aside: through a file' grep -q 'temporary file of' stderr
fi

# Jobs, of which one ends its process.
mkdir root
cp in/a.ppm root
job() {
    printf '{"op": "rotate90", "input": "%s", "output": "%s"}\n' "$1" "$2"
}
attack run "$PWD/else/made"
cp in/m.hdr root
{
    job a.ppm a.png
    job m.hdr m.png
    job a.ppm z.png
} | gimgxf serve --root root - >answers 2>stderr
how='ended its process by signal 31'
! has_driver || how='refused: Operation not permitted'
check 'serve: it is told' grep -q "$how" answers
check 'serve: the program was not run' absent else/made
check 'serve: the others' [ -e root/a.png -a -e root/z.png ]
attack read "$PWD/else/secret"
cp in/m.hdr root
job m.hdr m.png | gimgxf serve --root root - >answers
check 'serve: a file outside its root' grep -q 'refused: Permission' answers

# Threads that were there before would not be confined. all_confined PID: all are.
all_confined() {
    local task
    [ -d "/proc/$1" ] || return
    for task in /proc/"$1"/task/*; do
        is_confined "$1/task/${task##*/}" || return
    done
}
mkfifo jobs
"$program" serve --backend "$GIMGXF_BACKEND" --root root - <jobs >answers &
exec 9>jobs
job a.ppm late.png >&9
check 'serve: a job is done' eventually [ -e root/late.png ]
check 'serve: all threads of the worker are confined' all_confined "$(worker $!)"
exec 9>&-
wait $!
"$program" rotate90 --backend "$GIMGXF_BACKEND" - late.png <jobs &
exec 9>jobs
head -c 64 in/a.ppm >&9 # which tells the format
check 'one picture: all threads are confined' eventually all_confined $!
tail -c +65 in/a.ppm >&9
exec 9>&-
check 'one picture: done' wait $!
mkfifo in/late
attack read in/late # which waits until somebody writes to it
"$program" rotate90 --backend "$GIMGXF_BACKEND" -d out in/m.hdr in/a.ppm 2>stderr &
check 'a batch: all threads are confined' eventually all_confined $!
timeout 60 sh -c ': >in/late'
wait $!
check 'a batch: waited' worked
rm in/late

# A GPU is of no use for fewer pictures than there are processors, so that its driver
# gets nothing.
attack run "$PWD/else/made"
for threads in 1 4; do
    has_driver || break
    (GIMGXF_BACKEND=auto gimgxf -j $threads copy -d out in/m.hdr 2>stderr) 2>/dev/null
    status=$?
    check "auto, $threads threads: does not work" not worked
    check "auto, $threads threads: status $status" [ $status = \
        $((threads == 1 ? 1 : 159)) ]
done

# Where its own files are is no matter.
mkdir -p far/in far/out
cp "$samples/f.ppm" far/in/a.ppm
ln -s ../far/in/a.ppm in/link.ppm
ln -s far/out linked
ln -s ../far/out/b.png out/link.png
for options in 'in/link.ppm linked/b.png' 'in/link.ppm out/link.png' \
    '-r -d linked in' '-d new/deep in/a.ppm in/link.ppm' \
    '-o {dir}/{stem}.new.png in/a.ppm in/link.ppm' '--stack far/out/a.npy in/a.ppm in/link.ppm' \
    '-i far/in/a.ppm' \
    '--manifest far/out/log --resume far/out/log -d out in/a.ppm in/link.ppm' \
    '-i --backup .bak in/link.ppm' 'in/a.ppm /dev/null --format png' \
    '/dev/stdin -' '- /dev/stdout --format png'; do
    rm -f in/m.hdr
    gimgxf rotate90 -q $options 2>stderr <"$samples/f-rgb.png" >stdout
    check "works: $options" [ $? = 0 ]
    check "works, and says nothing: $options" [ ! -s stderr ]
done

# Where there are no such mechanisms the pictures are turned, and -v says so.
if can_trace; then
    strace -f -o trace -e inject=landlock_create_ruleset:error=ENOSYS \
        -e inject=seccomp:error=EINVAL "$program" -v rotate90 in/a.ppm o.ppm \
        2>stderr
    check 'a kernel without them' [ $? = 0 ]
    check 'no Landlock: told' \
        grep -q 'not confined to its files: this kernel has no Landlock' stderr
    check 'no seccomp: told' \
        grep -q 'not confined to few .*: this kernel has no seccomp' stderr
fi

# Stacks are guarded, with and without the sandbox.
if ! grep -qs HARDEN=0 "$(dirname "$program")/../flags"; then
    attack stack 4096
    (gimgxf --sandbox=off copy in/m.hdr out/m.png 2>stderr) 2>/dev/null
    check 'a frame is overrun: ended by SIGABRT' [ $? = 134 ]
fi
finish
