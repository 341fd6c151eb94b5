# System calls that fail, files that come in pieces, threads that cannot be started:
# what is written is the old file or the new one, and a failure is told
# (tests/support/faults.py). FAULTS=N lets each Nth system call fail in one way,
# FAULTS=1 all in all ways; 7 leaves out no kind of call, and no error.
. "$ROOT/tests/cli/lib.sh"
needs python3
step=${FAULTS-7}
gimgxf -v copy "$samples/f.ppm" x.png 2>stderr
if ! can_trace; then
    step=0
elif grep -q 'not confined' stderr; then
    echo 'skipped system calls: no sandbox, which marks the beginning'
    step=0
fi
if ! loads faults; then
    echo 'skipped pieces and threads: no library can be loaded before this build'
    library=
fi
[ "$step$library" != 0 ] || skip_all 'nothing can be made to fail here'
mkdir faults
python3 "$ROOT/tests/support/faults.py" "$program" "$library" "$PLACE/faults" "$step"
