# Files that a directory walk passes over, as their formats are not read, are counted
# by format.
. "$ROOT/tests/cli/lib.sh"
mkdir -p in/sub in/.hidden
cp "$samples/f.jpg" in/a.jpg
cp "$samples/f-rgb.png" in/sub/b.png
touch in/{1,2,3}.psd in/sub/{4,5}.PSD in/x.pdf in/sub/y.pdf in/clip.MOV \
    in/Thumbs.db in/notes.txt in/sub/Makefile in/.hidden/z.pdf in/.w.pdf

# told COMMAND...: what is said on stderr of files that are passed over.
told() {
    gimgxf "$@" 2>&1 >stdout </dev/null | grep 'passed over' | sed 's/^gimgxf: //'
}
over='passed over:'
for call in '' -v --json '--shard 1/2' --dry-run; do
    check "$call" [ "$(told $call rotate90 -r -d out in | tr -d ,: | tr ' ' '\n' |
        sort | paste -sd ' ')" = '1 2 5 8 PDF PSD files over passed video' ]
done
check 'two were done' [ "$(find out -type f | sort | paste -sd ' ')" = \
    'out/a.jpg out/sub/b.png' ]
check '--quiet' [ -z "$(told -q rotate90 -r -d out in)" ]
check 'another share' [ -z "$(told rotate90 -r -d out --shard 2/2 in)" ]

# Videos.
mkdir phone
cp "$samples/f.jpg" phone/IMG_1.JPG
touch phone/IMG_{1,12,2,3}.MOV phone/IMG_4.{mp4,MP4,AAE}
check 'videos' [ "$(told upright -r -d out2 phone)" = "6 files $over 6 videos" ]

# What is not asked for is not missed: by patterns, and by names.
check '--exclude' [ "$(told rotate90 -r -d out --exclude '*.psd' \
    --exclude '*.PSD' --exclude '*.pdf' in)" = "1 file $over 1 video" ]
check '--include' [ -z "$(told rotate90 -r -d out --include '*.png' in)" ]
check 'no walk' [ -z "$(told rotate90 -d out in/a.jpg in/sub/b.png)" ]
rm -f in/*.psd in/sub/*.PSD in/*.MOV in/*.pdf in/sub/*.pdf
check 'none' [ -z "$(told rotate90 -r -d out in)" ]
finish
