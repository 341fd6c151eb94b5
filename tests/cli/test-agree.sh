# The turns agree with those of other programs that are installed: each program
# reads both results, and they are the same picture. Four quarter turns change
# nothing, neither pixels nor the metadata of a PNG.
. "$ROOT/tests/cli/lib.sh"
needs python3

skipped() {
    echo "skipped: $1"
}

turns='rotate90 rotate180 rotate270 fliph flipv transpose transverse'
pngs='f-rgb.png f-rgba.png f-gray16.png f-palette.png'

# turn OP NAME: one of the samples, turned; says where it is.
turn() {
    gimgxf -q "$1" "$samples/$2" "ours.${2##*.}" && echo "ours.${2##*.}"
}

# ---- ImageMagick ----------------------------------------------------------------

# Its palettes, gray and colors of 16 bits and less are the same as PAM.
magick_pam() {
    magick "$@" +repage -strip -depth 16 pam:-
}

hdrs=0
if has_tool ImageMagick; then
    hdrs=6
    set -- '-rotate 90' '-rotate 180' '-rotate 270' -flop -flip -transpose \
        -transverse
    for op in $turns; do
        for name in f-rgba.png f-gray16.png f-palette.png f.pgm f.bmp; do
            # shellcheck disable=SC2086 # an option and its value
            magick_pam "$samples/$name" $1 >theirs.pam
            magick_pam "$(turn "$op" "$name")" >ours.pam
            check "ImageMagick, $op of $name" same ours.pam theirs.pam
        done
        shift
    done
else
    skipped ImageMagick
fi

# ---- Pillow, and numpy for what it does not know ------------------------------

cat >pillow.py <<'EOF'
import sys
import numpy
from PIL import Image
turns = {
    'rotate90': lambda a: numpy.rot90(a, -1),
    'rotate180': lambda a: numpy.rot90(a, 2),
    'rotate270': lambda a: numpy.rot90(a, 1),
    'fliph': lambda a: a[:, ::-1],
    'flipv': lambda a: a[::-1],
    'transpose': lambda a: numpy.swapaxes(a, 0, 1),
    'transverse': lambda a: numpy.swapaxes(a[::-1, ::-1], 0, 1),
}


def load(name):
    if name.endswith('.npy'):
        return numpy.load(name).transpose(1, 2, 0)
    return numpy.asarray(Image.open(name))


for line in sys.stdin:
    op, name, ours = line.split()
    good = numpy.array_equal(turns[op](load(sys.argv[1] + '/' + name)),
                             load(ours))
    print(op, name, 0 if good else 1)
EOF
if has_tool Pillow; then
    for op in $turns; do
        for name in $pngs f.ppm f.pgm f.bmp f.tga f.npy; do
            gimgxf -q "$op" "$samples/$name" "$op-$name"
            echo "$op $name $op-$name"
        done
    done >list
    python3 pillow.py "$samples" <list >told
    check 'Pillow read all' [ "$(wc -l <told)" = 63 ]
    while read -r op name status; do
        check "Pillow, $op of $name" [ "$status" = 0 ]
    done <told
else
    skipped Pillow
fi

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
if has_tool Pillow; then
    python3 converted.py "$program" $hdrs >told
    check 'all conversions were read' \
        [ "$(wc -l <told)" = $((48 + hdrs)) ]
    while read -r suffix height width planes status; do
        check "$suffix of $height x $width, $planes planes" [ "$status" = 0 ]
    done <told
fi

# ---- netpbm -------------------------------------------------------------------

printf 'P4\n13 3\n\252\270\125\100\377\010' >odd.pbm
printf 'P7\nWIDTH 2\nHEIGHT 2\nDEPTH 2\nMAXVAL 9\nTUPLTYPE GRAYSCALE_ALPHA\n'\
'ENDHDR\n\001\002\003\004\005\006\007\010' >alpha.pam
if has_tool pamflip && has_tool pamtopam; then
    set -- -cw -r180 -ccw -lr -tb -xy -xform=transpose,leftright,topbottom
    for op in $turns; do
        for name in odd.pbm "$samples/f.pgm" "$samples/f.ppm" alpha.pam; do
            pamflip "$1" "$name" | pamtopam >theirs.pam
            gimgxf -q "$op" "$name" "turned.${name##*.}"
            pamtopam <"turned.${name##*.}" >ours.pam
            check "netpbm, $op of ${name##*/}" same ours.pam theirs.pam
        done
        shift
    done
else
    skipped netpbm
fi

# ---- Four quarter turns, which need nobody --------------------------------------

# A chunk of each kind that may stand beside pixels of 16 bits.
cat >chunks.py <<'EOF'
import struct
import sys
import zlib


def chunk(name, data):
    body = name + data
    return struct.pack('>I', len(data)) + body + struct.pack(
        '>I', zlib.crc32(body))


W, H = 7, 5
rows = b''.join(b'\0' + bytes((x * 37 + y * 11 + c) % 256 for x in range(W)
                              for c in range(6)) for y in range(H))
profile = struct.pack('>I', 132) + b'\0' * 12 + b'RGB ' + b'\0' * 112
exif = b'MM\0*' + struct.pack('>IHHHIHHI', 8, 1, 0x112, 3, 1, 1, 0, 0)
sys.stdout.buffer.write(
    b'\x89PNG\r\n\x1a\n' +
    chunk(b'IHDR', struct.pack('>IIBBBBB', W, H, 16, 2, 0, 0, 0)) +
    chunk(b'cICP', bytes([9, 16, 0, 1])) +
    chunk(b'gAMA', struct.pack('>I', 45455)) +
    chunk(b'cHRM', struct.pack('>8I', 31270, 32900, 64000, 33000, 30000, 60000,
                               15000, 6000)) +
    chunk(b'iCCP', b'name\0\0' + zlib.compress(profile)) +
    chunk(b'sBIT', bytes([12, 12, 12])) +
    chunk(b'PLTE', bytes(range(9))) +
    chunk(b'bKGD', struct.pack('>3H', 1, 2, 3)) +
    chunk(b'hIST', struct.pack('>3H', 1, 2, 3)) +
    chunk(b'tRNS', struct.pack('>3H', 4, 5, 6)) +
    chunk(b'pHYs', struct.pack('>IIB', 1000, 2000, 1)) +
    chunk(b'oFFs', struct.pack('>iiB', 3, 4, 0)) +
    chunk(b'sCAL', b'\1' + b'1.5\0' + b'2.5') +
    chunk(b'pCAL', b'name\0' + struct.pack('>iiBB', 0, 65535, 0, 2) +
          b'unit\0' + b'0\0' + b'1') +
    chunk(b'sPLT', b'name\0\x08' + bytes(6)) +
    chunk(b'eXIf', exif) +
    chunk(b'prVt', b'private') +
    chunk(b'IDAT', zlib.compress(rows)) +
    chunk(b'tIME', struct.pack('>H5B', 2024, 2, 29, 1, 2, 3)) +
    chunk(b'tEXt', b'Title\0The letter F') +
    chunk(b'zTXt', b'Author\0\0' + zlib.compress(b'nobody')) +
    chunk(b'iTXt', b'Title\0\0\0de\0Titel\0Der Buchstabe F') +
    chunk(b'prVu', b'behind the pixels') +
    chunk(b'IEND', b''))
EOF
differ() {
    cmp -s "$1" "$2"
    [ $? = 1 ] # 2: one is not there
}
metadata() {
    gimgxf info --json "$1" | sed 's/.*"metadata": \(\[[^]]*\]\).*/\1/'
}

python3 chunks.py >all.png
for name in all.png "$samples/f-palette.png" "$samples/f-rgba.png"; do
    cp "$name" 0.png
    for i in 0 1 2 3; do
        gives 0 '' rotate90 $i.png $((i + 1)).png
    done
    gimgxf -q --format npy copy 0.png first.npy
    for i in 1 2 3; do
        gimgxf -q --format npy copy $i.png other.npy
        check "$i turns are something" differ first.npy other.npy
    done
    gimgxf -q --format npy copy 4.png other.npy
    check "four turns of ${name##*/}" same first.npy other.npy
    check "its metadata" [ "$(metadata 0.png)" = "$(metadata 4.png)" ]
done
metadata all.png >list
for chunk in cICP gAMA cHRM iCCP sBIT bKGD hIST tRNS pHYs oFFs sCAL pCAL sPLT \
    eXIf prVt tIME tEXt zTXt iTXt prVu; do
    check "info lists $chunk" grep -q "\"$chunk\"" list
done
finish
