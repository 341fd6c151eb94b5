# Which turn makes one picture another, and --verify, which asks that of each
# output.
. "$ROOT/tests/cli/lib.sh"
needs python3

# says TEXT STATUS A B: what relate prints.
says() {
    local said
    said=$(gimgxf relate "$3" "$4" 2>&1; echo "status $?")
    check "relate $3 $4: $said" [ "$said" = "$1"$'\n'"status $2" ]
}

# ---- relate ----

for op in copy $turns; do
    for pair in f-rgb.png:png:samples f.jpg:jpg:coefficients \
        f-sideways.jpg:jpg:coefficients f-gray16.png:pgm:samples; do
        IFS=: read -r file suffix what <<<"$pair"
        gives 0 '' -q "$op" "$samples/$file" o.$suffix
        says "$op: the same $what" 0 "$samples/$file" o.$suffix
    done
done
gives 0 '' --edge tag rotate90 "$samples/f.jpg" o.jpg
says 'rotate90: the same coefficients' 0 "$samples/f.jpg" o.jpg

# A picture of 3 x 2 pixels, and others that are nearly the same.
printf 'P5 3 2 255\n\001\002\003\004\005\006' >a.pgm
printf 'P5 3 2 255\n\001\002\003\004\005\011' >b.pgm
printf 'P5 2 2 255\n\001\001\001\001' >same.pgm
printf 'P5 3 3 255\n123456789' >c.pgm
printf 'P5 3 2 255\n\001\002\003\004\005\015' >d.pgm
says 'copy, nearly: 46.4 dB apart, 1 of 6 samples differ, within 1 x '\
'1 pixels at 2, 1' 0 a.pgm b.pgm
says 'none: copy comes closest, 39.0 dB apart: 1 of 6 samples differ, within 1 x '\
'1 pixels at 2, 1' 1 a.pgm d.pgm
says 'none: the sizes differ' 1 a.pgm c.pgm
says 'copy or fliph or flipv or rotate180 or transpose or rotate90 or '\
'rotate270 or transverse: the same samples' 0 same.pgm same.pgm
says 'gimgxf: none.png: No such file or directory' 1 a.pgm none.png

# Pictures of each symmetry, turned: not all turns need to be compared.
python3 - >symmetries <<'END'
names = ('copy fliph flipv rotate180 transpose rotate90 rotate270 '
         'transverse').split()
def turn(p, t):
    out = []
    for i in range(16):
        x, y = i % 4, i // 4
        x, y = 3 - x if t & 1 else x, 3 - y if t & 2 else y
        out.append(p[4 * x + y] if t & 4 else p[4 * y + x])
    return out
def put(name, p):
    open(name, 'wb').write(b'P5 4 4 255\n' + bytes(p))
for i, group in enumerate(((), (1,), (2,), (3,), (4,), (7,), (1, 2), (4, 7),
                           (5,), (1, 4))):
    p = list(range(1, 17))
    for _ in range(4):
        for t in group:
            p = [max(pair) for pair in zip(p, turn(p, t))]
    put('sym-%d.pgm' % i, p)
    for t in range(8):
        put('sym-%d-%d.pgm' % (i, t), turn(p, t))
        print('sym-%d.pgm sym-%d-%d.pgm %s' % (i, i, t, ' or '.join(
            names[u] for u in range(8) if turn(p, u) == turn(p, t))))
END
check 'symmetries' lines symmetries 80
while read -r a b turns; do
    says "$turns: the same samples" 0 $a $b
done <symmetries
gimgxf relate --json a.pgm b.pgm >said
check 'relate --json' [ "$(sed 's/46[0-9.]*/46/' said)" = '{"first": "a.pgm", '\
'"second": "b.pgm", "compared": "samples", "turns": [], "nearly": true, "nearest": '\
'"copy", "psnr": 46, "differing": 1, "of": 6, '\
'"within": {"x": 2, "y": 1, "width": 1, "height": 1}, "error": null}' ]

# A block of chroma that differs, in a picture that is not whole blocks: of 53 x 37
# pixels, with chroma of half the width and height. In `unseen` it is one of which
# three columns are shown, and only the others are not gray.
python3 - <<'END'
import math
from costly_files import STEPS, codes, frame, jpeg, scan
ZIGZAG = (0, 1, 5, 6, 14, 15, 27, 28)  # where the first row of a block is
DC, AC = range(12), []
def coded(table, symbol, value=None):
    code = '1' * table.index(symbol) + '0'
    size = abs(value or 0).bit_length()
    return code + (f'{value + (value < 0) * ((1 << size) - 1):0{size}b}'
                   if size else '')
def pieces(columns):
    row = [round(math.sqrt(8) * (math.sqrt(1 / 8) if u == 0 else 1 / 2) *
                 sum(c * math.cos((2 * x + 1) * u * math.pi / 16)
                     for x, c in enumerate(columns))) for u in range(8)]
    at, found = 0, []
    for u in range(1, 8):
        if row[u]:
            run = ZIGZAG[u] - at - 1
            found.append((run << 4 | abs(row[u]).bit_length(), row[u]))
            at = ZIGZAG[u]
    return row[0], found
def picture(name, differs, columns):
    dc, row = pieces(columns)
    table = [0] + sorted({symbol for symbol, value in row})
    bits = ''
    for mcu in range(4 * 3):
        bits += ('0' + '0') * 4
        off = {differs: dc, differs + 1: -dc}.get(mcu, 0)
        bits += coded(DC, abs(off).bit_length(), off)
        bits += ''.join(coded(table, *part) for part in row if mcu == differs)
        bits += '0' + '00'
    bits += '1' * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, 'big')
    open(name, 'wb').write(jpeg(
        STEPS, frame(0xc0, 53, 37, (0x22, 0x11, 0x11)), codes(0x00, DC),
        codes(0x10, table), scan(3), data.replace(b'\xff', b'\xff\0')))
picture('flat.jpg', -2, [0] * 8)
picture('middle.jpg', 5, [2] * 8)
picture('edge.jpg', 3, [2] * 8)
picture('unseen.jpg', 3, [0] * 3 + [90] * 5)
END
# oracle A B: how far two PPMs are apart, and where.
cat >oracle.py <<'END'
import sys
import turns
a, b = (turns.pixels(open(name, 'rb').read()) for name in sys.argv[1:])
off = [(i % a[0], i // a[0]) for i in range(len(a[2])) if a[2][i] != b[2][i]]
x, y = zip(*off)
print('%.1f dB apart, %d of %d samples differ, within %d x %d pixels at %d, %d' % (
    turns.decibels(a, b), sum(i != k for p, q in zip(a[2], b[2]) for i, k in zip(p, q)),
    3 * len(a[2]), max(x) - min(x) + 1, max(y) - min(y) + 1, min(x), min(y)))
END
gives 0 '' copy flat.jpg flat.ppm
for name in middle edge; do
    gives 0 '' copy $name.jpg $name.ppm
    says "copy, nearly: $(python3 oracle.py flat.ppm $name.ppm)" 0 \
        flat.jpg $name.jpg
done
says 'copy or fliph or flipv or rotate180: the same samples' 0 flat.jpg unseen.jpg

# What is encoded anew, as it is unless something else is asked for.
gives 0 '' -q --verify rotate90 middle.jpg turned.jpg
gives 0 '' rotate90 middle.jpg middle.ppm
gives 0 '' copy turned.jpg turned.ppm
says "rotate90, nearly: $(python3 oracle.py middle.ppm turned.ppm)" 0 \
    middle.jpg turned.jpg

# Zeros of two signs, and what is not a number: JSON has neither.
python3 -c 'import struct
for name, numbers in {"plain": (0, 1, 2, 3), "minus": (-0.0, 1, 2, 3),
                      "nan": (0, 1, float("nan"), 3)}.items():
    open(name + ".pfm", "wb").write(b"Pf 4 1 -1\n" + struct.pack("<4f", *numbers))'
one='1 of 4 samples differ, within 1 x 1 pixels'
says "copy, nearly: $one at 0, 0" 0 plain.pfm minus.pfm
says "none: copy comes closest: $one at 2, 0" 1 plain.pfm nan.pfm
for name in minus nan; do
    gimgxf relate --json plain.pfm $name.pfm >said
    check "JSON: $(cat said)" grep -q '"psnr": null, ' said
done
says 'copy or flipv: the same samples' 0 nan.pfm nan.pfm

# The same colors, otherwise stored: in another order of the palette, as a palette,
# with more bits, as RGB, or with alpha that is everywhere opaque. A transparent
# color makes a picture another one.
python3 - <<'END'
import struct
import zlib
from costly_files import chunk, png
def save(name, depth, color, samples, *chunks):
    rows = samples[:len(samples) // 2], samples[len(samples) // 2:]
    data = b''.join(b'\0' + bytes(row) for row in rows)
    open(name, 'wb').write(png(2, 2, depth, color, zlib.compress(data), *chunks))
gray = (10, 20, 30, 40)
save('gray.png', 8, 0, gray)
save('gray16.png', 16, 0, [g for g in gray for _ in range(2)])
save('gray-alpha.png', 8, 4, [v for g in gray for v in (g, 255)])
rgb = [g for g in gray for _ in range(3)]
save('rgb.png', 8, 2, rgb)
save('rgb-key.png', 8, 2, rgb, chunk(b'tRNS', struct.pack('>3H', 20, 20, 20)))
save('rgb-other-key.png', 8, 2, rgb, chunk(b'tRNS', struct.pack('>3H', 1, 2, 3)))
save('rgba.png', 8, 6, [v for g in gray for v in (g, g, g, 0 if g == 20 else 255)])
colors = [bytes([g] * 3) for g in gray]
save('palette.png', 8, 3, (0, 1, 2, 3), chunk(b'PLTE', b''.join(colors)))
save('other-palette.png', 8, 3, (3, 2, 1, 0), chunk(b'PLTE', b''.join(colors[::-1])))
END
for file in gray16 gray-alpha rgb palette other-palette rgb-other-key; do
    says 'copy: the same colors' 0 gray.png $file.png
    says 'copy: the same colors' 0 $file.png gray.png
    gimgxf relate --json $file.png gray.png >said
    check "JSON of $file: $(cat said)" grep -q '"compared": "colors", ' said
done
says 'copy: the same colors' 0 palette.png other-palette.png
says 'copy: the same colors' 0 rgb-key.png rgba.png
for file in rgb rgb-other-key; do
    says 'none: copy comes closest, 12.0 dB apart: 1 of 16 colors differ, within 1 x '\
'1 pixels at 1, 0' 1 rgb-key.png $file.png
done
# Without alpha it is laid on the background, also where no sample changes its type.
for operation in copy rotate90; do
    gives 0 '' --verify --background '#0a0b0c' $operation rgb-key.png laid.ppm
    check "laid on the background, $operation" [ "$(tail -c 12 laid.ppm | od -An -v -tu1 | tr -s ' \n' ' ')" = \
        "$([ $operation = copy ] && echo ' 10 10 10 10 11 12 30 30 30 40 40 40 ' ||
            echo ' 30 30 30 10 10 10 40 40 40 10 11 12 ')" ]
done
gives 0 '' copy gray.png gray.bmp
says 'copy: the same colors' 0 gray.bmp gray.png
says 'copy: the same colors' 0 gray.png gray.bmp

# What the messages of an array ask for.
npy "'|u1'" False '(3, 3, 3)' 27 >cube.npy
gives 0 '' relate --layout hwc cube.npy cube.npy
gimgxf relate --max-pixels 1000 "$samples/f.jpg" "$samples/f.jpg" 2>said
check "--max-pixels: $(cat said)" grep -q 'more than the 1000 of --max-pixels' said
gives 2 'gimgxf: relate needs two pictures: gimgxf relate A B' relate a.pgm
gives 2 'gimgxf: --strip: gimgxf relate writes no pictures, so the option '\
'changes nothing' relate --strip a.pgm b.pgm

# ---- --verify ----

for file in f-rgb.png f-palette.png f-rgba.png f-gray16.png f.jpg \
    f-sideways.jpg f.ppm f.bmp f.tga f.qoi f.pfm f.hdr; do
    for op in rotate90 fliph transpose copy; do
        gives 0 "$(gimgxf -f "$op" "$samples/$file" "o.${file##*.}" 2>&1)" \
            --verify "$op" "$samples/$file" "o.${file##*.}"
    done
done
while read -r call; do
    eval "gives 0 '' -q --verify $call"
done <<'END'
rotate90 "$samples/f.jpg" o.png
rotate90 "$samples/f-rgb.png" o.jpg
--depth 8 rotate90 "$samples/f-gray16.png" o.png
--quality 40 rotate90 "$samples/f.jpg" o.jpg
rotate90 "$samples/f-gray16.png" o.ppm
rotate90 "$samples/f.pgm" o.ppm
END
# So few blocks of so low a quality that another turn is as near by chance.
python3 -c 'import sys
sys.stdout.buffer.write(b"P6 8 8 255\n" + bytes((i * i * 185 + i * 55) % 256
                                                for i in range(192)))' >noise.ppm
gives 0 '' -q --verify --quality 5 transverse noise.ppm o.jpg
# Arrays whose shapes alone do not say where the channels are.
for layout in auto hwc chw; do
    gives 0 '' -q --verify --layout $layout --depth float flipv noise.ppm o.npy
    { printf 'P6 1 1 255\n' && head -c 3 noise.ppm; } >dot.ppm
    gives 0 '' -q --verify --layout $layout rotate90 dot.ppm o.npy
done
{ printf 'P6 4 16 255\n' && head -c 192 noise.ppm; } >high.ppm
gives 0 '' copy high.ppm high.npy
gives 0 '' --verify --depth 16 rotate90 high.npy o.npy
gimgxf --json --verify rotate90 "$samples/f-rgb.png" o.png >said
check 'verified in JSON' grep -q '"verified": "same", ' said
gimgxf -v --verify rotate90 "$samples/f-rgb.png" o.png 2>said
check 'verified in words' \
    grep -qx 'gimgxf: verified: the same, as libraries decode it' said
gives 0 'gimgxf: '"$samples/f.npy"': warning: --verify is for pictures: arrays '\
'that stay arrays are not decoded again' --verify rotate90 "$samples/f.npy" o.npy

# ---- Frames of animations ----

mkdir special
python3 "$ROOT/tests/support/apng.py" special special
mv special/*.png .
first='gimgxf: warning: of an animation in PNG only the first frames are compared'
verified='warning: --verify looks only at the first frame of an animation'
gives 0 "gimgxf: sound.png: $verified" --verify --png-level 4 rotate90 sound.png turned.png
gives 0 "gimgxf: $samples/f.gif: $verified" --verify rotate90 "$samples/f.gif" o.gif
says "$first
rotate90: the same samples" 0 sound.png turned.png
says "$first
copy: the same samples" 0 sound.png still.png
says "$first
copy: the same samples" 0 still.png sound.png
says "$first
copy: the same colors" 0 sound.png alpha.png # in samples of another kind
gives 0 '' -q copy sound.png sound.ppm
says 'copy: the same samples' 0 sound.png sound.ppm # where there are no frames

# A library that sees another picture. The output stays what it was.
if cc -shared -fPIC -o lies.so "$ROOT/tests/support/preload/lies.c" -ldl \
    2>/dev/null && LD_PRELOAD=./lies.so "$program" --version >/dev/null 2>&1; then
    for kind in "png:$samples/f-rgb.png:turned" "jpeg:$samples/f.jpg:turned"; do
        IFS=: read -r library file why <<<"$kind"
        out=kept.${file##*.}
        echo old >"$out"
        LIES=$library LD_PRELOAD=./lies.so "$program" --backend "$GIMGXF_BACKEND" \
            --verify rotate90 "$file" "$out" 2>said
        check "$library lies: status" [ $? = 1 ]
        check "$library lies: $(cat said)" \
            grep -q -- "--verify: what was made is not the input $why" said
        check "$library lies: the output stays" [ "$(cat "$out")" = old ]
        LIES=$library LD_PRELOAD=./lies.so "$program" --backend "$GIMGXF_BACKEND" \
            rotate90 "$file" "$out"
        check "$library lies unheard" [ $? = 0 ]
    done
else
    echo 'skipped: a library that lies, which takes a compiler'
fi
finish
