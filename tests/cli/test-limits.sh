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

# What a message says to be enough is, and one less is not: for samples, and for the
# blocks of a JPEG file, whether they stay or are coded anew.
while read -r file out need op; do
    for limit in "--max-pixels 3072" "--max-memory $need"; do
        option=${limit% *} n=${limit#* }
        gives 0 '' -q $limit $op "$samples/$file" o.$out
        tells 1 "more than the $((n - 1)) of $option; $option $n allows them" \
            -q $option $((n - 1)) $op "$samples/$file" o.$out
    done
done <<'END'
f-rgb.png png 86016 rotate90
f.jpg jpg 50944 rotate90
f.jpg jpg 50944 --quality 80 rotate90
f.jpg ppm 86016 rotate90
END
finish
