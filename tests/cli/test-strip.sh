# --strip=LIST drops everything that it names, and nothing else.
. "$ROOT/tests/cli/lib.sh"
needs python3
pictures="python3 $ROOT/tests/support/strip_pictures.py"
stored_pictures plain
$pictures make plain.jpg plain.png .
check 'it is all there' $pictures check none full.jpg
check 'it is all there' $pictures check none full.png
gimgxf -q copy plain.jpg plain.jpg.ppm
for suffix in jpg png; do
    for list in gps thumbnail xmp exif icc gps,thumbnail xmp,exif \
        gps,thumbnail,xmp,exif,icc; do
        for op in copy fliph; do
            called 0 -q --strip=$list $op full.$suffix out.$suffix
            turned=${op#copy}
            check "$list, $op, $suffix" \
                $pictures check $list out.$suffix ${turned:+turned}
        done
        gimgxf -q fliph out.$suffix back.$suffix
        gimgxf -q copy back.$suffix back.ppm
        want=plain.ppm
        [ $suffix = png ] || want=plain.jpg.ppm
        tail -c 1152 $want >want # pixels, without a comment
        tail -c 1152 back.ppm >got
        check "the pixels stay, $list $suffix" same want got
        rm -f out.$suffix back.$suffix back.ppm
    done
    # To the other format, and nothing that was dropped is said to be lost.
    other=png
    [ $suffix = jpg ] || other=jpg
    gives 0 '' -q --strip=gps,thumbnail copy full.$suffix other.$other
    check "no place in $other" [ "$(grep -c 'GPSDATUM\|11.1111N' other.$other)" = 0 ]
    gimgxf --strip=xmp,exif,icc copy full.$suffix other.bmp 2>stderr
    check "dropped, not lost: $suffix" [ "$(grep -c 'XMP,\|eXIf\|ICC\|Extended' stderr)" = 0 ]
done
gives 0 '' --strip=gps,icc,thumbnail -q copy full.jpg out.jpg
if offers exiftool; then
    for list in gps thumbnail xmp exif; do
        gimgxf -q --strip=$list rotate90 full.jpg out.jpg
        gimgxf -q rotate90 full.jpg all.jpg
        for file in out all; do
            exiftool -a -G1 -s -u -U $file.jpg 2>/dev/null |
                grep -v 'System\|ExifTool\|Composite' |
                cut -d: -f1 | sort >$file.tags
        done
        comm -13 out.tags all.tags >gone
        case $list in
        gps) pattern='GPS|Gps|decimalLat|DecimalLat|XMP-geo|Lat|Long' ;;
        thumbnail) pattern='IFD1|Thumb|JFXX|JFIF' ;;
        xmp) pattern='XMP' ;;
        exif) pattern='IFD|GPS|Exif|MakerNote' ;;
        esac
        check "exiftool: $list is gone" [ -s gone ]
        check "exiftool: nothing but $list ($(grep -vE "$pattern" gone))" \
            [ -z "$(grep -vE "$pattern" gone)" ]
        check "exiftool: no new tags with $list" \
            [ -z "$(comm -23 out.tags all.tags | grep -v Event)" ]
    done
    exiftool -a -G1 -s -ee3 -n '-*GPS*' '-XMP:*lat*' '-XMP:*long*' \
        -GPS:all "$(gimgxf -q --strip=gps copy full.jpg out.jpg; echo out.jpg)" \
        >places 2>/dev/null
    check "exiftool finds no place: $(head -n 3 places)" [ ! -s places ]
fi

# A picture behind the first one is stripped as well, and is where XMP says.
PYTHONPATH=$ROOT/tests/support python3 - <<'END'
from jpeg_trailers import mpf, xmp
first, second = open('plain.jpg', 'rb').read(), open('full.jpg', 'rb').read()
lead = xmp('attribute', [[('Semantic', 'Primary')],
                         [('Semantic', 'GainMap'), ('Length', len(second))]])
size = len(mpf('>', [(0, 0, 0)] * 2))
at = size - 8 + len(first) - 2
lead += mpf('>', [(0x20030000, len(lead) + size + len(first), 0),
                  (0, len(second), at)])
open('two.jpg', 'wb').write(first[:2] + lead + first[2:] + second)
END
for op in copy rotate90; do
    gives 0 '' -q --strip=gps $op two.jpg out.jpg
    check "no place in the second, $op" \
        [ "$(grep -ac 'GPSDATUM\|11.1111N\|22.2222E\|77.7777' out.jpg)" = 0 ]
    python3 -c 'import re
data = open("out.jpg", "rb").read()
length = int(re.search(rb"Item:Length=\"(\d+)\"", data).group(1))
open("second.jpg", "wb").write(data[len(data) - length:])'
    check "the second is there, $op" gimgxf -q copy second.jpg second.ppm
    check "its metadata are, $op" grep -aq 'XMP-MARK' second.jpg
done

# What cannot be cut out safely fails, and names the way out.
python3 - <<'END'
import re
data = open('full.jpg', 'rb').read()
at = data.index(b'Exif\0\0MM') + 6
tiff = bytearray(data[at:])
first = tiff.index(b'\x87\x69\0\4')  # the link to EXIF; that to GPS is behind it
assert tiff[first + 12:first + 14] == b'\x88\x25'
tiff[first + 20:first + 24] = tiff[first + 8:first + 12]
open('shared.jpg', 'wb').write(data[:at] + bytes(tiff))
open('open.jpg', 'wb').write(data.replace(b'</exif:GPSTrack>', b'</exif:GPSTrick>'))
open('comment.jpg', 'wb').write(data.replace(b'COMMENT-MARK', b'GPSLatitude!'))
END
refused 1 --strip=gps copy <<END
shared.jpg no.jpg | shared.jpg: GPS in EXIF shares bytes with something else, or is malformed, so that it cannot be cut out; --strip=exif drops all of EXIF
open.jpg no.jpg | open.jpg: XMP is malformed, so that nothing can be cut out of it; --strip=xmp drops all of it
END
check 'nothing is written' absent no.jpg
gives 0 'gimgxf: comment.jpg: warning: COM seems to contain coordinates, and is kept' \
    --strip=gps copy comment.jpg out.jpg
gives 0 '' --strip=gps,exif copy shared.jpg out.jpg
gives 0 '' -q --edge tag --strip=gps,exif rotate90 full.jpg out.jpg
gives 0 '' -q --edge tag --strip=gps rotate90 full.jpg out.jpg
printf '{"op": "copy", "input": "full.jpg", "output": "served.jpg", "options": {"strip": "gps,thumbnail"}}\n' |
    gimgxf serve - >answers
check 'serve' grep -q '"status": "done"' answers
check 'serve: stripped' $pictures check gps,thumbnail served.jpg
finish
