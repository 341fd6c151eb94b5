# A batch in place may be killed at any instant: each file is whole, the old or
# the new one, and --resume turns each remaining one exactly once.
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
        [[ $f != *.old ]] || continue
        cmp -s "$f" "old/${f##*/}" || cmp -s "$f" "new/${f##*/}" || {
            echo "$f is neither"
            return 1
        }
    done
}

# The inputs are replaced, and with a backup as well.
ways=(--in-place '--in-place --backup .old')

# killed MICROSECONDS: runs the batch, and kills it after so long.
killed() {
    "$program" --backend "$GIMGXF_BACKEND" -q rotate90 -r $way \
        --manifest manifest --resume manifest place &
    local pid=$! late=$1
    sleep $((late / 1000000)).$(printf %06d $((late % 1000000)))
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
}

early=0
for ((k = 0; k < kills; k++)); do
    way=${ways[k / 2 % 2]}
    rm -rf place manifest
    cp -r old place
    killed $((took * (RANDOM % 1000) / 1000))
    check "kill $k: whole" whole
    # Temporaries have names of their own, and are nobody's input.
    if diff -rq -x '*.old' place new >/dev/null; then
        took=$((took / 2)) # it was longer when something else ran
    else
        early=$((early + 1))
    fi
    [ $((k % 2)) = 0 ] || killed $((took * (RANDOM % 500) / 1000))
    gimgxf -q rotate90 -r $way --manifest manifest --resume manifest place
    check "kill $k: resumed" [ $? = 0 ]
    check "kill $k: nothing is left" no_temporary place
    check "kill $k: the end" diff -rq -x '*.old' place new
    for f in place/*.old; do
        name=${f##*/}
        [ ! -e "$f" ] || check "kill $k: $f" same "old/${name%.old}" "$f"
    done
done

# What nobody can tell stays so, however often it is resumed.
rm -rf place manifest
mkdir place
cp old/0.png place
for name in place/0.png; do
    cat >manifest <<END
{"input": "$name", "output": "$name", "op": "rotate90", "options": "", "status": "ready", "size": 5, "mtime": "2020-01-01T00:00:00.000000000Z", "written": 7, "crc32": "00000000", "time": "2020-01-01T00:00:00.000000000Z"}
END
done
for i in 1 2; do
    gimgxf -q rotate90 -i --manifest manifest --resume manifest place/0.png \
        2>said
    check "unknown, run $i" [ $? = 1 ]
    check "unknown, run $i: left alone" same old/0.png place/0.png
done
check "some were killed before their end ($early of $kills)" [ "$early" -gt 0 ]
finish
