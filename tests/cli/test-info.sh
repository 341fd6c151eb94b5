# gimgxf info prints what the headers of files and trees say, in words, JSON and
# CSV.
. "$ROOT/tests/cli/lib.sh"
needs python3

mkdir -p tree/below
cp "$samples/f-rgba.png" tree/a.png
cp "$samples/f-sideways.jpg" tree/below/b.jpg
cp "$samples/f.pgm" 'tree/below/c "d", e.pgm'
echo text >tree/note.txt

gives 0 '' info -r tree
check 'a tree, in order' [ "$(cut -d, -f1 stdout | grep -v metadata)" = \
    'tree/a.png: PNG
tree/below/b.jpg: JPEG
tree/below/c "d"' ]
gives 0 '' info "$samples/f.bmp" tree/a.png
check 'several files' [ "$(grep -c : stdout)" = 2 ]
printf 'tree/a.png\0tree/below/b.jpg\0' >list
gives 0 '' info --files-from list -0 --json
check 'a list' [ "$(wc -l <stdout)" = 2 ]
gives 0 '' info --json -r --include '*.jpg' tree
check 'a pattern' [ "$(wc -l <stdout)" = 1 ]
gimgxf info - <tree/a.png >stdout
check 'standard input' grep -q '^-: PNG, 48 x 64, RGB with alpha' stdout

# The same table by Python's readers of JSON and CSV; sizes as the headers have
# them.
gimgxf info --json -r tree "$samples" >objects 2>/dev/null
gimgxf info --csv -r tree "$samples" >table 2>/dev/null
python3 - >said 2>&1 <<'END'
import csv, json, struct
objects = [o for o in map(json.loads, open('objects')) if 'status' not in o]
rows = list(csv.DictReader(open('table', newline='')))
assert len(objects) == len(rows) > 10, (len(objects), len(rows))
for o, row in zip(objects, rows):
    for key, text in row.items():
        want = o[key]
        want = '' if want is None else str(int(want)) \
            if isinstance(want, (bool, int, float)) else want
        assert text == want, (o['input'], key, text, want)
    if o['format'] == 'png':
        head = open(o['input'], 'rb').read(26)
        assert (o['width'], o['height']) == struct.unpack('>II', head[16:24])
END
check 'JSON and CSV say the same' [ "$?" = 0 ]
check 'and nothing failed in that' [ ! -s said ]

# One that fails is told, and the others are described.
gives 1 'gimgxf: nowhere.png: No such file or directory' \
    info --csv nowhere.png tree/a.png
check 'the error in the table' grep -q '^"nowhere.png",,.*,"No such' stdout
check 'the other one' grep -q '^"tree/a.png",png,48,64' stdout

# Pixels are not looked at: neither damage nor a size that could never be
# decoded matters.
python3 - "$samples" <<'END'
import struct, sys, zlib
def chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + \
        struct.pack('>I', zlib.crc32(name + data))
png = b'\x89PNG\r\n\x1a\n'
huge = png + chunk(b'IHDR', struct.pack('>IIBBBBB', 2000000, 1000000, 8, 2, 0,
                                        0, 0))
huge += chunk(b'IDAT', bytes(6000000)) + chunk(b'tEXt', b'a\0b')
open('huge.png', 'wb').write(huge + chunk(b'IEND', b''))
adam = png + chunk(b'IHDR', struct.pack('>IIBBBBB', 20, 10, 8, 0, 0, 0, 1))
adam += chunk(b'IDAT', bytes(100)) + chunk(b'tIME', bytes(7))
open('adam.png', 'wb').write(adam + chunk(b'IEND', b''))
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

gives 2 'gimgxf: info needs the name of a file' info
gives 2 'gimgxf: info writes no pictures; of the options of batches it takes --recursive, --files-from, --null, --include and --exclude' \
    info -d out tree/a.png
gives 2 'gimgxf: --json and --csv are two ways to print the same; give one of them' \
    info --json --csv tree/a.png
gives 2 'gimgxf: --csv is for gimgxf info' --csv copy tree/a.png out.png
finish
