# The eight turns of a picture of 3 x 2 pixels follow the definitions of the
# operations; aliases, lists and folding.
. "$ROOT/tests/cli/lib.sh"

printf 'P2 3 2 9\n1 2 3\n4 5 6\n' >in.pgm

# turns OP "WIDTH HEIGHT" "PIXELS"
turns() {
    gives 0 '' "$1" in.pgm out.pgm
    check "$1" [ "$(head -c -6 out.pgm | tr '\n' ' ')" = "P5 $2 9 " ]
    check "$1: pixels" [ "$(tail -c 6 out.pgm | od -An -tu1 | tr -s ' ')" = " $3" ]
}
# An operation writes what this program writes for another one, which is checked
# above.
is() {
    gives 0 '' "$1" in.pgm out.pgm
    makes out.pgm "$2" in.pgm want.pgm
}

turns fliph '3 2' '3 2 1 6 5 4'
turns flipv '3 2' '4 5 6 1 2 3'
turns rotate180 '3 2' '6 5 4 3 2 1'
turns transpose '2 3' '1 4 2 5 3 6'
turns rotate90 '2 3' '4 1 5 2 6 3'
turns rotate270 '2 3' '3 6 2 5 1 4'
turns transverse '2 3' '6 3 5 2 4 1'
makes in.pgm copy in.pgm out.pgm

for pair in identity=copy flop=fliph hflip=fliph mirror=fliph flip=flipv \
    vflip=flipv cw=rotate90 ccw=rotate270 upright=copy auto-orient=copy; do
    is "${pair%=*}" "${pair#*=}"
done
is rotate90,fliph transpose
is fliph,rotate90 transverse
is rotate90,rotate90,rotate90,rotate90 copy
is cw,upright,ccw copy
finish
