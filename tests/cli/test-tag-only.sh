# --tag-only shows the same picture as a turn of the pixels, and changes nothing
# but the tag.
. "$ROOT/tests/cli/lib.sh"
needs python3
pictures="python3 $ROOT/tests/support/tagged_pictures.py"
ops='copy fliph rotate180 flipv transpose rotate90 transverse rotate270'

stored_pictures stored
mkdir in
check 'made' $pictures make stored.jpg stored.png in
rm -f in/EXIF-[1234578]-* in/XMP-[1234578]-* in/orNT-[1234578]-* # 6 is enough
cp stored.jpg in/none-1.jpg
cp stored.png in/none-1.png

# shown FILE PPM: its pixels as they are shown.
shown() {
    rm -f upright.*
    gimgxf -q upright "$1" "upright.${1##*.}" 2>/dev/null
    gimgxf -q copy "upright.${1##*.}" "$2" 2>/dev/null
}

# All of a file but what may tell an orientation; compares the files of each line.
cat >rest.py <<'END'
import sys
from pieces import chunk, chunks, segments

def rest(name):
    with open(name, 'rb') as file:
        data = file.read()
    if data[:2] == b'\xff\xd8':
        parts = list(segments(data))
        scans = 2 + sum(4 + len(body) for _, body in parts)
        return [part for part in parts if part[0] != 0xe1], data[scans:]
    parts = list(chunks(data))
    assert b''.join(chunk(*part) for part in parts) == data[8:], name
    return [part for part in parts
            if part[0] not in (b'eXIf', b'iTXt', b'zTXt', b'tEXt', b'orNT')]

for line in sys.stdin:
    a, b = line.split()
    if rest(a) != rest(b):
        print(b)
END
mkdir out
for file in in/*; do
    suffix=${file##*.}
    some='rotate90 rotate270'
    [ "${file#*-6-exif}" = "$file" ] || some=$ops
    for op in $some; do
        out=out/$op-${file#in/}
        gimgxf -q --tag-only $op "$file" "$out" 2>stderr
        check "status $? of $op $file: $(cat stderr)" [ ! -s stderr ]
        shown "$out" got.ppm
        gimgxf -q -f $op "$file" turned.$suffix 2>/dev/null
        gimgxf -q -f copy turned.$suffix turned.ppm 2>/dev/null
        check "$op $file, as it is shown" same turned.ppm got.ppm
        echo "$file $out" >>pairs
        gimgxf info --json "$out" >told
        check "$op $file, all agree" [ -z "$(grep orientation_other told)" ]
    done
done
check "the rest: $(python3 rest.py <pairs 2>&1 | tee others)" [ ! -s others ]
check 'the number of pairs' [ "$(wc -l <pairs)" -gt 60 ]

# Among the tags are thumbnails and pictures behind; they stay what they are.
if offers exiftool; then
    cp stored.jpg in.jpg
    exiftool -q -overwrite_original "-ThumbnailImage<=stored.jpg" \
        -IFD0:Orientation#=6 -IFD1:Orientation#=1 -Artist=somebody in.jpg
    gives 0 '' --tag-only rotate90 in.jpg out.jpg
    check 'exiftool: the tags' [ "$(exiftool -T -n -IFD0:Orientation \
        -IFD1:Orientation -Artist out.jpg)" = '3	6	somebody' ]
    exiftool -b -ThumbnailImage out.jpg >thumb.jpg
    check 'the thumbnail stays' same stored.jpg thumb.jpg
    check 'one byte a tag' [ "$(cmp -l in.jpg out.jpg | wc -l)" = 2 ]
fi
trailers="python3 $ROOT/tests/support/jpeg_trailers.py"
for kind in ultrahdr ultrahdr-elements stereo gaps motion tagged; do
    has_tool cjpeg && has_tool djpeg || break
    $trailers make $kind in.jpg
    gives 0 '' --tag-only rotate90 in.jpg out.jpg
    check "$kind: pictures are where MPF says" $trailers same in.jpg out.jpg
    makes in.jpg --tag-only copy in.jpg same.jpg
done
# EXIF that grows behind MPF moves the pictures behind farther from it.
if has_tool cjpeg && has_tool djpeg; then
    PYTHONPATH=$ROOT/tests/support python3 - <<'END'
from jpeg_trailers import mpf, picture, segment
first, second = picture(48, 32), picture(24, 16)
exif = segment(0xe1, b'Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0')
behind = len(mpf('>', [(0, 0, 0)] * 2)) + len(exif) + len(first)
lead = mpf('>', [(0x20030000, behind, 0), (0, len(second), behind - 10)]) + exif
open('behind.jpg', 'wb').write(first[:2] + lead + first[2:] + second)
END
    gives 0 '' --tag-only rotate90 behind.jpg out.jpg
    check 'it grows' [ "$(wc -c <out.jpg)" -gt "$(wc -c <behind.jpg)" ]
    check 'and MPF is right' $trailers same behind.jpg out.jpg
fi
prints '"how": "tagged", "turned": "copy"' --json --tag-only rotate90 \
    stored.png out.png
prints '"how": "unchanged"' --json --tag-only upright in/EXIF-6-exif.png \
    out.png
gives 0 'gimgxf: in/EXIF-6-XMP-1.jpg: warning: the orientation is 6, as EXIF says, although XMP says 1' \
    --tag-only rotate90 in/EXIF-6-XMP-1.jpg out.jpg

# EXIF that has as many tags as can be counted takes no other one.
PYTHONPATH=$ROOT/tests/support python3 - <<'END'
import struct
from zlib import compress
from pieces import chunk, png
for name, count in ('most', 65534), ('full', 65535):
    exif = b'MM\0*' + struct.pack('>IH', 8, count) + b''.join(
        struct.pack('>HHII', 1000 + i // 2, 4, 1, i) for i in range(count)) + bytes(4)
    with open(name + '.png', 'wb') as f:
        f.write(png(2, 1, 8, 2, compress(b'\0abcdef'), chunk(b'eXIf', exif)))
END
gives 0 '' --tag-only rotate90 most.png out.png
prints 'orientation 6' info out.png
gives 1 'gimgxf: full.png: EXIF is damaged or full, so that it cannot hold an orientation' \
    --tag-only rotate90 full.png no.png

# What has no tag, and what is asked for beside it.
for suffix in ppm npy pfm; do
    gimgxf -q copy stored.ppm in.$suffix 2>/dev/null ||
        gimgxf -q --depth float copy stored.ppm in.$suffix
done
refused 1 <<END
--tag-only rotate90 in.ppm no.ppm | in.ppm: PNM has no orientation tag that --tag-only could set; JPEG, PNG, TIFF and WebP have one
--tag-only rotate90 in.npy no.npy | in.npy: NPY has no orientation tag that --tag-only could set; JPEG, PNG, TIFF and WebP have one
--tag-only rotate90 stored.png no.jpg | stored.png: --tag-only keeps the format, PNG, but the output would be JPEG; give it the same format
END
for option in --format=png --strip --strip=gps --edge=trim --quality=90 \
    --optimize --no-restart --png-level=9 --depth=8 --background=white \
    --ignore-orientation; do
    name=${option%%=*}
    gives 2 "gimgxf: --tag-only changes the orientation and nothing else, so $name cannot be given with it" \
        --tag-only $option rotate90 stored.png no.png
done
head -c 70 stored.png >cut.png
gives 1 'gimgxf: cut.png: the file is cut short' --tag-only rotate90 cut.png no.png
{ head -c 60 stored.png; printf x; tail -c +62 stored.png; } >bad.png
gimgxf --tag-only rotate90 bad.png no.png 2>stderr
check 'a damaged chunk' grep -q 'is damaged$' stderr
check 'nothing is written' [ -z "$(ls no.* 2>/dev/null)" ]
finish
