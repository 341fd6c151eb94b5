# What is written depends on neither what memory holds, nor how many threads there
# are, nor which pictures were turned before.
. "$ROOT/tests/cli/lib.sh"
needs python3

mkdir in
cp "$samples"/f[.-]* in
for name in in/*.*; do
    mv "$name" "in/$(basename "$name" | tr . -).${name##*.}"
done
# Rows of several bands, half of them noise.
{
    printf 'P6\n601 1009\n255\n'
    python3 -c 'import random, sys
sys.stdout.buffer.write(random.Random(1).randbytes(601 * 505 * 3))'
    head -c $((601 * 504 * 3)) /dev/zero
} >in/large-ppm.ppm
for format in jpg png tga; do
    gimgxf -q copy in/large-ppm.ppm in/large-$format.$format
done
ls in/* >names
sort -r names >backwards

# written DIRECTORY FILL THREADS NAMES ARGUMENTS...: all pictures; and each large
# one alone, as only such a one has several threads.
written() {
    rm -rf "$1"
    MALLOC_PERTURB_=$2 gimgxf -q -j "$3" --files-from "$4" -d "$1" "${@:5}" \
        2>"$1.said"
    for name in in/large-{jpg,png,tga}.*; do
        MALLOC_PERTURB_=$2 gimgxf -q -j "$3" -d "$1/alone" "${@:5}" "$name" \
            2>"$1.said"
    done
}

while read -r options; do
    written out1 0 1 names $options
    pick 1 2 7 1024
    for threads in $picked; do
        written out$threads 85 $threads backwards $options
        check "$options: on $threads threads, backwards" diff -r out1 out$threads
    done
    check "$options: something is written" [ -n "$(ls out1)" ]
    check "$options: three of them alone" [ "$(ls out1/alone | wc -l)" = 3 ]
done <<'END'
rotate90
transverse --strip --tolerant
fliph --optimize --quality 70
rotate270 --edge trim --no-restart
rotate90 --format png --background white --depth 8
rotate90 --format png --background white --depth 8 --png-level fast
rotate90 --format png --background white --depth 8 --png-level 4
rotate90 --format jpeg --background white --depth 8
rotate90 --format bmp --background white --depth 8
rotate90 --format tga --background white --depth 8
rotate90 --format hdr --background white --depth float
rotate90 --format pam --background white --depth 16
rotate90 --format npy --background white --depth float
END
finish
