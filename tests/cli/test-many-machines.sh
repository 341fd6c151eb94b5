# The samples for many machines: what Slurm, GNU parallel and the pods of Kubernetes
# would run of them, without these. A tree is divided into shares; of one that did not
# end it is said what is left; and called again, all is there and nothing done twice.
. "$ROOT/tests/cli/lib.sh"
needs python3
shares=3
mkdir -p bin "in put/deep"
cp "$samples"/f[.-]* "in put"
cp "$samples/f.jpg" "in put/deep/number 1.jpg"
inputs=$(find "in put" -type f | wc -l)
gimgxf -q rotate90 -r -d whole "in put"

# The program; with STALL=K share K does not end, but tells where it is.
cat >bin/gimgxf <<END
#!/bin/bash
[[ " \$* " != *" --shard \${STALL:-none}/"* ]] || { echo \$\$ >stalled; exec sleep 60; }
exec "$program" --backend $GIMGXF_BACKEND "\$@"
END
# What takes "... --quote COMMAND" and a line of stdin for each {}; and what notes.
cat >bin/parallel <<'END'
#!/bin/bash
while [ "$1" != --quote ]; do shift; done
shift
while read -r line; do
    "${@//\{\}/$line}" </dev/null || bad=1
done
exit ${bad:-0}
END
printf '#!/bin/sh\necho "$@" >requeued\n' >bin/scontrol
chmod +x bin/*
PATH=$PWD/bin:$PATH

# left NUMBER STATUS OUT: so many are left, by what was said last, and so it ended.
left() {
    check "$3: $1 left, status $2: $(grep left said)" \
        [ "$(grep left said) $2" = "$1 left to do $([ "$1" = 0 ]; echo $?)" ]
}

# all_done OUT: each input once, as done, and turned as without shares.
all_done() {
    left 0 $? "$1"
    check "$1: the outputs" diff -r whole "$1"
    check "$1: the merged manifest has each once, done" python3 -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len({r["input"] for r in lines}) == len(lines) == int(sys.argv[2])
assert all(r["status"] == "done" for r in lines)' "$1.manifest" "$inputs"
}

# Slurm: a task that is told that its time is nearly up ends, and is queued again.
slurm() {
    timeout 60 env SLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_COUNT=$shares \
        SLURM_CPUS_PER_TASK=1 SLURM_MEM_PER_NODE=1024 \
        "${@}" bash "$ROOT/samples/slurm-array.sh" rotate90 "in put" slurm -q >said 2>&1
}
for k in 1 3; do
    check "task $k" slurm SLURM_ARRAY_TASK_ID=$k
done
STALL=2 SLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=$shares \
    SLURM_CPUS_PER_TASK=1 bash "$ROOT/samples/slurm-array.sh" rotate90 "in put" slurm &
task=$!
check 'task 2 runs' eventually test -s stalled
kill -USR1 $task
wait $task
check 'task 2 is queued again' [ "$(cat requeued)" = 'requeue 77_2' ]
check 'and its program has ended' eventually absent "/proc/$(cat stalled)"
done_before=$(find slurm -type f -printf '%p %i\n')
slurm
status=$?
left $((inputs - $(wc -l <<<"$done_before"))) $status slurm
for k in 1 2 3; do
    check "task $k again" slurm SLURM_ARRAY_TASK_ID=$k
done
check 'what was done was not done again' \
    [ -z "$(grep -vxFf <(find slurm -type f -printf '%p %i\n') <<<"$done_before")" ]
slurm
all_done slurm

# GNU parallel.
mkdir out
rm -f stalled
STALL=2 timeout 60 "$ROOT/samples/parallel-ssh.sh" logins $shares rotate90 "in put" out/ssh \
    -q >/dev/null 2>&1 &
task=$!
check 'parallel: the second share runs' eventually test -s stalled
kill $task
wait $task
check 'parallel: the first share is done' [ -s out/ssh.manifest.1 ]
"$ROOT/samples/parallel-ssh.sh" logins $shares rotate90 "in put" out/ssh -q >said 2>&1
all_done out/ssh
find out/ssh -type f -printf '%p %i\n' >made
"$ROOT/samples/parallel-ssh.sh" logins $shares rotate90 "in put" out/ssh -q >said 2>&1
check 'called again, it does nothing' same made <(find out/ssh -type f -printf '%p %i\n')

# Kubernetes: both commands, with what their pods have; and what the file must not be.
python3 - "$ROOT/samples/kubernetes-job.yaml" <<'END'
import re
import sys
text = open(sys.argv[1]).read()
blocks = re.findall(r'^( *)- \|\n((?:\1  .*\n|\n)+)', text, re.M)
for name, (_, block) in zip(('turn', 'check'), blocks, strict=True):
    open(name, 'w').write(block)
    assert not re.search(r'\$\(\w+\)', block), 'Kubernetes would put a variable there'
one = lambda pattern: re.search(pattern, text, re.M)[1]
assert one(r'^  SHARDS: "(\d+)"') == one(r'^  completions: (\d+)')
assert text.count('restartPolicy: Never') == 2 and '  suspend: true' in text
END
check 'the file of Kubernetes' [ $? = 0 ]
pod() {
    env OP=rotate90 OPTIONS=-q IN="in put" OUT=pods SHARDS=$shares "${@:2}" \
        sh -euc "$(cat "$1")" >said 2>&1
}
for k in 0 1; do
    check "pod $k" pod turn JOB_COMPLETION_INDEX=$k CPUS=1 MEMORY=$((1 << 30))
done
pod check
status=$?
left $((inputs - $(find pods -type f | wc -l))) $status pods
pod turn JOB_COMPLETION_INDEX=2 CPUS=1 MEMORY=$((1 << 30))
pod check
all_done pods
finish
