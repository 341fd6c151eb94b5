#!/bin/bash
# Turns a tree of pictures as a Slurm job array, a share of it in each task.
#
#   job=$(sbatch --parsable --array=1-16 samples/slurm-array.sh rotate90 IN OUT)
#   sbatch --dependency=afterany:$job samples/slurm-array.sh rotate90 IN OUT
#
# The second job is no array: it puts together what the tasks have noted, as
# OUT.manifest, and says what failed and what is left; if anything is, it fails.
# Then submit both once more, with as many tasks: what is done is left out.
# Options of gimgxf may follow OUT. IN, OUT and OUT.manifest.* have to be on a
# file system that all nodes share.

# What a task gets; options of sbatch come before these.
#SBATCH --job-name=gimgxf
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
# A task starts again if its node fails, and its messages stay.
#SBATCH --requeue
#SBATCH --open-mode=append
# Two minutes before its time is up, this script (B) gets a signal of its own:
# SIGTERM also comes to a job that is cancelled, which is not to start again.
#SBATCH --signal=B:USR1@120

set -euo pipefail
op=$1 in=$2 out=$3
shift 3
manifest=$out.manifest

# Ends gimgxf, which leaves no half a picture, and queues this task again.
again() {
    kill "$turning" || true # it may have ended
    wait "$turning" || true
    exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
}

if [ -n "${SLURM_ARRAY_TASK_ID-}" ]; then
    # gimgxf would go by the memory of the whole node. 0 stands for just that.
    memory=()
    [ "${SLURM_MEM_PER_NODE:-0}" = 0 ] ||
        memory=(--max-memory "$((SLURM_MEM_PER_NODE * 3 / 4))M")
    # A manifest a task: of lines that several nodes append to one file some may
    # be lost.
    k=$SLURM_ARRAY_TASK_ID
    gimgxf "$op" --shard "$k/$SLURM_ARRAY_TASK_COUNT" \
        --manifest "$manifest.$k" --resume "$manifest.$k" \
        -j "$SLURM_CPUS_PER_TASK" "${memory[@]}" "$@" -r -d "$out" -- "$in" &
    turning=$!
    trap again USR1
    wait "$turning" # which a signal ends, unlike a program in the foreground
else
    gimgxf manifest check "$manifest".[0-9]* || true # what is left counts
    gimgxf manifest merge "$manifest".[0-9]* >"$manifest"
    # A task that never ran has noted nothing, so look at the inputs as well.
    left=$(gimgxf "$op" --dry-run --resume "$manifest" "$@" \
        -r -d "$out" -- "$in" | wc -l)
    echo "$left left to do"
    [ "$left" = 0 ]
fi
