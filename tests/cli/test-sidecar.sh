# Sidecars, IMG.jpg.xmp and IMG.xmp beside a picture that was turned: one that
# says another orientation gets a warning, and --sidecar makes it true.
. "$ROOT/tests/cli/lib.sh"
needs python3

cat >xmp.py <<'END'
"""xmp.py make FILE TAG: a sidecar with this orientation, - for none, and a face at
the top left. xmp.py get FILE: prints the orientation, and where the face is."""
import re, sys
if sys.argv[1] == 'make':
    tag = '' if sys.argv[3] == '-' else 'tiff:Orientation="%s"' % sys.argv[3]
    open(sys.argv[2], 'w').write('''<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
 xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
 xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#" xmp:Rating="4" %s>
<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li
 rdf:parseType="Resource"><mwg-rs:Area stArea:x="0.2" stArea:y="0.1"
 stArea:w="0.2" stArea:h="0.1" stArea:unit="normalized"/></rdf:li></rdf:Bag>
</mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>
''' % tag)
else:
    text = open(sys.argv[2]).read()
    assert 'xmp:Rating="4"' in text
    print(*(re.search(name + '="([0-9.]+)"', text).group(1)
            for name in ('tiff:Orientation', 'stArea:x', 'stArea:y')))
END
xmp() {
    python3 xmp.py "$@"
}
is() {
    check "$1 is $2: $(xmp get "$1")" [ "$(xmp get "$1")" = "$2" ]
}
stale='says orientation 6, but the picture'"'"'s is 1 now; --sidecar sets it'

# f-sideways.jpg has the tag 6 and whole blocks.
begin() {
    rm -rf at
    mkdir at
    cp "$samples/f-sideways.jpg" at/IMG.jpg
    xmp make at/IMG.xmp 6
    xmp make at/IMG.jpg.xmp 6
    cp at/IMG.xmp was
}
begin
check 'the sample' [ "$(gimgxf info --json at/IMG.jpg | grep -c '"orientation": 6')" = 1 ]

# ---- A warning ----

for call in 'upright at/IMG.jpg at/IMG.jpg' 'rotate90 --sandbox off at/IMG.jpg at/IMG.jpg' \
    'upright -i at/IMG.jpg' 'upright -i -r at' 'fliph -i --isolate at/IMG.jpg'; do
    begin
    called 0 $call
    for name in IMG.jpg.xmp IMG.xmp; do
        check "$name is named: $call" grep -qxF \
            "gimgxf: at/IMG.jpg: warning: at/$name $stale" stderr
        check "$name stays: $call" same was at/$name
    done
done
begin
gives 0 '' -q upright -i at/IMG.jpg
check '-q' same was at/IMG.xmp
begin
called 0 --json upright at/IMG.jpg at/IMG.jpg
check 'JSON' grep -qF "at/IMG.xmp $stale" stdout
begin
gives 0 '' upright at/IMG.jpg at/other.jpg # beside which there is none
xmp make at/IMG.xmp 1
xmp make at/IMG.jpg.xmp -
gives 0 '' upright at/IMG.jpg at/IMG.jpg # which they know
begin
rm at/IMG.jpg.xmp
gives 0 "gimgxf: at/IMG.jpg: warning: at/IMG.xmp says orientation 6, but the \
picture's is 8 now; --sidecar sets it" --tag-only rotate180 at/IMG.jpg at/IMG.jpg
gimgxf -q upright at/IMG.jpg at/IMG.jpg
gives 0 '' upright at/IMG.jpg at/IMG.jpg # nothing is turned

# ---- Made true ----

# With the picture, so are the regions in it: (0.2, 0.1) of what rotate90 turns is
# at (0.9, 0.2) then.
for sandbox in on off; do
    for call in 'upright at/IMG.jpg at/IMG.jpg' '-i upright at/IMG.jpg' \
        '-i upright -r at' '-i --isolate upright at/IMG.jpg' \
        '-i -p upright at/IMG.jpg'; do
        begin
        chmod 640 at/IMG.xmp
        called 0 --sandbox $sandbox --sidecar $call
        check "no warning: $call" [ "$(grep -c warning stderr)" = 0 ]
        is at/IMG.xmp '1 0.9 0.2'
        is at/IMG.jpg.xmp '1 0.9 0.2'
        check "its mode: $call" [ "$(stat -c %a at/IMG.xmp)" = 640 ]
        check "nothing else: $call" [ "$(ls -A at | tr '\n' ' ')" = \
            'IMG.jpg IMG.jpg.xmp IMG.xmp ' ]
    done
done
begin
gimgxf --sidecar -i upright at/IMG.jpg 2>stderr
check 'a batch counts' grep -q '1 of 1 done: 1 lossless; 2 sidecars set$' stderr
gimgxf --sidecar -i rotate90 at/IMG.jpg 2>stderr # all say 1, and turn once more
is at/IMG.xmp '1 0.8 0.9'
begin
gives 0 '' --sidecar --tag-only rotate180 at/IMG.jpg at/IMG.jpg
is at/IMG.xmp '8 0.2 0.1'
begin
gives 0 '' upright at/IMG.jpg at/new.jpg
cp at/new.jpg at/IMG.jpg
gives 0 '' --sidecar -q -i upright at/IMG.jpg # nothing but the sidecars to do
is at/IMG.xmp '1 0.2 0.1'
begin
gives 0 '' -q --sidecar --backup .old -i upright at/IMG.jpg
check 'backups' same was at/IMG.xmp.old
is at/IMG.xmp '1 0.9 0.2'

# An output elsewhere: what stands there says how the picture before lay, and its
# regions are that one's.
for way in '-d out' '-o out/{stem}.{ext}' ''; do
    begin
    rm -rf out
    mkdir out
    cp at/IMG.jpg at/IMG.xmp out
    to=${way:+-q}
    gives 0 '' -q --sidecar upright $way at/IMG.jpg ${to:-out/IMG.jpg}
    is out/IMG.xmp '1 0.2 0.1'
    check "that of the input stays: $way" same was at/IMG.xmp
done
printf '%s\n' '{"op": "upright", "input": "at/IMG.jpg", "output": "at/IMG.jpg",
"options": {"sidecar": true}}' | tr -d '\n' | gimgxf serve --root . - >answers
is at/IMG.xmp '1 0.9 0.2'

# ---- What is no sidecar of this picture ----

begin
: >at/IMG.CR3
: >at/IMG.jpg.png
gives 0 "gimgxf: at/IMG.jpg: warning: at/IMG.jpg.xmp $stale" upright at/IMG.jpg at/IMG.jpg
begin
: >at/IMG.CR3
gives 0 'gimgxf: at/IMG.jpg: warning: at/IMG.xmp says orientation 6, and stays: it may be that of another picture' \
    --sidecar upright at/IMG.jpg at/IMG.jpg
check "another's stays" same was at/IMG.xmp
is at/IMG.jpg.xmp '1 0.9 0.2'

# ---- Links, and what cannot be had ----

for way in 'at/IMG.jpg at/IMG.jpg' '-q -i at/IMG.jpg'; do
    begin
    mkdir at/far
    mv at/IMG.xmp at/far/real.xmp
    ln -s far/real.xmp at/IMG.xmp
    gives 0 '' --sidecar upright $way
    is at/far/real.xmp '1 0.9 0.2'
    check "$way: a link stays" [ -L at/IMG.xmp ]
done
begin
mkfifo fifo
mv fifo at/IMG.xmp
cp at/IMG.jpg before.jpg
gives 1 'gimgxf: at/IMG.jpg: at/IMG.xmp: not a regular file' --sidecar upright at/IMG.jpg at/IMG.jpg
check 'the picture stays' same before.jpg at/IMG.jpg
check 'the other sidecar stays' same was at/IMG.jpg.xmp
check 'nothing is left' no_temporary at
gimgxf upright at/IMG.jpg at/IMG.jpg 2>stderr </dev/null
check 'without the option it does not matter' [ $? = 0 ]
begin
echo 'no XMP <' >at/IMG.xmp
rm at/IMG.jpg.xmp
gives 0 '' --sidecar upright at/IMG.jpg at/IMG.jpg
check 'what is none stays' [ "$(cat at/IMG.xmp)" = 'no XMP <' ]
begin
echo 'no picture' >at/IMG.jpg
gimgxf --sidecar upright at/IMG.jpg at/IMG.jpg 2>stderr
check 'a picture that fails' [ $? = 1 ]
check 'leaves its sidecars' same was at/IMG.xmp
gives 2 'gimgxf: --sidecar: has no meaning with --stack, which makes one array of all pictures' \
    --sidecar copy --stack all.npy at/IMG.jpg
finish
