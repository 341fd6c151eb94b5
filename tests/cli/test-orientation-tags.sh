# Turns apply to the picture as it is shown: an orientation in EXIF, in any form of
# XMP, or in the PNG texts and the chunk of ImageMagick is folded into the turn, and
# then says 1. Python computes the expected pixels.
. "$ROOT/tests/cli/lib.sh"
needs python3
pictures="python3 $ROOT/tests/support/tagged_pictures.py"

# f-sideways.jpg holds the pixels of f.jpg and asks for a quarter turn.
while read -r op same; do
    gives 0 '' -q "$op" "$samples/f-sideways.jpg" a.ppm
    makes a.ppm -q "$same" "$samples/f.jpg" b.ppm
done <<'END'
upright rotate90
fliph rotate90,fliph
rotate270 copy
END
while read -r tag out options; do
    gives 0 '' $options "$samples/f-sideways.jpg" $out
    prints "\"orientation\": $tag," info --json $out
done <<'END'
1 o.jpg rotate90
6 o.jpg --ignore-orientation rotate90
1 o.png upright
END
check 'eXIf is there' grep -q eXIf o.png
makes "$samples/f-sideways.jpg" --ignore-orientation copy \
    "$samples/f-sideways.jpg" same.jpg
makes "$samples/f.jpg" upright "$samples/f.jpg" same.jpg

stored_pictures stored
mkdir in out ppm
check 'made' $pictures make stored.jpg stored.png in
while read -r n op; do
    $pictures turn "$n" stored.ppm "shown-$n.ppm"
    gimgxf -q "$op" stored.jpg shown.jpg
    gimgxf -q copy shown.jpg "shown-jpeg-$n.ppm"
done <<'END'
1 copy
2 fliph
3 rotate180
4 flipv
5 transpose
6 rotate90
7 transverse
8 rotate270
END

# Of files EXIF-6-XMP-1 two tags do not agree, and a warning says so.
gimgxf -d out upright in/* 2>stderr
check 'all are done' [ "$(ls out | wc -l)" = "$(ls in | wc -l)" ]
for suffix in jpg png; do
    gimgxf -q --format ppm -d ppm/$suffix copy out/*.$suffix
done
gimgxf -q --format ppm -d direct copy in/*.png
gimgxf -q -d kept --ignore-orientation rotate180 in/* 2>/dev/null
for folder in in out kept; do
    gimgxf info --json $folder/* >$folder.told 2>/dev/null
done
# has TEXT: whether this is in what was told.
has() {
    check "$name: $1 in $told" [ "${told#*"$1"}" != "$told" ]
}
for file in in/*; do
    name=${file#in/}
    place=${name%%-*} rest=${name#*-}
    n=${rest%%-*}
    suffix=${name##*.}
    told=$(grep -F "\"$file\"" in.told)
    has '"orientation": '$n,
    has '"orientation_from": "'$place'"'
    want=shown-$n.ppm
    [ "$suffix" = png ] || want=shown-jpeg-$n.ppm
    check "$name: as it is shown" same "$want" "ppm/$suffix/${name%.*}.ppm"
    [ "$suffix" = jpg ] ||
        check "$name: as a PPM" same "$want" "direct/${name%.*}.ppm"
    told=$(grep -F "\"out/$name\"" out.told)
    has '"orientation": 1,'
    check "$name: no other" [ "${told#*orientation_other}" = "$told" ]
    told=$(grep -F "\"kept/$name\"" kept.told)
    has '"orientation": '$n,
    count=$(grep -c "^gimgxf: $file: warning" stderr)
    case $rest in
    *-XMP-*)
        other=${rest#*-XMP-}
        said="gimgxf: $file: warning: the orientation is $n, as EXIF says,"
        said="$said although XMP says ${other%%[-.]*}"
        check "$name: one warning" [ "$count" = 1 ]
        check "$name: the warning" grep -qxF "$said" stderr
        ;;
    *) check "$name: no warning" [ "$count" = 0 ] ;;
    esac
done
prints 'orientation 6 (shown by rotate90), as XMP says' info \
    in/XMP-6-attribute.jpg
gimgxf info in/EXIF-6-XMP-1.jpg >stdout
check 'info of two' grep -qF 'as EXIF says, although XMP says 1' stdout
for suffix in jpg png; do
    gives 1 "gimgxf: in/XMP-6-attribute.$suffix: --strip would drop the orientation, 6, that --ignore-orientation leaves" \
        --ignore-orientation --strip rotate180 "in/XMP-6-attribute.$suffix" no.$suffix
done

# --edge and --json know it before a pixel is decoded.
python3 -c 'print("P6 21 19 255\n" + 3 * 21 * 19 * "y", end="")' >odd.ppm
gimgxf -q copy odd.ppm odd.jpg
mkdir odd
$pictures make odd.jpg stored.png odd
gimgxf --json --edge fail rotate90 odd/XMP-8-attribute.jpg out.jpg >told 2>&1
check 'two turns that undo each other' grep -q '"how": "lossless"' told
gimgxf --edge fail copy odd/XMP-6-attribute.jpg out.jpg 2>stderr
check 'one that leaves a rest' grep -q 'without loss' stderr
if offers exiftool; then
    exiftool -q -T -n -Orientation -XMP-tiff:Orientation out | tr -d ' ' >told
    check 'exiftool of all' [ "$(wc -l <told)" = "$(ls out | wc -l)" ]
    check 'exiftool: all say 1' [ -z "$(grep '[2-8]' told)" ]
fi
finish
