# gimgxf manifest joins manifests, and checks them against the files.
. "$ROOT/tests/cli/lib.sh"
needs python3

# line INPUT OUTPUT STATUS TIME [SIZE WRITTEN MTIME [OP]]: a line, with TIME and
# MTIME in seconds; names may be any bytes.
line() {
    python3 - "$@" <<'EOF'
import json, sys
when = lambda seconds: f'2026-11-21T20:07:{int(seconds):02}.000000005Z'
a = sys.argv[1:]
record = {'input': a[0], 'output': a[1],
          'op': a[7] if len(a) > 7 else 'fliph', 'options': '--strip',
          'status': a[2]}
if a[2] == 'failed':
    record['error'] = 'no such\nthing'
if len(a) > 4:
    record.update(size=int(a[4]), written=int(a[5]), mtime=when(a[6]))
record['time'] = when(a[3])
print(json.dumps(record))
EOF
}

# has TEXT: whether that is all that went to stdout.
has() {
    check "stdout: $1" [ "$(cat stdout)" = "$1" ]
}

four() { printf abcd; }
four >four

# Words.
gives 2 'gimgxf: a command is missing: gimgxf manifest merge|check FILE...' manifest
gives 2 "gimgxf: unknown command 'mend'; expected merge or check" manifest mend a
gives 2 'gimgxf: a manifest is missing: gimgxf manifest merge FILE...' manifest merge
gives 2 'gimgxf: a manifest is missing: gimgxf manifest check FILE...' manifest check --json
gives 1 'gimgxf: none: No such file or directory' manifest check none
gives 1 'gimgxf: .: Is a directory' manifest merge .
echo hello >bad
gives 1 'gimgxf: bad: not a manifest' manifest check bad
has ''
: >empty
gives 0 '' manifest check empty
has '0 done, 0 skipped, 0 failed, 0 ready, 0 lost'
gives 0 '' manifest merge empty
has ''

# A manifest is named where it cannot be one, and a picture is no manifest.
gives 2 'gimgxf: --manifest: none/log: No such file or directory' \
    copy -d out --manifest none/log "$samples/f-rgb.png"
cp "$samples/f-rgb.png" picture
gives 2 'gimgxf: --manifest: picture: not a manifest' \
    copy -d out --manifest picture "$samples/f-rgb.png"
check 'the picture is as it was' same picture "$samples/f-rgb.png"
check 'nothing is done' absent out
gimgxf -q copy -d out --manifest /dev/full "$samples/f-rgb.png" 2>stderr
check 'one that is full' grep -q 'the manifest cannot be written: No space left' \
    stderr

# merge: the later line of each job, sorted, as it stands.
{ line z four 'done' 5 9 4 1; line a four failed 5; } >one
{ line z four failed 4; line b four skipped 1; line a four 'done' 6 9 4 1; } >two
printf '{"input": "cut' >>two
{ line b four failed 2; } >three
{ sed -n 3p two; cat three; sed -n 1p one; } >want
for order in 'one two three' 'three two one' 'two one three two'; do
    gives 0 '' manifest merge $order
    check "merge $order" cmp -s stdout want
done
cp want merged
gives 0 '' manifest merge merged
check 'merge again' cmp -s stdout want
gimgxf manifest merge - <one >stdout
check 'from stdin' [ "$(wc -l <stdout)" = 2 ]

# Clocks are set back: in one manifest it is the order that counts. What was
# skipped later was done all the same.
{ line a four ready 9 9 4 1; line a four 'done' 3 9 4 1; } >back
line a four skipped 20 >later
for order in 'back later' 'later back'; do
    gives 0 '' manifest check $order
    has '1 done, 0 skipped, 0 failed, 0 ready, 0 lost'
done
# At the same time the later line holds; other jobs are others.
line a four failed 5 >one
{ line a four 'done' 5 9 4 1; line a four 'done' 5 9 4 1 flipv; } >two
gives 0 '' manifest check one two
has '2 done, 0 skipped, 0 failed, 0 ready, 0 lost'
gives 1 'gimgxf: a: fliph failed: no such\nthing' manifest check two one
has '1 done, 0 skipped, 1 failed, 0 ready, 0 lost'

# check: what is not as it should be, each with its name.
{
    line a four 'done' 5 9 4 1
    line b gone 'done' 5 9 4 1
    line c four skipped 5
    line d four failed 5
    line e e ready 5 9 4 1
} >log
gives 1 "gimgxf: d: fliph failed: no such\\nthing
gimgxf: e: fliph was about to replace it; it is not noted whether it did
gimgxf: gone: the output is gone: No such file or directory" manifest check log
has '2 done, 1 skipped, 1 failed, 1 ready, 1 lost'
gives 1 "$(cat stderr)" manifest --json check log
check json python3 - <<'EOF'
import json
assert json.load(open('stdout')) == {'done': 2, 'skipped': 1, 'failed': 1,
                                     'ready': 1, 'lost': 1,
                                     'passed_over': 0}
EOF
line a four 'done' 5 9 5 1 >log
gives 1 'gimgxf: four: the output has 4 bytes, not the 5 that were written' \
    manifest check log
# What was written last counts; whatever came before had its time.
{ line a four 'done' 5 9 4 1 flipv; line a four 'done' 4 9 5 1; } >log
gives 0 '' manifest check log
line four four ready 6 9 5 1 >>log
gives 1 'gimgxf: four: fliph was about to replace it; it is not noted whether it did' \
    manifest check log

# What fails when it was about to be replaced may be replaced or not.
line four four ready 6 9 5 1 >one
line four four failed 7 >two
cat one two >both
for order in 'one two' 'two one' both; do
    gimgxf manifest check $order >stdout 2>/dev/null
    has '0 done, 0 skipped, 0 failed, 1 ready, 0 lost'
    gives 0 '' manifest merge $order
    check "ready holds: $order" same one stdout
done
gives 1 'gimgxf: four: fliph was about to replace it, and failed: no such\nthing; it is not noted whether it did' \
    manifest check both

# A file is one however it is spelled, and lines keep what was given.
mkdir q
four >q/four
line q/four q/four 'done' 5 9 4 1 >one
for name in ./q/four q//four "$PWD/q/four"; do
    line "$name" ./q/./four 'done' 8 4 4 4 >two
    gives 0 '' manifest check one two
    has '1 done, 0 skipped, 0 failed, 0 ready, 0 lost'
    gives 0 '' manifest merge one two
    check "merged: $name" same stdout two
done
{ line a q/four 'done' 4 9 5 1; line b ./q/four 'done' 5 9 4 1; } >log
gives 0 '' manifest check log # what was written last counts

# Names.
bytes=$(printf 'q"\\\001\377\303\251\nx.png')
line "$bytes" "$bytes.out" failed 5 >log
gives 1 'gimgxf: q"\\x01\xff'"$(printf '\303\251')"'\nx.png: fliph failed: no such\nthing' \
    manifest check log
gives 0 '' manifest merge log
check 'the line as it was' cmp -s stdout log
four >"$bytes.out"
line "$bytes" "$bytes.out" 'done' 5 9 4 1 >log
gives 0 '' manifest check log
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
    gives 2 "gimgxf: --manifest: log: $in_use" \
        rotate90 -i --manifest log pictures/*.png
    gives 2 "gimgxf: --manifest: link: $in_use" \
        rotate90 -i --shard 1/2 --manifest link pictures/*.png
    gives 2 "gimgxf: --manifest: log: $in_use" \
        rotate90 -i --manifest log --resume log --isolate pictures/*.png
    gives 2 "gimgxf: --resume: link: $in_use" \
        rotate90 -i --resume link pictures/*.png
    gives 2 "gimgxf: --resume: log: $in_use" \
        rotate90 -i --resume log --manifest other pictures/*.png
    check "$mode: no other manifest" absent other
    gimgxf rotate90 -i --dry-run --resume log pictures/*.png >stdout
    check "$mode: a dry run may look" [ $? = 0 ]
    gimgxf manifest check log >stdout
    check "$mode: and so may check" grep -q '^[0-9]* done, ' stdout
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
library=${program%/gimgxf}/tests/faults.so
if LD_PRELOAD=$library "$program" --version >/dev/null 2>&1; then
    FAULTS_LOCKS=1 LD_PRELOAD=$library "$program" --backend "$GIMGXF_BACKEND" \
        rotate90 -i --resume log --manifest other pictures/*.png 2>stderr >stdout
    check 'without locks' [ $? = 0 ]
    for name in log other; do
        check "without locks: $name" grep -qxF "gimgxf: warning: $name: the manifest \
cannot be locked (No locks available); let no other run use it meanwhile" stderr
    done
fi
finish
