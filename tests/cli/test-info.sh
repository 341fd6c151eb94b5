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
gives 0 '' info noise.jpg
check 'damaged samples' grep -q '^noise.jpg: JPEG, 48 x 64, RGB, 8 bits' stdout
check 'a segment behind the first scan' grep -q 'COM' stdout
gives 1 'gimgxf: cut.jpg: the file is cut short: the end of the picture is missing' \
    info cut.jpg
gives 0 '' info adam.png
check 'an interlaced one' grep -q 'gray, 8 bits, interlaced' stdout
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
from pieces import segment
def jpeg(name, width, height, factors, sof=0xc0, restart=0, tag=1):
    exif = b'Exif\0\0MM\0*' + struct.pack('>LHHHLHHL', 8, 1, 274, 3, 1, tag, 0, 0)
    across = max(a for a, d in factors)
    down = max(d for a, d in factors)
    if len(factors) == 1:
        across = down = 1
    mcus = -(-width // (8 * across)) * -(-height // (8 * down))
    blocks = sum(a * d for a, d in factors) if len(factors) > 1 else 1
    parts = []
    while mcus > 0:
        n = min(mcus, restart or mcus)
        mcus -= n
        bits = '00' * (n * blocks) # no difference, no more coefficients
        bits += '1' * (-len(bits) % 8)
        parts.append(int(bits, 2).to_bytes(len(bits) // 8, 'big'))
    data = parts[0]
    for i, part in enumerate(parts[1:]):
        data += bytes([0xff, 0xd0 + i % 8]) + part
    n = len(factors)
    frame = struct.pack('>BHHB', 8, height, width, n)
    for i, (a, d) in enumerate(factors):
        frame += bytes([i + 1, a << 4 | d, 0])
    table = bytes([1] + 15 * [0] + [0])
    scan = bytes([n]) + b''.join(bytes([i + 1, 0]) for i in range(n))
    with open(name, 'wb') as file:
        file.write(b'\xff\xd8' + segment(0xe1, exif)
                   + segment(0xdb, bytes([0] + 64 * [8]))
                   + segment(sof, frame) + segment(0xc4, b'\0' + table)
                   + segment(0xc4, b'\x10' + table)
                   + (segment(0xdd, struct.pack('>H', restart)) if restart else b'')
                   + segment(0xda, scan + b'\0\x3f\0') + data + b'\xff\xd9')
luma, half = (2, 2), (1, 1)
jpeg('whole.jpg', 64, 48, [luma, half, half], restart=3)
jpeg('odd.jpg', 72, 40, [luma, half, half], tag=6)
jpeg('odder.jpg', 60, 48, [(2, 1), half, half], tag=2)
jpeg('gray.jpg', 24, 20, [half], sof=0xc1)
jpeg('tall.jpg', 24, 20, [(1, 2), half, half])
jpeg('other.jpg', 48, 48, [(2, 2), (1, 2), half])
jpeg('cmyk.jpg', 48, 48, [half] * 4)
jpeg('scans.jpg', 48, 48, [luma, half, half], sof=0xc2)
jpeg('ari.jpg', 48, 48, [luma, half, half], sof=0xc9)
jpeg('both.jpg', 48, 48, [luma, half, half], sof=0xca)
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

gives 2 'gimgxf: info needs the name of a file' info
gives 2 'gimgxf: info writes no pictures; of the options of batches it takes --recursive, --files-from, --null, --include and --exclude' \
    info -d out tree/a.png
finish
