# JPEG XL: the bits of the image header are turned, and nothing else changes. Its
# files are made and judged by a script that knows the standard alone, and have noise in
# the place of frames.
. "$ROOT/tests/cli/lib.sh"
cpu_only # a device has nothing to do: no sample is decoded
needs python3
files="python3 $ROOT/tests/support/jxl_files.py"
mkdir in out
$files make 120 in >list
check 'files' [ "$(wc -l <list)" = 120 ]

while read -r name width height cut; do
    file=in/$name
    # What is compressed is unpacked with a library that may be missing.
    gimgxf --tolerant rotate90 "$file" - 2>&1 >/dev/null | grep -q 'built without\|is missing' &&
        continue
    pick 2 rotate90 fliph transverse rotate180 transpose flipv rotate270 upright
    for op in $picked; do
        gimgxf -q --tolerant $op "$file" out/$op-$name
        echo "$op $file out/$op-$name" >>turned
    done
    gimgxf info --tolerant --json "$file" >info 2>stderr
    check "the size of $file" \
        grep -q "\"width\": $width, \"height\": $height," info
    [ "$cut" = cut ] || continue
    head -c -1 "$file" >cut.jxl
    rm -f no.jxl
    gimgxf -q --tolerant rotate90 cut.jxl no.jxl 2>stderr
    check "$file, cut" [ "$(grep -c 'cut.jxl: .*cut short' stderr) $(ls no.jxl 2>&1 |
        grep -c cannot)" = '1 1' ]
done <list
judge $files check

# Eight quarter turns make the same file as four, and four the same as none where the
# header has the field.
for name in 0 1 2 3 4 5; do
    eight_turns in/$name.jxl turned.jxl --tolerant
    mv four four.jxl
    makes four.jxl -q --tolerant upright four.jxl again.jxl
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

# cuts FILE NAME: it is refused, in one line, wherever it is cut behind its header, as
# libjxl knows its frames.
cuts() {
    local i size=$(stat -c %s "$1") taken=
    gimgxf --version | grep -q libjxl || return
    for ((i = 0; i < 20; i++)); do
        head -c $((40 + (size - 41) * i / 19)) "$1" >cut.jxl
        gimgxf rotate90 cut.jxl no.jxl 2>stderr
        [ "$? $(grep -c '' stderr) $(grep -c 'cut short' stderr)" = '1 1 1' ] || taken+=" $i"
    done
    check "$2, cut: $taken" [ -z "$taken" ]
}

# The reference programs show what was turned so.
if has_tool cjxl && has_tool djxl; then
    gimgxf -q --tag-only rotate90 "$samples/f.jpg" f.jpg
    python3 - <<'END'
import random
import struct
import zlib
from pieces import chunk, png
def tag(kind, *numbers):
    return kind + bytes(4) + struct.pack('>%di' % len(numbers), *numbers)
# Red, green and blue, and a curve of three points that a header cannot say.
tags = [(b'wtpt', tag(b'XYZ ', 63190, 65536, 54061)),
        (b'rXYZ', tag(b'XYZ ', 28576, 14579, 912)),
        (b'gXYZ', tag(b'XYZ ', 25240, 46983, 6362)),
        (b'bXYZ', tag(b'XYZ ', 9376, 3973, 46784))] + [
            (b + b'TRC', b'curv' + bytes(4) + struct.pack('>I4H', 3, 0, 20000, 65535, 0))
            for b in (b'r', b'g', b'b')]
table, body, at = struct.pack('>I', len(tags)), b'', 132 + 12 * len(tags)
for name, data in tags:
    table += struct.pack('>4sII', name, at + len(body), len(data))
    body += data
head = struct.pack('>I4sI4s4s4s12s4s28x3I48x', at + len(body), b'none', 0x02400000, b'mntr',
                   b'RGB ', b'XYZ ', bytes(12), b'acsp', 63190, 65536, 54061)
iccp = chunk(b'iCCP', b'made\0\0' + zlib.compress(head + table + body))
random.seed(1)
for name, side, before in (('profile.png', 70, [iccp]), ('large.png', 600, [])):
    rows = b''.join(b'\0' + random.randbytes(3 * side) for i in range(side))
    open(name, 'wb').write(png(side, side, 8, 2, zlib.compress(rows), *before))
END
    for source in "$samples/f-rgb.png" "$samples/f-rgba.png" "$samples/f-gray16.png" \
        f.jpg profile.png large.png; do
        for how in '' '-d 0' '-j 0' '--container=1' '-p'; do
            cjxl --quiet "$source" made.jxl $how 2>stderr || continue
            djxl --quiet made.jxl before.png 2>stderr
            pick 2 rotate90 fliph transverse rotate180 transpose flipv rotate270
            for op in $picked; do
                gimgxf -q $op made.jxl out.jxl
                djxl --quiet out.jxl after.png 2>stderr
                check "$op ${source##*/} $how" \
                    [ "$(gimgxf relate before.png after.png | grep -c "$op")" = 1 ]
            done
            cuts made.jxl "${source##*/} $how"
        done
    done
    # A JPEG file that is made again has the same coefficients, and another tag.
    cjxl --quiet f.jpg made.jxl 2>stderr
    gimgxf -q flipv made.jxl out.jxl
    djxl --quiet out.jxl out.jpg 2>stderr
    makes out.jpg -q --tag-only flipv f.jpg want.jpg
    # What is damaged is refused in one line, whatever libjxl prints.
    cjxl --quiet -d 0 large.png made.jxl 2>stderr
    python3 - made.jxl damaged.jxl <<'END'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
data[12:30] = b'\xff' * 18
open(sys.argv[2], 'wb').write(data)
END
    # A profile that claims 5 MiB is not unpacked.
    printf '\377\012\101\100\012\007\200\000\013\000%040d' 0 >profile.jxl
    # Nor are more frames gone through than any real file has.
    python3 - >frames.jxl <<'END'
import sys
head, frame, last = 'ff0a0010c10082e292', '0802920900', '0802920500'
rest = '0028004b12a542852492871f04'
sys.stdout.buffer.write(bytes.fromhex(head + (frame + rest) * 65600 + last[:-2] + rest))
END
    ! gimgxf --version | grep -q libjxl || refused 1 rotate90 <<'END'
damaged.jxl no.jxl | damaged.jxl: its codestream is damaged
profile.jxl no.jxl | profile.jxl: its color profile is larger than any real one
frames.jxl no.jxl | frames.jxl: it has more than 65536 frames
END
    # Nothing is said to be whole in silence that was not looked at.
    head -c -1 made.jxl >one.jpg
    cp one.jpg two.jpg
    check 'cut, and called JPEG' [ "$(gimgxf check -v one.jpg two.jpg 2>&1 |
        grep -c 'cut short')" = 2 ]
    untold() {
        gimgxf check "$@" one.jpg two.jpg 2>&1 | grep -c 'cannot be told'
    }
    check 'said once without -v' [ "$(untold)" = "$(untold -v | tr 2 1)" ]
    # What no name tells is known all the same before libjxl can be loaded no more.
    head -c -1 made.jxl >one
    cp one two
    for from in 'check one two' 'check -' 'rotate90 - -'; do
        want=$(gimgxf --version | grep -c libjxl)
        [ "$from" = 'check one two' ] && want=$((2 * want))
        check "$from <one" [ "$(gimgxf $from <one 2>&1 | grep -ac ': cut short')" = $want ]
        check "cat one | $from" \
            [ "$(cat one | gimgxf $from 2>&1 | grep -ac ': cut short')" = $want ]
    done
else
    echo 'skipped: what the reference programs show, as there is no cjxl or djxl'
fi
finish
