# Each system call of a job fails once: what is written is the old file or the new
# one, and a failure is told (tests/support/faults.py).
. "$ROOT/tests/cli/lib.sh"
needs strace
strace -o /dev/null true 2>/dev/null || skip_all 'strace cannot trace here'
gimgxf -v copy "$samples/f.ppm" x.png 2>stderr
! grep 'not confined' stderr || skip_all 'no sandbox, which marks the beginning'
mkdir faults
python3 "$ROOT/tests/support/faults.py" "$program" "$PLACE/faults"
