# PNG files that a device turns, in batches, have the pixels that the CPU makes at
# the level fast, and its metadata and messages, and so have those that it makes of
# arrays; arrays that it makes of PNG files are those of the CPU, byte for byte. What
# the device does not take, the CPU does beside it.
. "$ROOT/tests/cli/lib.sh"
needs python3

mkdir -p in
cp "$samples"/f-*.png in
for i in 1 2 3 4 5 6 7 8; do
    filled_ppm $((197 + i)) $((61 + i)) $i >in.ppm
    "$program" -q --format png --png-level $((i + 1)) copy in.ppm in/odd$i.png
done
# All color types and depths, filters and ways to deflate; chunks beside the data;
# and files that are damaged.
python3 - <<'P'
import random, struct, zlib
random.seed(3)
def chunk(t, d):
    return struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t + d))
def png(w, h, depth, color, rows, more=b'', interlace=0, level=6, cut=1 << 13):
    z = zlib.compress(rows, level)
    return (b'\x89PNG\r\n\x1a\n' +
            chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, depth, color, 0, 0, interlace)) +
            more + b''.join(chunk(b'IDAT', z[i:i + cut]) for i in range(0, len(z), cut)) +
            chunk(b'IEND', b''))
def rows(w, h, size, noise):
    return b''.join(bytes([random.randrange(5)]) +
                    bytes((x // 3 + y * 2 + random.randrange(noise)) & 255
                          for x in range(w * size)) for y in range(h))
palette = chunk(b'PLTE', bytes(range(256)) * 3)
text = chunk(b'tEXt', b'Title\0pixels')
n = 0
for color, depth, size in [(0, 8, 1), (0, 16, 2), (2, 8, 3), (2, 16, 6), (3, 8, 1),
                           (4, 8, 2), (4, 16, 4), (6, 8, 4), (6, 16, 8)]:
    for w, h in [(1, 1), (3, 90), (131, 1), (70, 67)]:
        n += 1
        more = (palette if color == 3 else b'') + text
        made = rows(w, h, size, 1 + n % 9)
        first = made[1:1 + size]  # no filter changes the first pixel
        if color in (0, 2) and n % 3:
            more += chunk(b'tRNS', first if depth == 16 else
                          b''.join(bytes([0, b]) for b in first))
        if color == 3 and n % 2:
            more += chunk(b'tRNS', bytes(range(0, 250, 3)))
        open('in/made%d.png' % n, 'wb').write(
            png(w, h, depth, color, made, more, level=n % 10, cut=50 + 37 * n))
right = rows(200, 200, 3, 4)
whole = png(200, 200, 8, 2, right)
open('in/cut.png', 'wb').write(whole[:len(whole) // 2])
open('in/short.png', 'wb').write(png(200, 200, 8, 2, right[:-9]))
open('in/long.png', 'wb').write(png(200, 200, 8, 2, right + b'1'))
open('in/filter.png', 'wb').write(png(200, 200, 8, 2, b'\x07' + right[1:]))
z = bytearray(zlib.compress(right))
for name, at in ('checksum', -2), ('code', 99), ('late', len(z) // 2):
    bad = bytearray(z)
    bad[at] ^= 16
    open('in/%s.png' % name, 'wb').write(
        whole[:33] + chunk(b'IDAT', bytes(bad)) + chunk(b'IEND', b''))
broken = bytearray(whole)
broken[len(broken) // 2] ^= 1
open('in/crc.png', 'wb').write(broken)
open('in/window.png', 'wb').write(
    whole[:33] + chunk(b'IDAT', b'\x08\x1d' + z[2:]) + chunk(b'IEND', b''))
P

# differ A B: whether pixels and metadata are the same.
differ() {
    rm -rf ./*.pam
    for folder in "$@"; do
        "$program" -q --format pam copy -r -d $folder.pam $folder
        (cd $folder && "$program" info ./*) >$folder.told
    done
    diff -r "$1.pam" "$2.pam" && same "$1.told" "$2.told"
}
for call in rotate90 transverse fliph upright 'rotate270 --verify --strip' \
    'transpose --isolate' 'rotate180 -j 2 --max-memory 300M'; do
    on_both differ 45 --png-level fast $call
done

while read -r call; do
    on_both 'diff -r' 45 $call
done <<'END'
rotate90 --format npy
transpose --format npy --layout chw --depth float
fliph --format npy --layout nchw --depth 16
transverse --format npy --depth 8 --strip
upright --format pam
rotate180 --format pam --depth 16
copy --format npy --tolerant
rotate270 --format npy -j 2 --max-memory 300M
END

# One array of all.
mkdir same
for i in 1 2 3 4 5; do
    filled_ppm 160 90 $i >in.ppm
    "$program" -q --format png copy in.ppm same/$i.png
done
for backend in cpu "$GIMGXF_BACKEND"; do
    "$program" --backend "$backend" rotate90 -r --layout nchw --depth float \
        --stack $backend.npy same 2>stderr
    check "status of --stack, $backend" [ $? = 0 ]
done
check 'array of --stack' same cpu.npy "$GIMGXF_BACKEND.npy"

# Which are done where.
"$program" --backend "$GIMGXF_BACKEND" -v rotate90 --format npy -r -d out in 2>stderr
if [ "$GIMGXF_BACKEND" = cuda ]; then
    count=$(sed -n 's/^gimgxf: \([0-9]*\) turned on the GPU; .*/\1/p' stderr)
    check 'most are made arrays on the GPU' [ "${count:-0}" -ge 40 ]
fi
"$program" --backend "$GIMGXF_BACKEND" --png-level fast -v rotate90 -r -d out in \
    2>stderr
if [ "$GIMGXF_BACKEND" = cuda ]; then
    count=$(sed -n 's/^gimgxf: \([0-9]*\) turned on the GPU; .*/\1/p' stderr)
    check 'most are done on the GPU' [ "${count:-0}" -ge 20 ]
    "$program" --backend cuda -v rotate90 -r -d out in 2>stderr
    check 'other levels are for the processors' \
        [ "$(grep -c 'on the GPU' stderr)" = 0 ]
fi

# Arrays, of both orders of bytes and of axes.
rm -rf arrays
"$program" -q --backend cpu rotate90 --format npy --layout chw -r -d arrays in 2>stderr
mv in pngs
mv arrays in
python3 - <<'P'
import glob
for n, name in enumerate(sorted(glob.glob('in/*.npy'))):
    npy = open(name, 'rb').read()
    if b"'<u2'" in npy[:128] and n % 2:
        cells = bytearray(npy[128:])
        cells[::2], cells[1::2] = cells[1::2], cells[::2]
        npy = npy[:128].replace(b"'<u2'", b"'>u2'") + cells
    elif n % 3 == 0:
        npy = npy[:128].replace(b'False', b'True ') + npy[128:]
    open(name, 'wb').write(npy)
P
for call in rotate90 'transverse --verify' 'fliph -j 2'; do
    on_both differ 30 --png-level fast --format png $call
done
"$program" --backend "$GIMGXF_BACKEND" --png-level fast --format png -v rotate90 \
    -r -d out in 2>stderr
if [ "$GIMGXF_BACKEND" = cuda ]; then
    count=$(sed -n 's/^gimgxf: \([0-9]*\) turned on the GPU; .*/\1/p' stderr)
    check 'most arrays are turned on the GPU' [ "${count:-0}" -ge 15 ]
fi
finish
