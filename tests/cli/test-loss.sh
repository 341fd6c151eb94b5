# A JPEG file that cannot be turned without loss is reported, counted, predicted
# and, if asked, refused.
. "$ROOT/tests/cli/lib.sh"
needs python3 cjpeg djpeg

# picture WIDTH HEIGHT: a PPM with soft shapes and noise.
picture() {
    python3 - "$1" "$2" <<'PY'
import math, sys
w, h = int(sys.argv[1]), int(sys.argv[2])
out, seed = bytearray(b'P6\n%d %d\n255\n' % (w, h)), 1
for y in range(h):
    for x in range(w):
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        soft = 120 + 70 * math.sin(x / 17) * math.cos(y / 13)
        for c in range(3):
            out.append(int(soft + 20 * math.sin((x + 30 * c) / 29)
                           + (seed >> 16 + 3 * c) % 9))
sys.stdout.buffer.write(out)
PY
}

picture 101 67 >odd.ppm
cjpeg -quality 85 -sample 2x2 odd.ppm >odd.jpg
picture 96 64 | cjpeg -quality 85 -sample 2x2 >even.jpg
picture 96 72 | cjpeg -quality 85 -sample 2x2 >luma.jpg
size='101 x 67 pixels are not whole blocks of 16 x 16'
loss="$size: encoded anew, with loss; --lossless refuses, --edge trim or tag"
loss="$loss turns without loss"

# ---- One picture ----

gives 0 "gimgxf: odd.jpg: warning: $loss" rotate90 odd.jpg out.jpg
called 1 --json --max-memory 20K rotate90 odd.jpg out.jpg # and no word of a loss
check 'refused: JSON' grep -q '"warnings": \[\]' stdout
check "refused: $(cat stderr)" [ "$(wc -l <stderr) $(grep -c anew stderr)" = '1 0' ]
while read -r call; do
    gives 0 '' $call
done <<'END'
-q rotate90 odd.jpg out.jpg
rotate90 even.jpg out.jpg
transpose odd.jpg out.jpg
copy odd.jpg out.jpg
--edge reencode rotate90 odd.jpg out.jpg
--edge trim rotate90 odd.jpg out.jpg
--edge tag rotate90 odd.jpg out.jpg
--quality 80 rotate90 odd.jpg out.jpg
rotate90 odd.jpg out.png
fliph luma.jpg out.jpg
--edge reencode rotate90 luma.jpg out.jpg
END
check 'its size' [ "$(stat -c %s out.jpg)" -le \
    $(($(stat -c %s luma.jpg) * 103 / 100)) ]
chroma='96 x 72 pixels are not whole blocks of 16 x 16: only chroma is encoded anew,'
chroma="$chroma with loss; --lossless refuses, --edge trim or tag turns without loss"
gives 0 "gimgxf: luma.jpg: warning: $chroma" rotate90 luma.jpg out.jpg
prints '"how": "luma-lossless"' --json --edge reencode flipv luma.jpg out.jpg
prints '"how": "reencoded"' --json --quality 85 flipv luma.jpg out.jpg
called 0 --json -q rotate90 odd.jpg out.jpg
check 'JSON has it' grep -qF "\"warnings\": [\"$loss\"]" stdout

# ---- Many ----

mkdir in
cp odd.jpg in/a.jpg
cp even.jpg in/b.jpg
cp odd.jpg in/c.jpg
gimgxf fliph -d out in/*.jpg 2>stderr
check 'a batch counts them' \
    grep -q '^gimgxf: 3 of 3 done: 1 lossless, 2 re-encoded with loss' stderr
check 'and does not name each' [ "$(grep -c 'odd\|[ac]\.jpg' stderr)" = 0 ]
check 'and says what helps' [ "$(grep warning: stderr)" = "gimgxf: warning: 2 lost \
some quality, since their sizes are no whole number of blocks; --lossless refuses, \
--edge trim or tag turns without loss" ]
gimgxf --edge reencode fliph -d out in/*.jpg 2>stderr
check 'but not if that is meant' [ "$(grep -c warning: stderr)" = 0 ]
cp -r in placed
gimgxf -i fliph placed/a.jpg 2>stderr
check 'in place, too' [ "$(grep warning: stderr)" = "gimgxf: warning: 1 lost some \
quality, since its size is no whole number of blocks; --lossless refuses, --edge \
trim or tag turns without loss" ]
gimgxf flipv -f -d out luma.jpg even.jpg 2>stderr
check 'luma by itself' \
    grep -q '^gimgxf: 2 of 2 done: 1 lossless, 1 with color compressed again' stderr
check 'and what helps' grep -q 'warning: 1 lost some quality.*--lossless' stderr
gimgxf -v fliph -f -d out in/*.jpg 2>stderr
check 'but with -v' [ "$(grep -o 'out/.*: fliph, reencoded' stderr)" = \
    'out/a.jpg: fliph, reencoded
out/c.jpg: fliph, reencoded' ]
gives 0 '' -q fliph -f -d out in/*.jpg
gimgxf --json -q fliph -f -d out in/*.jpg >stdout
check 'JSON has them' [ "$(grep -cF "$loss" stdout)" = 2 ]
gimgxf fliph -f -d out --quality 80 in/a.jpg 2>stderr
check 'what is asked for is no news' grep -q 'done: 1 reencoded' stderr

# ---- Options that mean nothing ----

nothing='changes nothing in PNG; --png-level makes it smaller'
gimgxf -q copy odd.jpg plain.png
for option in '--quality 80' --optimize --no-restart; do
    gives 0 "gimgxf: plain.png: warning: ${option% *} $nothing" \
        $option fliph plain.png new.png
    gives 0 '' $option -q fliph plain.png new.png
    gives 0 '' $option -q fliph plain.png new.jpg
done
gives 0 'gimgxf: odd.jpg: warning: --optimize changes nothing in BMP' \
    --optimize copy odd.jpg new.bmp
gimgxf --json -q --optimize fliph plain.png new.png >stdout
check 'JSON has it' grep -qF "\"warnings\": [\"--optimize $nothing\"]" stdout
none='gimgxf: warning: --quality changes nothing: no JPEG was written'
gimgxf --quality 80 copy -d mixed plain.png odd.jpg 2>stderr
check 'a batch with a JPEG' [ "$(grep -c warning: stderr)" = 0 ]
gimgxf --quality 80 copy -d mixed plain.png new.bmp 2>stderr
check 'a batch without' [ "$(grep warning: stderr)" = "$none" ]
gives 0 '' -q --quality 80 copy -d mixed plain.png

# ---- Refused ----

for call in 'rotate90 even.jpg' '--edge fail transpose odd.jpg'; do
    gives 0 '' --lossless $call out.jpg
done
rm -f out.jpg
gives 0 '' --lossless rotate90 odd.jpg out.png
gives 0 '' --lossless --depth 16 copy out.png wide.png
cannot='so it cannot be turned without loss; --edge says what else to do'
refused 1 --lossless <<END
rotate90 odd.jpg out.jpg | odd.jpg: $size, $cannot
rotate90 luma.jpg out.jpg | luma.jpg: 96 x 72 pixels are not whole blocks of 16 x 16, $cannot
copy out.png out.jpg | out.png: encoding samples as JPEG loses some of them, which --lossless refuses; PNG keeps them
copy out.png no.hdr | out.png: HDR rounds samples, which --lossless refuses; NPY and PFM keep them
--depth 8 copy wide.png no.png | wide.png: --depth leaves 8 of 16 bits, which --lossless refuses
END
check 'none of them' [ -z "$(ls out.jpg no.* 2>/dev/null)" ]
refused 2 --lossless <<END
--edge reencode rotate90 odd.jpg out.jpg | --lossless means --edge fail; leave out one of --lossless and --edge
--edge trim rotate90 odd.jpg out.jpg | --lossless means --edge fail; leave out one of --lossless and --edge
--edge tag rotate90 odd.jpg out.jpg | --lossless means --edge fail; leave out one of --lossless and --edge
--quality 100 rotate90 odd.jpg out.jpg | --quality loses samples, which --lossless refuses; leave out one of them
--background white copy out.png out.ppm | --background loses samples, which --lossless refuses; leave out one of them
END

# A thumbnail that is no whole blocks, in EXIF of a picture that is, does not grow
# with every turn.
cjpeg -quality 75 -sample 2x1 odd.ppm >small.jpg
python3 - <<'PY'
from strip_pictures import exif, segment
even, small = (open(n, 'rb').read() for n in ('even.jpg', 'small.jpg'))
block = segment(0xe1, b'Exif\0\0' + exif(b'maker', small))
open('thumb.jpg', 'wb').write(even[:2] + block + even[2:])
PY
thumbnail_bytes() {
    python3 -c "data = open('thumb.jpg', 'rb').read()
at = data.index(b'\\2\\2\\0\\4\\0\\0\\0\\1') + 8
print(int.from_bytes(data[at:at + 4], 'big'))"
}
for turn in 1 2 3 4 5 6 7 8 9 10 11 12; do
    gives 0 '' rotate90 thumb.jpg thumb.jpg
    [ $turn != 1 ] || first=$(thumbnail_bytes)
done
check "a thumbnail of $first bytes grows to $(thumbnail_bytes)" \
    [ $(($(thumbnail_bytes) * 10)) -le $((first * 11)) ]

# ---- An unfinished progressive file, which viewers smooth ----

# cut SIZE SCANS [OPTION...]: unfinished.jpg, of the first scans that cjpeg makes.
cut() {
    picture ${1%x*} ${1#*x} | cjpeg -quality 85 -progressive "${@:3}" >whole.jpg
    python3 - "$2" <<'PY'
import re, sys
file = open('whole.jpg', 'rb').read()
scans = re.findall(rb'.*?\xff\xda(?:[^\xff]|\xff\0)*', file, re.S)
open('unfinished.jpg', 'wb').write(b''.join(scans[:int(sys.argv[1])]) + b'\xff\xd9')
PY
}

# shown: the least signal to noise, in dB, of all turns of unfinished.jpg, as djpeg
# shows them beside that.
shown() {
    for op in $turns; do
        gimgxf -q --force "$op" unfinished.jpg "$op.jpg" || return
    done
    python3 - $turns <<'PY'
import subprocess, sys, turns
def show(name):
    call = ['djpeg', '-rgb', '-pnm', name + '.jpg']
    return turns.pixels(subprocess.run(call, check=True, capture_output=True).stdout)
was = show('unfinished')
print(int(min(turns.decibels(turns.turned(op, was), show(op)) for op in sys.argv[1:])))
PY
}
for scans in 1 2 3; do
    while read -r size options; do # luma of whole blocks has the second
        cut $size $scans $options
        least=$(shown)
        check "$scans scans, $size $options: $least dB" [ "$least" -ge 40 ]
    done <<'END'
101x67 -sample 2x2
96x72 -sample 2x2
101x67 -sample 2x1
101x67 -sample 1x1
101x67 -grayscale
END
done
finish
