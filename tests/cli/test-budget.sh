# Small files that would cost much memory or time cost neither.
. "$ROOT/tests/cli/lib.sh"

[ "$GIMGXF_BACKEND" = cpu ] || skip_all 'it is for the cpu'
LD_PRELOAD=${program%/gimgxf}/tests/starve.so "$program" --version \
    >/dev/null 2>&1 || skip_all 'this build has an allocator of its own'

# --max-memory counts alone where it is given.
printf 'P5 12000 12000 255\n' >cut.pgm
gives 1 "gimgxf: cut.pgm: 12000 x 12000 pixels in 1 channels need 276M bytes, \
more than the 192M that a file of 19 bytes may take; --max-memory 276M allows \
them" --tolerant rotate90 cut.pgm o.pgm
gives 0 'gimgxf: cut.pgm: warning: cut short, read as far as it goes' \
    --tolerant --max-memory 276M rotate90 cut.pgm o.pgm
gives 0 '' --max-seconds 600 copy "$samples/f.ppm" o.ppm
gives 2 'gimgxf: --max-seconds: 0 is out of range; expected 1 to 2147483647' \
    --max-seconds 0 copy "$samples/f.ppm" o.ppm

all=$(python3 "$ROOT/tests/support/costly_files.py" check "$program" "$PLACE")
check "costly files: $all" [ $? = 0 ]
finish
