# Data behind the first picture of a JPEG: gain maps, other views and previews
# are turned with it, films are kept byte for byte, and all offsets to them are
# right afterwards.
. "$ROOT/tests/cli/lib.sh"
needs python3 cjpeg djpeg
trailers="python3 $ROOT/tests/support/jpeg_trailers.py"

for kind in $($trailers kinds); do
    $trailers make "$kind" in.jpg
    said=
    case $kind in
    other-shape)
        said="gimgxf: in.jpg: warning: picture 3 in the file is kept as it"
        said="$said was, not turned: it has another shape"
        ;;
    odd)
        again="gimgxf: in.jpg: warning: picture 2 in the file: encoded anew, "
        again="${again}since 23 x 15 pixels are not whole blocks of 8 x 8"
        ;;
    esac
    ops='fliph rotate180 flipv transpose rotate90 transverse rotate270'
    [ "$kind" != tagged ] || ops='upright rotate270'
    for op in $ops; do
        if [ "$kind" = broken ]; then
            gimgxf $op in.jpg out.jpg 2>stderr
            check "$kind: a warning" grep -q 'picture 3 .* kept as it was' \
                stderr
        else
            if [ "$kind" = odd ]; then
                said=$again
                [ "$op" != transpose ] || said=
            fi
            gives 0 "$said" $op in.jpg out.jpg
        fi
        check "$kind, $op" $trailers check "$kind" ${op/upright/copy} in.jpg \
            out.jpg
    done
    gives 0 '' --strip copy in.jpg out.jpg
    check "$kind, stripped" [ "$(tail -c 2 out.jpg | od -An -tx1)" = ' ff d9' ]
done

# No axis runs backwards, so that any size is turned without loss: twice gives
# what was there.
$trailers make ultrahdr whole.jpg
gives 0 '' transpose whole.jpg once.jpg
gives 0 '' transpose once.jpg twice.jpg
check 'pictures behind the first one lose nothing' \
    $trailers same whole.jpg twice.jpg

# What is no whole blocks is refused, but not a thumbnail.
$trailers make odd odd.jpg
gives 1 "gimgxf: odd.jpg: picture 2 in the file: 23 x 15 pixels are not whole \
blocks of 8 x 8, so it cannot be turned without loss; --edge says what else \
to do" --edge fail rotate90 odd.jpg none.jpg
check 'nothing is written' absent none.jpg
gives 0 '' --edge fail transpose odd.jpg out.jpg

# A gain map is trimmed as the first picture is; what is left of another one is
# no whole blocks.
$trailers make trim trim.jpg
gives 0 "gimgxf: trim.jpg: warning: picture 3 in the file: encoded anew, since \
95 x 63 pixels are not whole blocks of 8 x 8" --edge trim rotate180 trim.jpg \
    out.jpg
check 'in proportion' [ "$($trailers sizes out.jpg)" = '96x64 24x16 95x63' ]
gives 0 "gimgxf: trim.jpg: warning: picture 3 in the file: encoded anew, since \
99 x 63 pixels are not whole blocks of 8 x 8" --edge trim rotate90 trim.jpg \
    out.jpg
check 'along one axis' [ "$($trailers sizes out.jpg)" = '64x100 16x25 63x99' ]

gives 0 "gimgxf: in.jpg: warning: PNG cannot hold, so it is not kept: APP2 \
MPF, trailer" copy in.jpg out.png
finish
