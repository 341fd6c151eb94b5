# gimgxf bench verifies what it times, and prints readable tables. With a GPU it
# runs every step of the kernel suite.
. "$ROOT/tests/cli/lib.sh"
needs python3

bench() {
    "$program" bench "$@" >stdout 2>stderr
    got=$?
}

# results PYTHON: an expression over `all`, the bench's results; of JSON only.
results() {
    python3 -c 'import json, sys
bench = json.load(open("stdout"))
all = bench["results"]
sys.exit(not ('"$1"'))'
}

# Wrong usage: what is said of it, and nothing else.
usage() {
    local row
    while IFS= read -r row; do
        eval "bench ${row%% | *}"
        check "$row" [ "$got $(cat stderr)" = "2 gimgxf: ${row#* | }" ]
        check "no stdout: $row" [ ! -s stdout ]
    done
}
usage <<'END'
--frobnicate | unknown option '--frobnicate'; see --help
--onyl x | unknown option '--onyl'; did you mean '--only'?
-x | unknown option '-x'; see --help
--size | --size: a value is missing; expected --size WxH (run at this size, in pixels)
--size 12 | --size: '12' is not a size; expected e.g. 4096x4096
--size 0x4 | --size: '0x4' is not a size; expected e.g. 4096x4096
--size 4x4x4 | --size: '4x4x4' is not a size; expected e.g. 4096x4096
--size 4x-4 | --size: '4x-4' is not a size; expected e.g. 4096x4096
--rounds 0 | --rounds: 0 is out of range; expected 1 to 1000
a.png | bench takes no files: 'a.png'
--cpu --device 0 | --device: --cpu uses no GPU
--device x | --device: 'x' is not a number; expected 0 to 2147483647
--cpu --only nothing | --only: nothing that runs here is called 'nothing'; the sections are gimgxf
--cpu --json --only 'x y' | --only: nothing that runs here is called 'x y'; the sections are gimgxf
END
gives 2 'gimgxf: the options of bench follow it: gimgxf bench [options]' -v bench

bench --help
check 'help' [ $got = 0 ]
cp stdout short
gives 0 '' help bench
check 'help bench' same short stdout
cp short stdout
check 'help is on stdout' grep -q '^      --profile ' stdout
check 'it stands in --help' grep -q '^gimgxf bench ' <("$program" --help all)

# The CPU part, as a table, as JSON, and as a chart of it.
bench --cpu --size 67x41 --rounds 3
check 'table' [ $got = 0 ]
check 'nothing else is said' [ ! -s stderr ]
for t in copy $turns; do
    check "$t of bytes" grep -qE "^  $t +u8 67 x 41 " stdout
done
check 'nothing is wrong' [ "$(grep -ci wrong stdout)" = 0 ]

bench --cpu --size 67x41 --rounds 3 --json
check 'json' [ $got = 0 ]
check 'all turns' results "set('copy $turns'.split()) ==
    {r['name'] for r in all if r['form'] == 'gimgxf'}"
check 'all are checked' results "all and
    not any(r['wrong'] or r['cells'] < 1 or r['left_out'] for r in all)"
check 'all are timed' results "not any(r['gbs'] <= 0 or r['share'] <= 0 or
    not r['seconds']['min'] <= r['seconds']['median'] <= r['seconds']['max']
    for r in all)"
check 'the GPU is not there' results "bench['gpu_left_out'] is not None"
"$ROOT/tests/bench/chart-kernels" chart.svg stdout
check 'chart' python3 -c 'import sys, xml.etree.ElementTree as tree
svg = tree.parse("chart.svg").getroot()
name = "{http://www.w3.org/2000/svg}"
words = [t.text for t in svg.iter(name + "text")]
sys.exit(svg.tag != name + "svg" or "rotate90" not in words or
         len(list(svg.iter(name + "rect"))) < 28)'

bench --cpu --size 67x41 --rounds 1 --json --only ROTATE
check '--only' results "{r['name'] for r in all} ==
    {'rotate90', 'rotate180', 'rotate270'}"
bench --cpu --size 67x41 --json --profile --only 'on the cpu'
check '--only, by source' results "len(all) >= 24"
check '--profile times nothing' results "not any('gbs' in r for r in all)"
check '--profile checks' results "not any(r['cells'] < 1 for r in all)"
bench --cpu --size 67x41 --json --profile --only gimgxf
check '--only, by section' results "len(all) >= 24 and
    {r['section'] for r in all} == {'gimgxf'}"

# Coded JPEG scans, with the host as a device that turns them.
device=${program%/*}/on-host/gimgxf
"$device" bench --only jpeg --size 67x41 --rounds 1 --json >stdout 2>stderr
check 'status of JPEG' [ $? = 0 ]
check 'streams and processors' results "[r['name'] for r in all
    if r['form'] == 'gimgxf'][:5] == ['all kernels', '3 streams', '2 streams',
    '1 stream', 'one processor']"
check 'all pictures are checked, and right' results "
    [r['cells'] for r in all if r['form'] == 'gimgxf'][:5] ==
    [256, 768, 512, 256, 8] and not any(r.get('wrong') for r in all)"
check 'all are timed' results "not any(r['us_a_picture'] <= 0 or
    r['pictures_a_second'] <= 0 or r['cell'] != 'jpeg'
    for r in all if not r['left_out'] and r['name'] != 'all kernels')"
"$device" bench --only 'stream' --size 64x48 --rounds 1 >stdout
check 'a table of JPEG' grep -qE '^  3 streams, 768 files +jpeg 64 x 48 ' stdout

# Without --cpu it is the GPU's turn, or one line says why not.
bench --size 8x4 --only rotate90 --json --rounds 1
check 'with or without a GPU' [ $got = 0 ]
check 'why there is no GPU' results "bench['gpu_left_out'] is None or
    '$(cat stderr)' ==
    'gimgxf: the GPU part is left out: ' + bench['gpu_left_out']"
bench --device 1000
check 'a GPU asked for by name' [ $got = 3 ]
check 'and why it is not' grep -q '^gimgxf: --device 1000: ' stderr

# With a GPU: at sizes that are whole blocks, squares, and neither, and at the
# steps' own.
if [ "$GIMGXF_BACKEND" = cuda ]; then
    usage <<<"--only nothing | --only: nothing that runs here is called 'nothing'; the sections are nvidia, book, mat_transpose, others, libraries, gimgxf, jpeg, png"
    for size in 64x64 128x64 64x128 61x61 131x77 77x131 1x1 1x300 300x1 \
        2000x1300; do
        bench --profile --json --size $size
        check "status at $size" [ $got = 0 ]
        check "right at $size" results "len(all) > 60 and
            not any(r['left_out'] is None and r['wrong'] and
                    not r['known_wrong'] for r in all)"
        check "run at $size" results "not any(r['left_out'] for r in all
            if r['form'] in ('meant', 'gimgxf'))"
    done
    bench --profile --json --size 64x64
    check 'published forms are run' results "not any(r['left_out']
        for r in all if r['form'] == 'published')"
    check 'what is known to be wrong is' results "
        {r['name'] for r in all if r.get('wrong')} == {'copyGmem'}"
    bench --profile --json
    check 'their own sizes' [ $got = 0 ]
    bench --rounds 3 --json --only transposeNoBankConflicts
    check 'timed' results "all and not any(r['share'] <= 0 for r in all)"
fi
finish
