# Files that a directory walk passes over are counted in the summary, and named
# by -v, in JSON and in the manifest.
. "$ROOT/tests/cli/lib.sh"
mkdir -p in/sub in/.hidden
cp "$samples/f.jpg" in/a.jpg
cp "$samples/f-rgb.png" in/sub/b.png
touch in/{1,2,3}.psd in/sub/{4,5}.PSD in/x.pdf in/sub/y.pdf in/clip.MOV \
    in/Thumbs.db in/notes.txt in/sub/Makefile in/.hidden/z.pdf in/.w.pdf

# told COMMAND...: what is said on stderr, less the lines about time and bytes.
told() {
    gimgxf "$@" 2>&1 >stdout </dev/null | grep 'passed over' | sed 's/^gimgxf: //'
}
sum='8 files passed over: 5 PSD, 2 PDF, 1 video'
check 'the summary' [ "$(told rotate90 -r -d out in)" = "$sum" ]
check '--dry-run' [ "$(told rotate90 -r -d out --dry-run in)" = "$sum" ]
check 'two were done' [ "$(find out -type f | sort | paste -sd ' ')" = \
    'out/a.jpg out/sub/b.png' ]
check '--quiet' [ -z "$(told -q rotate90 -r -d out in)" ]
check '--verbose' [ "$(told -v rotate90 -r -d out in)" = \
    "in/1.psd: passed over: PSD is not read
in/2.psd: passed over: PSD is not read
in/3.psd: passed over: PSD is not read
in/clip.MOV: passed over: video is not read
in/sub/4.PSD: passed over: PSD is not read
in/sub/5.PSD: passed over: PSD is not read
in/sub/y.pdf: passed over: PDF is not read
in/x.pdf: passed over: PDF is not read
11 files passed over: 5 PSD, 2 PDF, 1 video, 3 not pictures" ]

# What is not asked for is not missed: by patterns, and by names.
check '--exclude' [ "$(told rotate90 -r -d out --exclude '*.psd' \
    --exclude '*.PSD' --exclude '*.pdf' in)" = \
    '1 file passed over: 1 video' ]
check '--include' [ -z "$(told rotate90 -r -d out --include '*.png' in)" ]
check 'no walk' [ -z "$(told rotate90 -d out in/a.jpg in/sub/b.png)" ]
rm -f in/*.psd in/sub/*.PSD in/*.MOV in/*.pdf in/sub/*.pdf
check 'none' [ -z "$(told rotate90 -r -d out in)" ]
touch in/p.jp2 in/sub/q.crw

# Videos.
mkdir phone
cp "$samples/f.jpg" phone/IMG_1.JPG
touch phone/IMG_{1,12,2,3}.MOV phone/IMG_4.{mp4,MP4,AAE}
check 'videos' [ "$(told upright -r -d out2 phone)" = '6 files passed over: 6 videos' ]

# JSON, and the manifest: each once, whatever share of the files it is in.
told --json rotate90 -r -d out in >/dev/null
check 'JSON' [ "$(grep passed_over stdout)" = \
    '{"input": "in/p.jp2", "status": "passed_over", "format": "JPEG 2000"}
{"input": "in/sub/q.crw", "status": "passed_over", "format": "RAW"}' ]
for k in 1 2 3; do
    told rotate90 -r -d out --shard $k/3 --manifest log.$k in >shard.$k
done
check 'shards' [ "$(cat log.? | grep -c passed_over)" = 2 ]
check 'shards, told' [ "$(cat shard.? | grep -oE '[0-9]+ (JPEG 2000|RAW)' | sort |
    paste -sd ' ')" = '1 JPEG 2000 1 RAW' ]
cat log.1 log.2 log.3 >log
check 'joined' [ "$(grep -c '"status": "passed_over", "format": "\(JPEG 2000\|RAW\)"' \
    log)" = 2 ]

# To go on leaves out what is done, and passes over the same again. What is done
# later under such a name is done.
check 'resume' [ "$(told rotate90 -r -d out --manifest log --resume log in)" = \
    '2 files passed over: 1 JPEG 2000, 1 RAW' ]
cp "$samples/f.jpg" in/p.jp2
gimgxf -q rotate90 -i --manifest log --resume log in/p.jp2
told rotate90 -r -i --manifest log in >/dev/null
check 'it is done once' [ "$(grep -c '"done".*p.jp2\|p.jp2.*"done"' log)" = 1 ]
gimgxf -q rotate90 -i --manifest log --resume log in/p.jp2
check 'and not twice' [ "$(grep -c 'p.jp2.*"done"' log)" = 1 ]
finish
