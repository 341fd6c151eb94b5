# GIF: every frame is turned where it lies, and all else stays byte for byte, by an
# oracle that reads and shows such files by itself.
. "$ROOT/tests/cli/lib.sh"
needs python3
gif=$ROOT/tests/support/gif.py

# ---- All kinds, by every turn ----

mkdir in bad
check 'made' python3 "$gif" make in
check 'all kinds' [ "$(ls in | wc -l)" = 36 ]
for op in copy $turns; do
    gives 0 '' -q $op -d "$op" in/*.gif
    for file in in/*.gif; do
        echo "$op $file $op/${file#in/}"
    done
done >list
check 'the number of comparisons' lines list 288
check 'as browsers show them' [ -z "$(python3 "$gif" compare <list)" ]
sed -n 's/^rotate90/rotate270/p' list >false
check 'a wrong turn is seen' \
    [ "$(python3 "$gif" compare <false | wc -l)" -ge 30 ]

# Pillow reads neither codes of 2 bits nor an empty frame, and its releases show
# frames beyond the screen each in another way.
if offers Pillow; then
    grep -v -e /one-bit -e /empty -e beyond list >shown
    check 'as Pillow shows them' [ -z "$(python3 "$gif" pillow <shown)" ]
fi

for op in fliph rotate180; do
    check "$op, nothing to do" same copy/animation.gif in/animation.gif
    gimgxf -q $op $op/animation.gif twice.gif
    echo "copy in/animation.gif twice.gif"
done | python3 "$gif" compare >differ
check 'twice is not at all' [ ! -s differ ]

# Eight quarter turns are four, byte for byte.
for file in in/*.gif; do
    eight_turns "$file" turned.gif
done

gives 0 '' --threads 1 rotate90 in/many.gif one.gif
makes one.gif --threads 5 rotate90 in/many.gif five.gif

# ---- What is said ----

said() {
    gives 0 "gimgxf: in/$1.gif: warning: $2" transpose "in/$1.gif" out.gif
}
said beyond '1 frame reaches beyond the screen, which has 15 x 21 pixels now'
said far-beyond '1 frame reaches beyond the screen, which has 11 x 33 pixels now'
said empty 'frame 2: it has no pixels, and its codes stay'
said no-trailer 'its end is missing: there may have been more than 1 frame'
said more-codes 'frame 1: 2 bytes behind its last pixel are not kept'

gimgxf info in/animation.gif >stdout
check 'info' grep -qF 'GIF, 29 x 17, palette, 4 bits, animated: 6 frames, 1.05 s in all (0 to 0.35 s each), played 4 times' \
    stdout
check 'blocks' grep -q 'metadata: NETSCAPE2.0, comment (2 times)' stdout

# ---- Metadata ----

said metadata 'XMP in a GIF stays as it was'
# blocks NAME OPTION...: the names of what --strip leaves.
blocks() {
    local name=$1
    shift
    gimgxf -q rotate90 "$@" "in/$name.gif" out.gif
    gimgxf info out.gif | sed -n 's/^  metadata: //p'
}
check 'strip' [ "$(blocks metadata --strip)" = ICCRGBG1012 ]
check 'strip all' [ "$(blocks metadata --strip=all)" = '' ]
check 'strip xmp' [ "$(blocks metadata --strip=xmp)" = \
    'ICCRGBG1012, UNKNOWN 1.0, extension 07, comment' ]
gives 0 '' --strip=gps copy in/metadata.gif out.gif
check 'strip gps' [ "$(grep -ac 'GPS\|48,6' out.gif)" = 0 ]
check 'and nothing else' [ "$(cmp -l in/metadata.gif out.gif | wc -l)" = 24 ]
check 'the loop stays' [ "$(blocks animation --strip=all)" = NETSCAPE2.0 ]
gimgxf -q --strip copy in/behind.gif out.gif
check 'and nothing behind the end' \
    [ "$(wc -c <out.gif)" = $(($(wc -c <in/behind.gif) - 22)) ]

# ---- Damaged ones ----

check 'made' python3 "$gif" bad bad
while IFS='|' read -r name said; do
    gives 1 "gimgxf: bad/$name.gif: $said" rotate90 "bad/$name.gif" no.gif
    check "$name: check" [ "$(gimgxf -q check "bad/$name.gif" 2>&1 | grep -c .)" != 0 ]
done <<'END'
few-pixels|frame 1: 190 of its 209 pixels are there
wrong-code|frame 1: 40 of its 209 pixels are there; a code behind them is damaged
no-bits|frame 1: its pixels have 0 bits; 1 to 11 can be read
no-picture|it holds no picture
garbage|at byte 215 stands 3f, with which no block begins
bombs|frame 1 is cut short: its 4 bytes are too few for 65535 x 65535 pixels
bomb|it takes more work than a sound file of its size does
END
for file in cut cut-second bits-9; do
    gimgxf rotate90 bad/$file.gif no.gif 2>said
    check "$file" grep -q 'of its 209 pixels are there' said
done
check 'no output' absent no.gif
for file in few-pixels wrong-code cut cut-second garbage; do
    gimgxf -q --tolerant rotate90 bad/$file.gif out.gif
    gives 0 '' -q check out.gif
done

# ---- Other formats ----

for name in still within within-256 small-screen past-palette bits-7; do
    gimgxf -q rotate270 in/$name.gif $name.pam
    echo "rotate270 in/$name.gif $name.pam"
    gimgxf -q copy in/$name.gif $name.png
    gives 0 '' -q copy $name.png $name-again.gif
    gimgxf -q rotate270 $name-again.gif $name-again.pam
    echo "rotate270 in/$name.gif $name-again.pam"
done >list
check 'as PAM, and from PNG' [ -z "$(python3 "$gif" first <list)" ]
gives 0 'gimgxf: in/animation.gif: warning: frames 2 to 6 of the animation are not converted: only the default image is kept' \
    --strip copy in/animation.gif out.png
refused 1 <<END
--strip copy "$samples/f-rgb.png" no.gif | $samples/f-rgb.png: a GIF holds 256 colors, and this picture has more; PNG keeps them
copy "$samples/f-rgba.png" no.gif | $samples/f-rgba.png: a GIF holds no half transparent colors; PNG keeps them, and --background COLOR lays them on a color
copy "$samples/f-gray16.png" no.gif | $samples/f-gray16.png: GIF cannot hold samples of 16 bits; --depth 8 makes them fit
END
gives 0 '' --depth 8 copy "$samples/f-gray16.png" gray.gif
gives 1 'gimgxf: in/no-palette.gif: its first frame has no palette, so that it can be turned, but not converted' \
    copy in/no-palette.gif no.png
gives 0 '' --verify rotate90 in/one-bit.gif out.gif
gives 0 'gimgxf: in/many.gif: warning: --verify looks only at the first frame of an animation' --verify rotate90 in/many.gif out.gif
gives 0 '' -q --depth 8 copy in/animation.gif out.gif
gives 0 '' -q rotate90 in/metadata.gif out.jpg
gives 0 '' -q --format npy copy in/within.gif out.npy
# Indices of more bits than the palette needs, as Pillow writes them, become others of
# fewer bits; the second one leaves some of its screen free.
python3 - <<'END'
codes = (256 | 0 << 9 | 1 << 18 | 257 << 27).to_bytes(5, 'little')
for name, width in ('wide', 2), ('free', 3):
    with open(name + '.gif', 'wb') as f:
        f.write(b'GIF89a' + bytes([width, 0, 1, 0, 0x80, 0, 0]) + b'abcdef,' +
                bytes([0, 0, 0, 0, 2, 0, 1, 0, 0, 8, 5]) + codes + b'\0;')
END
for name in wide free; do
    for op in $turns; do
        gives 0 '' --verify $op $name.gif made.gif
        rm -f made.gif
    done
done
# What becomes a GIF is what it was, but for colors that nobody sees.
{
    printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'
    printf 'abc\0def\377'
} >hidden.pam
printf 'P6\n2 1\n255\nabcdef' >colors.ppm
printf 'P5\n2 1\n255\nab' >grays.pgm
for file in colors.ppm grays.pgm "$samples/f-palette.png"; do
    gives 0 '' --verify rotate90 "$file" made.gif
    rm made.gif
done
gives 0 'gimgxf: hidden.pam: warning: a GIF keeps no colors of transparent pixels' \
    --verify rotate90 hidden.pam made.gif
gives 1 'gimgxf: hidden.pam: a GIF would lose the colors of transparent pixels; --lossless refuses' \
    --lossless rotate90 hidden.pam no.gif
# A PNG with a palette keeps them, and is held to that.
python3 - <<'END'
from zlib import compress
from pieces import chunk, png
with open('hidden.png', 'wb') as f:
    f.write(png(2, 1, 8, 3, compress(b'\0\0\1'), chunk(b'PLTE', b'abcdef'),
                chunk(b'tRNS', b'\0\377')))
END
gives 0 '' --verify --depth 8 rotate90 hidden.png made.png
check 'no output' absent no.gif
finish
