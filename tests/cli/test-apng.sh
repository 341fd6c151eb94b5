# Animated PNG files are turned, every frame, and damaged ones are refused.
. "$ROOT/tests/cli/lib.sh"
needs python3
apng=$ROOT/tests/support/apng.py

check 'special ones' python3 "$apng" special .

# turned OP A B: whether B is A turned.
turned() {
    [ -z "$(echo "$@" | python3 "$apng" compare 2>&1)" ]
}

# ---- All kinds, turned and turned back ----------------------------------------

mkdir in
check 'made' python3 "$apng" make in
check 'all kinds' [ "$(ls in | wc -l)" = 62 ]
for op in copy $turns; do
    back=$op level=
    [ $op != rotate90 ] || back=rotate270
    [ $op != rotate270 ] || back=rotate90
    [ $op != copy ] || level='--png-level 3' # else the files stay as they are
    gives 0 '' -q $op $level -d "$op" in/*.png
    gives 0 '' -q $back $level -d "$op-back" "$op"/*.png
    for file in in/*.png; do
        name=${file#in/}
        echo "$op $file $op/$name"
        echo "copy $file $op-back/$name"
    done
done >list
check 'the number of comparisons' lines list 992
check "frame by frame" [ -z "$(python3 "$apng" compare <list)" ]

# Pillow reads neither interlaced animations nor, in some versions, 16 bits of
# gray.
if offers Pillow; then
    grep -v -e '-1-[01]\.png' -e '/16-0-' list >shown
    check "as Pillow shows them" [ -z "$(python3 "$apng" pillow <shown)" ]
    sed -n 's/^rotate90/rotate270/p' shown >false
    check 'Pillow sees a wrong turn' [ "$(python3 "$apng" pillow <false |
        wc -l)" = "$(wc -l <false)" ]
fi

gives 0 '' --threads 1 rotate90 many.png one.png
makes one.png --threads 5 rotate90 many.png five.png
check 'many frames' turned rotate90 many.png one.png
gives 0 '' --png-level small rotate90 many.png small.png
check 'a level' turned rotate90 many.png small.png
cp many.png place.png
makes one.png -q --in-place rotate90 place.png
makes many.png copy many.png copy.png

# ---- What stands beside the frames --------------------------------------------

lost='chunk caBX is tied to the bytes of the file as they were, so it is not kept'
more='chunk iDOT is tied to the bytes of the file as they were, so it is not kept'
for op in upright 'rotate90 --ignore-orientation' 'copy --png-level 1'; do
    gives 0 "gimgxf: tagged.png: warning: $lost
gimgxf: tagged.png: warning: $more" $op tagged.png out.png
    gimgxf info out.png >stdout
    check "$op: chunks" grep -q 'metadata: cICP, mDCV, cLLI, eXIf, tEXt' stdout
    check "$op: no others" [ -z "$(grep -e caBX -e iDOT stdout)" ]
done
gimgxf -q --strip=all rotate90 upright.png stripped.png
makes stripped.png -q --strip=all upright tagged.png also.png
check 'nothing is left' [ "$(gimgxf info stripped.png)" = \
    'stripped.png: PNG, 9 x 13, RGB with alpha, 8 bits, animated: 7 frames, 65.89 s in all (0 to 65.53 s each), played without end' ]
makes tagged.png -q --tag-only rotate90 upright.png out.png

# All tags, also behind the frames: as shown, and what says how samples look
# stays, byte for byte.
for tag in 1 2 3 4 5 6 7 8; do
    gimgxf -q --png-level 3 upright tag-$tag.png upright-$tag.png
    echo "$tag tag-$tag.png upright-$tag.png"
done >list
check 'the tags' [ -z "$(python3 "$apng" compare <list)" ]

# A tag that is put in does not part iDOT from the image data.
python3 - <<'END'
import re
data = open('upright.png', 'rb').read()
at = data.index(b'eXIf') - 4
end = data.index(b'caBX') - 4
open('bare.png', 'wb').write(data[:at] + data[end:])
END
gimgxf -q --tag-only rotate90 bare.png out.png
python3 - <<'END'
a, b = open('bare.png', 'rb').read(), open('out.png', 'rb').read()
assert b'eXIf' in b and a[a.index(b'iDOT'):] == b[b.index(b'iDOT'):]
END
check 'iDOT keeps its distance' [ $? = 0 ]

# ---- info, conversion ---------------------------------------------------------

gives 0 '' info in/one-0.png
check 'info' [ "$(cat stdout)" = 'in/one-0.png: PNG, 5 x 7, RGB with alpha, 8 bits, animated: 1 frame, 0.1 s in all, played 3 times' ]
gives 0 '' info in/8-2-1-1.png
check 'info: apart' [ "$(head -1 stdout)" = 'in/8-2-1-1.png: PNG, 13 x 9, RGB, 8 bits, interlaced, animated: 7 frames, 65.89 s in all (0 to 65.53 s each), played without end, the default image is no frame' ]
prints \
    '"animation": {"frames": 1, "plays": 3, "seconds": 0.1, "shortest": 0.1, "longest": 0.1, "default_is_frame": false}' \
    info --json in/one-1.png
gives 0 '' info --json "$samples/f-rgb.png"
check 'a still picture' [ -z "$(grep animation stdout)" ]

gives 0 'gimgxf: sound.png: warning: frames 2 to 3 of the animation are not converted: only the default image is kept' \
    rotate90 sound.png out.ppm
gives 0 'gimgxf: sound.png: warning: frames 2 to 3 of the animation are not converted: only the default image is kept' \
    --strip rotate90 sound.png out.ppm
gives 1 'gimgxf: sound.png: other frames of the animation would be lost, which --lossless refuses' \
    --lossless copy sound.png lost.ppm
gives 0 'gimgxf: in/one-1.png: warning: frame 1 of the animation is not converted: only the default image is kept
gimgxf: in/one-1.png: warning: TGA cannot hold, so it is not kept: tEXt' rotate90 in/one-1.png out.tga
gives 0 '' rotate90 in/one-0.png out.tga # the frame is the picture
gives 0 'gimgxf: in/16-4-0-1.png: warning: frames 1 to 7 of the animation are not converted: only the default image is kept' \
    --depth 8 rotate90 in/16-4-0-1.png out.png
check 'it is still' [ "$(gimgxf info out.png | head -1)" = 'out.png: PNG, 9 x 13, gray with alpha, 8 bits' ]
gives 0 '' --depth 8 rotate90 in/8-4-0-1.png out.png
check 'the depth that it has' turned rotate90 in/8-4-0-1.png out.png

# ---- Limits -------------------------------------------------------------------

gives 1 'gimgxf: sound.png: 3 frames have 60 pixels together, more than the 59 of --max-pixels; --max-pixels 60 allows them' \
    --max-pixels 59 rotate90 sound.png out.png
gives 0 '' --max-pixels 60 rotate90 sound.png out.png
gives 1 'gimgxf: bomb.png: 6 frames have 600M pixels together, more than the 500M of --max-pixels; --max-pixels 600M allows them' \
    rotate90 bomb.png gone.png
gives 0 '' info bomb.png
n=1
for i in 1 2 3 4; do
    gimgxf --max-memory $n rotate90 many.png out.png 2>said && break
    n=$(sed -n 's/.*; --max-memory \([0-9]*[KMG]*\) allows them/\1/p' said)
done
makes one.png --max-memory "$n" rotate90 many.png out.png

# ---- Damaged ones -------------------------------------------------------------

# refuses KIND REASON WARNING: without --tolerant, and with it, which keeps
# as many frames as there are in FRAMES.
refuses() {
    gives 1 "gimgxf: $1.png: $2" rotate90 "$1.png" gone.png
    gives 1 "gimgxf: $1.png: $2" copy "$1.png" gone.png
    check "$1: nothing is written" absent gone.png
    gives 0 "gimgxf: $1.png: warning: $3" --tolerant rotate90 "$1.png" "$1.out.png"
    check "$1: what is left is sound" gimgxf -q rotate270 "$1.out.png" out.png
    check "$1: and turned" turned rotate270 "$1.out.png" out.png
    gives 0 "gimgxf: $1.png: warning: $3" --tolerant copy "$1.png" out.png
}
left() {
    refuses "$1" "$3" "only frames that can be read are kept, $2 in all: $3"
    check "$1: frames" grep -q "animated: $2 frame" <<<"$(gimgxf info "$1.out.png")"
}
still() {
    refuses "$1" "$2" "$2: the default image is kept alone"
    check "$1: still" [ -z "$(gimgxf info "$1.out.png" | grep animated)" ]
}
left too-few 2 'acTL says that there are 3 frames, but 2 are there'
left too-many 2 'acTL says that there are 1 frames, but 2 are there'
left order 3 'fcTL has the sequence number 2, where 1 should follow'
left gap 3 'fdAT has the sequence number 3, where 2 should follow'
left outside 2 'frame 2, of 3 x 2 pixels at 6, 4, is not within the picture of 8 x 6'
left far-outside 1 'frame 2, of 3 x 2 pixels at 4294967295, 4, is not within the picture of 8 x 6'
left nothing 1 'frame 2, of 0 x 2 pixels at 0, 0, is not within the picture of 8 x 6'
left no-fdat 2 'frame 2 has no image data'
left last-no-fdat 1 'frame 2 has no image data'
left early-fdat 1 'an fdAT stands before the image data'
left two-first 1 'two fcTL stand before the image data'
left two-actl 1 'acTL is there twice'
left dispose 1 'the fcTL of frame 2 is malformed'
left short-fdat 1 'an fdAT of frame 2 is malformed'
left no-fctl 1 'an fdAT belongs to no fcTL'
still no-frames 'acTL says that there are 2 frames, but 0 are there'
still small-first 'frame 1, the default image, is said to be 3 x 2 pixels large'
still late-actl 'acTL stands behind the image data'
still short-actl 'acTL is malformed'
# What stands behind damaged samples is kept, and tags there count; each is told
# once. libpng gives the reasons.
while read -r kind warnings; do
    gimgxf -f --tolerant --verify upright $kind.png out.png 2>said
    check "$kind: status" [ $? = 0 ]
    check "$kind: $(cat said)" \
        [ "$(grep -vc 'verify looks only' said)" = "$warnings" ]
    check "$kind: the damage" grep -q 'warning: damaged, read as far as it goes' said
    gimgxf -q --tolerant --ignore-orientation copy $kind.png stored.ppm
    gimgxf -q copy out.png out.ppm
    [ $kind = cut ] && op=copy || op=rotate90
    makes out.ppm -q $op stored.ppm want.ppm
done <<'END'
cut 1
cut-end 2
cut-front 2
cut-late 5
cut-passes 1
cut-tagged 1
END
check 'cut-tagged: all is there' grep -q 'eXIf, tEXt' <<<"$(gimgxf info out.png)"
gimgxf -q --tolerant --strip rotate90 cut.png out.png
gimgxf -q rotate90 sound.png whole.png
for file in out whole; do # behind the picture itself
    python3 -c 'import sys
data = open(sys.argv[1], "rb").read()
print(data[data.index(b"fcTL", data.index(b"IDAT")):])' $file.png >$file.frames
done
check 'cut: all frames are there' same out.frames whole.frames
for kind in short-data bad-data; do # libpng gives the reason
    tells 1 "^gimgxf: $kind.png: frame 2: ..." rotate90 $kind.png gone.png
    gimgxf copy $kind.png gone.png 2>said
    check "$kind: copy" [ $? = 1 ]
    for op in copy rotate90; do
        gimgxf $op $kind.png gone.pam 2>said
        check "$kind: $op to PAM" [ $? = 1 ]
        check "$kind: reason of $op to PAM" \
            grep -q "^gimgxf: $kind.png: frame 2: ..." said
    done
    gimgxf -f --tolerant rotate90 $kind.png out.png 2>said
    check "$kind: warning" grep -q 'warning: frame 2: damaged, read as far' said
    check "$kind: one warning" lines said 1
    gimgxf -f --tolerant copy $kind.png out.png 2>said
    check "$kind: one warning of copy" lines said 1
    check "$kind: sound" gimgxf -f copy --png-level 1 out.png again.png
done
check 'damaged samples: nothing is written' absent gone.png
check 'damaged samples: no PAM is written' absent gone.pam
# of several the first is told
tells 1 '^gimgxf: both-bad.png: frame 2: [^:]*$' --threads 4 rotate90 \
    both-bad.png gone.png
gives 0 'gimgxf: no-actl.png: warning: there are frames, but no acTL: the default image is kept alone' \
    rotate90 no-actl.png out.png
check 'no acTL' [ "$(gimgxf info out.png)" = 'out.png: PNG, 6 x 8, RGB, 8 bits' ]

# Cut anywhere, a file is refused, and what is left of it can be read.
size=$(wc -c <sound.png)
for ((n = 1; n < size; n += 7)); do
    head -c $n sound.png >cut.png
    gimgxf -q rotate90 cut.png gone.png 2>/dev/null
    check "cut at $n: status" [ $? = 1 ]
    if gimgxf -q --tolerant rotate90 cut.png rest.png 2>/dev/null; then
        check "cut at $n: sound" gimgxf -q copy --png-level 1 rest.png out.png
    fi
done
check 'nothing is written' absent gone.png
finish
