#!/bin/bash
# Turns a tree of pictures on several machines, by ssh and GNU parallel.
#
#   samples/parallel-ssh.sh LOGINS N rotate90 IN OUT
#
# LOGINS is a file with a machine a line, as parallel --sshloginfile takes it:
# "user@host", "ssh -p 2222 host", or ":" for this one. The pictures are dealt
# out in N shares: some for each machine, so that a slow one takes fewer. Options
# of gimgxf may follow OUT.
#
# At the end it puts together what was noted, as OUT.manifest, and says what
# failed and what is left; the status is 0 if nothing is. Run it once more, with
# the same N, to go on: what is done is left out. IN, OUT and OUT.manifest.* are
# to be on a file system that all machines share, under the same names.

set -euo pipefail
logins=$1 n=$2 op=$3 in=$(realpath "$4") out=$(realpath "$5")
shift 5
manifest=$out.manifest

# One share at a time on a machine, since gimgxf takes all its processors. If a
# machine fails, another goes on with its share. A manifest a share: lines that
# several machines append to one file may be lost.
seq "$n" | parallel --sshloginfile "$logins" --jobs 1 --retries 3 --quote \
    gimgxf "$op" --shard "{}/$n" \
    --manifest "$manifest.{}" --resume "$manifest.{}" \
    "$@" -r -d "$out" -- "$in" ||
    echo 'not all shares ended well' >&2

gimgxf manifest check "$manifest".[0-9]* || true # what is left counts
gimgxf manifest merge "$manifest".[0-9]* >"$manifest"
# A share that was never begun has noted nothing, so look at the inputs as well.
left=$(gimgxf "$op" --dry-run --resume "$manifest" "$@" \
    -r -d "$out" -- "$in" | wc -l)
echo "$left left to do"
[ "$left" = 0 ]
