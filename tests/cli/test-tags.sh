# exiftool finds the same tags in a turned JPEG as before, apart from what the
# turn makes false.
. "$ROOT/tests/cli/lib.sh"
needs python3 exiftool
tags="python3 $ROOT/tests/support/jpeg_tags.py"

# Its tags speak of 400 x 240 pixels.
python3 -c 'print("P6 400 240 255\n", end="")' >big.ppm
head -c 288000 /dev/zero | tr '\0' '\171' >>big.ppm
gimgxf -q copy big.ppm in.jpg
check 'a file full of tags' $tags make in.jpg
pick 3 rotate90 fliph transverse rotate180 transpose flipv rotate270
for op in $picked; do
    gives 0 '' $op in.jpg out.jpg
    check "the tags, $op" $tags check $op in.jpg out.jpg
done

# The same tags, and a thumbnail, as "Raw profile" texts of a PNG.
python3 -c 'print("P6 160 96 255\n" + "".join(chr(33 + i % 90) for i in range(46080)), end="")' >small.ppm
gimgxf -q copy small.ppm thumb.jpg
gimgxf -q copy big.ppm tagged.jpg
gimgxf -q copy big.ppm in.png
check 'a file with a thumbnail' $tags make tagged.jpg thumb.jpg
check 'its profiles as text' $tags profiles tagged.jpg in.png
pick 4 rotate90 fliph transverse rotate180 transpose flipv rotate270
for op in $picked; do
    gives 0 '' $op in.png out.png
    check "the tags in text, $op" $tags check $op in.png out.png
    exiftool -b -ThumbnailImage out.png >out-thumb.jpg
    gimgxf -q copy out-thumb.jpg is.ppm
    gimgxf -q $op thumb.jpg - --format jpg | gimgxf -q copy - want.ppm
    check "the thumbnail in text, $op" same is.ppm want.ppm
done

# A thumbnail that says itself that it is upright, in a picture that is not: it
# is, or its tag was forgotten, and then it lies as the picture does.
gimgxf -q --quality 90 copy "$samples/f.jpg" stored.jpg
gimgxf -q --quality 90 rotate270 "$samples/f.jpg" shown.jpg
for kind in stored shown; do
    cp "$samples/f.jpg" in.jpg
    exiftool -q -overwrite_original "-ThumbnailImage<=$kind.jpg" \
        -IFD0:Orientation#=8 -IFD1:Orientation#=1 in.jpg
    gives 0 '' upright in.jpg out.jpg
    exiftool -b -ThumbnailImage out.jpg >"$kind-out.jpg"
done
check 'upright it stays, byte for byte' same shown.jpg shown-out.jpg
gimgxf -q copy shown.jpg a.ppm
gimgxf -q copy stored-out.jpg b.ppm
check 'else it is turned' [ "$(head -c 15 a.ppm | sed -n 2p)" = \
    "$(head -c 15 b.ppm | sed -n 2p)" ]

# It is turned where the pixels of the picture stay; and its density goes with it.
density() {
    exiftool -s3 -IFD1:XResolution -IFD1:YResolution out.jpg | tr '\n' ' '
}
exiftool -q -overwrite_original -IFD1:XResolution=300 -IFD1:YResolution=150 in.jpg
gives 0 '' upright in.jpg out.jpg
check 'the density of one that stays' [ "$(density)" = '300 150 ' ]
gives 0 '' rotate90 in.jpg out.jpg
check 'the density of one that is turned' [ "$(density)" = '150 300 ' ]
exiftool -b -ThumbnailImage out.jpg | gimgxf -q copy - is.ppm
gimgxf -q rotate90 shown.jpg - --format jpg | gimgxf -q copy - want.ppm
check 'alone it is turned' same is.ppm want.ppm
finish
