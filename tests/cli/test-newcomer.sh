# Wrong calls, as of users of ImageMagick, jpegtran, sips, ffmpeg, Pillow or numpy
# who have not read the manual: one line says what to type instead, the status is 2,
# and nothing is written.
. "$ROOT/tests/cli/lib.sh"
cp "$samples/f-rgb.png" in.png
cp "$samples/f.jpg" a.jpg
mkdir photos out
cp a.jpg photos/
printf 'FOVb' >in.x3f
printf '\0\0\0\014jP  \r\n\207\n' >called.jpg
printf '<!DOCTYPE html><title>404 Not Found</title>' >page.jpg
ls -R >before

# wrong MESSAGE ARGUMENTS...: wrong usage, nothing done.
wrong() {
    local said=$1
    shift
    gives 2 "gimgxf: $said" "$@"
    check "stdout of: $*" [ ! -s stdout ]
}

example='gimgxf OPERATION INPUT OUTPUT, e.g. gimgxf rotate90 in.png out.png'

# Where is the operation?
wrong "an operation is missing: $example; see --help"
wrong "'in.png' is a file, not an operation, which comes first: $example" \
    in.png out.png
wrong "'in.png' is a file, not an operation, which comes first: $example" \
    in.png rotate90 out.png
wrong "'photos/a.jpg' is a file, not an operation, which comes first: $example" \
    photos/a.jpg
first='an operation comes first and has no dashes: gimgxf'
angles='only multiples of 90 degrees are exact: rotate90 (clockwise), rotate180, rotate270'
wrong "unknown option '-rotate'; $first rotate90 INPUT OUTPUT" \
    in.png -rotate 90 out.png
wrong "unknown option '--rotate'; $first rotate90 INPUT OUTPUT" \
    --rotate 90 in.png out.png
for op in rotate90 flip flop transpose auto-orient; do
    wrong "unknown option '-$op'; $first $op INPUT OUTPUT" in.png -$op out.png
    wrong "unknown option '--$op'; $first $op INPUT OUTPUT" --$op in.png out.png
done

# What is it called?
for word in rotate rotate45 rotate91 45 90 r90 90ccw; do
    wrong "'$word' is not an operation; $angles" $word in.png 90 out.png
done
for pair in left=rotate270 RIGHT=rotate90 flip-h=fliph autorotate=upright \
    rotate-180=rotate180 rotat90=rotate90 Rotate90=rotate90 roatte90=rotate90 \
    ROTATE_90=rotate90 transpose=2=rotate270 transpos=transpose mirrro=mirror; do
    wrong "'${pair%=*}' is not an operation; did you mean '${pair##*=}'?" \
        "${pair%=*}" in.png out.png
done
wrong "'transpose=1' is not an operation; did you mean 'rotate90'?" \
    transpose=1 in.png out.png
wrong "'sharpen' is not an operation; expected rotate90, rotate180, rotate270, \
fliph, flipv, transpose, transverse, upright or copy" sharpen in.png out.png
wrong "'identify' is not an operation; did you mean 'info'?" identify in.png
wrong "'version' is not an operation; did you mean '--version'?" version

# Several operations.
for words in 'rotate180, flip' 'rotate180 flip' 'rotate180 , flip' \
    'rotate180 ,flip'; do
    # shellcheck disable=SC2086 # they are words
    wrong 'operations are joined by commas without spaces, such as rotate180,flip' \
        $words in.png out.png
done
wrong 'operations are joined by commas without spaces, such as rotate180,flip' \
    'rotate180, flip' in.png out.png
wrong 'operations are joined by commas without spaces, such as rotate180,flip' \
    rotate90,flip upright -d out in.png

# Where does it go?
wrong "an output is missing: gimgxf rotate90 in.png OUTPUT, or -i to replace \
the input" rotate90 in.png
wrong 'an input and an output are missing: gimgxf rotate90 INPUT OUTPUT' \
    rotate90
wrong '3 names: several inputs need --directory DIR, --output NAME or --in-place' \
    rotate90 a.jpg in.png photos/a.jpg
for out in out/ new; do
    wrong "photos/ is a directory; did you mean gimgxf rotate90 -r -d $out photos/?" \
        rotate90 photos/ $out
done
for out in out out/ new/; do
    wrong "--output: $out is the name of a directory; did you mean -d $out?" \
        rotate90 -o $out in.png
done
wrong 'photos is a directory; -r takes the pictures in it, and -d DIR says '\
'where the outputs go' rotate90 photos
wrong 'out is the name of a directory; -d out writes into it' rotate90 in.png out
wrong 'a batch needs --directory DIR, --output NAME, --in-place or --stack FILE' \
    rotate90 -r photos
gives 1 'gimgxf: photos: a directory; --recursive (-r) takes the pictures in it' \
    -q rotate90 -d out photos
wrong 'an input is missing: name files, with -r directories, or --files-from '\
'a list' rotate90 -i
gives 1 'gimgxf: missing.png: No such file or directory' \
    rotate90 missing.png out.png

# In which format?
wrong 'result: the name does not say which format to write; give it a suffix '\
'such as .png or .jpg, or --format NAME' rotate90 in.png result
wrong "out.jpgg: '.jpgg' is not a format; did you mean '.jpeg'? (--format names \
one, too)" rotate90 in.png out.jpgg
wrong 'out.psd: gimgxf does not write PSD; write PNG, and convert that' \
    rotate90 in.png out.psd
wrong "--format: 'jpge' is not a format; expected png, jpeg, gif, hdr, npy, npz, pnm, \
pam, pfm, qoi, bmp, jxl, raw, tiff, webp, tga, heic or avif; did you mean 'jpeg'?" --format jpge rotate90 in.png o
gives 1 'gimgxf: in.x3f: a camera'\''s raw picture, which gimgxf does not read; convert '\
'it to PNG first' rotate90 in.x3f out.jpg
gives 1 'gimgxf: called.jpg: a JPEG 2000 picture, which gimgxf does not read; '\
'convert it to PNG first' rotate90 called.jpg out.jpg
gives 1 'gimgxf: page.jpg: an HTML page, not a picture; perhaps the download '\
'failed' rotate90 page.jpg out.jpg

# Options.
wrong "unknown option '--fromat'; did you mean '--format'?" \
    --fromat png rotate90 in.png o
wrong "unknown option '--inplace'; did you mean '--in-place'?" \
    rotate90 --inplace in.png
wrong "unknown option '-quality'; a long option has two dashes: --quality" \
    rotate90 in.png -quality 90 out.jpg
wrong "unknown option '--outdir'; did you mean '--directory'?" \
    rotate90 --outdir=out in.png
wrong '--no: could be --no-clobber or --no-restart' rotate90 --no in.png o.png
wrong '--quality: 101 is out of range; expected 1 to 100' \
    rotate90 --quality 101 in.png out.jpg
wrong "--quality: '90%' is not a number; expected 1 to 100" \
    rotate90 --quality 90% in.png out.jpg
wrong "--depth: '12' is not known; expected 8, 16 or float" \
    rotate90 --depth 12 in.png out.png
wrong "--edge: 'trimm' is not known; expected reencode, trim, tag or fail; did \
you mean 'trim'?" rotate90 --edge trimm a.jpg out.jpg
wrong "--backend: 'gpu' is not known; did you mean 'cuda'?" \
    rotate90 --backend gpu in.png out.png
wrong "unknown option '-y'; see --help" -y rotate90 in.png out.png
wrong "unknown option '-9'; see --help" rotate90 -q90 a.jpg out.jpg
wrong "--strip: a value is joined by '=': --strip=gps" \
    rotate90 --strip gps a.jpg out.jpg
wrong "--strip: a value is joined by '=': --strip=xmp,icc" \
    --strip xmp,icc rotate90 a.jpg out.jpg
wrong "unknown option '-i.bak'; -i takes no suffix; did you mean '-i --backup \
.bak'?" rotate90 -i.bak a.jpg
while IFS='|' read -r words option said; do
    # shellcheck disable=SC2086 # they are words
    wrong "unknown option '$option'; $said" $words a.jpg out.jpg
done <<'END'
-copy none|-copy|metadata is kept unless --strip drops it
-progressive -rotate 90|-progressive|leave it out: a progressive JPEG stays one, and others stay what they are
-crop 16x16+0+0|-crop|gimgxf turns pictures and does not crop them
-trim -rotate 90|-trim|did you mean '--edge trim'?
-perfect -rotate 90|-perfect|did you mean '--lossless'?
-ai|-a|exiftran -ai is gimgxf upright -i FILE
-a|-a|exiftran -ai is gimgxf upright -i FILE
-9|-9|exiftran -9i is gimgxf rotate90 -i FILE
-9i|-9|exiftran -9i is gimgxf rotate90 -i FILE
END
while IFS='|' read -r words said; do
    # shellcheck disable=SC2086 # they are words
    wrong "$said" $words
done <<'END'
rotate90, in.png o.png|an operation is empty; expected e.g. rotate90 or rotate90,fliph
--frobnicate|unknown option '--frobnicate'; see --help
rotate90 in.png o.jpg --quality|--quality: a value is missing; expected --quality N (encode a JPEG anew, 1 to 100)
--strip=gps,some copy in.png o.png|--strip: 'some' is not known; expected all, metadata, gps, thumbnail, xmp, exif or icc
--strip=gps, copy in.png o.png|--strip: '' is not known; expected all, metadata, gps, thumbnail, xmp, exif or icc
--background #12345 copy in.png o.png|--background: '#12345' is not a color; expected a name of CSS such as white, #RRGGBB or #RGB
--background 0x1234 copy in.png o.png|--background: '0x1234' is not a color; expected a name of CSS such as white, #RRGGBB or #RGB
--max-pixels 12Q copy in.png o.png|--max-pixels: '12Q' is not a number; expected one as 500000, or with K, M or G as 500M
--device 0,0 copy in.png o.png|--device: '0,0' names a GPU twice
--format psd copy in.png o.png|--format: gimgxf does not write PSD; write PNG, and convert that
-j 0 copy in.png o.png|--threads: 0 is out of range; expected 1 to 1024
--threads 2x copy in.png o.png|--threads: '2x' is not a number; expected 1 to 1024
upright --ignore-orientation in.png o.png|upright: needs the orientation that --ignore-orientation ignores
--ma 3 copy in.png o.png|--ma: could be --manifest, --max-pixels, --max-memory, --max-seconds or --max-vram
--json=1|--json: takes no value, but '1' was given
-p copy - o.png|--preserve: standard input has no times
END
wrong "unknown option '--resize'; gimgxf turns pictures and does not scale \
them" rotate90 --resize 50% in.png out.png

# Every name that a message suggests exists.
gimgxf --help all >help
for option in $(grep -oE "did you mean '--[a-z-]+|unless --[a-z-]+" \
    "$ROOT/cli/options/hint.c" | grep -oE -- '--[a-z-]+' | sort -u); do
    check "$option is an option" grep -qE -- " $option( |\[)" help
done

rm -f before.now help
ls -R | grep -vxE 'stdout|stderr' >now
grep -vxE 'stdout|stderr' before >then
sed -i '/^now$/d; /^then$/d' now
check 'nothing was written' diff then now

# Calls that work, although a user may doubt it.
gives 0 '' help
check 'help' grep -q '^gimgxf OP' stdout
gives 0 '' -h rotate90
gives 0 '' --help
gives 0 '' rotate90 -q -o out.png in.png
check '-o names one output' [ -s out.png ]
cp in.png ./-in.png
gives 0 '' -q rotate90 -- -in.png -out.png
check 'a name with a dash' [ -s ./-out.png ]
gives 0 '' -q rotate90 --outp second.png in.png
check 'a unique abbreviation' [ -s second.png ]

# Options that have no effect on a command.
for option in --quality=3 --format=png -n -p --strip --depth=8 --edge=trim \
    --max-pixels=3; do
    gimgxf info "$option" a.jpg >stdout 2>stderr
    check "info $option" [ "$?" = 2 ]
    check "info $option: message" grep -q \
        '^gimgxf: --[a-z-]*: gimgxf info writes no pictures, so the option' stderr
done
gives 0 '' info --tolerant --layout hwc -j 1 a.jpg
for command in info check; do
    gives 0 '' $command --help
    check "help of $command" grep -q "^gimgxf $command " stdout
    check "help of $command is short" [ "$(wc -l <stdout)" -lt 24 ]
    check "help of $command has no --quality" [ "$(grep -c quality stdout)" = 0 ]
    cp stdout short
    gives 0 '' help $command
    check "help $command" same short stdout
done
gives 0 '' info --help
for option in --json --recursive --layout; do
    check "help of info: $option" grep -q -e " $option" stdout
done
wrong 'zz/new/ is the name of a directory; -d zz/new/ writes into it' \
    rotate90 a.jpg zz/new/

# A single picture with options of batches.
gives 0 '' rotate90 --dry-run a.jpg would.jpg
check 'what would be done' [ "$(cat stdout)" = 'a.jpg -> would.jpg' ]
check 'and is not' absent would.jpg
gives 0 '' rotate90 --dry-run --json a.jpg would.jpg
check 'what would be done, JSON' grep -q '"status": "planned"' stdout
gives 0 'gimgxf: in.png: would be left alone: it exists' \
    rotate90 --dry-run -n a.jpg in.png
wrong '--dry-run: standard input is read only once; name a file' \
    rotate90 --dry-run - would.jpg
wrong '--resume is for batches: use -o o.jpg' rotate90 --resume L a.jpg o.jpg

# An archive without arrays.
printf 'PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >e.npz
gives 1 'gimgxf: e.npz: an archive (NPZ or ZIP) that holds no array' info e.npz

# A damaged file, of which a part can be read.
head -c $(($(wc -c <a.jpg) - 200)) a.jpg >cut.jpg
gives 1 'gimgxf: cut.jpg: Premature end of JPEG file; --tolerant reads what is '\
'there' rotate90 cut.jpg cut.png
gives 0 '' -q --tolerant rotate90 cut.jpg cut.png
head -c 100 a.jpg >headless.jpg
gimgxf rotate90 headless.jpg cut.png 2>said
check 'without a head there is nothing to read' [ "$(grep -c tolerant said)" = 0 ]

# To find no picture is an error.
mkdir -p tree/sub empty
cp a.jpg tree/
cp in.png tree/sub/
touch tree/sub/notes.txt
none='gimgxf: no pictures found'
pattern="none of its 3 files (it takes one pattern, and may be repeated)"
gives 1 "$none in 'tree'; --include '*.png,*.jpg' matches $pattern" \
    rotate90 -r -i tree --include '*.png,*.jpg'
gives 1 "$none in 'tree'; --include '*.gif' matches none of its 3 files" \
    rotate90 -r -d out --dry-run tree --include '*.gif'
gives 1 "$none in 'tree'; no pattern of --include matches any of its 3 files" \
    info -r tree --include '*.gif' --include '*.x'
gives 1 "$none in 'tree'; --exclude leaves none" info -r tree --exclude '*'
gives 1 "$none in 'tree'; --include and --exclude leave none" \
    info -r tree --include '*.png' --exclude sub
gives 1 "$none; --include '*.gif' matches none of the 1 file" \
    info a.jpg --include '*.gif'
gives 1 "$none in 'empty'" rotate90 -r -i empty
gives 1 "$none in 'empty'" info -r empty
gives 0 '' -q rotate90 -i --files-from /dev/null
touch empty/notes.txt empty/.hidden
gives 1 "$none in 'empty'; none of its 2 files has a suffix of a picture" \
    info -r empty
gives 1 "$none; none of the 4 files has a suffix of a picture" \
    rotate90 -r -d out empty empty
gives 1 "$none in 'empty'; none of its 2 files has a suffix of a picture" \
    rotate90 -r -d out --json empty
check 'nothing found, JSON' [ "$(cat stdout)" = '{"status": "failed", "error": '\
"\"${none#gimgxf: } in 'empty'; none of its 2 files has a suffix of a picture\"}" ]
gives 1 "$none in 'empty'; none of its 2 files has a suffix of a picture
gimgxf: 1 file passed over: 1 not pictures" info -v -r empty
touch empty/p.dds empty/q.psd
gives 1 "$none in 'empty'; none of its 4 files has a suffix of a picture
gimgxf: 2 files passed over: 1 DDS, 1 PSD" info -r empty
gives 0 '' -q rotate90 -r -d out --shard 1/40 tree
check 'a share may be empty' absent out/a.jpg

# info says what it passed over.
cp in.png empty/
gives 0 'gimgxf: 2 files passed over: 1 DDS, 1 PSD' info -r empty
gives 0 '' info -q -r empty
gives 0 'gimgxf: empty/p.dds: passed over: DDS is not read
gimgxf: empty/q.psd: passed over: PSD is not read
gimgxf: 3 files passed over: 1 DDS, 1 PSD, 1 not pictures' info -v -r empty
gives 0 'gimgxf: 2 files passed over: 1 DDS, 1 PSD' info -r --json empty
check 'info passes over, JSON' [ "$(head -n 1 stdout)" = \
    '{"input": "empty/p.dds", "status": "passed_over", "format": "DDS"}' ]
check 'info passes over, in all' [ "$(wc -l <stdout)" = 3 ]

# "-" does not wait for a picture from the keyboard.
if has_tool python3; then
    python3 - "$program" >typed <<'EOF'
import os, pty, subprocess, sys
master, slave = pty.openpty()
run = subprocess.run([sys.argv[1], "rotate90", "-", "out2.png"], stdin=slave,
                     stderr=subprocess.PIPE, timeout=20)
print(run.returncode, run.stderr.decode(), end="")
run = subprocess.run([sys.argv[1], "info", "-"], stdin=slave,
                     stderr=subprocess.PIPE, timeout=20)
print(run.returncode)
run = subprocess.run([sys.argv[1], "rotate90", "in.png", "-"], stdout=slave,
                     stderr=subprocess.PIPE, timeout=20)
print(run.returncode, run.stderr.decode(), end="")
for name in "/dev/stdout", os.ttyname(slave):
    run = subprocess.run([sys.argv[1], "rotate90", "in.png", name],
                         stdout=slave, stderr=subprocess.PIPE, timeout=20)
    print(run.returncode, len(run.stderr.splitlines()))
EOF
    printf '%s\n' '2 gimgxf: standard input is a terminal; a picture comes from
a file or a pipe, e.g. gimgxf rotate90 - out.png <in.png' |
        paste -sd ' ' >want
    echo 2 >>want
    echo '2 gimgxf: a picture is not written to a terminal; give a file or a pipe,
e.g. gimgxf rotate90 in.png - | display' | paste -sd ' ' >>want
    printf '%s\n' '2 1' '2 1' >>want
    check 'terminals' diff want typed
fi
finish
