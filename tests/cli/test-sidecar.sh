# Sidecars, IMG.jpg.xmp and IMG.xmp beside a picture that was turned, are named by a
# warning, and stay as they are.
. "$ROOT/tests/cli/lib.sh"
stale='stays as it is, and may say another orientation'

# f-sideways.jpg has the tag 6 and whole blocks.
begin() {
    rm -rf at
    mkdir at
    cp "$samples/f-sideways.jpg" at/IMG.jpg
    echo 'any text' >at/IMG.xmp
    cp at/IMG.xmp at/IMG.jpg.xmp
    cp at/IMG.xmp was
}
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
begin
called 0 --json upright at/IMG.jpg at/IMG.jpg
check 'JSON' grep -qF "at/IMG.xmp $stale" stdout
begin
gives 0 '' upright at/IMG.jpg at/other.jpg # beside which there is none
gimgxf -q upright at/IMG.jpg at/IMG.jpg
gives 0 '' upright at/IMG.jpg at/IMG.jpg # nothing is turned
cp at/IMG.jpg at/IMG
mv at/IMG.xmp at/elsewhere.xmp
gives 0 '' rotate90 --format png at/IMG.jpg at/new
mkdir at/new.xmp
gives 0 '' fliph --format jpg at/IMG.jpg at/new.jpg # a directory is none
finish
