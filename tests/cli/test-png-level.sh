# Every --png-level holds the same samples on any number of threads, smaller
# levels are not larger, and other programs read the files.
. "$ROOT/tests/cli/lib.sh"
needs python3

levels='fast default small 0 1 2 3 4 5 6 7 8 9'
pngs='f-rgb.png f-rgba.png f-gray16.png f-palette.png'

# Large enough for several bands: text-like and photo-like, from the samples.
wide() {
    python3 - "$1" <<'EOF'
import random
import sys
noise = random.Random(3).randbytes(901 * 3 * 700 + 901)


def row(y):
    if 200 <= y < 400:
        return b''.join(b'\0\0\0' if (x * 7 + y // 9 * 5) % 91 % 8 == 0
                        else b'\xff\xff\xff' for x in range(901))
    return bytes((v // 4 % 220) + noise[y * 2703 + x] % 9
                 for x in range(901) for v in (x, y, x + y))


with open(sys.argv[1], 'wb') as f:
    f.write(b'P6\n901 700\n255\n' + b''.join(map(row, range(700))))
EOF
}

wide wide.ppm
gimgxf rotate90 wide.ppm turned.ppm
size=100000000
for level in 0 fast default small; do
    gimgxf --png-level $level rotate90 wide.ppm wide-$level.png
    gimgxf copy wide-$level.png back.ppm
    check "level $level holds the same" same back.ppm turned.ppm
    for threads in 1 2 7; do
        gimgxf --png-level $level -j $threads rotate90 wide.ppm other.png
        check "level $level on $threads threads" same other.png wide-$level.png
    done
    now=$(stat -c %s wide-$level.png)
    check "level $level is no larger than the one before" [ "$now" -le $size ]
    size=$now
done

for png in $pngs; do
    gimgxf -q --format npy rotate90 "$samples/$png" turned.npy
    for level in $levels; do
        gimgxf --png-level $level rotate90 "$samples/$png" out.png
        makes turned.npy -q --format npy copy out.png out.npy
    done
done

# Each row is the one above it with the same noise added: all by Up are the same
# row, which other filters are not, although they often are smaller numbers.
python3 - sums.pgm <<'EOF'
import random
import sys
steps = random.Random(104).randbytes(1000)
with open(sys.argv[1], 'wb') as f:
    f.write(b'P5\n1000 800\n255\n' + b''.join(
        bytes(y * step % 256 for step in steps) for y in range(800)))
EOF
for op in copy transpose; do
    gimgxf $op sums.pgm sums.png
    size=$(stat -c %s sums.png)
    check "one filter for all rows, $op: $size bytes" [ "$size" -lt 20000 ]
done

# A file that would be copied is written anew if a level asks for that.
gimgxf copy wide-0.png copied.png
check 'a copy is the file' same copied.png wide-0.png
gimgxf --png-level small copy wide-0.png copied.png
check 'a copy by level is small' same copied.png wide-small.png

for value in 10 -1 large '' 1x; do
    gives 2 "gimgxf: --png-level: '$value' is not known; expected 0, 1, 2, 3, \
4, 5, 6, 7, 8, 9, fast, default or small" \
        --png-level "$value" copy wide-0.png out.png
done

if offers pngcheck; then
    for level in 0 fast default small; do
        check "pngcheck of level $level" pngcheck -q wide-$level.png
    done
fi

if offers Pillow; then
    cat >same.py <<'EOF'
import sys
from PIL import Image
a, b = (Image.open(name) for name in sys.argv[1:])
sys.exit(a.mode != b.mode or a.size != b.size or a.tobytes() != b.tobytes())
EOF
    for level in 0 fast default small; do
        check "Pillow of level $level" \
            python3 same.py wide-$level.png turned.ppm
    done
fi

finish
