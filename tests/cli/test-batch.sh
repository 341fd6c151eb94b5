# A batch of many pictures reports each of them; one that fails, or an early
# end, does not harm the others.
. "$ROOT/tests/cli/lib.sh"
needs python3

# tree DIRECTORY N: pictures 001.png, 002.jpg, 003.ppm and so on.
tree() {
    mkdir -p "$1"
    local i
    for ((i = 1; i <= $2; i++)); do
        case $((i % 3)) in
        0) cp "$samples/f.ppm" "$1/$(printf %03d "$i").ppm" ;;
        1) cp "$samples/f-rgb.png" "$1/$(printf %03d "$i").png" ;;
        2) cp "$samples/f.jpg" "$1/$(printf %03d "$i").jpg" ;;
        esac
    done
}

# turned OP DIRECTORY OTHER: makes what each picture has to be, one at a time.
turned() {
    local f
    mkdir -p "$3"
    for f in "$2"/*; do
        gimgxf "$1" "$f" "$3/${f##*/}"
    done
}

# Each is what it is alone, on any number of threads.
tree in 30
turned rotate90 in want
for j in 1 2 5; do
    gimgxf rotate90 -j "$j" -r -d "out$j" in 2>said
    check "-j $j: status" [ $? = 0 ]
    check "-j $j: files" diff -r want "out$j"
    check "-j $j: summary" grep -qx 'gimgxf: 30 of 30 done: 30 lossless' said
done
gimgxf -q rotate90 -d quiet in/*.png 2>said
check 'no summary if quiet' [ ! -s said ]

# Told in their order, whatever order they are done in.
gimgxf --json -q rotate90 -r -d json in >lines
ls in >names
grep -o '"output": "[^"]*' lines | sed 's:.*/::' >told
check 'one object a file, in order' cmp -s names told

# One that fails leaves the others alone; directories and what is not there are
# told apart.
tree some 4
echo 'no picture' >some/bad.png
mkdir some/dir.png
gimgxf -q rotate90 -j 2 -d mixed some/*.* nowhere.png 2>said
check 'one failed: status' [ $? = 1 ]
check 'one failed: told' diff - said <<'END'
gimgxf: some/bad.png: a text file, not a picture
gimgxf: some/dir.png: a directory; --recursive (-r) takes the pictures in it
gimgxf: nowhere.png: No such file or directory
END
check 'one failed: the others' [ "$(ls mixed | wc -l)" = 4 ]
check 'one failed: nothing left' no_temporary mixed

# In place, with backups.
tree place 9
cp -r place before
turned rotate90 place turned
gimgxf -q rotate90 --in-place --backup .orig -r place
check 'in place: status' [ $? = 0 ]
for f in before/*; do
    check "in place: $f" same "turned/${f##*/}" "place/${f##*/}"
    check "backup: $f" same "$f" "place/${f##*/}.orig"
done

# An output that is newer is left alone, and counted. (test-overwrite has the rest.)
gimgxf -q rotate90 -d up in/001.png
gimgxf rotate90 -u -d up --dry-run in/001.png in/004.png >said 2>left
check 'update: planned' [ "$(cat said)" = 'in/004.png -> up/004.png' ]
check 'update: counted' [ "$(cat left)" = \
    'gimgxf: 1 of 2 would be done, 1 left alone' ]

# A directory that cannot be read is not hidden by what was made of it before.
mkdir -p shut/sub shut.out/sub
cp "$samples/f-rgb.png" shut/sub
chmod 0 shut/sub
if ! ls shut/sub >/dev/null 2>&1; then
    gives 1 'gimgxf: shut/sub: Permission denied' -q copy -n -r -d shut.out shut
fi
chmod 755 shut/sub
gives 1 'gimgxf: shut/sub: a directory; --recursive (-r) takes the pictures in '\
'it' -q copy -n -d shut.out shut/sub

# What would keep a batch waiting for ever is no input and no output.
mkfifo fifo.png
refused 1 -q copy <<END
-d fifos fifo.png | fifo.png: not a regular file
-o fifo.png in/001.png | fifo.png: not a regular file
END
refused 2 <<<"-q copy -d fifos --manifest - in/001.png | --manifest: '-' is not a file; a file that is called - is ./-"

# Names that are no words.
mkdir odd
printf -v tab 'a\tb.png'
printf -v line 'a\nb.png'
printf -v bytes 'a\377\033[31m.png'
for f in "$tab" "$line" "$bytes" "-v.png" ' .png' "it's \"q\".png"; do
    cp "$samples/f-rgb.png" "odd/$f"
done
find odd -type f -print0 >list
gimgxf -q rotate90 -0 --files-from list -d odd2 2>said
check 'odd names: status' [ $? = 0 ]
check 'odd names: all are there' [ "$(ls -A odd2 | wc -c)" = "$(ls -A odd | wc -c)" ]
echo 'no picture' >"odd/$line"
gives 1 'gimgxf: odd/a\nb.png: a text file, not a picture' \
    -q rotate90 -d odd3 "odd/$line"

# A disk that cannot be written to. (test-endings has one that is full.)
mkdir disk
closed() {
    unshare -rm sh -c 'mount -t tmpfs -o ro none disk && "$@"' sh "$@"
}
if has_tool unshare && closed true 2>/dev/null; then
    closed "$program" -q rotate90 -d disk in/001.png in/002.jpg 2>said
    check 'a disk that is read-only' diff - said <<'END'
gimgxf: disk/001.png: the directory disk is not writable: Read-only file system
gimgxf: disk/002.jpg: the directory disk is not writable: Read-only file system
END
else
    echo 'skipped a disk that is read-only: none can be mounted here'
fi

# Nobody reads the results any more.
mkdir many
for i in {001..400}; do
    cp some/bad.png "many/$i.png"
done
(gimgxf --json -q copy -r -d pipe many 2>said
 echo $? >status) | head -n 1 >first
check 'a closed pipe: quiet' [ -z "$(grep -v 'not a picture' said)" ]
check 'a closed pipe: status' [ "$(cat status)" = 141 ]

# The end comes by a signal: what was begun is finished, and told.
slow_pictures slow
set -m # else what runs in the background ignores SIGINT
for signal in INT TERM HUP; do
    rm -rf ended
    "$program" --backend "$GIMGXF_BACKEND" --json rotate90 --format png -r -d ended \
        --manifest ended.$signal slow >stdout 2>said &
    pid=$!
    for ((i = 0; i < 500; i++)); do
        [ -n "$(ls ended 2>/dev/null)" ] && break
        sleep 0.01
    done
    kill -$signal $pid
    wait $pid 2>/dev/null
    check "SIG$signal: status" [ $? = $((128 + $(kill -l $signal))) ]
    check "SIG$signal: nothing is left half" no_temporary ended
    check "SIG$signal: how to go on" grep -qxE \
        "gimgxf: [0-9]+ left; the same call with --resume ended.$signal goes on" said
    done=$(ls ended | wc -l)
    check "SIG$signal: early ($done)" [ "$done" -lt 60 ]
    check "SIG$signal: what is done is noted" \
        [ "$(grep -c '"status": "done"' ended.$signal)" = "$done" ]
done
set +m
gimgxf -q rotate90 --format png -r -d ended --resume ended.HUP \
    --manifest ended.HUP slow
check 'resumed: all is there' [ "$(ls ended | wc -l)" = 60 ]
check 'resumed: in all' [ "$(grep -c '"status": "done"' ended.HUP)" = 60 ]

# Little memory, however many files.
gimgxf -q rotate90 -j 8 --max-memory 64M --format ppm -r -d little slow
check 'little memory: status' [ $? = 0 ]
check 'little memory: all are there' [ "$(ls little | wc -l)" = 60 ]
finish
