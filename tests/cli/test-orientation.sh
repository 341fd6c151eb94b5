# Turns apply to the picture as it is shown: the tag is folded into the turn,
# and then says 1. f-sideways.jpg holds the pixels of f.jpg and asks for a
# quarter turn.
. "$ROOT/tests/cli/lib.sh"

# orientation FILE: what info tells.
orientation() {
    gimgxf info --json "$1" | sed 's/.*"orientation": \([0-9]*\).*/\1/'
}

check 'the tag is read' [ "$(orientation "$samples/f-sideways.jpg")" = 6 ]
gives 0 '' -q upright "$samples/f-sideways.jpg" upright.ppm
gives 0 '' -q rotate90 "$samples/f.jpg" turned.ppm
check 'upright is what a viewer shows' same upright.ppm turned.ppm
gives 0 '' -q fliph "$samples/f-sideways.jpg" a.ppm
gives 0 '' -q rotate90,fliph "$samples/f.jpg" b.ppm
check 'a mirror comes after the tag' same a.ppm b.ppm
gives 0 '' -q rotate270 "$samples/f-sideways.jpg" a.ppm
gives 0 '' -q copy "$samples/f.jpg" b.ppm
check 'the tag undone' same a.ppm b.ppm

gives 0 '' rotate90 "$samples/f-sideways.jpg" out.jpg
check 'the tag says 1' [ "$(orientation out.jpg)" = 1 ]
gives 0 '' --ignore-orientation rotate90 "$samples/f-sideways.jpg" out.jpg
check 'the tag is left' [ "$(orientation out.jpg)" = 6 ]
gives 0 '' --ignore-orientation copy "$samples/f-sideways.jpg" same.jpg
check 'nothing to do' same "$samples/f-sideways.jpg" same.jpg
gives 0 '' upright "$samples/f.jpg" same.jpg
check 'an upright file, byte for byte' same "$samples/f.jpg" same.jpg

gives 0 '' upright "$samples/f-sideways.jpg" out.png
check 'eXIf says 1' [ "$(orientation out.png)" = 1 ]
check 'eXIf is there' grep -q eXIf out.png

# An HDR says in which order its pixels stand: a pixel A, which is 1, then B.
hdr() {
    printf '#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n%s\n' "$1"
    shift
    for pixel in "$@"; do
        printf "\\200\\200\\200\\$pixel"
    done
}
A=201 B=202
while read -r stored shown; do
    hdr "${stored//_/ }" $A $B >in.hdr
    # shellcheck disable=SC2086 # a size and two pixels
    set -- $shown
    hdr "${1//_/ }" "${!2}" "${!3}" >want.hdr
    gives 0 '' upright in.hdr out.hdr
    check "an HDR of $stored is upright" same want.hdr out.hdr
    gives 0 '' --format npy upright in.hdr a.npy
    gives 0 '' --format npy copy want.hdr b.npy
    check "an HDR of $stored as an array" same a.npy b.npy
    gives 0 '' --ignore-orientation rotate180 in.hdr out.hdr
    hdr "${stored//_/ }" $B $A >want.hdr
    check "an HDR of $stored stays in that order" same want.hdr out.hdr
done <<'EOF'
-Y_1_+X_2 -Y_1_+X_2 A B
-Y_2_+X_1 -Y_2_+X_1 A B
-Y_1_-X_2 -Y_1_+X_2 B A
+Y_1_+X_2 -Y_1_+X_2 A B
+Y_2_+X_1 -Y_2_+X_1 B A
+Y_1_-X_2 -Y_1_+X_2 B A
+X_2_-Y_1 -Y_1_+X_2 A B
-X_2_-Y_1 -Y_1_+X_2 B A
+X_1_-Y_2 -Y_2_+X_1 A B
+X_1_+Y_2 -Y_2_+X_1 B A
-X_2_+Y_1 -Y_1_+X_2 B A
EOF
finish
