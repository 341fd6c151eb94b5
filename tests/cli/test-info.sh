# gimgxf info prints what the headers of files and trees say, in words and JSON.
. "$ROOT/tests/cli/lib.sh"
needs python3

mkdir -p tree/below
cp "$samples/f-rgba.png" tree/a.png
cp "$samples/f-sideways.jpg" tree/below/b.jpg
cp "$samples/f.pgm" 'tree/below/c "d", e.pgm'
echo text >tree/note.txt

gives 0 '' info -r tree
check 'a tree, in order' [ "$(cut -d, -f1 stdout | grep -v '^  ')" = \
    'tree/a.png: PNG
tree/below/b.jpg: JPEG
tree/below/c "d"' ]
gives 0 '' info "$samples/f.bmp" tree/a.png
check 'several files' [ "$(grep -c '^[^ ]*: ' stdout)" = 2 ]
printf 'tree/a.png\0tree/below/b.jpg\0' >list
gives 0 '' info --files-from list -0 --json
check 'a list' [ "$(wc -l <stdout)" = 2 ]
gives 0 '' info --json -r --include '*.jpg' tree
check 'a pattern' [ "$(wc -l <stdout)" = 1 ]
gimgxf info - <tree/a.png >stdout
check 'standard input' grep -q '^-: PNG, 48 x 64, RGB with alpha' stdout

# Python reads the objects; sizes as the headers have them.
gimgxf info --json -r tree "$samples" >objects 2>/dev/null
python3 - >said 2>&1 <<'END'
import json, struct
objects = [o for o in map(json.loads, open('objects')) if 'status' not in o]
assert len(objects) > 10, len(objects)
for o in objects:
    if o['format'] == 'png':
        head = open(o['input'], 'rb').read(26)
        assert (o['width'], o['height']) == struct.unpack('>II', head[16:24])
END
check 'sizes as in the headers' [ "$?" = 0 ]
check 'and nothing failed in that' [ ! -s said ]

# One that fails is told, and the others are described.
gives 1 'gimgxf: nowhere.png: No such file or directory' \
    info --json nowhere.png tree/a.png
check 'the error' grep -q '^{"input": "nowhere.png", .*"error": "No such' stdout
check 'the other one' grep -q '^{"input": "tree/a.png", "format": "png"' stdout

# Pixels are not looked at: neither damage nor a size that could never be
# decoded matters.
python3 - "$samples" <<'END'
import sys
from costly_files import chunk, png
def put(name, more, picture):
    open(name, 'wb').write(picture[:-12] + more + chunk(b'IEND'))
put('huge.png', chunk(b'tEXt', b'a\0b'),
    png(2000000, 1000000, 8, 2, bytes(6000000)))
put('adam.png', chunk(b'tIME', bytes(7)),
    png(20, 10, 8, 0, bytes(100), interlaced=1))
jpeg = open(sys.argv[1] + '/f.jpg', 'rb').read()
scan = jpeg.index(b'\xff\xda')
open('noise.jpg', 'wb').write(jpeg[:scan + 14] + b'\x55\xaa' * 50 + b'\xff\x00'
    + b'\xff\xfe\x00\x07hello' + b'\xff\xff\xff\xd9')
open('cut.jpg', 'wb').write(jpeg[:-2])
END
prints '^noise.jpg: JPEG, 48 x 64, RGB, 8 bits' info noise.jpg
check 'a segment behind the first scan' grep -q 'COM' stdout
gives 1 'gimgxf: cut.jpg: the file is cut short: the end of the picture is missing' \
    info cut.jpg
prints 'gray, 8 bits, interlaced' info adam.png
check 'its chunks behind the samples' grep -q 'tIME' stdout
# Where the limit leaves no room for the program itself, as under a sanitizer, it
# is left out.
(ulimit -v 300000 && gimgxf --version >stdout 2>&1) || ulimit=none
([ "${ulimit:-}" ] || ulimit -v 300000; gimgxf info huge.png >stdout 2>stderr)
check 'no memory is taken for pixels' \
    grep -q '^huge.png: PNG, 2000000 x 1000000, RGB, 8 bits' stdout

# How JPEG files are coded, and which turns lose nothing: pictures of one
# color, which are few bits in any sampling and size.
python3 - <<'END'
import struct
from costly_files import STEPS, codes, frame, jpeg, scan
from pieces import segment
def put(name, width, height, factors, sof=0xc0, restart=0, tag=1):
    exif = b'Exif\0\0MM\0*' + struct.pack('>LHHHLHHL', 8, 1, 274, 3, 1, tag, 0, 0)
    sides = [(f >> 4, f & 15) for f in factors] if len(factors) > 1 else [(1, 1)]
    across, down = (8 * max(side) for side in zip(*sides))
    mcus = -(-width // across) * -(-height // down)
    data = b''
    for i in range(0, mcus, restart or mcus):
        n = min(mcus - i, restart or mcus)
        # No difference, and no more coefficients, of each block.
        bits = '00' * n * sum(a * d for a, d in sides)
        bits += '1' * (-len(bits) % 8)
        data += bytes((0xff, 0xd0 + (i // restart - 1) % 8)) if i else b''
        data += int(bits, 2).to_bytes(len(bits) // 8, 'big')
    with open(name, 'wb') as file:
        file.write(jpeg(
            segment(0xe1, exif), STEPS, frame(sof, width, height, factors),
            codes(0x00, [0]), codes(0x10, [0]),
            segment(0xdd, struct.pack('>H', restart)) if restart else b'',
            scan(len(factors)), data))
put('whole.jpg', 64, 48, (0x22, 0x11, 0x11), restart=3)
put('odd.jpg', 72, 40, (0x22, 0x11, 0x11), tag=6)
put('odder.jpg', 60, 48, (0x21, 0x11, 0x11), tag=2)
put('gray.jpg', 24, 20, (0x11,), sof=0xc1)
put('tall.jpg', 24, 20, (0x12, 0x11, 0x11))
put('other.jpg', 48, 48, (0x22, 0x12, 0x11))
put('cmyk.jpg', 48, 48, (0x11,) * 4)
put('scans.jpg', 48, 48, (0x22, 0x11, 0x11), sof=0xc2)
put('ari.jpg', 48, 48, (0x22, 0x11, 0x11), sof=0xc9)
put('both.jpg', 48, 48, (0x22, 0x11, 0x11), sof=0xca)
END
gives 0 '' info whole.jpg odd.jpg odder.jpg gray.jpg other.jpg
check 'coding in words' [ "$(grep -v metadata stdout)" = \
'whole.jpg: JPEG, 64 x 48, RGB, 8 bits, 4:2:0, baseline, restart markers every 3 MCUs
  lossless: every turn
odd.jpg: JPEG, 72 x 40 (shown as 40 x 72), RGB, 8 bits, 4:2:0, baseline, orientation 6 (shown by rotate90), as EXIF says
  lossless: fliph rotate270
  color compressed again: upright flipv rotate180 transpose rotate90 transverse
odder.jpg: JPEG, 60 x 48, RGB, 8 bits, 4:2:2, baseline, orientation 2 (shown by fliph), as EXIF says
  lossless: fliph rotate180 rotate270 transverse
  all compressed again: upright flipv transpose rotate90
gray.jpg: JPEG, 24 x 20, gray, 8 bits, extended
  lossless: upright fliph transpose rotate270
  all compressed again: flipv rotate180 rotate90 transverse
other.jpg: JPEG, 48 x 48, RGB, 8 bits, 2x2,1x2,1x1, baseline
  lossless: every turn' ]
for file in whole odd odder gray tall other cmyk; do
    gimgxf info --json $file.jpg >object
    for op in upright fliph flipv rotate90 rotate180 rotate270 transpose transverse; do
        gimgxf -q --json $op $file.jpg out.jpg >done
        how=$(sed -n 's/.*"how": "\([a-z-]*\)".*/\1/p' done)
        [ "$op $how" != 'upright unchanged' ] || how=lossless
        check "$op of $file.jpg is $how" grep -q "\"$op\": \"$how\"" object
    done
done
gives 0 '' info --json whole.jpg tall.jpg cmyk.jpg scans.jpg ari.jpg both.jpg
check 'coding' [ "$(sed 's/.*"shown_width": \([0-9]*\), "shown_height": \([0-9]*\),.*"coding": \("[a-z ]*"\), "subsampling": \("[^"]*"\), "restart": \([0-9]*\),.*/\1 \2 \3 \4 \5/' stdout)" = \
'64 48 "baseline" "4:2:0" 3
24 20 "baseline" "4:4:0" 0
48 48 "baseline" "1x1,1x1,1x1,1x1" 0
48 48 "progressive" "4:2:0" 0
48 48 "arithmetic" "4:2:0" 0
48 48 "arithmetic progressive" "4:2:0" 0' ]
gives 0 '' info --json -r tree
check 'a PNG is not coded as a JPEG' grep -q '"coding": null, "subsampling": null' stdout
check 'and turns without loss' grep -q '"rotate90": "lossless"' stdout

cp tree/a.png tree/a2.png
gimgxf -q copy --stack many.npy tree/a.png tree/a2.png
gives 0 '' info --json many.npy
check 'an array of pictures turns without loss' grep -q '"rotate90": "lossless"' stdout

refused 2 <<END
info | info needs the name of a file
info -d out tree/a.png | info writes no pictures; of the options of batches it takes --recursive, --files-from, --null, --include and --exclude
END
gives 0 '' info "$samples/f-rgb.png" "$samples/f.pgm"
check 'in words' [ "$(cat stdout)" = "$samples/f-rgb.png: PNG, 48 x 64, RGB, 8 bits
  metadata: pHYs, tEXt
$samples/f.pgm: PNM, 48 x 64, gray, 10 bits" ]
gives 0 '' info --json "$samples/f-gray16.png"
holds format=png width=48 height=64 color=gray channels=1 bits=16 alpha=False \
    orientation=1 interlaced=False

# ---- What --json says of a turn ----

while IFS='|' read -r call values; do
    eval "gives 0 '' --json $call"
    eval "holds $values"
done <<'END'
rotate90 "$samples/f-sideways.jpg" out.png|op=rotate90 status=done how=lossless turned=rotate180 from=jpeg to=png width=48 height=64 error=None bytes_out=$(stat -c %s out.png)
copy "$samples/f.ppm" same.ppm|how=unchanged
rotate90 "$samples/f.jpg" out.jpg|how=lossless
--quality 90 rotate90 "$samples/f.jpg" out.jpg|how=reencoded
END
gives 0 'gimgxf: out.jpg: exists, so it is left alone' --json -n rotate90 \
    "$samples/f.jpg" out.jpg
holds status=skipped
gives 1 'gimgxf: none: No such file or directory' --json copy none out.png
holds status=failed error='No such file or directory'
finish
