# WebP: every frame is turned, and what is seen at every time is the turn of what was
# seen, by a script that reads the container and composes animations itself.
. "$ROOT/tests/cli/lib.sh"
needs python3
if ! has_tool Pillow || ! gimgxf --version | grep -q libwebp ||
    ! python3 -c 'from PIL import features; exit(not features.check("webp"))'; then
    echo 'skipped: libwebp, and Pillow with WebP'
    finish
fi
webp="python3 $ROOT/tests/support/webp_pictures.py"

# ---- All kinds, by every turn ----

check 'made' $webp make in
check 'all kinds' [ "$(ls in | wc -l)" = 35 ]
for op in $turns; do
    gimgxf -q $op -d $op in/*.webp 2>said
    check "$op: $(cat said)" [ ! -s said ]
done
for file in in/*-exact.webp in/*-lossy.webp; do
    pick 3 $turns
    for op in $picked; do
        least=
        [ "${file%-lossy.webp}" = "$file" ] || least=28
        echo $op $file $op/${file#in/} $least >>turned
    done
done
judge $webp judge
check 'a wrong turn is seen' [ "$(echo fliph in/rgb-exact.webp flipv/rgb-exact.webp |
    $webp judge | wc -l)" = 1 ]

# ---- What stays ----

makes in/anim0-mixed-exact.webp copy in/anim0-mixed-exact.webp copy.webp
for file in in/simple-exact.webp in/tag6-exact.webp in/anim1-mixed-exact.webp \
    in/anim2-hard-exact.webp; do
    eight_turns $file turned.webp
done
gives 0 '' upright in/tag6-exact.webp up6.webp
echo copy in/tag6-exact.webp up6.webp >turned
for tag in 1 7; do
    gives 0 '' --tag-only rotate90 in/tag$tag-exact.webp tagged.webp
    gives 0 '' upright tagged.webp up$tag.webp
    echo rotate90 in/tag$tag-exact.webp up$tag.webp >>turned
done
gives 0 '' --tag-only rotate90 in/rgb-exact.webp tagged.webp
gives 0 '' upright tagged.webp up.webp
echo copy tagged.webp up.webp >>turned # a tag that was added
gives 0 '' copy up.webp up.png
gives 0 '' rotate90 in/rgb-exact.webp right.png
check 'as if it had been there' [ "$(gimgxf relate right.png up.png)" = 'copy: the same samples' ]

# ---- With loss, and without ----

gives 0 'gimgxf: in/simple-lossy.webp: warning: it was lossy, and becomes lossless, so that nothing more is lost; that takes more bytes' \
    --lossless rotate90 in/simple-lossy.webp less.webp
echo rotate90 in/simple-lossy.webp less.webp >>turned
gimgxf rotate90 in/simple-lossy.webp anew.webp 2>said
check 'loss is said' grep -q 'lossy WebP is encoded anew, with loss, at a quality of at least' said
gives 0 '' --quality 20 rotate90 in/simple-lossy.webp small.webp
check 'a lower quality is smaller' \
    [ "$(stat -c %s small.webp)" -lt "$(stat -c %s anew.webp)" ]
gives 0 '' --strip=exif copy in/tag1-exact.webp bare.webp
check 'no EXIF' [ -z "$(grep -a EXIF bare.webp)" ]

# ---- From and to other formats ----

for suffix in png tga pam; do
    gives 0 '' rotate90 in/simple-exact.webp out.$suffix
    gives 0 '' rotate270 out.$suffix $suffix.webp
    echo copy in/simple-exact.webp $suffix.webp >>turned
done
judge $webp judge

# ---- What is damaged ----

for file in in/rgb-exact.webp in/anim0-hard-exact.webp in/all-lossy.webp; do
    size=$(stat -c %s "$file")
    for n in 13 40 $((size / 2)) $((size - 9)); do
        head -c $n $file >cut.webp
        gimgxf -q rotate90 cut.webp no.webp 2>said
        check "$n bytes of $file" [ $? = 1 ]
        check "$n bytes of $file: one line" [ "$(wc -l <said)" = 1 ]
    done
done
# A byte in the stream of the last frame.
cp in/anim0-hard-exact.webp bad.webp
printf '\377\377\377\377' | dd of=bad.webp bs=1 conv=notrunc status=none \
    seek=$(($(grep -abo VP8L bad.webp | tail -n 1 | cut -d: -f1) + 13))
gimgxf -q check bad.webp 2>said
check 'the last frame is damaged' [ $? = 1 ]
# Where only the tag is to go, too.
cp in/tag6-exact.webp bad.webp
head -c 40 /dev/zero | dd of=bad.webp bs=1 conv=notrunc status=none \
    seek=$(($(grep -abo VP8L bad.webp | tail -n 1 | cut -d: -f1) + 40))
gives 1 'gimgxf: bad.webp: frame 1: the picture is damaged' \
    rotate270 bad.webp no.webp
check 'no output' [ ! -e no.webp ]
finish
