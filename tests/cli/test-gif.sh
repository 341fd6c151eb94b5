# GIF: every frame is turned where it lies, and all else stays byte for byte, by an
# oracle that reads and shows such files by itself.
. "$ROOT/tests/cli/lib.sh"
needs python3
gif=$ROOT/tests/support/gif.py
ops='copy fliph flipv rotate180 transpose rotate90 rotate270 transverse'

# ---- All kinds, by every turn ----

mkdir in bad
check 'made' python3 "$gif" make in
check 'all kinds' [ "$(ls in | wc -l)" = 35 ]
for op in $ops; do
    gives 0 '' -q $op -d "$op" in/*.gif
    for file in in/*.gif; do
        echo "$op $file $op/${file#in/}"
    done
done >list
check 'the number of comparisons' lines list 280
check 'as browsers show them' [ -z "$(python3 "$gif" compare <list)" ]
sed -n 's/^rotate90/rotate270/p' list >false
check 'a wrong turn is seen' \
    [ "$(python3 "$gif" compare <false | wc -l)" -ge 30 ]

# Pillow reads neither codes of 2 bits nor an empty frame.
if has_tool Pillow; then
    grep -v -e /one-bit -e /empty list >shown
    check 'as Pillow shows them' [ -z "$(python3 "$gif" pillow <shown)" ]
else
    echo 'skipped: Pillow'
fi

for op in fliph rotate180; do
    check "$op, nothing to do" same copy/animation.gif in/animation.gif
    gimgxf -q $op $op/animation.gif twice.gif
    echo "copy in/animation.gif twice.gif"
done | python3 "$gif" compare >differ
check 'twice is not at all' [ ! -s differ ]

# Eight quarter turns are four, byte for byte.
for file in in/*.gif; do
    cp "$file" turned.gif
    for i in 1 2 3 4 5 6 7 8; do
        gimgxf -q --in-place rotate90 turned.gif
        [ $i != 4 ] || cp turned.gif four.gif
    done
    check "eight turns of $file" same four.gif turned.gif
done

gives 0 '' --threads 1 rotate90 in/many.gif one.gif
gives 0 '' --threads 5 rotate90 in/many.gif five.gif
check 'the number of threads does not matter' same one.gif five.gif
finish
