# The turns agree with those of other programs that are installed: each program
# reads both results, and they are the same picture. Four quarter turns change nothing,
# neither pixels nor the metadata of a PNG.
. "$ROOT/tests/cli/lib.sh"
needs Pillow

pngs='f-rgb.png f-rgba.png f-gray16.png f-palette.png'

# ---- Pillow, and numpy for what it does not know ------------------------------

cat >pillow.py <<'EOF'
import sys
import numpy
from PIL import Image
from arrays import TURNS


def load(name):
    if name.endswith('.npy'):
        return numpy.load(name).transpose(1, 2, 0)
    return numpy.asarray(Image.open(name))


for line in sys.stdin:
    op, name, ours = line.split()
    good = numpy.array_equal(TURNS[op](load(sys.argv[1] + '/' + name), 0, 1),
                             load(ours))
    print(op, name, 0 if good else 1)
EOF
for op in $turns; do
    for name in $pngs f.ppm f.pgm f.bmp f.tga f.npy; do
        gimgxf -q "$op" "$samples/$name" "$op-$name"
        echo "$op $name $op-$name"
    done
done >list
python3 pillow.py "$samples" <list >told
check 'Pillow read all' lines told 63
while read -r op name status; do
    check "Pillow, $op of $name" [ "$status" = 0 ]
done <told

# ---- What is converted to BMP and TGA, by Pillow, and to HDR, by ImageMagick ----

cat >converted.py <<'EOF'
import subprocess
import sys
import numpy
from PIL import Image

gimgxf, hdrs = sys.argv[1:3]
random = numpy.random.default_rng(3)
SIZES = (1, 13), (4, 5), (13, 1), (5, 13), (3, 200), (67, 45)


def convert(array, name):
    numpy.save('in.npy', array)
    subprocess.run([gimgxf, '-q', '--layout', 'hwc', 'copy', 'in.npy', name],
                   check=True)


def runs(array):
    """Half of each row is one pixel over and over."""
    array[:, :array.shape[1] // 2] = array[:, :1]
    return array


def as_rgb(array):
    """What a BMP makes of gray, with alpha or without."""
    gray = numpy.repeat(array[:, :, :1], 3, axis=2)
    return numpy.concatenate([gray, array[:, :, 1:]], axis=2)


for height, width in SIZES:
    for planes in 1, 2, 3, 4:
        a = runs(random.integers(0, 256, (height, width, planes), 'u1'))
        for suffix in 'bmp', 'tga':
            convert(a, 'out.' + suffix)
            want = as_rgb(a) if suffix == 'bmp' and planes < 3 else a
            got = numpy.asarray(Image.open('out.' + suffix))
            good = numpy.array_equal(got.reshape(got.shape[:2] + (-1,)), want)
            print(suffix, height, width, planes, 0 if good else 1)
    a = runs(random.integers(128, 256, (height, width, 3)).astype('<f4') / 256)
    convert(a, 'out.hdr')
    if int(hdrs):
        raw = subprocess.run(['magick', 'out.hdr', '-set', 'colorspace', 'sRGB',
                              '-depth', '16', 'rgb:-'], check=True,
                             stdout=subprocess.PIPE).stdout
        got = numpy.frombuffer(raw, 'u2').reshape(a.shape)
        good = numpy.abs(got - 65535 * a).max() <= 0.5
        print('hdr', height, width, 3, 0 if good else 1)
EOF
hdrs=0
! offers ImageMagick || hdrs=6
python3 converted.py "$program" $hdrs >told
check 'all conversions were read' lines told $((48 + hdrs))
while read -r suffix height width planes status; do
    check "$suffix of $height x $width, $planes planes" [ "$status" = 0 ]
done <told

# ---- Four quarter turns of a PNG ------------------------------------------------

for name in f-palette.png f-rgba.png; do
    eight_turns "$samples/$name" turned.png
    prints '^copy: the same samples$' relate "$samples/$name" four
    check "metadata of $name" same <(gimgxf info - <"$samples/$name") \
        <(gimgxf info - <four)
done
finish
