# What is wrong usage: one line, status 2, nothing done.
. "$ROOT/tests/cli/lib.sh"
in=$samples/f-rgb.png

gives 2 "gimgxf: no operation is named; --help lists them"
gives 2 "gimgxf: 'rotate91' is no operation; --help lists them" \
    rotate91 "$in" o.png
gives 2 "gimgxf: 'Rotate90' is no operation; --help lists them" \
    Rotate90 "$in" o.png
gives 2 "gimgxf: '' is no operation; --help lists them" \
    rotate90, "$in" o.png
gives 2 "gimgxf: an input and an output are needed, not 1 name" rotate90 "$in"
gives 2 "gimgxf: 3 names: several inputs need --directory DIR, --output NAME or --in-place" \
    rotate90 "$in" o.png p.png
gives 2 "gimgxf: o.xyz: the name does not say which format to write; --format \
does" rotate90 "$in" o.xyz
gives 2 "gimgxf: there is no option --frobnicate, or more than one" --frobnicate
gives 2 "gimgxf: there is no option -Z" -Z
gives 2 "gimgxf: --quality needs a value" rotate90 "$in" o.jpg --quality
gives 2 "gimgxf: --quality: '101' is not from 1 to 100" \
    rotate90 "$in" o.jpg --quality 101
gives 2 "gimgxf: --strip: 'some' is not 'all'" --strip=some copy "$in" o.png
gives 2 "gimgxf: --depth: '12' is not 8, 16 or float" \
    --depth 12 copy "$in" o.png
gives 2 "gimgxf: --background: '#12345' is not a color; expected a name of CSS such as white, #RRGGBB or #RGB" \
    --background '#12345' copy "$in" o.png
gives 2 "gimgxf: --max-pixels: '12Q' is no number" \
    --max-pixels 12Q copy "$in" o.png
gives 2 "gimgxf: --max-pixels: '1 ' is no number" \
    --max-pixels '1 ' copy "$in" o.png
gives 2 "gimgxf: --background: '0x1234' is not a color; expected a name of CSS such as white, #RRGGBB or #RGB" \
    --background 0x1234 copy "$in" o.png
gives 2 "gimgxf: --quality: ' 90' is not from 1 to 100" \
    --quality ' 90' copy "$in" o.jpg
gives 2 "gimgxf: --device: '0,0' names a GPU twice" \
    --device 0,0 copy "$in" o.png
gives 2 "gimgxf: --format: 'webp' is no format that can be written" \
    --format webp copy "$in" o.png
gives 2 "gimgxf: --threads: '0' is not from 1 to 1024" \
    -j 0 copy "$in" o.png
gives 2 "gimgxf: --threads: '2x' is not from 1 to 1024" \
    --threads 2x copy "$in" o.png
gives 2 "gimgxf: upright goes by the orientation that --ignore-orientation \
ignores" upright --ignore-orientation "$in" o.png
gives 2 "gimgxf: there is no option --ma, or more than one" --ma 3 copy "$in" o.png
gives 2 "gimgxf: --json=1: it takes no value" --json=1
gives 2 "gimgxf: --preserve: standard input has no times" -p copy - o.png
check 'nothing was written' absent o.png

# Options stand anywhere; -- ends them.
cp "$in" ./-in.png
gives 0 '' -q rotate90 -- -in.png -out.png
check 'a name with a dash' [ -s ./-out.png ]
finish
