# A tagged JPEG that cannot be turned without loss: `copy` leaves pixels and tag,
# whatever metadata goes; `upright` turns it, and what --edge tag leaves is said.
# Whatever is done, the picture as shown stays what it was.
. "$ROOT/tests/cli/lib.sh"
needs python3 cjpeg djpeg

cat >tagged.py <<'END'
"""tagged.py make FILE TAG OUT: adds EXIF with this orientation and a maker, and
XMP with the same orientation and a creator.
tagged.py tags FILE: prints the orientation in EXIF, how many tags EXIF has, and
the orientation in XMP; - for what is not there.
tagged.py shown A B...: whether all are shown alike, as djpeg decodes them."""
import re, struct, subprocess, sys
from pieces import EXIF, XMP, app1, segment, segments, xmp_tag
from tiff import Reader
import turns

def tags(name):
    exif, count, xmp = '-', '-', '-'
    for kind, body in segments(open(name, 'rb').read()):
        if kind == 0xe1 and body.startswith(EXIF):
            block = Reader(body[6:])
            found = next(block.pages)
            count, exif = len(found), block.values(found, 0x112, '-')[0]
        found = re.search(rb'tiff:Orientation="(.)"', body)
        if kind == 0xe1 and found:
            xmp = int(found.group(1))
    return exif, count, xmp

def shown(name):
    ppm = subprocess.run(['djpeg', '-nosmooth', name], check=True,
                         stdout=subprocess.PIPE).stdout
    tag = tags(name)[0]
    return turns.turned(list(turns.SOURCES)[0 if tag == '-' else tag - 1],
                        turns.pixels(ppm))

if sys.argv[1] == 'make':
    data, tag = open(sys.argv[2], 'rb').read(), int(sys.argv[3])
    exif = (b'Exif\0\0II*\0' + struct.pack('<IH', 8, 2) +
            struct.pack('<HHI4s', 0x10f, 2, 4, b'abc\0') +
            struct.pack('<HHIHH', 0x112, 3, 1, tag, 0) + bytes(4))
    add = segment(0xe1, exif) + app1(XMP, xmp_tag(tag))
    open(sys.argv[4], 'wb').write(data[:2] + add + data[2:])
elif sys.argv[1] == 'tags':
    print(*tags(sys.argv[2]))
else:
    a = shown(sys.argv[2])
    for name in sys.argv[3:]:
        b = shown(name)
        apart = [abs(i - k) for p, q in zip(a[2], b[2]) for i, k in zip(p, q)]
        if a[:2] != b[:2] or sum(apart) > 3 * len(apart):
            sys.exit(name + ' is shown otherwise')
END
tagged() {
    python3 tagged.py "$@"
}

# picture WIDTH HEIGHT: soft shapes that no turn leaves alike.
picture() {
    python3 -c "
import sys
w, h = $1, $2
sys.stdout.buffer.write(b'P6\n%d %d\n255\n' % (w, h) + bytes(
    v for y in range(h) for x in range(w)
    for v in (x * 200 // w, y * 150 // h, 40 + x * y * 100 // (w * h))))"
}

# Of 40 x 27 nothing can be turned but by exchanging the axes, of 40 x 32 all but
# what mirrors x, at 4:2:0.
picture 40 27 | cjpeg -quality 90 -sample 2x2 >odd.jpg
picture 40 32 | cjpeg -quality 90 -sample 2x2 >chroma.jpg
picture 48 32 | cjpeg -quality 90 -sample 2x2 >whole.jpg
kept='not whole blocks of 16 x 16: they stay, and so does the orientation tag'

for which in {1..8},odd {2,6,7},chroma {3,6},whole; do
    file=${which#*,} tag=${which%,*}
    rm -f out-*.jpg
    tagged make $file.jpg $tag in.jpg
    loses=$(gimgxf --lossless upright in.jpg out-lossless.jpg 2>&1)
    gimgxf copy in.jpg out-copy.jpg 2>said
    if [ -n "$loses" ]; then
        check "no byte is changed, $which" same in.jpg out-copy.jpg
        check "it is said, $which" grep -qF "$kept, $tag; upright" said
        left="$tag 2 $tag" stripped="$tag 1 -"
    else
        check "no word, $which" [ ! -s said ]
        left='1 2 1' stripped='- - -'
    fi
    check "tags, $which" [ "$(tagged tags out-copy.jpg)" = "$left" ]
    for strip in --strip --strip=exif,xmp; do
        gimgxf -q $strip copy in.jpg out$strip.jpg
        check "the tag alone: copy $strip, $which" \
            [ "$(tagged tags out$strip.jpg)" = "$stripped" ]
    done
    [ -z "$loses" ] || check "no pixel moves, $which" \
        same <(djpeg in.jpg) <(djpeg out--strip.jpg)
    gives 0 '' -q --strip=gps --lossless copy in.jpg out-gps.jpg
    gimgxf -q --edge tag --strip rotate90 in.jpg out-turned.jpg
    gimgxf -q --edge tag --strip rotate270 out-turned.jpg out-back.jpg
    rm out-turned.jpg
    gimgxf upright in.jpg out-upright.jpg 2>said
    check "upright has its own advice, $which" [ "$(grep -c 'or tag' said)" = 0 ]
    check "its tag, $which" [ "$(tagged tags out-upright.jpg)" = '1 2 1' ]
    check "as shown, $which" tagged shown in.jpg out-*.jpg
done

# ---- What is asked for ----

tagged make odd.jpg 6 in.jpg
# As it is turned where a way is named.
for way in reencode trim; do
    gives 0 '' --edge $way copy in.jpg new-$way.jpg
    check "--edge $way copy" [ "$(tagged tags new-$way.jpg)" = '1 2 1' ]
done
gives 1 'gimgxf: in.jpg: 40 x 27 pixels are not whole blocks of 16 x 16, so it cannot be turned without loss; --edge says what else to do' \
    --edge fail copy in.jpg none.jpg
gives 0 '' -q upright,copy in.jpg new-upright.jpg
check 'upright,copy' [ "$(tagged tags new-upright.jpg)" = '1 2 1' ]
gives 0 "gimgxf: in.jpg: warning: 40 x 27 pixels are $kept, 6" \
    --edge tag upright in.jpg new-tag.jpg
check 'upright by its tag' same in.jpg new-tag.jpg
prints '"how": "unchanged".*"warnings": \["40 x 27' --json -q copy in.jpg new-json.jpg
prints '"how": "tagged"' --json -q --strip copy in.jpg new-strip.jpg

# ---- Many ----

mkdir in
for tag in 1 6 8; do
    tagged make odd.jpg $tag in/odd$tag.jpg
    tagged make whole.jpg $tag in/whole$tag.jpg
done
gimgxf copy -d out in/*.jpg 2>said
check 'a batch counts' grep -q \
    '^gimgxf: 6 of 6 done: 2 unchanged, 2 lossless, 2 left by the tag$' said
check 'and says why' [ "$(grep warning: said)" = "gimgxf: warning: 2 kept their \
pixels and orientation tags, since the turn would lose samples; upright turns them, \
with loss" ]
gimgxf --edge tag upright -d out-tag in/*.jpg 2>said
check 'upright counts' grep -q ' 2 lossless, 2 left by the tag$' said
check 'what the tag turns' [ "$(grep warning: said)" = "gimgxf: warning: 2 kept \
their pixels and orientation tags, since the turn would lose samples" ]
gimgxf upright -d out-upright in/*.jpg 2>said
check 'upright warns' [ "$(grep warning: said)" = "gimgxf: warning: 2 lost some \
quality, since their sizes are no whole number of blocks; --lossless refuses, --edge \
trim turns without loss" ]
for file in {odd,whole}{6,8}.jpg; do
    check "as shown, $file" tagged shown {in,out,out-tag,out-upright}/$file
done
gives 0 '' -q -i --strip copy in/odd6.jpg
check 'in place' [ "$(tagged tags in/odd6.jpg)" = '6 1 -' ]
finish
