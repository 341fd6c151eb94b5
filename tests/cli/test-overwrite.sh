# What happens to a file that exists where an output is written: one test for
# each row of the tables in the man pages.
. "$ROOT/tests/cli/lib.sh"
needs python3

cp "$samples/f-rgb.png" input.png
cp "$samples/f.jpg" another
cp "$samples/f-gray16.png" third
echo 'no picture' >broken
gimgxf rotate90 input.png want.png
gimgxf fliph input.png other.png

# row CALL THERE BECOMES STATUS: begins the test of this row, in a directory of
# its own, where in.png is an input, and out is for outputs.
row() {
    title="$1 | $2"
    printf '%s|%s|%s|%s\n' "$@" >>"$PLACE/tested"
    becomes=$3 expected=$4
    cd "$PLACE" || exit 1
    rm -rf at
    mkdir -p at/out
    cd at || exit 1
    cp ../input.png in.png
    cp ../third old
    touch -d 2001-01-01 in.png
}

# rows: of lines "CALL|THERE|BECOMES|STATUS|PREPARE|ARGUMENTS|RESULT" of stdin: rows whose
# test is to prepare, a call, or some that are joined by "; ", and a look at the result.
rows() {
    local call there becomes status prepare arguments result words
    while IFS='|' read -r -u 3 call there becomes status prepare arguments result; do
        row "$call" "$there" "$becomes" "$status"
        eval "$prepare"
        while [ "$arguments" ]; do
            eval "words=(${arguments%%; *})"
            turns "${words[@]}"
            arguments=${arguments#"${arguments%%; *}"}
            arguments=${arguments#; }
        done
        eval "$result"
    done 3<&0
}

# turns ARGUMENTS...: a call, and whether it ends as the row says.
turns() {
    gimgxf "$@" >"$PLACE/stdout" 2>"$PLACE/stderr" </dev/null
    local got=$?
    check "$title: status $got of: $*" [ $got = "$expected" ]
}

# serves INPUT OUTPUT [OPTIONS]: the same by a job of serve.
serves() {
    printf '{"op": "rotate90", "input": "%s", "output": "%s", "options": {%s}}\n' \
        "$1" "$2" "${3-}" | gimgxf serve - >"$PLACE/answers"
    check "$title: serve" [ $? = "$expected" ]
}

# says TEXT: whether that is what stderr says.
says() {
    check "$title: $(cat "$PLACE/stderr")" \
        [ "$(cat "$PLACE/stderr")" = "gimgxf: $1" ]
}

# A picture is what it was, or what the turn makes of it; nothing else is left.
is_old() {
    check "$title: $1 stays" same "$PLACE/${2:-third}" "$1"
    check "$title: nothing is left" no_temporary .
}

is_new() {
    check "$title: $1 is turned" same "$PLACE/want.png" "$1"
    check "$title: nothing is left" no_temporary .
}

# in_any CHECK PREPARE [OPTIONS]: the ways to name an output, on whatever PREPARE
# puts there.
in_any() {
    local result=$1 prepare=$2 options=${3-} way
    for way in out/in.png '-d out' '-o out/{stem}.{ext}' serve; do
        rm -rf out
        mkdir out
        $prepare out/in.png
        case $way in
        serve)
            serves in.png out/in.png "$(sed 's/-n/"no-clobber": true/
                s/-f/"force": true/; s/ "/, "/' <<<"$options")"
            ;;
        -*) turns -q $options rotate90 $way in.png ;;
        *) turns -q $options rotate90 in.png $way ;;
        esac
        $result out/in.png
    done
}

nothing() { :; }
file() { cp "$PLACE/third" "$1"; }
closed() { file "$1" && chmod 444 "$1"; }
directory() { mkdir "$1"; }
linked() { file out/real && ln -s real "$1"; }
dangling() { ln -s real "$1"; }
hard() { file out/real && ln out/real "$1"; }
stays_directory() { check "$title: it stays" [ -d "$1" ]; }
stays_dangling() { check "$title: it stays" [ "$(readlink "$1")" = real ]; }
is_new_behind() { stays_dangling "$1" && is_new out/real; }
is_new_beside() { is_new "$1" && is_old out/real; }

# ---- Any call ----

while IFS='|' read -r -u 3 there becomes status result prepare; do
    row any "$there" "$becomes" "$status"
    [ "$there" != 'a file, but input fails' ] || cp ../broken in.png
    in_any "$result" "$prepare"
done 3<<'END'
nothing|it is made|0|is_new|nothing
a file that is no input|it is replaced|0|is_new|file
a read-only file|it is replaced|0|is_new|closed
a link to a file|its target is replaced|0|is_new_behind|linked
a dangling link|its target is made|0|is_new_behind|dangling
one of some hard links|this one is replaced|0|is_new_beside|hard
a directory|error, it stays|1|stays_directory|directory
a file, but input fails|it stays|1|is_old|file
END
row 'any, -n' 'all but a directory' 'it stays, with a note' 0
in_any stays_dangling dangling -n
in_any is_old file -n
check "$title: its reason" grep -q '"reason": "exists"' ../answers
turns -n rotate90 in.png out/in.png
says 'out/in.png: exists, so it is left alone'
row 'any, -n -f' 'a file' 'it is replaced' 0
in_any is_new file '-n -f'
row 'any, -f -n' 'a file' 'it stays, with a note' 0
in_any is_old file '-f -n'

row single 'a device or named pipe' 'it is written to' 0
mkfifo out/in.png
cat out/in.png >got &
turns rotate90 in.png out/in.png
wait $!
is_new got
check "$title: it stays" [ -p out/in.png ]

row -d 'a device or named pipe' 'error, it stays' 1
mkfifo out/in.png
turns -q rotate90 -d out in.png
says 'out/in.png: not a regular file'
turns -q rotate90 -o out/in.png in.png
check "$title: it stays" [ -p out/in.png ]
row serve 'a device or named pipe' 'error, it stays' 1
mkfifo out/in.png
serves in.png out/in.png
check "$title: it stays" [ -p out/in.png ]

# Where nobody can answer it is said that a file was replaced: one that had
# something in it, and that was not the input.
row script 'a file that is no input' 'replaced, with a note' 0
file out/in.png
turns rotate90 in.png out/in.png
says 'out/in.png: existed and was replaced; -n leaves such a file alone, -f says nothing'
is_new out/in.png
: >out/empty.png
for call in '-q in.png out/in.png' '-f in.png out/in.png' '-n -f in.png out/in.png' \
    'in.png new.png' 'in.png out/empty.png' 'in.png /dev/null' 'in.png in.png'; do
    turns --format png rotate90 $call
    check "$title: $call" [ ! -s ../stderr ]
done
cp ../input.png in.png
turns --json rotate90 in.png out/in.png
check "$title: JSON" grep -q '"replaced": true' ../stdout
turns --json rotate90 in.png new.json.png
check "$title: JSON, none" grep -q '"replaced": false' ../stdout
turns rotate90 -d out in.png
check "$title: a batch counts" \
    grep -q '1 of 1 done: 1 lossless; 1 replaced a file that existed$' ../stderr
turns -f rotate90 -d out in.png
turns -i rotate90 in.png
check "$title: it counts no other" [ "$(grep -c existed ../stderr)" = 0 ]

# answers TEXT ARGUMENTS...: a call on a terminal of its own, stdout aside, where
# TEXT is typed in answer to the question, if there is one. What the terminal
# showed is in ../stderr.
cat >"$PLACE/terminal.py" <<'END'
import os, pty, sys
answer = {'EOF': b'\4', 'INT': b'\3'}.get(sys.argv[1], sys.argv[1].encode() + b'\n')
child, terminal = pty.fork()
if child == 0:
    out = os.open('../stdout', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(out, 1)
    os.environ['TERM'] = 'dumb'
    os.execv(sys.argv[2], sys.argv[2:])
shown = b''
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError: # there is nobody any more
        break
    if not more:
        break
    asked = b'[y/N] ' in shown
    shown += more
    if b'[y/N] ' in shown and not asked:
        os.write(terminal, answer)
status = os.waitpid(child, 0)[1]
open('../stderr', 'wb').write(shown.replace(b'\r', b''))
sys.exit(os.waitstatus_to_exitcode(status) % 256)
END
answers() {
    local answer=$1 got
    shift
    python3 "$PLACE/terminal.py" "$answer" "$program" --backend \
        "$GIMGXF_BACKEND" "$@"
    got=$?
    check "$title: status $got of $answer: $*" [ $got = "$expected" ]
}
asks() {
    check "$title: it asks $1: $(cat ../stderr)" [ "$(grep -c 'y/N' ../stderr)" = $1 ]
}

row terminal 'a file, answer yes' 'it is replaced' 0
for answer in y Y yes; do
    file out/in.png
    answers $answer rotate90 in.png out/in.png
    check "$title: $(cat ../stderr)" \
        grep -q '^gimgxf: out/in.png exists; replace it? \[y/N\] ' ../stderr
    check "$title: and that is all" [ "$(wc -l <../stderr)" = 1 ]
    is_new out/in.png
done
answers y --json -q rotate90 in.png out/in.png
asks 1
check "$title: JSON" grep -q '"status": "done".*"replaced": true' ../stdout

row terminal 'a file, other answers' 'it stays, with a note' 1
file out/in.png
for answer in n N '' no 'what?' EOF; do
    answers "$answer" --json rotate90 in.png out/in.png
    asks 1
    check "$title: told" grep -q 'exists, so it is left alone$' ../stderr
    is_old out/in.png
done
check "$title: JSON" grep -q '"status": "skipped", "reason": "exists"' ../stdout
expected=254 answers INT rotate90 in.png out/in.png # by SIGINT
asks 1
is_old out/in.png

row terminal 'nothing; -f, -n' 'it does not ask' 0
: >out/empty.png
cp in.png same.png
for call in 'in.png out/new.png' '-q in.png out/empty.png' \
    '-f in.png out/in.png' 'same.png same.png' '-d out in.png'; do
    [ -e out/in.png ] || file out/in.png
    answers n rotate90 $call
    asks 0
done
is_new out/in.png
is_new same.png # which replaced the input
file out/in.png
for options in -n --dry-run '-f -n'; do
    answers y $options rotate90 in.png out/in.png
    asks 0
    is_old out/in.png
done
expected=1 answers y rotate90 missing.png out/in.png
asks 0

# ---- An input ----

row single 'the input, same text' 'it is replaced' 0
turns rotate90 in.png in.png
is_new in.png
turns rotate270 ./in.png ./in.png
ln -s in.png link
cp ../input.png in.png
turns --format png rotate90 link link
is_new in.png
check "$title: the link stays" [ -L link ]

# Names of in.png that are not written in.png.
other_names() {
    mkdir sub
    ln in.png hard.png
    ln -s in.png link.png
    ln -s . here
    names="./in.png sub/../in.png here/in.png $PWD/in.png hard.png link.png"
}

row single 'the input, other name' 'error, it stays' 2
other_names
for name in $names; do
    for options in '' -f; do
        turns $options rotate90 in.png "$name"
        says "$name is the input in.png by another name; only -i (--in-place) replaces inputs"
        is_old in.png input.png
    done
    turns copy in.png "$name" # also where there is nothing to do
    turns rotate90 "$name" in.png
    is_old in.png input.png
    expected=0 turns -q -n rotate90 in.png "$name" # which leaves all alone
    is_old in.png input.png
done

row serve 'the input, same text' 'it is replaced' 0
serves in.png in.png
is_new in.png

row serve 'the input, other name' 'error, it stays' 1
other_names
for name in $names; do
    serves in.png "$name"
    check "$title: $name: told" grep -q '"error": "it is the input itself; '\
'write input and output as the same name to replace it"' ../answers
    is_old in.png input.png
done
printf '{"op": "copy", "input": "in.png", "output": "link.png"}\n' |
    gimgxf serve - >answers
check "$title: nothing to do" [ $? = 1 ]

row '- OUTPUT' 'the file on stdin' 'error, it stays' 2
gimgxf rotate90 - in.png <in.png 2>../stderr
check "$title: status" [ $? = 2 ]
says 'in.png is the file that standard input reads; only -i (--in-place) replaces inputs'
is_old in.png input.png

row 'INPUT -' 'the input on stdout' 'error, it stays' 1
gimgxf rotate90 in.png - 2>../stderr >>in.png
check "$title: status" [ $? = 1 ]
says '-: it is the input itself; only -i (--in-place) replaces inputs'
gimgxf rotate90 - - 2>../stderr <in.png >>in.png
check "$title: status" [ $? = 1 ]
gimgxf rotate90 in.png - <in.png 2>../stderr | cmp -s - ../want.png
check "$title: no other one" [ $? = 0 ]
is_old in.png input.png

row -d 'its own input' 'error, it stays' 2
turns rotate90 -d . in.png
says './in.png is the input in.png by another name; only -i (--in-place) replaces inputs'
turns rotate90 -o '{stem}.{ext}' in.png
says 'in.png is the input itself; only -i (--in-place) replaces inputs'
turns rotate90 -o '{dir}/{stem}.{ext}' -f in.png
mkdir tree
cp in.png tree
turns rotate90 -r -d tree tree/in.png
turns rotate90 -r -d . .
other_names
for name in $names; do
    turns rotate90 -o "$name" in.png
    check "$title: told of $name" grep -q \
        'is the input in.png by another name; only -i (--in-place)' ../stderr
    turns --dry-run rotate90 -o "$name" in.png
    is_old in.png input.png
done
is_old tree/in.png input.png

row -d 'another input' 'error, it stays' 2
cp ../input.png b.png
turns rotate90 -o 'b.png' in.png b.png
ln b.png hard.png
ln -s b.png link.png
ln -s . here
mkdir made
cp in.png made/in-rotate90.png
turns rotate90 -o 'made/{stem}-{op}.{ext}' in.png b.png made/in-rotate90.png
rm made/in-rotate90.png
says 'made/in-rotate90.png, what in.png becomes, is itself an input; only -i (--in-place) replaces inputs'
for name in hard link; do
    cp ../input.png $name
    turns --format png rotate90 -o '{stem}.png' $name b.png
done
ln -sf ../b.png made/in.png
turns rotate90 -d made in.png b.png
for k in 1 2 3; do # whatever is whose share
    turns rotate90 -d made --shard $k/3 in.png b.png
done
check "$title: nothing is made" [ "$(ls made)" = in.png ]
is_old in.png input.png
is_old b.png input.png

row '-d, -n' 'an input, any name' 'it stays, with a note' 0
other_names
for name in in.png $names; do
    turns -n rotate90 -o "$name" in.png
    check "$title: $name: told" grep -qxF \
        "gimgxf: $name: exists, so it is left alone" ../stderr
    is_old in.png input.png
done

rows <<'END'
-d, -u|newer, or as old|it stays|0|file out/in.png; touch -d 2001-01-02 out/in.png; cp -p out/in.png out/old.png; touch -d 2001-01-01 out/old.png|-u rotate90 -d out in.png; -u rotate90 -o out/old.png in.png|is_old out/in.png; is_old out/old.png
-d, -u|older than the input|it is replaced|0|file out/in.png; touch -d 2000-12-31 out/in.png|-u rotate90 -d out in.png|is_new out/in.png
-d, --resume|done by the manifest|it stays|0||--manifest log fliph -d out in.png; --manifest log --resume log fliph -d out in.png|is_old out/in.png other.png
-i|the input|it is replaced|0||-q -i rotate90 in.png|is_new in.png
-i|input, a symbolic link|its target is replaced|0|ln -s in.png link.png|-q -i rotate90 link.png|is_new in.png; check "$title: a link" [ -L link.png ]
-i|input, a hard link|this one is replaced|0|ln in.png hard.png|-q -i rotate90 in.png|is_new in.png; is_old hard.png input.png
-i|one file, named twice|error, it stays|2|ln -s in.png link.png|-i rotate90 in.png ./in.png; -i rotate90 in.png link.png|is_old in.png input.png
-i, -n|the input|error, it stays|2||-i -n rotate90 in.png|is_old in.png input.png
-i, -u|the input|error, it stays|2||-i -u rotate90 in.png|is_old in.png input.png
-i, --backup|the input, no backup|replaced and backed up|0||-q -i --backup .old rotate90 in.png|is_new in.png; is_old in.png.old input.png
-i, --backup|the input; a backup|error, both stay|1|file in.png.old|-q -i --backup .old rotate90 in.png|is_old in.png input.png; is_old in.png.old
-i, --resume|done by the manifest|it stays|0||-q --manifest log -i rotate90 in.png; -q --manifest log --resume log -i rotate90 in.png|is_new in.png
-i, --resume|the same, changed since|error, it stays|1|gimgxf -q --manifest log -i rotate90 in.png; printf x >>in.png; cp in.png ../changed|-q --manifest log --resume log -i rotate90 in.png|is_old in.png changed
-i|the input, nothing to do|it stays, unwritten|0|ln in.png hard.png|-q -i copy in.png; copy in.png in.png|check "$title: the same file" [ in.png -ef hard.png ]; is_old in.png input.png
--dry-run|a file|it stays|0|file out/in.png|--dry-run rotate90 -d out in.png; --dry-run rotate90 -o out/{stem}.{ext} in.png|is_old out/in.png
--stack|a file|it is replaced|0|gimgxf -q rotate90 --stack ../stacked in.png ../other.png --format npy; file out/all.npy|-q rotate90 --stack out/all.npy in.png ../other.png|is_old out/all.npy stacked
--stack|a file; a picture fails|it stays|1|cp ../broken broken.png; file out/all.npy|rotate90 --stack out/all.npy in.png broken.png|is_old out/all.npy
--stack, -n|a file|it stays, with a note|0|file out/all.npy|-n rotate90 --stack out/all.npy in.png|is_old out/all.npy
--stack|an input, any name|error, it stays|2|ln in.png out/all.npy|rotate90 --stack out/all.npy in.png|is_old in.png input.png
-d|another input's output|error, it stays|2|mkdir sub; cp in.png sub; file out/in.png|rotate90 -d out in.png sub/in.png|is_old out/in.png
-d|a link that leads out|error, it stays|2|ln -s ../old out/in.png|rotate90 -d out in.png; rotate90 -o out/{stem}.{ext} in.png|is_old old
END

row -i 'a name that is missing' 'error, all stay' 2
for other in new.jpg in.png/x ''; do
    turns -i rotate90 in.png "$other"
    is_old in.png input.png
done
turns -i rotate90 in.png new.jpg
says 'new.jpg: No such file or directory, so nothing was done; --in-place replaces every file that is named'
printf '%s\n' in.png new.png >list
for way in --dry-run '--shard 1/2' '--shard 2/2' --isolate; do
    turns -i $way rotate90 --files-from list
    is_old in.png input.png
done
mkdir folder
turns -i rotate90 in.png folder
says 'folder: a directory; --recursive (-r) takes the pictures in it'
is_old in.png input.png

row '3 names' 'a file, no -d, -o, -i' 'error, all stay' 2
cp ../third b.png
cp ../third c.png
turns rotate90 in.png b.png c.png
says '3 names: several inputs need --directory DIR, --output NAME or --in-place'
is_old in.png input.png
is_old b.png
is_old c.png

# ---- The tables ----

# listed: their rows in the man pages.
listed() {
    sed -n '/^Call|What is there/,/^\.TE/p' "$ROOT"/man/gimgxf*.[17] |
        sed '1,/^_$/d' | grep '|' | grep -v '^Call|' | sed 's/\\-/-/g' | sort
}
cd "$PLACE" || exit 1
listed >listed
sort -o tested tested
check "the rows of the man pages ($(diff listed tested | head -n 4))" \
    same listed tested
check 'there are some' [ "$(wc -l <tested)" -gt 30 ]
finish
