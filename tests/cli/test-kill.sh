# A batch in place that is killed at any instant: each file is the old one or
# the new one, whole, and --resume turns those that are left, each once.
#
#   KILLS=N   at how many instants, 6 if not given
#   FILES=N   of how many files, 60 if not given
. "$ROOT/tests/cli/lib.sh"
kills=${KILLS:-6} files=${FILES:-60}

mkdir old new
for ((i = 0; i < files; i++)); do
    case $((i % 3)) in
    0) cp "$samples/f-rgb.png" old/$i.png ;;
    1) cp "$samples/f-sideways.jpg" old/$i.jpg ;;
    2) cp "$samples/f.pgm" old/$i.pgm ;;
    esac
done
cp -r old/. new
begin=$(date +%s%N)
gimgxf -q rotate90 -r --in-place new
took=$((($(date +%s%N) - begin) / 1000))

# whole: each file is one of the two.
whole() {
    local f
    for f in place/*; do
        cmp -s "$f" "old/${f##*/}" || cmp -s "$f" "new/${f##*/}" || {
            echo "$f is neither"
            return 1
        }
    done
}

# killed MICROSECONDS: runs the batch, and kills it after so long.
killed() {
    "$program" --backend "$GIMGXF_BACKEND" -q rotate90 -r --in-place \
        --manifest manifest --resume manifest place &
    local pid=$! late=$1
    sleep $((late / 1000000)).$(printf %06d $((late % 1000000)))
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
}

early=0
for ((k = 0; k < kills; k++)); do
    rm -rf place manifest
    cp -r old place
    killed $((took * (RANDOM % 1000) / 1000))
    check "kill $k: whole" whole
    # Temporaries have names of their own, and are nobody's input.
    diff -rq place new >/dev/null || early=$((early + 1))
    [ $((k % 2)) = 0 ] || killed $((took * (RANDOM % 500) / 1000))
    gimgxf -q rotate90 -r --in-place --manifest manifest --resume manifest place
    check "kill $k: resumed" [ $? = 0 ]
    rm -f place/.gimgxf-*
    check "kill $k: the end" diff -rq place new
    gimgxf manifest check manifest >said 2>&1
    check "kill $k: the manifest" [ $? = 0 ]
done
check "some were killed before their end ($early of $kills)" [ "$early" -gt 0 ]
finish
