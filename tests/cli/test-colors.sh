# --background takes colors as CSS writes them.
. "$ROOT/tests/cli/lib.sh"

# One pixel, of which nothing is to be seen.
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n' >in.pam
printf '\001\002\003\000' >>in.pam

# color NAME: what it is, as hexadecimal digits.
color() {
    gimgxf -q --background "$1" --format ppm copy in.pam - | tail -c 3 |
        od -An -v -tx1 | tr -d ' \n'
}

while read -r name rgb; do
    check "$name" [ "$(color "$name")" = "$rgb" ]
done <<'END'
white ffffff
Black 000000
gray 808080
grey 808080
green 008000
lime 00ff00
maroon 800000
purple 800080
REBECCAPURPLE 663399
lightgoldenrodyellow fafad2
aliceblue f0f8ff
yellowgreen 9acd32
#fa3 ffaa33
fa3 ffaa33
#FA3 ffaa33
#0080Ff 0080ff
0080ff 0080ff
END
gives 2 "gimgxf: --background: 'transparent' is not a color; expected a name of CSS such as white, #RRGGBB or #RGB" \
    --background transparent --format ppm copy in.pam out.ppm
for bad in '' '#' '#ff' '#ffff' '#12345678' ffffffff '#ggg' whit whitee ' red' \
    '##fff' currentcolor; do
    gives 2 "gimgxf: --background: '$bad' is not a color; expected a name of CSS such as white, #RRGGBB or #RGB" \
        --background "$bad" --format ppm copy in.pam out.ppm
done
check 'nothing is written' absent out.ppm

# All of them, as ImageMagick has those of SVG.
names=$(sed -n '/^static const char colors/,/;/p' "$ROOT/cli/options/setters.c" |
    grep -oE '[a-z]+ [0-9a-f]{6} ' | cut -d ' ' -f 1)
check 'there are 148' [ "$(wc -w <<<"$names")" = 148 ]
if offers ImageMagick; then
    colors=()
    for name in $names; do
        case $name in
        rebeccapurple | gray | grey) continue ;; # not as CSS has them there
        esac
        colors+=("xc:$name")
        gimgxf -q --background "$name" --format ppm copy in.pam - | tail -c 3
    done >got
    magick -size 1x1 "${colors[@]}" -depth 8 rgb:- >want
    check 'three bytes of each' [ "$(wc -c <got)" = $((3 * ${#colors[@]})) ]
    check 'as ImageMagick has them' same got want
fi
finish
