# What cannot be written is told and leaves what stood there; so does a signal.
# (Which files an output replaces is in test-overwrite, which mode it gets in
# test-modes.)
. "$ROOT/tests/cli/lib.sh"
cp "$samples/f-rgb.png" in.png
gives 0 '' rotate90 in.png want.png

mkdir d d.png
ln -s loop.png loop.png
echo keep >keep.png
: >empty.png
echo text >text.png
head -c 500 in.png >cut.png
cp "$samples/f.ppm" in.ppm

# What cannot be: one line, status 1, and what stood there stands there still.
refused 1 rotate90 <<END
none.png o.png | none.png: No such file or directory
none.png no/o.png | none.png: No such file or directory
in.png loop.png | loop.png: Too many levels of symbolic links
in.png d.png | d.png: is a directory
in.png no/o.png | no/o.png: its directory does not exist
empty.png o.png | empty.png: the file is empty
text.png o.png | text.png: a text file, not a picture
cut.png keep.png | cut.png: the file is cut short
in.png /dev/full --format png | /dev/full: cannot be written: No space left on device
$samples/f-sideways.jpg /dev/full --format ppm | /dev/full: cannot be written: No space left on device
--strip --ignore-orientation $samples/f-sideways.jpg o.jpg | $samples/f-sideways.jpg: --strip would drop the orientation, 6, that --ignore-orientation leaves
END
gives 2 'gimgxf: d is a directory; -r takes the pictures in it, and -d DIR '\
'says where the outputs go' rotate90 d o.png
gives 1 "gimgxf: $samples/f-sideways.jpg: warning: PNM cannot hold, so it is not \
kept: EXIF
gimgxf: /dev/full: cannot be written: No space left on device" \
    -v --backend cpu rotate90 "$samples/f-sideways.jpg" /dev/full --format ppm
# Directories that are missing are made by a batch alone.
gives 0 '' -q rotate90 -d made/for in.png
check 'directories are made' [ -s made/for/in.png ]
check 'no directory is left' [ "$(echo no* made/*)" = 'no* made/for' ]
if [ "$(id -u)" != 0 ]; then # root may write anywhere
    mkdir -m 555 closed
    ln -s closed/o.png to-closed.png
    refused 1 rotate90 in.png <<END
closed/o.png | closed/o.png: the directory closed is not writable: Permission denied
to-closed.png | to-closed.png: its directory is not writable: Permission denied
END
    rm -rf closed to-closed.png
fi
(ulimit -f 1 && gimgxf rotate90 in.ppm keep.png --format ppm) 2>stderr
check 'a full disk is told' [ "$(cat stderr)" = \
    'gimgxf: keep.png: cannot be written: File too large' ]
check 'the old output is there' [ "$(cat keep.png)" = keep ]
check 'no other' absent o.png
check 'a device stays a device' [ -c /dev/full ]
# One line says what is wrong with a header, though libpng says it by a warning.
if has_tool python3; then
    python3 - "$samples/f-rgb.png" <<'END'
import struct, sys, zlib
png = bytearray(open(sys.argv[1], 'rb').read())
png[25] = 5
png[29:33] = struct.pack('>I', zlib.crc32(png[12:29]))
open('header.png', 'wb').write(png)
END
    gives 1 'gimgxf: header.png: Invalid color type in IHDR' \
        rotate90 header.png o.png
fi
check 'nothing is left' no_temporary .

# Into what is no file: a pipe, a stream by its name; not into a closed one.
gimgxf rotate90 in.png /dev/stdout --format png | cat >piped.png
check 'a stream by its name' same want.png piped.png
mkfifo fifo
cat fifo >piped.png &
gimgxf rotate90 in.png fifo --format png
wait
check 'a named pipe' same want.png piped.png
gimgxf rotate90 in.png - 2>stderr >&-
check 'a closed stdout' [ $? = 1 ]

# What others may not read they never can.
echo old >secret.png
chmod 600 secret.png
if can_trace; then
    strace -o trace -e trace=openat "$program" rotate90 in.png secret.png \
        2>/dev/null
    check 'private from the first byte' \
        grep -qE '(O_TMPFILE|gimgxf-.*O_CREAT).*, 0600' trace
    # In place, the bytes are on the disk before the picture is replaced.
    cp in.png synced.png
    strace -f -o trace -e trace=/fsync,/rename "$program" rotate90 -i synced.png \
        2>/dev/null
    check 'synced, then renamed' [ "$(grep -oE "fsync|rename" trace | paste -sd ' ')" = \
        'fsync rename' ]
fi

# A signal ends the program, and its parent sees which. (It waits for its input
# meanwhile, so nothing here goes by the clock.)
for signal in TERM ALRM USR1 XCPU; do
    mkdir "s$signal"
    mkfifo "s$signal/in"
    "$program" rotate90 "s$signal/in" "s$signal/out.png" 2>/dev/null &
    exec 9>"s$signal/in"
    kill -s $signal $!
    wait $! 2>/dev/null
    check "ended by SIG$signal" [ $? = $((128 + $(kill -l $signal))) ]
    exec 9>&-
    check "nothing is left after SIG$signal" no_temporary "s$signal"
done

# Large outputs: several MiB, which take a while. What the disk does not hold in
# the middle, and what cannot be begun.
{ printf 'P6\n1600 1200\n255\n'; head -c 5760000 /dev/urandom; } >large.ppm
echo keep >kept
for format in ppm png; do
    gives 0 '' rotate90 large.ppm "large-want.$format"
    cp kept "keep.$format"
    (ulimit -f 2048 && gimgxf rotate90 large.ppm "keep.$format") 2>stderr
    check "a disk full after 2 MiB, $format" [ $? = 1 ]
    check "is told, $format" [ "$(cat stderr)" = \
        "gimgxf: keep.$format: cannot be written: File too large" ]
    check "nothing is lost, $format" same kept "keep.$format"
    check "no part is left, $format" no_temporary .
    (ulimit -f 2048 && gimgxf rotate90 large.ppm "fresh-o.$format") 2>/dev/null
    check "no part of a new one, $format" absent "fresh-o.$format"
    gives 1 "gimgxf: no/o.$format: its directory does not exist" rotate90 large.ppm "no/o.$format"
    gimgxf rotate90 large.ppm - --format "$format" | cat >piped
    check "a large pipe, $format" same "large-want.$format" piped
done

# Over the input; what else is called so keeps the old content.
gives 0 '' copy --format png large.ppm large.png
cp large.png whole.png
cp large.png over.png
ln over.png other-name.png
ln -s over.png by-link.png
gives 0 '' rotate90 by-link.png by-link.png
check 'large, in place' same large-want.png over.png
check 'the other name' same whole.png other-name.png
check 'still a link' [ -L by-link.png ]

# An error that comes late: what stood there stands, and a stream is empty.
head -c -20 whole.png >cut.png
cp kept keep.png
gives 1 'gimgxf: cut.png: the file is cut short' rotate90 cut.png keep.png
check 'kept after a late error' same kept keep.png
check 'no part of it' no_temporary .
gives 1 'gimgxf: cut.png: the file is cut short' rotate90 cut.png -
check 'no part in a stream' [ ! -s stdout ]

# Ended while the new file is written: SIGTERM takes it away, SIGKILL cannot.
# Both leave the old one.
for signal in TERM KILL; do
    can_trace || break
    mkdir "at$signal"
    cp whole.png "at$signal/o.png"
    # A shell of its own says that it was killed, where nobody hears it.
    (strace -o trace -e trace=write -e inject=write:signal=$signal:when=1 \
        "$program" rotate90 large.ppm "at$signal/o.png"
    exit $?) 2>/dev/null
    check "ended by SIG$signal" [ $? = $((128 + $(kill -l $signal))) ]
    check "the old file after SIG$signal" same whole.png "at$signal/o.png"
    [ $signal = KILL ] || check "nothing else is left" no_temporary "at$signal"
done

# Names cannot steer a terminal.
name=$(printf 'a\033[31mb\nc\302\233d\377.png')
gives 1 'gimgxf: a\x1b[31mb\nc\xc2\x9bd\xff.png: No such file or directory' \
    rotate90 "$name" o.png
cp in.png "$name"
makes want.png rotate90 "$name" "out$name"
finish
