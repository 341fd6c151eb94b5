# Sizes are checked before memory is taken for them.
. "$ROOT/tests/cli/lib.sh"

gives 1 "gimgxf: $samples/f.ppm: 48 x 64 pixels are more than --max-pixels \
allows" --max-pixels 3071 rotate90 "$samples/f.ppm" o.ppm
gives 0 '' --max-pixels 3072 rotate90 "$samples/f.ppm" o.ppm
gives 1 "gimgxf: $samples/f.ppm: the file is larger than --max-memory allows" \
    --max-memory 1K rotate90 "$samples/f.ppm" p.ppm
gives 1 "gimgxf: $samples/f.ppm: 48 x 64 pixels in 3 channels need more memory \
than --max-memory allows" --max-memory 64K rotate90 "$samples/f.ppm" p.ppm
gives 0 '' --max-memory 1M rotate90 "$samples/f.ppm" p.ppm
printf 'P5 100000 100000 255\n' >huge.pgm
gives 1 'gimgxf: huge.pgm: 100000 x 100000 pixels are more than --max-pixels al'\
'lows' rotate90 huge.pgm o.pgm
finish
