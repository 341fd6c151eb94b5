# The memory of a GPU is out, for real: another program has it. What is written is
# what the processor writes, or nothing, with a message and status 1 or 3; and with
# --backend auto the processor takes over.
# alone: it fills the memory of the GPU.
. "$ROOT/tests/cli/lib.sh"
[ "$GIMGXF_BACKEND" = cuda ] || skip_all 'it takes a GPU'
fill=${program%/gimgxf}/tests/fill_gpu
[ -x "$fill" ] && "$fill" 1000000000 </dev/null >left 2>&1 || skip_all 'there is no GPU'

# ppm WIDTH HEIGHT: a picture of noise.
ppm() {
    printf 'P6\n%d %d\n255\n' "$1" "$2"
    head -c $(($1 * $2 * 3)) /dev/urandom
}

mkdir in
ppm 4000 3000 >small.ppm
ppm 12000 8000 >large.ppm
ppm 1024 768 >photo.ppm
"$program" -q --backend cpu copy photo.ppm in/000.jpg
for i in {001..119}; do
    cp in/000.jpg in/$i.jpg
done
for name in small large; do
    "$program" -q --backend cpu rotate90 $name.ppm $name-want.ppm
done
"$program" -q --backend cpu rotate90 in/000.jpg want.jpg
rm photo.ppm

# fill MEBIBYTES: leaves so much of the GPU's memory until `release`.
fill() {
    rm -f hold left
    mkfifo hold
    "$fill" "$1" <hold >left &
    filler=$!
    exec 9>hold
}
release() {
    exec 9>&-
    wait $filler
}
is_full() {
    [ -s left ]
}

# holds_or_tells STATUS WANT OUTPUT: the output is there, or a message.
holds_or_tells() {
    case $1 in
    0) same "$2" "$3" ;;
    1 | 3) absent "$3" && [ "$(grep -c ^gimgxf: stderr)" = 1 ] ;;
    *) false ;;
    esac
}

# turn_one WHEN NAME: one picture, on the GPU.
turn_one() {
    rm -f out.ppm
    "$program" --backend cuda rotate90 $2.ppm out.ppm 2>stderr
    local status=$?
    echo "$1: $2: status $status, $(cat stderr)" >&2
    check "$1: $2" holds_or_tells $status $2-want.ppm out.ppm
}

# turn_batch WHEN BACKEND: what is there is right, and each that is not is told.
turn_batch() {
    local status right=0 told picture
    rm -rf out
    "$program" --backend $2 -j 2 rotate90 -r -d out in >stdout 2>stderr
    status=$?
    for picture in out/*; do
        ! same "$picture" want.jpg || right=$((right + 1))
    done
    told=$(grep -c '^gimgxf: in/' stderr)
    echo "$1: a batch, $2: status $status, $right right, $told told," \
        "$(grep -v '^gimgxf: in/' stderr | head -5)" >&2
    check "$1: a batch, $2: no wrong one" [ $right = "$(ls out 2>/dev/null | wc -l)" ]
    case $2$status in
    *0) check "$1: a batch, $2: all" [ $right = 120 ] ;;
    cuda1) check "$1: a batch, $2: each is told" [ $((right + told)) = 120 ] ;;
    cuda3) check "$1: a batch, $2: one line" [ $right = 0 -a \
        "$(grep -c '^gimgxf: --backend cuda: ' stderr)" = 1 ] ;;
    *) check "$1: a batch, $2: status $status" false ;;
    esac
}

turn_all() {
    turn_one "$1" small
    turn_one "$1" large
    turn_batch "$1" auto
    turn_batch "$1" cuda
}

for mebibytes in 64 600 1000 2000; do
    fill $mebibytes
    check "$mebibytes MiB are left" eventually is_full
    turn_all "$(cat left) MiB left"
    release
done

# It is taken meanwhile.
fill 64
turn_all 'taken meanwhile'
release
turn_all 'free again'
check 'free again: nothing failed' [ "$(grep -c '^gimgxf: ' stderr)" = \
    "$(grep -c '^gimgxf: [0-9]' stderr)" ]
finish
