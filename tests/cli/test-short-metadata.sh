# Files with cut or empty segments and chunks are turned like others; only a tag
# cannot be put into damaged EXIF.
. "$ROOT/tests/cli/lib.sh"
needs python3

# A size that is no whole blocks, so that every --edge has something to do.
python3 -c 'print("P6 21 19 255\n" + 3 * 21 * 19 * "y", end="")' >odd.ppm
gimgxf -q copy odd.ppm odd.jpg
gimgxf -q copy odd.ppm odd.png
mkdir in
check 'made' python3 "$ROOT/tests/support/short_metadata.py" odd.jpg odd.png in
count=$(ls in | wc -l)
while read -r left args; do
    rm -rf out
    gimgxf -q -r -d out $args in 2>stderr
    check "nothing else is said: $args" [ "$(grep -c . stderr)" = \
        "$(grep -c 'EXIF is damaged or full' stderr)" ]
    check "all but $left: $args" [ "$(ls out | wc -l)" = $((count - left)) ]
done <<'END'
0 rotate90
0 fliph
0 --edge trim rotate180
9 --edge tag rotate270
END
finish
