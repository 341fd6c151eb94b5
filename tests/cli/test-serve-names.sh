# Jobs of serve may name regular files only, with --root only those below a
# directory. Only answers are written to standard output.
. "$ROOT/tests/cli/lib.sh"
needs python3

# job ID INPUT OUTPUT
job() {
    printf '{"id": %s, "op": "rotate90", "input": "%s", "output": "%s", "options": {"format": "png"}}\n' \
        "$@"
}

# ask WORD NAME INPUT OUTPUT [TEXT]: gives the server a job; its answer has that status,
# and this text.
jobs=0
ask() {
    jobs=$((jobs + 1))
    job $jobs "$3" "$4" >&7
    eventually lines answers $jobs
    answer=$(tail -n 1 answers)
    check "$2: $answer" grep -q "\"id\": $jobs,.*\"status\": \"$1\"" <<<"$answer"
    check "$2: told" grep -qF -e "$5" <<<"$answer"
}
refused() {
    ask failed "$@"
}
done_well() {
    ask 'done' "$@"
}

end() {
    exec 7>&-
    wait $server
    local status=$?
    jobs=0
    return $status
}

# only_answers: whether that is all that stands in there.
only_answers() {
    lines answers $jobs && ! grep -qv '^{"id": .*}$' answers
}

cp "$samples/f-rgb.png" a.png
gimgxf rotate90 a.png want.png

# ---- Names of open files ----

# Standard output is a regular file, and so is standard error.
begin
done_well 'a file' a.png b.png
echo 'said before' >>said
process=$(worker $server)
ln -s /dev/stdout link-dev
ln -s /proc/self/fd/1 link-proc
ln -s link-dev link-link
ln -s /dev/fd link-fds
names=(/dev/stdout /dev/stderr /dev/stdin /dev/fd/1 /dev/fd/2 /proc/self/fd/1
    /proc/thread-self/fd/1 link-dev link-proc link-link link-fds/1 /dev/null
    /dev/../dev/stdout /dev/tty)
for fd in 0 1 2 3 4 5 6 7; do
    names+=(/proc/$server/fd/$fd /proc/$process/fd/$fd)
done
names+=("/proc/$server/cwd" /proc/self/exe "/proc/$server/task/$server/fd/3")
for name in "${names[@]}"; do
    refused "output $name" a.png "$name"
done
check 'output: only answers on stdout' only_answers
check 'output: stderr is as it was' [ "$(cat said)" = 'said before' ]
for name in /dev/stdin /dev/fd/0 /proc/self/fd/0 /dev/stdout /dev/null endless . \
    "/proc/$server/fd/0" "/proc/$process/fd/0" /dev/zero /dev/tty; do
    refused "input $name" "$name" c.png
done
check 'input: only answers' only_answers
check 'nothing was made' absent c.png
done_well 'a file after all that' a.png d.png
check 'a file after all that' same d.png want.png
end
check 'open files: status' [ $? = 1 ]

# The same where it is a pipe.
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 link-dev; do
    { job 1 a.png $name; job 2 a.png e.png; } | gimgxf serve - | cat >answers
    jobs=2
    check "pipe: $name: only answers" only_answers
    check "pipe: $name: refused" grep -q '"id": 1.*"status": "failed"' answers
done
# Jobs that stand in a regular file, which is no picture to the jobs.
job 1 /dev/stdin f.png >list
gimgxf serve - <list >answers
check 'jobs in a file: refused' grep -q '"status": "failed"' answers
check 'jobs in a file: nothing was made' absent f.png

# ---- Directories ----

begin
done_well 'new directories' a.png new/deep/a.png
check 'new directories' same new/deep/a.png want.png
done_well 'directories that are there' a.png new/deep/b.png
refused 'a file where a directory would be' a.png a.png/b.png
end

# ---- --root ----

mkdir root root/sub outside rooted
cp a.png root/a.png
cp a.png outside/a.png
cp a.png rooted/a.png
here=$(pwd -P)
ln -s ../outside root/out
ln -s "$here/outside" root/absolute
ln -s "$here/root/sub" root/back
ln -s ../outside/a.png root/picture.png
ln -s ../outside/new.png root/dangling.png
ln -s sub root/inner
ln -s ../a.png root/sub/up.png
ln -s loop root/loop
ln -s root alias
find outside rooted -type f -exec cksum {} + | sort >before

outside_is_untouched() {
    find outside rooted -type f -exec cksum {} + | sort | cmp -s before - &&
        [ -z "$(find . -maxdepth 1 -name '.gimgxf-*')" ]
}

begin --root root
done_well 'a name' a.png b.png
check 'a name' same root/b.png want.png
done_well 'a directory' a.png made/deep/c.png
check 'a directory' same root/made/deep/c.png want.png
done_well 'an absolute name' "$here/root/a.png" "$here/root/d.png"
check 'an absolute name' same root/d.png want.png
check 'an absolute name: answered as it was given' \
    grep -qF "\"output\": \"$here/root/d.png\"" <<<"$answer"
done_well '..' sub/../a.png sub/../e.png
check '..' same root/e.png want.png
done_well 'a link inside' sub/up.png inner/f.png
check 'a link inside' same root/sub/f.png want.png
done_well 'in place' e.png e.png
leads="its name leads out of root"
for name in ../outside/a.png sub/../../outside/a.png "$here/outside/a.png" \
    "$here/root/../outside/a.png" "$here/rooted/a.png" "$here/outside/../root/a.png" \
    out/a.png absolute/a.png back/x.png picture.png /proc/self/cwd/outside/a.png \
    inner/../../outside/a.png; do
    refused "input $name" "$name" x.png "$leads"
    refused "output $name" a.png "$name" "$leads"
done
for name in dangling.png ../new.png /dev/stdout /dev/null "$here/root2/a.png" \
    "$here/a.png" out/new/deep.png ..; do
    refused "output $name" a.png "$name" "$leads"
done
for name in . sub a.png/x.png "$here/root" "$here/root/" loop loop/x.png; do
    refused "output $name" a.png "$name"
done
check 'what is outside is as it was' outside_is_untouched
check 'no other files were made' absent root2
check 'only answers' only_answers

# The directory stays the same one under another name.
mv root moved
mkdir root
done_well 'moved' a.png g.png
check 'moved' same moved/g.png want.png
check 'moved: not to the old name' absent root/g.png
rmdir root
mv moved root
end

# A root that is named by a link: both names lead there.
begin --root "$here/alias"
done_well 'by its link' "$here/alias/a.png" "$here/alias/h.png"
done_well 'by its path' "$here/root/a.png" "$here/root/i.png"
refused 'outside' "$here/outside/a.png" j.png 'its name leads out of'
end
begin --root /
done_well 'all of it' "$here/a.png" "${here#/}/root/k.png"
check 'all of it' same root/k.png want.png
end

# Wrong usage.
gives 2 'gimgxf: --root: nowhere: No such file or directory' serve --root nowhere -
gives 2 'gimgxf: --root: a.png: Not a directory' serve --root a.png -
gives 2 'gimgxf: --root is for serve; the outputs of a batch stay below its --directory' \
    --root root rotate90 a.png x.png
printf '{"op": "copy", "input": "a.png", "output": "y.png", "options": {"root": "/"}}\n' |
    gimgxf serve --root root - >answers
check 'a job has no root of its own' grep -qF -- '--root: not for a single job' answers

# Its own help.
gimgxf serve --help >help
check 'help: its usage' grep -q '^gimgxf serve \[options\] -' help
for option in quality root max-memory null; do
    check "help: --$option" grep -q -- "--$option" help
done
for option in directory recursive in-place json; do
    check "help: no --$option" [ -z "$(grep -- "--$option" help)" ]
done
finish
