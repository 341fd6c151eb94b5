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

example='gimgxf OPERATION INPUT OUTPUT, e.g. gimgxf rotate90 in.png out.png'
first='an operation comes first and has no dashes: gimgxf'
angles='only rotate90 (clockwise), rotate180 and rotate270 are exact'
rotate='write rotate90 (clockwise), rotate180 or rotate270 first, without a dash'
none='is not an operation'
commas='an operation is empty; they are joined by commas without spaces, such as rotate180,flip'
strips='all, metadata, gps, thumbnail, xmp, exif or icc'
color='is not a color; expected a name of CSS such as white, #RRGGBB or #RGB'
refused 2 <<END
# Where is the operation?
 | an operation is missing: $example; see --help
in.png out.png | 'in.png' is a file, not an operation, which comes first: $example
in.png rotate90 out.png | 'in.png' is a file, not an operation, which comes first: $example
photos/a.jpg | 'photos/a.jpg' is a file, not an operation, which comes first: $example
in.png -rotate 90 out.png | unknown option '-rotate'; write rotate90 (clockwise), rotate180 or rotate270 first, without a dash
--rotate 90 in.png out.png | unknown option '--rotate'; $rotate
--rotate90 in.png out.png | unknown option '--rotate90'; $first rotate90 INPUT OUTPUT
-flip horizontal a.jpg out.jpg | unknown option '-flip'; write fliph (left and right change places) or flipv first, without a dash
--flop in.png out.png | unknown option '--flop'; $first flop INPUT OUTPUT
--transpose in.png out.png | unknown option '--transpose'; $first transpose INPUT OUTPUT
in.png -auto-orient out.png | unknown option '-auto-orient'; $first auto-orient INPUT OUTPUT
# What is it called?
rotate in.png 90 out.png | 'rotate' $none; $rotate
rotate45 in.png out.png | 'rotate45' $none; $angles
rotate91 in.png out.png | 'rotate91' $none; $angles
45 in.png out.png | '45' $none; $angles
90 in.png out.png | '90' $none; $angles
r90 in.png out.png | 'r90' $none; $angles
90ccw in.png out.png | '90ccw' $none; $angles
left in.png out.png | 'left' $none; did you mean 'rotate270'?
RIGHT in.png out.png | 'RIGHT' $none; did you mean 'rotate90'?
flip-h in.png out.png | 'flip-h' $none; did you mean 'fliph'?
autorotate in.png out.png | 'autorotate' $none; did you mean 'upright'?
rotate-90 in.png out.png | 'rotate-90' $none; did you mean 'rotate270'?
rotate-180 in.png out.png | 'rotate-180' $none; did you mean 'rotate180'?
rotat90 in.png out.png | 'rotat90' $none; did you mean 'rotate90'?
Rotate90 in.png out.png | 'Rotate90' $none; did you mean 'rotate90'?
roatte90 in.png out.png | 'roatte90' $none; did you mean 'rotate90'?
ROTATE_90 in.png out.png | 'ROTATE_90' $none; did you mean 'rotate90'?
transpose=1 in.png out.png | 'transpose=1' $none; did you mean 'rotate90'?
transpose=2 in.png out.png | 'transpose=2' $none; did you mean 'rotate270'?
transpos in.png out.png | 'transpos' $none; did you mean 'transpose'?
mirrro in.png out.png | 'mirrro' $none; did you mean 'mirror'?
identify in.png | 'identify' $none; did you mean 'info'?
version | 'version' $none; did you mean '--version'?
sharpen in.png out.png | 'sharpen' $none; expected rotate90, rotate180, rotate270, fliph, flipv, transpose, transverse, upright or copy
# Several operations.
rotate180, flip in.png out.png | $commas
rotate90, in.png o.png | $commas
'rotate180, flip' in.png out.png | ' flip' $none; did you mean 'flip'?
# Where does it go?
rotate90 in.png | an output is missing: gimgxf rotate90 in.png OUTPUT, or -i to replace the input
rotate90 | an input and an output are missing: gimgxf rotate90 INPUT OUTPUT
rotate90 a.jpg in.png photos/a.jpg | 3 names: several inputs need --directory DIR, --output NAME or --in-place
rotate90 photos/ out/ | photos/ is a directory; did you mean gimgxf rotate90 -r -d out/ photos/?
rotate90 photos/ new | photos/ is a directory; did you mean gimgxf rotate90 -r -d new photos/?
rotate90 -o out in.png | --output: out is the name of a directory; did you mean -d out?
rotate90 -o new/ in.png | --output: new/ is the name of a directory; did you mean -d new/?
rotate90 photos | photos is a directory; -r takes the pictures in it, and -d DIR says where the outputs go
rotate90 in.png out | out is the name of a directory; -d out writes into it
rotate90 a.jpg zz/new/ | zz/new/ is the name of a directory; -d zz/new/ writes into it
rotate90 -r photos | a batch needs --directory DIR, --output NAME, --in-place or --stack FILE
rotate90 -i | an input is missing: name files, with -r directories, or --files-from a list
-p copy - o.png | --preserve: standard input has no times
rotate90 --dry-run - would.jpg | --dry-run: standard input is read only once; name a file
rotate90 --resume L a.jpg o.jpg | --resume is for batches: use -o o.jpg
# In which format?
rotate90 in.png result | result: the name does not say which format to write; give it a suffix such as .png or .jpg, or --format NAME
rotate90 in.png out.jpgg | out.jpgg: 'jpgg' is not a format; did you mean 'jpeg'?
rotate90 in.png out.psd | out.psd: gimgxf does not write PSD; write PNG, and convert that
--format psd copy in.png o.png | --format: gimgxf does not write PSD; write PNG, and convert that
--format zzz rotate90 in.png o.png | --format: 'zzz' is not a format; see --help
--format jpge rotate90 in.png o | --format: 'jpge' is not a format; did you mean 'jpeg'?
--format numpy rotate90 in.png o | --format: 'numpy' is not a format; see --help
# Options of this program, nearly.
--frobnicate | unknown option '--frobnicate'; see --help
rotate90 -dry-run in.png | unknown option '-dry-run'; a long option has two dashes: --dry-run
rotate90 -outfile out.jpg a.jpg | unknown option '-outfile'; write -o NAME, or the name behind that of the input
rotate90 -outfile=out.jpg a.jpg | unknown option '-outfile'; write -o NAME, or the name behind that of the input
rotate90 -directory=new in.png | unknown option '-directory'; a long option has two dashes: --directory
rotate90 in.png -quality 90 out.jpg | unknown option '-quality'; a long option has two dashes: --quality
rotate90 --outdir=out in.png | unknown option '--outdir'; did you mean '--directory'?
rotate90 --no in.png o.png | --no: could be one of no-clobber, no-restart
--ma 3 copy in.png o.png | --ma: could be one of manifest, max-pixels, max-memory, max-seconds, max-vram
--json=1 | --json: takes no value, but '1' was given
rotate90 in.png o.jpg --quality | --quality: a value is missing; expected --quality N (encode a JPEG anew, 1 to 100)
rotate90 --depth 12 in.png out.png | --depth: '12' is not known; expected 8, 16 or float
rotate90 --edge trimm a.jpg out.jpg | --edge: 'trimm' is not known; expected reencode, trim, tag or fail; did you mean 'trim'?
rotate90 --backend gpu in.png out.png | --backend: 'gpu' is not known; did you mean 'cuda'?
-y rotate90 in.png out.png | unknown option '-y'; see --help
rotate90 -q90 a.jpg out.jpg | unknown option '-q90'; see --help
rotate90 --strip gps a.jpg out.jpg | --strip: a value is joined by '=': --strip=gps
--strip xmp,icc rotate90 a.jpg out.jpg | --strip: a value is joined by '=': --strip=xmp,icc
--strip=gps,some copy in.png o.png | --strip: 'some' is not known; expected $strips
--strip=gps, copy in.png o.png | --strip: '' is not known; expected $strips
--background '#12345' copy in.png o.png | --background: '#12345' $color
--background 0x1234 copy in.png o.png | --background: '0x1234' $color
--device 0,0 copy in.png o.png | --device: '0,0' names a GPU twice
-j 0 copy in.png o.png | --threads: 0 is out of range; expected 1 to 1024
--threads 2x copy in.png o.png | --threads: '2x' is not a number; expected 1 to 1024
upright --ignore-orientation in.png o.png | upright: needs the orientation that --ignore-orientation ignores
# Options of other programs.
rotate90 --resize 50% in.png out.png | unknown option '--resize'; gimgxf turns pictures and does not scale them
rotate90 -i.bak a.jpg | unknown option '-i.bak'; see --help
-copy none a.jpg o.jpg | unknown option '-copy'; metadata is kept unless --strip drops it
copy --progressive a.jpg o.jpg | unknown option '--progressive'; leave it out: a progressive JPEG stays one, and others stay what they are
-crop 16x16+0+0 a.jpg o.jpg | unknown option '-crop'; gimgxf turns pictures and does not crop them
-trim -rotate 90 a.jpg o.jpg | unknown option '-trim'; did you mean '--edge trim'?
-perfect -rotate 90 a.jpg o.jpg | unknown option '-perfect'; did you mean '--lossless'?
END
# Values that are no numbers, or too small or large; and words that are nearly right.
ways='expected auto, cpu or cuda'
{
    for n in 0 -5 101 99999999999999999999; do
        echo "--quality=$n | --quality: $n is out of range; expected 1 to 100"
    done
    for n in '' - x ' 9' +9 90%; do
        echo "--quality='$n' | --quality: '$n' is not a number; expected 1 to 100"
    done
    for n in 0 0K 18446744073709551616 18446744074G; do
        echo "--max-pixels=$n | --max-pixels: $n is out of range; expected 1 or more, and \
less than 2^64"
    done
    for n in '' 12Q 12KB '1 ' -1 K; do
        echo "--max-pixels='$n' | --max-pixels: '$n' is not a number; expected one as \
500000, or with K, M or G as 500M"
    done
    for word in xyz gp cp formidable '' foramtting-in-place-is-more-than-40-letters; do
        echo "--backend='$word' | --backend: '$word' is not known; $ways"
    done
    for pair in cudda,cuda pcu,cpu CUAD,cuda autoo,auto ato,auto; do
        echo "--backend=${pair%,*} | --backend: '${pair%,*}' is not known; $ways; did you \
mean '${pair#*,}'?"
    done
    for pair in fromat,format frmat,format FORMAT,format noclober,no-clobber \
        inplace,in-place; do
        echo "--${pair%,*} | unknown option '--${pair%,*}'; did you mean '--${pair#*,}'?"
    done
} | sed 's/ | / copy in.png o.png&/' >values
refused 2 <values
rm values
refused 1 <<END
rotate90 missing.png out.png | missing.png: No such file or directory
-q rotate90 -d out photos | photos: a directory; --recursive (-r) takes the pictures in it
rotate90 in.x3f out.jpg | in.x3f: a camera's raw picture, which gimgxf does not read; convert it to PNG first
rotate90 called.jpg out.jpg | called.jpg: a JPEG 2000 picture, which gimgxf does not read; convert it to PNG first
rotate90 page.jpg out.jpg | page.jpg: an HTML page, not a picture; perhaps the download failed
END

# Every name that a message suggests exists.
gimgxf --help all >help
for option in $(grep -oE "did you mean '--[a-z-]+|unless --[a-z-]+" \
    "$ROOT/cli/options/hint.c" | grep -oE -- '--[a-z-]+' | sort -u); do
    check "$option is an option" grep -qE -- " $option( |\[)" help
done
rm help
check 'nothing was written' diff <(grep -vxE 'stdout|stderr' before) \
    <(ls -R | grep -vxE 'stdout|stderr')

# Calls that work, although a user may doubt it.
prints '^gimgxf OP' help
gives 0 '' -h rotate90
gives 0 '' rotate90 -q -o out.png in.png
check '-o names one output' [ -s out.png ]
cp in.png ./-in.png
gives 0 '' -q --quality 7 copy in.png seven.jpg
makes seven.jpg -q --quality 007 copy in.png o7.jpg
for n in 1 100; do
    gives 0 '' -q --quality $n copy in.png o$n.jpg
done
for n in 3072 4k 500M 18446744073709551615 18446744073G; do
    gives 0 '' -q --max-pixels $n copy in.png o$n.png
done
tells 1 'more than the 3000 of --max-pixels' --max-pixels 3k copy in.png o.png
gives 0 '' -q rotate90 -- -in.png -out.png
check 'a name with a dash' [ -s ./-out.png ]
gives 0 '' -q rotate90 --outp second.png in.png
check 'a unique abbreviation' [ -s second.png ]

# Options that have no effect on a command.
for option in --quality=3 --format=png -n -p --strip --depth=8 --edge=trim \
    --max-pixels=3; do
    tells 2 '^gimgxf: --[a-z-]*: gimgxf info writes no pictures, so the option' \
        info "$option" a.jpg
done
gives 0 '' info --tolerant --layout hwc -j 1 a.jpg
for command in info check; do
    prints "^gimgxf $command " $command --help
    check "help of $command is short" [ "$(wc -l <stdout)" -lt 24 ]
    check "help of $command has no --quality" [ "$(grep -c quality stdout)" = 0 ]
    cp stdout short
    gives 0 '' help $command
    check "help $command" same short stdout
done
for option in --json --recursive --layout; do
    prints " $option" info --help
done

# A single picture with options of batches.
prints '^a.jpg -> would.jpg$' rotate90 --dry-run a.jpg would.jpg
prints '"status": "planned"' rotate90 --dry-run --json a.jpg would.jpg
check 'and is not done' absent would.jpg
gives 0 'gimgxf: in.png: would be left alone: it exists' \
    rotate90 --dry-run -n a.jpg in.png

# A damaged file, of which a part can be read.
head -c $(($(wc -c <a.jpg) - 200)) a.jpg >cut.jpg
gives 0 '' -q --tolerant rotate90 cut.jpg cut.png
head -c 100 a.jpg >headless.jpg
called 1 rotate90 headless.jpg cut.png
check 'without a head there is nothing to read' [ "$(grep -c tolerant stderr)" = 0 ]
printf 'PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >e.npz

# To find no picture is an error.
mkdir -p tree/sub empty full
cp a.jpg tree/
cp in.png tree/sub/
touch tree/sub/notes.txt full/notes.txt full/.hidden
none='no pictures found among'
suffix='none has a suffix of a picture'
left='--include and --exclude leave none'
refused 1 <<END
rotate90 cut.jpg cut.png | cut.jpg: Premature end of JPEG file; --tolerant reads what is there
info e.npz | e.npz: an archive (NPZ or ZIP) that holds no array
rotate90 -r -i tree --include '*.png,*.jpg' | $none 3 files; $left
rotate90 -r -d out --dry-run tree --include '*.gif' | $none 3 files; $left
info -r tree --exclude '*' | $none 1 file; $left
info a.jpg --include '*.gif' | $none 1 file; $left
rotate90 -r -i empty | $none 0 files; $suffix
info -r full | $none 2 files; $suffix
rotate90 -r -d out full full | $none 4 files; $suffix
END
gives 1 "gimgxf: $none 2 files; $suffix" rotate90 -r -d out --json full
check 'nothing found, JSON' [ "$(cat stdout)" = \
    "{\"status\": \"failed\", \"error\": \"$none 2 files; $suffix\"}" ]
gives 0 '' -q rotate90 -i --files-from /dev/null
gives 0 '' -q rotate90 -r -d out --shard 1/40 tree
check 'a share may be empty' absent out/a.jpg

# info says how many it passed over.
touch full/p.dds full/q.dds
over='gimgxf: 2 files passed over: 2 DDS'
gives 1 "gimgxf: $none 4 files; $suffix
$over" info -r full
cp in.png full/
gives 0 "$over" info -v -r full
gives 0 '' info -q -r full

# "-" does not wait for a picture from the keyboard, and draws none there.
if has_tool python3; then
    python3 - "$program" >typed <<'EOF'
import os, pty, subprocess, sys
master, slave = pty.openpty()
def call(words, **where):
    run = subprocess.run([sys.argv[1], *words], stderr=subprocess.PIPE, timeout=20,
                         **where)
    print(run.returncode, run.stderr.decode(), end="")
call(["rotate90", "-", "out2.png"], stdin=slave)
call(["rotate90", "in.png", "-"], stdout=slave)
call(["rotate90", "in.png", "/dev/stdout"], stdout=slave)
call(["info", "-"], stdin=slave)
EOF
    check 'terminals' diff - <(cut -d, -f1 typed) <<'END'
2 gimgxf: standard input is a terminal; a picture comes from a file or a pipe
2 gimgxf: a picture is not written to a terminal; give a file or a pipe
2 gimgxf: a picture is not written to a terminal; give a file or a pipe
2 gimgxf: standard input is a terminal; a picture comes from a file or a pipe
END
fi

# Options stand anywhere, whatever the environment says; behind -- there are none.
export POSIXLY_CORRECT=1
gives 0 'gimgxf: a.jpg: would be left alone: it exists' \
    rotate90 -n in.png a.jpg --dry-run
cp in.png ./-n.png
gives 0 '' rotate90 -o '{stem}-r.{ext}' -q -- -n.png
check 'a name with a dash' [ -s ./-n-r.png ]
finish
