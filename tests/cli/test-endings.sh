# A run that ends early, by a full disk, too many failures, a signal, a closed
# pipe or wrong usage, says so.
. "$ROOT/tests/cli/lib.sh"
needs python3
# What it mounts goes with it.
if [ -z "$OWN_MOUNTS" ] && has_tool unshare && unshare -rm true 2>/dev/null; then
    OWN_MOUNTS=1 exec unshare -rm bash "$ROOT/tests/cli/test-endings.sh"
fi
mkdir in
for i in {01..60}; do
    cp "$samples/f.jpg" in/$i.jpg
done

# --fail-after. What is in work is finished.
mkdir bad
for i in {001..300}; do
    echo 'no picture' >bad/$i.png
done
for n in 1 3 20; do
    gimgxf -j 1 rotate90 -r -d out --fail-after $n bad 2>said
    check "--fail-after $n: status" [ $? = 1 ]
    count=$(grep -c '^gimgxf: bad/' said)
    check "--fail-after $n: $count" [ "$count" -ge $n -a "$count" -lt $((n + 20)) ]
    check "--fail-after $n: told" grep -qx "gimgxf: $count failed, so \
--fail-after ends the batch; $((300 - count)) left; the same call with --update \
goes on, and tries those again" said
done
gimgxf -j 4 rotate90 -r -d out --fail-after 5 bad 2>said
count=$(grep -c '^gimgxf: bad/' said)
check "on 4 threads: $count" [ "$count" -ge 5 -a "$count" -lt 100 ]
gimgxf rotate90 -r -d out --fail-after 300 bad 2>said
check 'all failed anyway' [ "$(grep -c 'ends the batch' said)" = 0 ]
gives 2 'gimgxf: --fail-after: 0 is out of range; expected 1 to 2147483647' \
    rotate90 -r -d out --fail-after 0 bad
tells 1 'left; the same call with --resume l goes on, and tries those again$' -j 1 rotate90 -r -d out \
    --fail-after 3 --manifest l bad

# The summary: two lines, and a third one by -v.
gimgxf rotate90 -r -d two in 2>said
check 'the summary has two lines' [ "$(wc -l <said)" = 2 ]
check 'what' grep -qx 'gimgxf: 60 of 60 done: 60 lossless' said
check 'how much' grep -qxE 'gimgxf: [0-9]+ kB in, [0-9]+ kB out, [0-9.]+ s' said
gimgxf -v rotate90 -r -d two in 2>&1 | tail -n 1 >said
check 'stages by -v' grep -qE '^gimgxf: read [0-9.]+ s, decode .*, write .* s, [0-9]+ workers? together$' said

# A full disk: one message, and what to type; what is left goes on. In place,
# too, nothing is lost.
mkdir disk
if [ -n "$OWN_MOUNTS" ] && mount -t tmpfs -o size=600k none disk; then
    head -c 400K /dev/urandom >disk/other
    gimgxf -j 2 rotate90 -r -d disk/out --manifest log in 2>said
    check 'full: status' [ $? = 1 ]
    done=$(ls disk/out | wc -l)
    check "full: some were done ($done)" [ "$done" -gt 0 -a "$done" -lt 60 ]
    check 'full: one file is named' \
        [ "$(grep -c 'No space left on device' said)" = 1 ]
    check 'full: four lines' [ "$(wc -l <said)" = 4 ]
    check 'full: told' [ "$(tail -n 1 said)" = "gimgxf: the disk is full: $done \
of 60 done, $((60 - done)) left; make room, and the same call with --resume log \
goes on" ]
    check 'full: no temporary' no_temporary disk/out
    gimgxf -q -j 2 rotate90 -r -d disk/out2 in 2>said
    check 'full: told by -q, too' grep -q 'the disk is full: .* with --update' said
    rm -rf disk/other disk/out2
    gives 0 '' -q rotate90 -r -d disk/out --manifest log --resume log in
    check 'full: the rest' [ "$(ls disk/out | wc -l)" = 60 ]

    cp in/* disk/ # and what is in out
    cp -r in before
    head -c 1M /dev/zero >disk/fill 2>/dev/null
    tells 1 'no manifest says which files are done' -q -j 2 rotate90 -i \
        disk/*.jpg
    bad=0
    for f in disk/*.jpg; do
        same "$f" before/01.jpg || same "$f" disk/out/01.jpg || bad=$((bad + 1))
    done
    check 'in place: each is the old or the new one' [ $bad = 0 ]
else
    echo 'skipped: no file system can be mounted'
fi

# Nobody reads on: no word, and the end of others.
gimgxf info -r in in in in in in in in 2>said | head -n 1 >/dev/null
for call in --help 'info -r in' 'rotate90 --dry-run -r -d out in' --version \
    'rotate90 --dry-run --json -r -d out in' 'bench --help' 'serve --help'; do
    { "$program" $call 2>said; echo $? >status; } | :
    check "$call: status $(cat status)" grep -qxE '0|141' status
    check "$call: no word" [ ! -s said ]
done

# Wrong usage and devices, in JSON as well.
for call in '--json --foo' 'rotate90 --qualty 3 a b --json' '--json' \
    '--json rotate90 in/01.jpg out.xyz' '--json rotate90 -r -d in/01.jpg in' \
    '--json info' '--json rotate90 -i -d x in/01.jpg' \
    '--json rotate90 --quality 0 in/01.jpg -'; do
    called 2 $call
    check "$call: one object" lines stdout 1
    holds status=usage error="$(sed 's/^gimgxf: //' stderr)"
done
for out in o.jpg '-d out'; do
    GIMGXF_BACKEND=cuda called 3 --json --device 1000 rotate90 in/01.jpg $out
    holds status=no_device
done

# --dry-run: what is planned, and what is not.
mkdir some
cp in/01.jpg in/02.jpg some/
cp in/01.jpg kept.jpg
mkdir dry
cp in/01.jpg dry/
gives 0 'gimgxf: 1 of 2 would be done, 1 left alone' \
    --json rotate90 --dry-run -n -r -d dry some
check 'dry-run: planned and skipped' [ "$(grep -o '"status": "[a-z]*"' stdout |
    paste -sd ' ')" = '"status": "skipped" "status": "planned"' ]

finish
