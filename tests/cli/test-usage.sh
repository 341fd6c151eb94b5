# Wrong usage prints one line, exits with status 2, and does nothing.
. "$ROOT/tests/cli/lib.sh"
in=$samples/f-rgb.png

gives 2 "gimgxf: an operation is missing: gimgxf OPERATION INPUT OUTPUT, \
e.g. gimgxf rotate90 in.png out.png; see --help"
gives 2 "gimgxf: 'Rotate90' is not an operation; did you mean 'rotate90'?" \
    Rotate90 "$in" o.png
gives 2 "gimgxf: an operation is empty; expected e.g. rotate90 or \
rotate90,fliph" \
    rotate90, "$in" o.png
gives 2 "gimgxf: an output is missing: gimgxf rotate90 $in OUTPUT, or -i to \
replace the input" rotate90 "$in"
gives 2 "gimgxf: 3 names: several inputs need --directory DIR, --output NAME \
or --in-place" \
    rotate90 "$in" o.png p.png
gives 2 "gimgxf: o.xyz: the name does not say which format to write; give it \
a suffix such as .png or .jpg, or --format NAME" rotate90 "$in" o.xyz
gives 2 "gimgxf: unknown option '--frobnicate'; see --help" --frobnicate
gives 2 "gimgxf: unknown option '-Z'; see --help" -Z
gives 2 "gimgxf: --quality: a value is missing; expected --quality N (encode \
a JPEG anew, 1 to 100)" rotate90 "$in" o.jpg --quality
gives 2 "gimgxf: --quality: 101 is out of range; expected 1 to 100" \
    rotate90 "$in" o.jpg --quality 101
gives 2 "gimgxf: --strip: 'some' is not known; expected all, metadata, gps, thumbnail, xmp, exif or icc" \
    --strip=gps,some copy "$in" o.png
gives 2 "gimgxf: --strip: '' is not known; expected all, metadata, gps, thumbnail, xmp, exif or icc" \
    --strip=gps, copy "$in" o.png
gives 2 "gimgxf: --depth: '12' is not known; expected 8, 16 or float" \
    --depth 12 copy "$in" o.png
gives 2 "gimgxf: --background: '#12345' is not a color; expected a name of CSS such as white, #RRGGBB or #RGB" \
    --background '#12345' copy "$in" o.png
gives 2 "gimgxf: --max-pixels: '12Q' is not a number; expected one as \
500000, or with K, M or G as 500M" \
    --max-pixels 12Q copy "$in" o.png
gives 2 "gimgxf: --max-pixels: '1 ' is not a number; expected one as \
500000, or with K, M or G as 500M" \
    --max-pixels '1 ' copy "$in" o.png
gives 2 "gimgxf: --background: '0x1234' is not a color; expected a name of CSS such as white, #RRGGBB or #RGB" \
    --background 0x1234 copy "$in" o.png
gives 2 "gimgxf: --quality: ' 90' is not a number; expected 1 to 100" \
    --quality ' 90' copy "$in" o.jpg
gives 2 "gimgxf: --device: '0,0' names a GPU twice" \
    --device 0,0 copy "$in" o.png
gives 2 "gimgxf: --format: gimgxf does not write WebP; write PNG, and convert that" \
    --format webp copy "$in" o.png
gives 2 "gimgxf: --threads: 0 is out of range; expected 1 to 1024" \
    -j 0 copy "$in" o.png
gives 2 "gimgxf: --threads: '2x' is not a number; expected 1 to 1024" \
    --threads 2x copy "$in" o.png
gives 2 "gimgxf: upright: needs the orientation that --ignore-orientation \
ignores" upright --ignore-orientation "$in" o.png
gives 2 "gimgxf: --ma: could be --manifest, --max-pixels, --max-memory, \
--max-seconds or --max-vram" --ma 3 copy "$in" o.png
gives 2 "gimgxf: --json: takes no value, but '1' was given" --json=1
gives 2 "gimgxf: --preserve: standard input has no times" -p copy - o.png
check 'nothing was written' absent o.png

# Options stand anywhere; -- ends them.
cp "$in" ./-in.png
gives 0 '' -q rotate90 -- -in.png -out.png
check 'a name with a dash' [ -s ./-out.png ]
finish
