# check --json: digests of samples as shown. The oracle is hashlib.
. "$ROOT/tests/cli/lib.sh"
needs python3

# field KEY: of the object in `said`, a text or null.
field() {
    grep -oE "\"$1\": (\"[^\"]*\"|null)" said | sed 's/.*: //; s/"//g'
}

# digest FILE: what check says.
digest() {
    gimgxf check --json "$1" >said 2>/dev/null
    field sha256
}

# ---- Against hashlib ----

cat >oracle.py <<'E2'
"""oracle.py FILE OP: the digest of a PPM or PGM after a turn."""
import hashlib
import struct
import sys
import turns
data = open(sys.argv[1], 'rb').read()
kind, width, height, most = data.split(maxsplit=4)[:4]
width, height, most = int(width), int(height), int(most)
planes, cell = 3 if kind == b'P6' else 1, 2 if most > 255 else 1
data = data[len(data) - width * height * planes * cell:]
source = turns.SOURCES[sys.argv[2]]
w, h = (height, width) if sys.argv[2] in turns.EXCHANGED else (width, height)
text = '%s %d %d %d %d\n' % ('RGB' if planes == 3 else 'gray', planes, w, h, most)
digest = hashlib.sha256(text.encode())
for plane in range(planes):
    digest.update(struct.pack('<II', w, h))
    for y in range(h):
        for x in range(w):
            sx, sy = source(x, y, width, height)
            at = ((sy * width + sx) * planes + plane) * cell
            digest.update(data[at:at + cell][::-1])
print(digest.hexdigest())
E2
head -c 2706 /dev/urandom >noise
{ printf 'P6 41 22 255\n' && cat noise; } >rgb.ppm
{ printf 'P5 33 41 65535\n' && cat noise; } >gray.pgm
for file in rgb.ppm gray.pgm; do
    before=$(python3 oracle.py $file copy)
    check "$file" [ "$(digest $file)" = "$before" ]
    for op in $turns; do
        gimgxf -q --backend cpu $op $file out.png
        check "$op $file" [ "$(digest out.png)" = "$(python3 oracle.py $file $op)" ]
    done
    gimgxf -q transverse out.png "back.${file#*.}"
    check "$file turned back" [ "$(digest "back.${file#*.}")" = "$before" ]
done

# ---- Animations have none: not all of them would count ----

mkdir special
python3 "$ROOT/tests/support/apng.py" special special
check 'animation: none' [ "$(digest special/sound.png)" = null ]

# ---- Palettes: an index behind the last color is opaque black ----

python3 - <<'E2'
import zlib
from costly_files import chunk, png


def put(name, colors, alphas):
    with open(name, 'wb') as out:
        out.write(png(2, 1, 8, 3, zlib.compress(b'\0\0\1'),
                      chunk(b'PLTE', bytes(colors)), chunk(b'tRNS', bytes(alphas))))


put('behind.png', [1, 2, 3], [255])
put('black.png', [1, 2, 3, 0, 0, 0], [255, 255])
put('clear.png', [1, 2, 3, 0, 0, 0], [255, 0])
E2
check 'as opaque black' [ "$(digest behind.png)" = "$(digest black.png)" ]
check 'not as a transparent color' \
    [ "$(digest behind.png)" != "$(digest clear.png)" ]

# A transparent color and a palette are a part of it.
python3 - >want <<'END'
import hashlib, struct, zlib
from costly_files import chunk, png
def save(name, color, pixels, line, *chunks):
    rows = b''.join(b'\0' + bytes(sum(pixels[i:i + 3], ())) for i in (0, 3))
    open(name, 'wb').write(png(3, 2, 8, color, zlib.compress(rows), *chunks))
    digest = hashlib.sha256(line)
    for plane in zip(*pixels):
        digest.update(struct.pack('<II', 3, 2) + bytes(plane))
    print(digest.hexdigest())
pixels = [(i, 2 * i, 250 - i) for i in range(6)]
save('opaque.png', 2, pixels, b'RGB 3 3 2 255\n')
save('key.png', 2, pixels, b'RGB+key 3 3 2 255\n' + struct.pack('<3H', 1, 2, 249),
     chunk(b'tRNS', struct.pack('>3H', 1, 2, 249)))
colors = [(9, 8, 7), (6, 5, 4)]
save('palette.png', 3, [(i % 2,) for i in range(6)], b'palette 1 3 2 255\n' +
     bytes((9, 8, 7, 255, 6, 5, 4, 255)) + bytes((0, 0, 0, 255)) * 254,
     chunk(b'PLTE', bytes(sum(colors, ()))))
END
for file in opaque key palette; do
    digest $file.png
done >got
check "opaque, with a key, with a palette: $(paste want got)" same want got
# ---- In all formats ----

for file in f-rgb.png f-palette.png f-rgba.png f-gray16.png f.jpg \
    f-sideways.jpg f.bmp f.tga f.qoi f.pfm f.hdr; do
    suffix=${file##*.}
    gimgxf -q --edge trim rotate90 "$samples/$file" "turned.$suffix"
    gimgxf -q --edge trim rotate270 "turned.$suffix" "back.$suffix"
    gimgxf -q --edge trim rotate90 "back.$suffix" "again.$suffix"
    after=$(digest "turned.$suffix")
    check "$file" [ ${#after} = 64 -a "$(digest "back.$suffix")" != "$after" ]
    check "$file, turned back and again" [ "$(digest "again.$suffix")" = "$after" ]
done
gimgxf -q rotate90 --tag-only "$samples/f.jpg" tag.jpg
gimgxf -q rotate90 "$samples/f.jpg" turned.jpg
check 'a tag is a turn' [ "$(digest tag.jpg)" = "$(digest turned.jpg)" ]
check 'arrays have none' [ "$(digest "$samples/f.npy")" = null ]
finish
