# JPEG XL: the bits of the image header are turned, and nothing else changes. Its
# files are made and judged by a script that knows the standard alone.
. "$ROOT/tests/cli/lib.sh"
needs python3
files="python3 $ROOT/tests/support/jxl_files.py"
mkdir in
$files make 120 in >list
check 'files' [ "$(wc -l <list)" = 120 ]

while read -r name width height cut; do
    file=in/$name
    # What is compressed is unpacked with a library that may be missing.
    gimgxf rotate90 "$file" - 2>&1 >/dev/null | grep -q 'built without\|is missing' &&
        continue
    pick 2 rotate90 fliph transverse rotate180 transpose flipv rotate270 upright
    for op in $picked; do
        gimgxf -q $op "$file" out.jxl
        check "$op $file" $files check $op "$file" out.jxl
    done
    gimgxf info --json "$file" >info 2>stderr
    check "the size of $file" \
        grep -q "\"width\": $width, \"height\": $height," info
    [ "$cut" = cut ] || continue
    head -c -1 "$file" >cut.jxl
    rm -f no.jxl
    gimgxf -q rotate90 cut.jxl no.jxl 2>stderr
    check "$file, cut" [ "$(grep -c 'cut.jxl: .*cut short' stderr) $(ls no.jxl 2>&1 |
        grep -c cannot)" = '1 1' ]
done <list

# Eight quarter turns make the same file as four, and four the same as none where the
# header has the field.
for name in 0 1 2 3 4 5; do
    eight_turns in/$name.jxl turned.jxl
    mv four four.jxl
    makes four.jxl -q upright four.jxl again.jxl
done

# What is damaged or asked for in vain.
printf '\377\012' >short.jxl
{
    printf '\0\0\0\014JXL \r\n\207\n\0\0\0\024ftypjxl \0\0\0\0jxl '
    printf '\0\0\0\016jxlp\0\0\0\0\377\012\0\0\0\020jxlp\200\0\0\001\010\004\016\201'
} >parts.jxl
printf '\0\0\0\014JXL \r\n\207\n' >empty.jxl
refused 1 rotate90 <<'END'
short.jxl no.jxl | short.jxl: its image header is cut short
parts.jxl no.jxl | parts.jxl: its image header is cut short in the first part of its codestream, where all of it is expected
empty.jxl no.jxl | empty.jxl: its second box is not that of a JPEG XL file
in/0.jxl no.png | in/0.jxl: JPEG XL is turned by its orientation alone: its samples are not decoded, so nothing else can be made of it
END
check 'no output' [ ! -e no.jxl ]

# The reference programs show what was turned so.
if has_tool cjxl && has_tool djxl; then
    gimgxf -q --tag-only rotate90 "$samples/f.jpg" f.jpg
    for source in "$samples/f-rgb.png" "$samples/f-rgba.png" "$samples/f-gray16.png" f.jpg; do
        for how in '' '-d 0' '-j 0' '--container=1'; do
            cjxl --quiet "$source" made.jxl $how 2>stderr || continue
            djxl --quiet made.jxl before.png 2>stderr
            pick 2 rotate90 fliph transverse rotate180 transpose flipv rotate270
            for op in $picked; do
                gimgxf -q $op made.jxl out.jxl
                djxl --quiet out.jxl after.png 2>stderr
                check "$op ${source##*/} $how" \
                    [ "$(gimgxf relate before.png after.png | grep -c "$op")" = 1 ]
            done
        done
    done
    # A JPEG file that is made again has the same coefficients, and another tag.
    cjxl --quiet f.jpg made.jxl 2>stderr
    gimgxf -q flipv made.jxl out.jxl
    djxl --quiet out.jxl out.jpg 2>stderr
    makes out.jpg -q --tag-only flipv f.jpg want.jpg
else
    echo 'skipped: what the reference programs show, as there is no cjxl or djxl'
fi
finish
