# A manifest belongs to one run at a time, and manifests are joined by awk.
. "$ROOT/tests/cli/lib.sh"

# A manifest is named where it cannot be one, and a picture is no manifest.
gives 2 'gimgxf: --manifest: none/log: No such file or directory' \
    copy -d out --manifest none/log "$samples/f-rgb.png"
cp "$samples/f-rgb.png" picture
gives 2 'gimgxf: --manifest: picture: not a manifest' \
    copy -d out --manifest picture "$samples/f-rgb.png"
check 'the picture is as it was' same picture "$samples/f-rgb.png"
for line in '{"input": "a.png", "label": 3}' '{"images": [{"id": 1'; do
    echo "$line" >labels
    gives 2 'gimgxf: --manifest: labels: not a manifest' \
        copy -d out --manifest labels "$samples/f-rgb.png"
    check "$line: it is as it was" [ "$(cat labels)" = "$line" ]
done
check 'nothing is done' absent out
gimgxf -q copy -d out --manifest /dev/full "$samples/f-rgb.png" 2>stderr
check 'one that is full' grep -q 'the manifest cannot be written: No space left' \
    stderr
gimgxf -q copy -d piped --manifest >(cat >noted) "$samples/f-rgb.png"
check 'a pipe' eventually grep -q '^{"input": ".*"status": "done"' noted
rm -r piped noted

# Manifests of shares are one, also where a line was cut.
for k in 1 2 3; do
    gimgxf -q copy -r -d out --shard $k/3 --manifest log.$k "$samples"
done
printf '{"input": "cut' >>log.1
awk 1 log.1 log.2 log.3 >log
left() {
    gimgxf -q copy -r -d out --resume log --dry-run "$samples"
}
check 'nothing is left' [ "$(left)" = '' ]
one=$(ls out | head -n 1)
rm "out/$one"
check 'what is gone is' [ "$(left | cut -f 1)" = "$samples/$one -> out/$one" ]
rm -r out log*

# ---- In use --------------------------------------------------------------------

# One run at a time has a manifest: here one that waits for whoever reads what it
# prints. More files than a pipe holds lines of.
gimgxf -q rotate90 "$samples/f-rgb.png" once.png
mkfifo lines
mkdir before after
tee before/{100..499}.png <"$samples/f-rgb.png" >/dev/null
tee after/{100..499}.png <once.png >/dev/null
begin() {
    rm -rf pictures log link other
    cp -r before pictures
    exec 7<>lines
    "$program" --backend "$GIMGXF_BACKEND" rotate90 -i --json "$@" --manifest log \
        pictures/*.png >lines 7>&- &
    pid=$!
    eventually [ -s log ]
    ln log link
}
all_once() {
    diff -r pictures after
}
in_use='in use by another run'
for mode in '' --isolate --sandbox=off; do
    begin $mode
    refused 2 <<END
rotate90 -i --manifest log pictures/*.png | --manifest: log: $in_use
rotate90 -i --shard 1/2 --manifest link pictures/*.png | --manifest: link: $in_use
rotate90 -i --manifest log --resume log --isolate pictures/*.png | --manifest: log: $in_use
rotate90 -i --resume link pictures/*.png | --resume: link: $in_use
rotate90 -i --resume log --manifest other pictures/*.png | --resume: log: $in_use
END
    check "$mode: no other manifest" absent other
    gimgxf rotate90 -i --dry-run --resume log pictures/*.png >stdout
    check "$mode: a dry run may look" [ $? = 0 ]
    cat <&7 >stdout &
    reader=$!
    wait $pid
    check "$mode: the first run" [ $? = 0 ]
    kill $reader
    exec 7>&-
    check "$mode: all once" all_once
    gives 0 '' -q rotate90 -i --resume log pictures/*.png
    check "$mode: it is free again, and all stays" all_once
done

# Nobody is kept out by a run that was killed.
begin --isolate
kill -KILL $pid
wait $pid 2>/dev/null
goes_on() {
    gimgxf -q rotate90 -i --resume log pictures/*.png 2>stderr
}
check 'after a kill' eventually goes_on
check 'after a kill: all once' all_once
exec 7>&-

# Several may resume from one that nobody writes.
gives 0 '' -q rotate90 -i --resume log --manifest other pictures/*.png
if loads faults; then
    FAULTS_LOCKS=1 LD_PRELOAD=$library "$program" --backend "$GIMGXF_BACKEND" \
        rotate90 -i --resume log --manifest other pictures/*.png 2>stderr >stdout
    check 'without locks' [ $? = 0 ]
    for name in log other; do
        check "without locks: $name" grep -qxF "gimgxf: warning: $name: the manifest \
cannot be locked (No locks available); let no other run use it meanwhile" stderr
    done
fi
finish
