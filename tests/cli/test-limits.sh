# Sizes are checked before memory is allocated for them.
. "$ROOT/tests/cli/lib.sh"

gives 1 "gimgxf: $samples/f.ppm: 48 x 64 pixels are more than the 3071 of \
--max-pixels; --max-pixels 3072 allows them" --max-pixels 3071 rotate90 "$samples/f.ppm" o.ppm
gives 0 '' --max-pixels 3072 rotate90 "$samples/f.ppm" o.ppm
refused 1 <<END
--max-memory 1K rotate90 "$samples/f.ppm" p.ppm | $samples/f.ppm: the file has 9244 bytes, more than the 1024 of --max-memory; --max-memory 9244 allows them
--max-memory 64K rotate90 "$samples/f.ppm" p.ppm | $samples/f.ppm: 48 x 64 pixels in 3 channels need 86016 bytes, more than the 65536 of --max-memory; --max-memory 86016 allows them
END
gives 0 '' --max-memory 1M rotate90 "$samples/f.ppm" p.ppm
printf 'P5 100000 100000 255\n' >huge.pgm
gives 1 'gimgxf: huge.pgm: 100000 x 100000 pixels are more than the 500M of '\
'--max-pixels; --max-pixels 10000M allows them' rotate90 huge.pgm o.pgm
cat "$samples/f.ppm" | gimgxf --max-memory 1K copy - o.ppm 2>said
check 'a pipe' [ "$(cat said)" = 'gimgxf: -: the file has more than 1024 bytes, '\
'which --max-memory allows; a larger --max-memory reads it' ]

# What a message says to be enough is.
for option in --max-memory --max-pixels; do
    n=1
    for i in 1 2 3; do
        gimgxf $option $n rotate90 "$samples/f-rgb.png" o.png 2>said && break
        n=$(sed -n "s/.*; $option \([0-9]*[KMG]*\) allows them/\1/p" said)
        check "$option: told what is enough" [ -n "$n" ]
    done
    gives 0 '' $option "$n" rotate90 "$samples/f-rgb.png" o.png
done
finish
