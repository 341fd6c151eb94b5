# tests/bench finds the outputs of gimgxf right, and says what it compared. How
# fast anything is, is not asked here.
. "$ROOT/tests/cli/lib.sh"
if ! python3 -c 'import numpy' 2>/dev/null &&
    ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo 'skipped: there is no numpy'
    check 'nothing' true
    finish
    exit
fi
BUILD=${program%/*} SIZE=37x20 ROUNDS=1 "$ROOT/tests/bench" files >out 2>err
status=$?
check "status $status: $(tail -n 1 err)" [ $status = 0 ]
for name in PPM BMP TGA 'TGA, run-length coded' HDR; do
    check "$name" grep -q "^$name, 37 x 20, " out
done
check 'every case with one and with two threads' \
    [ "$(grep -c '^  gimgxf -j [12] .* MB$' out)" = 10 ]
finish
