# QOI: every turn makes the bytes that the reference encoder would, by an oracle.
. "$ROOT/tests/cli/lib.sh"
needs python3
oracle="python3 $ROOT/tests/support/qoi.py"
check 'pictures' $oracle make

for name in *-*.qoi; do
    pick 3 rotate90 fliph transverse rotate180 transpose flipv rotate270
    for op in $picked; do
        gives 0 '' $op $name made.qoi
        check "$op $name" $oracle check $op $name made.qoi
    done
    gimgxf -q rotate90 $name out.pam
    check "$name as PAM" $oracle check rotate90 $name out.pam
done

# From another format, of 16 bits or gray, too; what a QOI cannot hold is said.
gives 0 '' rotate90 "$samples/f.pgm" --depth 8 gray.qoi
gives 0 '' rotate270 gray.qoi gray.ppm
makes gray.ppm copy "$samples/f.pgm" --depth 8 want.ppm
gives 1 "gimgxf: $samples/f-gray16.png: QOI cannot hold samples of 16 bits; --depth 8 makes them fit" \
    copy "$samples/f-gray16.png" no.qoi
gives 1 'gimgxf: noise-31.qoi: QOI has no orientation tag that --tag-only could set; JPEG, PNG, TIFF and WebP have one' \
    --tag-only rotate90 noise-31.qoi no.qoi

# A file that is cut anywhere is refused, or read as far as it goes.
head -c 900 noise-31.qoi >cut.qoi
gives 1 'gimgxf: cut.qoi: the image data is cut short' rotate90 cut.qoi no.qoi
gives 0 'gimgxf: cut.qoi: warning: cut short, read as far as it goes' \
    rotate90 --tolerant cut.qoi yes.qoi
check 'no output' [ ! -e no.qoi ]
finish
