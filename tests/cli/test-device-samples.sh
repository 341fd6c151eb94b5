# JPEG files that a device makes samples of, in batches, become the files that
# the CPU writes, byte for byte; what it does not take, the CPU does beside it.
. "$ROOT/tests/cli/lib.sh"
needs jpegtran

mkdir -p in same
for i in 1 2 3 4 5 6 7 8 9; do
    filled_ppm $((97 + i)) $((61 + i)) $i >in.ppm
    "$program" -q --quality 88 --format jpeg copy in.ppm in/odd$i.jpg
    "$program" -q --quality 95 --format jpeg copy in.ppm in/full$i.jpg
    jpegtran -grayscale in/odd$i.jpg >in/gray$i.jpg
    jpegtran -restart 2 in/odd$i.jpg >in/restart$i.jpg
    filled_ppm 160 90 $i >in.ppm
    "$program" -q --quality 88 --format jpeg copy in.ppm same/$i.jpg
done
jpegtran -progressive in/odd1.jpg >in/progressive.jpg
# The header of a PNM is longer than the room that samples have before them.
head -c 3000 /dev/zero | tr '\0' x >words
wrjpgcom -cfile words in/odd2.jpg >in/words.jpg
filled_ppm 2100 1500 1 >in.ppm
"$program" -q --quality 50 --format jpeg copy in.ppm in/large.jpg
cp "$samples/f-rgb.png" in/picture.png
cp "$samples/f-sideways.jpg" in/sideways.jpg
head -c $(($(stat -c %s in/odd1.jpg) / 2)) in/odd1.jpg >in/cut.jpg

while read -r call; do
    on_both 'diff -r' 40 $call
done <<'END'
rotate90 --format npy
rotate90 --isolate --format npy
rotate270 --format npy --layout chw
transpose --format npy --layout chw --depth float
upright --format npy --layout hwc --depth float
fliph --format npy --depth 16
flipv --format npy --layout nchw
transverse --format ppm
rotate180 --format pnm --strip
rotate90 --format png --png-level 3
copy --format pfm --depth float
rotate90 --format bmp
copy --format npy --tolerant
rotate90 --format npy --max-memory 200M -j 2
END

# One array of all. The first picture decides, also where it is another one.
stack() {
    "$program" --backend cpu "$@" --stack cpu.npy same 2>said.cpu
    local status=$?
    "$program" --backend "$GIMGXF_BACKEND" "$@" --stack device.npy same \
        2>said.device
    check "status of --stack, $*" [ $? = $status ]
    check "array of --stack, $*" same cpu.npy device.npy
    check "messages of --stack, $*" same <(grep -v ' [kM]B in' said.cpu) \
        <(grep -v ' [kM]B in' said.device)
}
stack rotate90 -r
stack rotate90 -r --layout nchw
stack flipv -r --depth float --layout chw
check 'the array has all pictures' \
    [ "$(stat -c %s device.npy)" = $((128 + 9 * 160 * 90 * 3 * 4)) ]

# Jobs of all kinds in one batch.
for file in in/odd?.jpg in/gray?.jpg in/full?.jpg; do
    name=${file#in/}
    for format in npy ppm jpg png; do
        echo "{\"op\": \"rotate90\", \"input\": \"$file\", \
\"output\": \"OUT/${name%.jpg}.$format\"}"
    done
done >jobs
for backend in cpu "$GIMGXF_BACKEND"; do
    rm -rf served.$backend
    mkdir served.$backend
    sed "s/OUT/served.$backend/" jobs |
        "$program" --backend "$backend" serve - >answers
    check "serve: $backend" [ "$(grep -c '"done"' answers)" = 108 ]
done
check 'serve: the same outputs' diff -r served.cpu "served.$GIMGXF_BACKEND"

# Which are done where.
# On a busy machine the CPU may be free before the device is: so there are some tries.
for try in 1 2 3 4 5 6 7 8; do
    "$program" --backend "$GIMGXF_BACKEND" -v --json rotate90 --format npy -r \
        -d out in >answers 2>stderr
    count=$(sed -n 's/^gimgxf: \([0-9]*\) turned on the GPU; .*/\1/p' stderr)
    [ "$GIMGXF_BACKEND" = cuda ] && [ "${count:-0}" -lt 36 ] || break
done
if [ "$GIMGXF_BACKEND" = cuda ]; then
    check 'most are done on the GPU' [ "${count:-0}" -ge 36 ]
    check 'the others are counted' grep -q '; on the CPU .*1 progressive' stderr
    "$program" --backend cuda -v rotate90 --format npy --max-memory 125M \
        -d out in/large.jpg in/odd1.jpg 2>stderr
    check 'what is too large as samples is done on the CPU' \
        grep -q '^gimgxf: 1 turned on the GPU; on the CPU 1 too large' stderr
    "$program" --backend cuda -v rotate90 --depth float --format npy -d out \
        in/odd1.jpg in/odd2.jpg 2>stderr
    check 'floats are made there, too' \
        grep -q '^gimgxf: 2 turned on the GPU$' stderr
    check 'and converted' grep -q ', converted, JPEG to NPY' stderr
fi
finish
