#!/bin/bash
# Turns a tree of pictures as a Slurm job array; each task does a share of it.
#
#   job=$(sbatch --parsable --array=1-16 samples/slurm-array.sh rotate90 IN OUT)
#   sbatch --dependency=afterany:$job samples/slurm-array.sh rotate90 IN OUT
#
# The second job is not an array: it joins the manifests of the tasks to
# OUT.manifest, and says what is left; if anything is, it fails. Then submit both
# again, with the same number of tasks: what is done is skipped. Options of gimgxf
# may follow OUT. IN, OUT and OUT.manifest.* must be on a file system that all nodes
# share.

# The resources of a task; options of sbatch override these.
#SBATCH --job-name=gimgxf
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
# A task starts again if its node fails, and its messages stay.
#SBATCH --requeue
#SBATCH --open-mode=append
# Two minutes before the time limit this script (B) gets SIGUSR1. SIGTERM would not
# do: a cancelled job gets it too, and must not start again.
#SBATCH --signal=B:USR1@120

set -euo pipefail
op=$1 in=$2 out=$3
shift 3
manifest=$out.manifest

# Ends gimgxf, which leaves no partial picture, and queues this task again.
again() {
    kill "$turning" || true # it may have ended
    wait "$turning" || true
    exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
}

if [ -n "${SLURM_ARRAY_TASK_ID-}" ]; then
    # By default gimgxf goes by the memory of the whole node, which 0 stands for.
    memory=()
    [ "${SLURM_MEM_PER_NODE:-0}" = 0 ] ||
        memory=(--max-memory "$((SLURM_MEM_PER_NODE * 3 / 4))M")
    # Each task has a manifest of its own, as lines that several nodes append to one
    # file may be lost.
    k=$SLURM_ARRAY_TASK_ID
    gimgxf "$op" --shard "$k/$SLURM_ARRAY_TASK_COUNT" \
        --manifest "$manifest.$k" --resume "$manifest.$k" \
        -j "$SLURM_CPUS_PER_TASK" "${memory[@]}" "$@" -r -d "$out" -- "$in" &
    turning=$!
    trap again USR1
    wait "$turning" # a signal interrupts it, unlike a program in the foreground
else
    awk 1 "$manifest".[0-9]* >"$manifest" # which also ends lines that were cut
    # A task that never ran has no manifest, so look at the inputs as well.
    left=$(gimgxf "$op" --dry-run --resume "$manifest" "$@" \
        -r -d "$out" -- "$in" | tee /dev/stderr | wc -l)
    echo "$left left to do"
    [ "$left" = 0 ]
fi
