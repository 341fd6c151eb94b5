# JPEG files are turned as jpegtran turns them wherever jpegtran is right:
# brought to one form by jpegtran itself, both files are identical.
. "$ROOT/tests/cli/lib.sh"

needs jpegtran cjpeg djpeg

# A picture of 192 x 96, and of other sizes.
picture() {
    awk -v w="$1" -v h="$2" 'BEGIN {
        print "P3", w, h, 255
        for (y = 0; y < h; y++)
            for (x = 0; x < w; x++)
                print int(255 * x / w), int(255 * y / h), (x * y + 9 * x) % 256
    }'
}

# one_form FILE: without metadata, coded in one way.
one_form() {
    jpegtran -copy none -optimize "$1"
}

turns='rotate90=-rotate%90 rotate180=-rotate%180 rotate270=-rotate%270
    fliph=-flip%horizontal flipv=-flip%vertical transpose=-transpose
    transverse=-transverse'

# agree FILE TURN...: these turns of a file.
agree() {
    local file=$1 turn theirs
    shift
    for turn; do
        theirs=${turn#*=}
        jpegtran -copy none -perfect ${theirs/\%/ } "$file" >theirs.jpg
        gives 0 '' "${turn%%=*}" "$file" ours.jpg
        check "${turn%%=*} of $file" same <(one_form ours.jpg) <(one_form theirs.jpg)
    done
}

picture 192 96 >in.ppm
for sampling in 1x1 2x1 1x2 2x2 4x1 1x4 4x2 3x1 2x1,1x2,1x1 1x2,2x1,2x2; do
    n=0
    for coding in '-baseline' '-optimize' '-progressive' '-arithmetic' \
        '-restart 1' '-progressive -restart 5B'; do
        n=$((n + 1))
        cjpeg -quality 80 -sample $sampling $coding in.ppm >"$sampling$n.jpg"
    done
    agree "${sampling}1.jpg" $turns
    for n in 2 3 4 5 6; do
        agree "$sampling$n.jpg" rotate90=-rotate%90
    done
done
cjpeg -grayscale in.ppm >gray.jpg
cjpeg -rgb in.ppm >rgb.jpg
for file in gray.jpg rgb.jpg 2x23.jpg 2x14.jpg; do
    agree $file $turns
done

# ---- What its users complain of ---------------------------------------------

# coding FILE: what the frame and the restart markers are.
coding() {
    djpeg -verbose -verbose -fast "$1" 2>&1 >/dev/null |
        grep -E '^(Start Of (Frame|Scan)|Define Restart)' | sed 's/: .*//'
}

# scans FILE: how many.
scans() {
    coding "$1" | grep -c 'Start Of Scan'
}

# A progressive file becomes baseline, and restart markers are gone.
gives 0 '' rotate90 2x23.jpg out.jpg
check 'progressive stays' [ "$(scans out.jpg)" = "$(scans 2x23.jpg)" ]
check 'there is more than one scan' [ "$(scans out.jpg)" -gt 2 ]
gives 0 '' rotate90 2x25.jpg out.jpg
check 'restart markers stay' grep -q Restart <(coding out.jpg)

for file in 2x25.jpg 2x26.jpg; do
    for op in copy rotate90; do
        gives 0 '' --no-restart $op $file out.jpg
        check "$op of $file: none" eval '! grep -q Restart <(coding out.jpg)'
    done
    gives 0 '' --no-restart copy $file out.jpg
    check "$file: its coefficients" same <(one_form $file) <(one_form out.jpg)
    check "$file: progressive or not" [ "$(scans out.jpg)" = "$(scans $file)" ]
done

# The file has the size of jpegtran's, or is smaller.
for file in 2x2?.jpg; do
    gives 0 '' rotate90 "$file" out.jpg
    option=
    case $file in
    *3.jpg) option=-progressive ;;
    *4.jpg) option=-arithmetic ;;
    *5.jpg) option='-restart 1' ;;
    *6.jpg) option='-progressive -restart 5B' ;;
    esac
    jpegtran -rotate 90 -copy all $option "$file" >theirs.jpg
    check "$file is no larger" \
        [ "$(stat -c %s out.jpg)" -le $(($(stat -c %s theirs.jpg) * 1001 / 1000)) ]
done

# A strip at the wrong side, and status 0 where nothing was turned.
picture 101 67 | cjpeg -quality 90 -sample 2x2 >odd.jpg
how() {
    gimgxf --json "$@" | sed 's/.*"how": "\([a-z]*\)".*/\1/'
}
check 'reencoded' [ "$(how rotate90 odd.jpg out.jpg)" = reencoded ]
djpeg -pnm out.jpg >out.ppm
check 'its size' grep -qa '^67 101$' out.ppm
jpegtran -rotate 90 -trim odd.jpg >theirs.jpg
check 'trimmed' [ "$(how --edge trim rotate90 odd.jpg out.jpg)" = trimmed ]
check 'as jpegtran trims' same out.jpg theirs.jpg
check 'tagged' [ "$(how --edge tag rotate90 odd.jpg out.jpg)" = tagged ]
check 'the tag' [ "$(gimgxf info out.jpg | grep -c 'orientation 6')" = 1 ]
check 'its pixels' same <(one_form odd.jpg) <(one_form out.jpg)
check 'nothing is left to turn' \
    [ "$(how --edge tag rotate270 out.jpg again.jpg)" = lossless ]
check 'no tag' [ "$(gimgxf info again.jpg | grep -c 'orientation')" = 0 ]
check 'transposed' [ "$(how --edge fail transpose odd.jpg out.jpg)" = lossless ]
picture 100 9 | cjpeg -sample 2x2 >thin.jpg
refused 1 rotate90 <<END
--edge fail odd.jpg none.jpg | odd.jpg: 101 x 67 pixels are not whole blocks of 16 x 16, so it cannot be turned without loss; --edge says what else to do
--edge trim thin.jpg none.jpg | thin.jpg: 100 x 9 pixels are less than one block of 16 x 16, so --edge trim would leave nothing
END
check 'no file' absent none.jpg
check 'the other axis' \
    [ "$(how --edge trim rotate270 thin.jpg out.jpg)" = trimmed ]

refused 2 <<END
--edge crop rotate90 odd.jpg out.jpg | --edge: 'crop' is not known; expected reencode, trim, tag or fail
--edge tag --ignore-orientation rotate90 odd.jpg out.jpg | --edge tag sets the orientation that --ignore-orientation leaves
END
finish
