#!/bin/bash
# Turns a tree of pictures on several machines, by ssh and GNU parallel.
#
#   samples/parallel-ssh.sh LOGINS N rotate90 IN OUT
#
# LOGINS is a file with one machine per line, as for parallel --sshloginfile:
# "user@host", "ssh -p 2222 host", or ":" for this one. The pictures are divided
# into N shares. Choose several shares per machine, so that a slow one takes fewer.
# Options of gimgxf may follow OUT.
#
# At the end the script joins the manifests to OUT.manifest, and says what is left;
# the exit status is 0 if nothing is. Run it again, with the same N, to continue:
# what is done is skipped. IN, OUT and OUT.manifest.* must be on a file system that
# all machines share, under the same names.

set -euo pipefail
logins=$1 n=$2 op=$3 in=$(realpath "$4") out=$(realpath "$5")
shift 5
manifest=$out.manifest

# A machine does one share at a time, since gimgxf uses all its processors. If a
# machine fails, another continues its share. Each share has a manifest of its own,
# as lines that several machines append to one file may be lost.
seq "$n" | parallel --sshloginfile "$logins" --jobs 1 --retries 3 --quote \
    gimgxf "$op" --shard "{}/$n" \
    --manifest "$manifest.{}" --resume "$manifest.{}" \
    "$@" -r -d "$out" -- "$in" ||
    echo 'not all shares ended well' >&2

awk 1 "$manifest".[0-9]* >"$manifest" # which also ends lines that were cut
# A share that was never begun has no manifest, so look at the inputs as well.
left=$(gimgxf "$op" --dry-run --resume "$manifest" "$@" \
    -r -d "$out" -- "$in" | tee /dev/stderr | wc -l)
echo "$left left to do"
[ "$left" = 0 ]
