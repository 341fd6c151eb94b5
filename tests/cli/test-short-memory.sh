# A process that may have only so much memory: in a batch of several threads a
# picture that needs more fails alone; and where it is short for all, each picture
# is turned or fails with a message, and what stood at its place stays.
. "$ROOT/tests/cli/lib.sh"
needs python3

cpu_only

# short KB ARGUMENTS...: gimgxf with so much address space.
short() {
    (
        ulimit -v "$1"
        shift
        gimgxf "$@"
    )
}

most=1000000
short $most --version >/dev/null 2>&1 ||
    skip_all 'this build takes more memory than there is to be'

mkdir in
python3 - <<'END'
import costly_files as made
with open('in/large.png', 'wb') as file: # 1.6 GB of samples
    file.write(made.png(40000, 40000, 1, 0, made.deflate_zeros(5001 * 40000)))
END
for ((i = 0; i < 8; i++)); do
    cp "$samples/f-rgb.png" in/$i.png
    cp "$samples/f.jpg" in/$i.jpg
done
gimgxf rotate90 "$samples/f-rgb.png" want.png
gimgxf rotate90 "$samples/f.jpg" want.jpg

# turn KB: the batch, into out/, where something stands already.
turn() {
    local name
    rm -rf out
    mkdir out
    for name in $(ls in); do
        echo old >"out/$name"
    done
    short "$1" rotate90 -r -q -j 4 --max-pixels 2G --max-memory 16G -d out in \
        >stdout 2>stderr
}

# Whether each picture but the large one was turned, or failed with a line and
# left what was there. The count of those that failed goes to `failed_files`.
ended_well() {
    local i suffix
    failed_files=0
    for ((i = 0; i < 8; i++)); do
        for suffix in png jpg; do
            same out/$i.$suffix want.$suffix && continue
            [ "$(cat out/$i.$suffix)" = old ] || return 1
            grep -qi "^gimgxf: in/$i.$suffix: .*memory" stderr || return 1
            failed_files=$((failed_files + 1))
        done
    done
    [ "$(cat out/large.png)" = old ] && no_temporary out
}

turn $most
check 'status of a large one' [ $? = 1 ]
check 'it says why' [ "$(cat stderr)" = \
    'gimgxf: in/large.png: no memory for 40000 x 40000 pixels in 1 channels' ]
check 'all others are turned' ended_well
check "and none of them failed: $failed_files" [ "$failed_files" = 0 ]

# A program may need so much that it cannot begin, or start any thread.
for ((kb = 20000; kb <= 100000; kb += 5000)); do
    short $kb --version >/dev/null 2>&1 || continue
    turn $kb
    status=$?
    ! grep -qx 'gimgxf: the workers cannot be started' stderr || continue
    check "status with $kb KB" [ $status = 1 ]
    check "with $kb KB: $(cat stderr)" ended_well
done
finish
