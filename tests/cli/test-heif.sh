# HEIC and AVIF: every turn is right by a reader of our own, for each item, and the
# data of none has changed; and by libheif and libavif, where they are installed.
. "$ROOT/tests/cli/lib.sh"
cpu_only # a device has nothing to do: no sample is decoded
needs python3
oracle="python3 $ROOT/tests/support/heif_files.py"
ops='upright fliph rotate180 flipv transpose rotate90 transverse rotate270'

check 'pictures' $oracle make
mkdir out
for file in *.heic *.avif; do
    pick 4 $ops
    for op in $picked; do
        gimgxf -q $op $file out/$op-$file || echo "$op $file fails"
        echo "$op $file out/$op-$file" >&3
    done
done >failed 3>list
check "no file is refused: $(head -3 failed)" [ ! -s failed ]
$oracle check <list >wrong 2>&1
check "all are right: $(head -3 wrong)" [ ! -s wrong ]

# Eight quarter turns are four; and four are none where irot was there, and said to
# be essential.
for file in exif6.heic hdr-own0.heic hdr-own3.heic both.heic free18.heic mini.avif \
    own1.heic own4.heic each.heic reversed.heic; do
    eight_turns $file at.${file##*.}
    case $file in
    exif* | free*) ;;
    *) check "4 of $file are none" same $file four ;;
    esac
done
gimgxf -q fliph plain.heic out/m.heic
makes plain.heic -q fliph out/m.heic out/mm.heic

# A gain map may belong to a picture that is missing.
gimgxf -q rotate90 lost.heif out/said.heic
check 'an item without its first input' [ "$($oracle orientation out/said.heic 4)" = 6 ]

# What is said.
while IFS='|' read -r file who; do
    gimgxf info $file >told
    check "info of $file tells who obeys" [ "$(sed -n 's/^  orientation obeyed by //p' told)" = "$who" ]
    gimgxf info --json $file >told
    check "and in JSON" [ "$(sed -n 's/.*"orientation_readers": "\([^"]*\)".*/\1/p' told)" = "$who" ]
done <<END
exif6.heic|Android, Immich and old macOS; not libheif and browsers
irot-exif6.heic|irot and imir: libheif, Apple and browsers; EXIF: programs of Android
plain.heic|
END
gives 0 'gimgxf: exif6.heic: warning: only EXIF said the orientation, 6, which not all programs obey; now irot and imir say it' \
    upright exif6.heic out/said.heic
check 'upright' [ "$($oracle orientation out/said.heic)" = 6 ]
gives 0 '' rotate90 out/said.heic out/again.heic
gives 0 'gimgxf: other.heic: warning: it has 1 other picture, which stays as stored; --all turns all' \
    rotate90 other.heic out/said.heic
gives 0 '' --all rotate90 other.heic out/all.heic
check '--all' [ "$($oracle orientation out/all.heic 2)" = 1 ]
makes own1.heic upright own1.heic out/said.heic
gives 1 'gimgxf: own1.heic: HEIC is turned by its orientation alone: its samples are not decoded, so nothing else can be made of it' \
    rotate90 own1.heic out/no.png
for of in nothing picture; do
    gives 1 "gimgxf: blend-$of.heif: its primary item is of the type tmap, which other programs do not show: it blends pictures that are turned themselves" \
        rotate90 blend-$of.heif out/no.heic
done
printf '\0\0\0\020ftypheic\0\0\0\0\0\0\0\010moov' >moov.heic
gives 1 'gimgxf: moov.heic: an image sequence (a moov box), which is not turned' \
    rotate90 moov.heic out/no.heic
check 'info' [ "$(gimgxf info own1.heic)" = \
    'own1.heic: HEIC, 80 x 48 (shown as 48 x 80), orientation 8 (shown by rotate270), as irot and imir says
  lossless, by its orientation alone: every turn' ]

# A file that is cut anywhere is refused in one line.
cp late.heic cut.heic
size=$(wc -c <cut.heic)
for ((n = size - 1; n > 20; n -= whole ? 1 : 17)); do
    head -c $n late.heic >cut.heic
    gimgxf rotate90 cut.heic out/no.heic 2>stderr && echo "$n bytes pass"
    [ "$(wc -l <stderr)" = 1 ] || cat stderr
done >passed
check "cut: $(head -2 passed)" [ ! -s passed ]
check 'no output' [ ! -e out/no.heic ]

# ---- By the libraries ----
if ! has_tool heif-enc || ! has_tool heif-convert || ! has_tool avifenc ||
    ! has_tool avifdec; then
    echo 'skipped: by libheif and libavif'
    finish
    exit
fi
sixths() { # a picture of six colors, 60 x 40
    echo 'P3 60 40 255'
    for y in 0 20; do
        for _ in {1..20}; do
            for x in 250 130 10; do
                for _ in {1..20}; do echo "$x $((250 - 12 * y)) $((y * 9))"; done
            done
        done
    done
}
sixths >six.ppm
gimgxf -q copy six.ppm six.png
heif-enc -q 95 six.png -o six.heic >/dev/null 2>&1
avifenc --min 0 --max 10 six.png six.avif >/dev/null 2>&1

# shown FILE: as it is shown, as PPM in shown.ppm.
shown() {
    rm -f shown.png shown.ppm
    heif-convert "$1" shown.png >/dev/null 2>&1
    gimgxf -q --background black --depth 8 copy shown.png shown.ppm
}
for file in six.heic six.avif; do
    shown $file
    mv shown.ppm was.ppm
    for first in copy $ops; do
        gimgxf -q -f $first $file out/first-$file
        pick 2 $ops
        for op in $picked; do
            gimgxf -q -f $op out/first-$file out/then-$file
            shown out/then-$file
            gimgxf -q $first,$op was.ppm want.ppm 2>/dev/null ||
                gimgxf -q ${first/upright/copy},${op/upright/copy} was.ppm want.ppm
            check "$first,$op $file as libheif shows it" same shown.ppm want.ppm
        done
    done
done
check 'libavif reads it' avifdec --info out/then-six.avif >/dev/null
finish
