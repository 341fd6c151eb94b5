# --max-seconds gives up a file whenever its time is over: the clock of each run
# leaps once, at another moment of a batch.
. "$ROOT/tests/cli/lib.sh"
needs python3
cpu_only
loads hurries || skip_all 'nothing can be loaded before this build'

# A PNG of many bands, an animation, an archive, and JPEGs that libjpeg and our own
# coder write.
mkdir in
python3 - in <<'END'
import io, os, sys, zipfile
place = sys.argv[1]
import costly_files as made

def put(name, data):
    with open(os.path.join(place, name), 'wb') as file:
        file.write(data)

put('bands.png', made.png(700, 700, 8, 2, made.deflate_zeros(2101 * 700)))
put('woven.png', made.png(16, 16, 8, 2, made.deflate_zeros(made.passes_size(16, 16, 3)),
                          interlaced=1))
put('frames.png', made.frames_apng(8, 20, 20))
put('scans.jpg', made.many_scans(3, 100))
put('blocks.jpg', made.baseline_rows(2400, 1600))
put('restarts.jpg', made.restarts(2400, 1600))
with zipfile.ZipFile(os.path.join(place, 'arrays.npz'), 'w',
                     zipfile.ZIP_DEFLATED) as archive:
    head = made.npy((700, 700, 3))
    archive.writestr('a.npy', head[:-100] + bytes(1470000))
END

# turn N: the batch, where the clock leaps at its Nth reading, into out/, where
# something stands already.
turn() {
    local name
    rm -rf out
    mkdir out
    for name in $names; do
        echo old >"out/$name"
    done
    HURRIES_AT=$1 HURRIES_COUNT=9 LD_PRELOAD=$library "$program" \
        --backend cpu rotate90 -r -q -j 1 --max-seconds 60 -d out in \
        9>reads >stdout 2>stderr
}

# ends_well: whether all files are right, or but the one that was given up.
# Says which one that is, or that it is none.
ends_well() {
    local late=${1-} name
    for name in $names; do
        if [ "$name" = "$late" ]; then
            [ "$(cat "out/$name")" = old ] || return 1
        else
            same "out/$name" "want/$name" || return 1
        fi
    done
    no_temporary out
}

names=$(ls in)
turn 0
check 'none is given up without a leap' [ $? = 0 ]
mv out want
reads=$(cat reads)
whole && step=1 || step=5 # of the moments
for ((at = 1; at <= reads; at += step)); do
    turn "$at"
    status=$? late=
    if [ $status = 1 ]; then
        late=$(sed -n 's|^gimgxf: in/\([^:]*\): \(.*: \)\?it takes more than the 60 seconds of --max-seconds$|\1|p' stderr)
        echo "$late" >>given-up
        check "$at: one line: $(cat stderr)" [ "$(wc -l <stderr)" = 1 -a "$late" ]
    else
        check "$at: status $status, $(cat stderr)" [ $status = 0 -a ! -s stderr ]
    fi
    check "$at: $late" ends_well "$late"
done
# Where it is looked at: before and after each stage, and for each band, frame, row
# of blocks of libjpeg, or 8192 blocks of our own coder.
for name in bands.png:6 woven.png:30 frames.png:16 arrays.npz:4 scans.jpg:40 blocks.jpg:14 \
    restarts.jpg:14; do
    times=$(grep -cx "${name%:*}" given-up)
    check "${name%:*} is given up at $times places" \
        [ "$times" -ge $((${name#*:} / step)) ]
done

# relate decodes two files, and compares them.
related() {
    HURRIES_AT=$1 HURRIES_COUNT=9 LD_PRELOAD=$library "$program" \
        relate --max-seconds 60.5 "in/$2" "$2" 9>reads >stdout 2>stderr
}
for name in bands.png scans.jpg; do
    gives 0 '' -q flipv "in/$name" "$name"
    check "relate $name" related 0 "$name"
    given=0
    for ((at = 1, reads = $(cat reads); at <= reads; at += step)); do
        ! related "$at" "$name" || continue
        given=$((given + 1))
        check "relate $name: $at: $(cat stderr)" grep -qE \
            '^gimgxf: .*it takes more than the 60.5 seconds of --max-seconds$' stderr
    done
    check "relate $name is given up at $given places" [ "$given" -ge $((8 / step)) ]
done
finish
