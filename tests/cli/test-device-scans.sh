# JPEG files whose coded scans a device turns in batches are those that the CPU
# writes, byte for byte; what it does not take, the CPU does beside it.
. "$ROOT/tests/cli/lib.sh"
needs jpegtran

mkdir in in/sub
for i in 1 2 3 4 5 6 7 8 9 10; do
    filled_ppm 160 96 $i >in.ppm
    "$program" -q --quality 88 --format jpeg copy in.ppm in/whole$i.jpg
    "$program" -q --quality 95 --format jpeg copy in.ppm in/sub/full$i.jpg
    jpegtran -optimize -restart 2 in/whole$i.jpg >in/restart$i.jpg
    jpegtran -progressive in/whole$i.jpg >in/progressive$i.jpg
    filled_ppm $((97 + i)) $((61 + i)) $i >in.ppm
    "$program" -q --quality 88 --format jpeg copy in.ppm in/odd$i.jpg
    jpegtran -grayscale in/odd$i.jpg >in/gray$i.jpg
done
jpegtran -arithmetic in/whole1.jpg >in/arithmetic.jpg
cp "$samples/f-rgb.png" in/picture.png
cp "$samples/f-sideways.jpg" in/sideways.jpg
head -c $(($(stat -c %s in/whole1.jpg) / 2)) in/whole1.jpg >in/cut.jpg
{
    head -c 800 in/whole2.jpg
    printf '\377\001\002'
    tail -c +804 in/whole2.jpg
} >in/damaged.jpg
: >in/empty.jpg

while read -r call; do
    on_both 'diff -r' 31 $call
done <<'END'
rotate90
rotate180
flipv
transverse
copy
upright
rotate90 --optimize
rotate270 --no-restart --strip
transverse --edge trim
rotate90 --edge tag -j 1
fliph --tolerant
rotate90 --max-memory 200M -j 3
rotate90 --max-memory 64M -j 3
rotate90 --max-vram 2M
END

"$program" --backend "$GIMGXF_BACKEND" -v --json rotate90 -r -d out in \
    >answers 2>stderr
line=$(grep 'turned on the GPU' stderr)
if [ "$GIMGXF_BACKEND" = cuda ]; then
    count=$(sed -n 's/^gimgxf: \([0-9]*\) turned on the GPU; .*/\1/p' stderr)
    check 'most are turned on the GPU' [ "${count:-0}" -ge 30 ]
    check 'the others are counted' \
        grep -q 'on the CPU .*10 progressive' <<<"$line"
    done=$(sed -n 's/^gimgxf: \([0-9]*\) of .*/\1/p' stderr)
    check 'each is counted once' \
        [ "$(($(grep -o '[0-9][0-9]*' <<<"$line" | paste -sd+)))" = "$done" ]
    check 'each says so' \
        [ "$(grep -c 'its coded data is turned in a batch' stderr)" = "$count" ]
else
    check 'nothing is said of a GPU' [ -z "$line" ]
fi
check 'every answer names the backend that moved it, or the CPU' \
    [ "$(grep -c '"backend": "c' answers) $(grep progressive answers |
        grep -c '"backend": "cpu"') $(grep in/whole answers |
        grep -c "\"backend\": \"$GIMGXF_BACKEND\"")" = "$(wc -l <answers) 10 10" ]
check 'and so says -v' \
    [ "$(grep -A1 'progressive.*: rotate90' stderr | grep -c 'backend cpu: ')" = 10 ]

# Small batches are left to the CPU.
"$program" --backend auto -v rotate90 -r -d auto in 2>stderr
[ "$GIMGXF_BACKEND" = cpu ] || check 'auto tells what it weighs' \
    grep -q '^gimgxf: --backend auto: about [0-9]* JPEG files would take the' \
    stderr
check 'auto takes the CPU' [ "$(grep -c 'backend cuda' stderr)" = 0 ]
check 'auto writes the same' diff -r out auto
# What becomes samples alone is weighed without a coding of its own.
for backend in cpu auto; do
    "$program" --backend $backend -q -j 2 rotate90 -d arrays-$backend --format npy \
        in/whole*.jpg
    check "arrays by $backend" [ $? = 0 ]
done
check 'auto writes the same arrays' diff -r arrays-cpu arrays-auto

# Large ones are not: on one processor 300 of the first take longer than a device
# takes to start. Where that is the host, which is slow, what follows is small.
if [ "$GIMGXF_BACKEND" = cuda ]; then
    mkdir many
    if [[ $program == */on-host/* ]]; then
        filled_ppm 640 480 1 >large.ppm
        filled_ppm 32 32 1 >small.ppm
    else
        filled_ppm 1600 1200 1 | tee large.ppm >small.ppm
    fi
    for size in large small; do
        "$program" -q --quality 88 --format jpeg copy $size.ppm $size.jpg
    done
    "$program" --backend cpu -q rotate90 -d want large.jpg small.jpg
    for i in {100..399}; do
        ln small.jpg many/$i.jpg
    done
    ln -f large.jpg many/100.jpg
    "$program" -j 1 -v rotate90 -r -d turned many 2>stderr
    check 'auto takes the GPU for many' \
        grep -q '^gimgxf: [1-9][0-9]* turned on the GPU' stderr
    check 'and writes the same' same want/large.jpg turned/100.jpg
    check 'and of the others' \
        [ "$(find turned -type f ! -name 100.jpg \
            -exec cmp -s want/small.jpg {} \; -print | wc -l)" = 299 ]
    "$program" -j 1 -v rotate90 -r -d alone --isolate many 2>stderr
    check 'auto takes none with --isolate' \
        [ "$(grep -c 'on the GPU' stderr)" = 0 ]
    check 'and writes the same with it' diff -r turned alone
fi

# In place, each once.
cp -r in place
"$program" --backend "$GIMGXF_BACKEND" -q rotate90 -r -i --manifest log place \
    2>stderr
"$program" --backend "$GIMGXF_BACKEND" -q rotate90 -r -i --manifest log \
    --resume log place 2>stderr
for f in out/whole1.jpg out/restart3.jpg out/sub/full7.jpg out/odd2.jpg; do
    check "$f, in place" same "$f" "place/${f#out/}"
done
check 'nothing is left' no_temporary place
finish
