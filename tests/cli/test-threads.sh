# The output is the same on any number of threads.
. "$ROOT/tests/cli/lib.sh"

# 3.9 MB: more than one thread turns alone.
printf 'P6\n1301 1009\n255\n' >in.ppm
for ((i = 0; i < 400; i++)); do
    cat "$samples/f.bmp" "$samples/f-rgba.png" "$samples/f.jpg"
done | head -c $((1301 * 1009 * 3)) >>in.ppm

for op in rotate90 rotate180 transverse; do
    gives 0 '' -j 1 "$op" in.ppm one.ppm
    gives 0 '' -j3 "$op" in.ppm three.ppm
    gives 0 '' --threads=1024 "$op" in.ppm many.ppm
    gives 0 '' "$op" in.ppm all.ppm
    check "$op: 3 threads" same one.ppm three.ppm
    check "$op: 1024 threads" same one.ppm many.ppm
    check "$op: as many as there are processors" same one.ppm all.ppm
done
check 'it is another picture' [ "$(cmp one.ppm in.ppm | wc -l)" = 1 ]
gives 0 '' -j 3 transverse all.ppm back.ppm
check 'there and back' same in.ppm back.ppm

# One thread reads a JPEG by libjpeg, several by our own decoder.
gimgxf -q copy in.ppm in.jpg
for op in copy rotate90 rotate180; do
    gives 0 '' -q -j 1 "$op" in.jpg one.npy
    gives 0 '' -q -j 5 "$op" in.jpg five.npy
    check "$op of a JPEG: 5 threads" same one.npy five.npy
done
finish
