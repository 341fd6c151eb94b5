# tests/bench/programs verifies the outputs of gimgxf and prints what it
# compared, and the pictures of the README can be drawn. Speed is not tested.
. "$ROOT/tests/cli/lib.sh"
needs numpy
for group in files png; do
    BUILD=${program%/*} SIZE=137x70 ROUNDS=1 \
        "$ROOT/tests/bench/programs" $group >>out 2>err
    status=$?
    check "status $status of $group: $(tail -n 1 err)" [ $status = 0 ]
done
for name in PPM BMP TGA 'TGA, run-length coded' HDR RGB RGBA gray \
    'RGB, 16 bits' screenshot; do
    check "$name" grep -q "^$name, 137 x 70, " out
done
check 'every case with one and with two threads' \
    [ "$(grep -c '^  gimgxf -j [12] .* MB$' out)" = 22 ]

# The tables of BENCHMARKS.md: each is at its place, and nothing else changes.
cp "$ROOT/BENCHMARKS.md" tables.md
BUILD=${program%/*} PLACE=$PWD/tables SIZE=137x70 ROUNDS=1 DOCUMENT=tables.md \
    CHART=$PWD/none "$ROOT/tests/bench/tables" files png >out 2>&1
status=$?
check "status $status of the tables: $(tail -n 1 out)" [ $status = 0 ]
check 'files and PNGs are measured' \
    [ "$(grep -cE '^\| .*, 137 x 70 \| [0-9]' tables.md)" = 25 ]
unmeasured() {
    sed '/^<!-- tables: \(files\|png\) -->$/,/^<!-- end -->$/d' "$1"
}
check 'nothing else changes' \
    cmp <(unmeasured "$ROOT/BENCHMARKS.md") <(unmeasured tables.md)
for part in short files png jpeg batch; do
    check "the table $part" [ "$(grep -c "^<!-- tables: $part -->$" tables.md)" = 1 ]
done

# The chart of whole files, and the picture of the turns.
if has_tool cjpeg && has_tool jpegtran; then
    BUILD=${program%/*} SIZE=128x64 ROUNDS=1 \
        "$ROOT/tests/bench/chart-files" chart.svg >out 2>err
    status=$?
    check "status $status of the chart: $(tail -n 1 err)" [ $status = 0 ]
    check 'the chart has each case' \
        [ "$(grep -c ', 128 x 64</text>' chart.svg)" = 4 ]
    check 'the chart has each program' \
        [ "$(grep -c '>gimgxf -j [12]</text>' chart.svg)" = 8 ]
else
    echo 'skipped: the chart, as there is no cjpeg or jpegtran'
fi
"$ROOT/samples/make-turns" "$program" >turns.svg
check 'the turns' [ "$(grep -c '^<image ' turns.svg)" = 8 ]
"$ROOT/tests/bench/chart-kernels" kernels.svg
check 'the chart of kernels is what BENCHMARKS.md says' \
    same kernels.svg "$ROOT/samples/kernels.svg"
finish
