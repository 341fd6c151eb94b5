# --stack: all pictures become one NPY array, whole or not at all.
. "$ROOT/tests/cli/lib.sh"

# header FILE: the header of an array.
header() {
    head -c 128 "$1" | tr -d '\0' | grep -ao '{.*}'
}

# cells FILE...: what stands behind the headers.
cells() {
    local file
    for file in "$@"; do
        tail -c +129 "$file"
    done
}

# ppm NAME WIDTH HEIGHT MAXVAL: a picture that differs from all others.
ppm() {
    printf 'P6\n%d %d\n%d\n' "$2" "$3" "$4" >"$1"
    head -c $((3 * $2 * $3 * ($4 > 255 ? 2 : 1))) /dev/urandom >>"$1"
}
for i in {1..40}; do
    ppm "$i.ppm" 30 20 255
done

# Every picture is at its place, whatever is done beside it.
for layout in auto hwc chw nhwc nchw; do
    for depth in '' 'float'; do
        set -- -q --layout "$layout" ${depth:+--depth $depth}
        names=()
        for i in {1..40}; do
            gimgxf "$@" rotate90 "$i.ppm" "$i.npy"
            names+=("$i.npy")
        done
        gives 0 '' "$@" -j 8 rotate90 --stack out.npy {1..40}.ppm
        cells "${names[@]}" >want
        cells out.npy >got
        check "cells of $layout $depth" same want got
        case $layout in
        *chw) shape='(40, 3, 30, 20)' ;;
        *) shape='(40, 30, 20, 3)' ;;
        esac
        type="${depth:+<f4}"
        check "header of $layout $depth" [ "$(header out.npy)" = \
            "{'descr': '${type:-|u1}', 'fortran_order': False, 'shape': $shape, }" ]
    done
done
gives 0 '' -q copy --stack list.npy --files-from <(seq -f %g.ppm 1 40)
gives 0 '' -q copy --stack named.npy {1..40}.ppm
check 'names of a list' same list.npy named.npy
gives 0 '' -q --max-memory 40K copy --stack small.npy {1..40}.ppm
check 'memory of a few pictures is enough' same small.npy named.npy

# Gray has an axis of channels if the layout names it.
gimgxf -q copy --depth 8 "$samples/f.pgm" gray.pgm
for pair in 'auto (2, 64, 48)' 'hwc (2, 64, 48)' 'nhw (2, 64, 48)' \
    'nhwc (2, 64, 48, 1)' 'nchw (2, 1, 64, 48)'; do
    gives 0 '' -q copy --layout "${pair%% *}" --stack out.npy gray.pgm gray.pgm
    check "gray as ${pair%% *}" [ "$(header out.npy)" = \
        "{'descr': '|u1', 'fortran_order': False, 'shape': ${pair#* }, }" ]
done

# Arrays among the inputs, of one picture each, also where nothing is to be done.
gimgxf -q copy 1.ppm 1.npy
gives 0 '' -q copy --stack out.npy 1.npy 2.ppm
gives 0 '' -q copy --stack want.npy 1.ppm 2.ppm
check 'an array is a picture' same want.npy out.npy
gives 0 '' -q --layout nchw copy 1.ppm 4.npy
gives 0 '' -q --layout nchw copy --stack out.npy 1.ppm 2.ppm
npy "'|u1'" True '(20, 30, 3)' 1800 >fortran.npy
gives 1 'gimgxf: no.npy: fortran.npy: an array in Fortran order cannot be a part of a stack; numpy.ascontiguousarray changes the order
gimgxf: no.npy: not written, since 1 of 1 pictures are missing' \
    -q copy --stack no.npy fortran.npy
npy "'|u1'" False '(2, 20, 30, 3)' 3600 >two.npy
gives 1 'gimgxf: two.npy: 2 pictures in an array can be turned as NPY, but not converted; save each as an array of its own
gimgxf: no.npy: not written, since 1 of 1 pictures are missing' \
    -q copy --stack no.npy two.npy

# What is unlike the first picture fails, and nothing is written.
echo old >old
ppm odd.ppm 31 20 255
ppm deep.ppm 30 20 65535
for pair in 'odd.ppm (31, 20, 3) |u1' 'deep.ppm (30, 20, 3) <u2' \
    'gray.pgm (48, 64) |u1'; do
    read -r name shape <<<"$pair"
    cp old out.npy
    gives 1 "gimgxf: out.npy: $name is of shape ${shape% *} and type ${shape##* }, but 1.ppm of (30, 20, 3) and |u1; all pictures of a stack must be alike
gimgxf: out.npy: not written, since 2 of 3 pictures are missing" \
        -q -j 1 rotate90 --stack out.npy 1.ppm "$name" 2.ppm
    check "$name leaves what was there" same old out.npy
done
gives 0 '' -q --depth 16 copy --stack out.npy 1.ppm deep.ppm
gives 1 "gimgxf: missing.ppm: No such file or directory
gimgxf: out.npy: not written, since 1 of 2 pictures are missing" \
    -q copy --stack out.npy 1.ppm missing.ppm
head -c 900 1.ppm >cut.ppm
gimgxf -q copy --fail-after 9 --stack no.npy cut.ppm missing.ppm 1.ppm \
    odd.ppm 2>stderr
check 'several failures are found' lines stderr 4
check 'nothing is written' absent no.npy
check 'nothing is left' no_temporary .

# Where it goes.
refused 2 copy <<END
--stack out.png 1.ppm | --stack writes NPY, not 'png': give it a name that ends in .npy
--stack out 1.ppm | --stack writes NPY, not '': give it a name that ends in .npy
--stack - 1.ppm | --stack: '-' is not a file; a file that is called - is ./-
--layout no --stack out.npy 1.ppm | --layout: 'no' is not known; expected auto, hwc, chw, nhw, nhwc or nchw
--stack 1.npy 1.ppm 1.npy | 1.npy, what 1.ppm becomes, is itself an input; only -i (--in-place) replaces inputs
END
gives 0 '' -q --format npy copy --stack out 1.ppm
for option in '-d out' '-o {stem}.npy' -i -u -p '--manifest log' '--resume log' --tag-only; do
    tells 2 ': has no meaning with --stack' copy $option --stack out.npy 1.ppm
done
cp old out.npy
gives 0 'gimgxf: out.npy: exists, so it is left alone' \
    -n copy --stack out.npy 1.ppm
check 'it is left alone' same old out.npy
mkdir dir.npy
refused 1 copy --format npy <<END
--stack dir.npy 1.ppm | dir.npy: is a directory
--stack /dev/full 1.ppm | /dev/full: not a regular file
--stack sub/dir/out.npy 1.ppm 2.ppm | sub/dir/out.npy: its directory does not exist
END
mkdir -p sub/dir
gives 0 '' -q copy --stack sub/dir/out.npy 1.ppm 2.ppm
ln -s sub/dir/out.npy link.npy
gives 0 '' -q copy --stack link.npy 2.ppm 2.ppm
check 'a link is followed' [ -L link.npy ]
gives 0 '' -q copy --files-from /dev/null --stack none.npy
check 'no pictures, no array' absent none.npy

# What is told.
gimgxf copy -j 1 --stack out.npy 1.ppm odd.ppm 2.ppm 2>stderr
check 'an early end says why' grep -qx \
    'gimgxf: 1 failed, so --stack ends the batch; 1 left; the same call begins again' \
    stderr
gimgxf -q --json copy --stack out.npy {1..3}.ppm >stdout
check 'an object for each, and one for the array' lines stdout 4
check 'JSON' [ "$(tail -n 1 stdout)" = '{"output": "out.npy", "status": "stacked", "error": null}' ]
check 'bytes of a picture' grep -q '"bytes_out": 1800,' stdout
gimgxf -q --json copy --stack out.npy 1.ppm odd.ppm >stdout 2>/dev/null
check 'json of a failure' [ "$(tail -n 1 stdout)" = '{"output": "out.npy", "status": "failed", "error": "not written, since 1 of 2 pictures are missing"}' ]
check 'which says so only there' [ "$(grep -c '"status": "done"' stdout)" = 1 ]
gimgxf --dry-run copy --stack out.npy 1.ppm 2.ppm >stdout 2>/dev/null
printf '%s -> out.npy\n' 1.ppm 2.ppm >want
check 'what would be done' same want stdout

# Not an input, also where a directory that cannot be read comes first.
if can_be_nobody; then
    mkdir -m 777 shared
    mkdir -m 700 shared/closed
    gimgxf -q copy --stack shared/in.npy 1.ppm
    chmod 666 shared/in.npy
    cp shared/in.npy before.npy
    chmod 711 .
    for shard in 1 2; do
        check "shard $shard: refused" [ "$(as_nobody "$program" copy -r --stack shared/in.npy \
            --shard $shard/2 shared/closed shared/in.npy 2>&1)" = \
            'gimgxf: shared/in.npy, what shared/closed becomes, is itself an input; only -i (--in-place) replaces inputs' ]
        check "shard $shard: the input stays" same before.npy shared/in.npy
    done
else
    echo 'skipped: what another user may not read, which takes root and setpriv'
fi

# An early end leaves nothing, but for what nobody could remove.
is_begun() {
    ! no_temporary .
}
slow_pictures slow
"$program" -q copy --stack killed.npy slow/*.ppm &
eventually is_begun
kill -KILL $! 2>/dev/null
wait $! 2>/dev/null
check 'nothing half written' absent killed.npy
rm -f .gimgxf-*
"$program" -q copy --stack ended.npy slow/*.ppm 2>/dev/null &
eventually is_begun
kill -TERM $! 2>/dev/null
wait $!
check 'it ended by the signal' [ $? = 143 ]
check 'nothing after a signal' absent ended.npy
check 'nothing is left after a signal' no_temporary .
finish
