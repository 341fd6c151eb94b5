# tests/bench/programs finds the outputs of gimgxf right, and says what it
# compared. How fast anything is, is not asked here.
. "$ROOT/tests/cli/lib.sh"
if ! python3 -c 'import numpy' 2>/dev/null &&
    ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo 'skipped: there is no numpy'
    check 'nothing' true
    finish
    exit
fi
for group in files png; do
    BUILD=${program%/*} SIZE=137x70 ROUNDS=1 \
        "$ROOT/tests/bench/programs" $group >>out 2>err
    status=$?
    check "status $status of $group: $(tail -n 1 err)" [ $status = 0 ]
done
for name in PPM BMP TGA 'TGA, run-length coded' HDR RGB RGBA gray \
    'RGB, 16 bits' screenshot 'screenshot, --png-level small'; do
    check "$name" grep -q "^$name, 137 x 70, " out
done
check 'every case with one and with two threads' \
    [ "$(grep -c '^  gimgxf -j [12] .* MB$' out)" = 26 ]
finish
