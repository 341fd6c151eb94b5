# Raw files of cameras, and TIFF files with --tag-only: every turn of every
# orientation sets the tags alone, by an oracle that reads them itself.
. "$ROOT/tests/cli/lib.sh"
cpu_only # a device has nothing to do: no sample is decoded
needs python3
oracle="python3 $ROOT/tests/support/raw_pictures.py"
check 'pictures' $oracle make in
rm -rf shown

# turn OPERATION OUT IN...: TIFF files by their tag alone.
turn() {
    local op=$1 out=$2 file
    shift 2
    gimgxf -q "$op" -d "$out" $(ls "$@" | grep -v 'tif$') &&
        gimgxf -q --tag-only "$op" -d "$out" $(ls "$@" | grep 'tif$')
}
for op in rotate90 fliph rotate180 flipv transpose transverse rotate270 upright \
    copy; do
    check "$op" turn $op $op in/*
    check "$op, judged" $oracle check $op in $op
done
{ printf 'II*\0\x10\0\0\0IIIICwaR'; cat in/nef-le-6.nef; } >phase.iiq
gives 1 'gimgxf: phase.iiq: a raw picture of Phase One (IIQ), whose readers ignore the orientation tag; convert it to DNG first' \
    fliph phase.iiq no.iiq

# Eight quarter turns are four, which are none if the tag was there; what else
# readers show is the same.
for file in in/*-[06].* in/nef-be-3.nef in/canon-1-8.cr3 in/fuji-0-5.raf; do
    option=
    case $file in *.tif) option=--tag-only ;; esac
    eight_turns "$file" at.${file##*.} $option
    case $file in
    *-6.[!ti]*) check "$file: four are none" same "$file" four ;;
    esac
done

if offers exiftool; then
    for op in rotate90 transverse; do
        exiftool -n -T -FileName -IFD0:Orientation in/[!b]* >was
        exiftool -n -T -FileName -IFD0:Orientation $op/[!b]* >now
        check "exiftool, $op" python3 - "$ROOT" was now $op <<'END'
import sys
sys.path.insert(0, sys.argv[1] + '/tests/support')
from raw_pictures import turned
was, now = ({f: o for f, o in (line.rstrip('\n').split('\t')
                               for line in open(name))} for name in sys.argv[2:4])
wrong = [f for f in now if turned(int(was[f]) if was[f].isdigit() else None,
                                  sys.argv[4]) !=
         (int(now[f]) if now[f].isdigit() else 1)]
sys.exit(f'{wrong} of {len(now)}' if wrong or len(now) < 200 else 0)
END
    done
fi

# A raw file is told by what it holds, wherever that stands; a TIFF is none.
format() {
    gimgxf info --json "$1" | grep -o '"format": "[a-z]*"'
}
cp in/dng-le-1.dng called.tif
check 'a raw file' [ "$(format called.tif)" = '"format": "raw"' ]
check 'a TIFF' [ "$(format in/pages-00-1.tif)" = '"format": "tiff"' ]
gives 1 'gimgxf: in/canon-6.cr2: camera raw is turned by its orientation alone: its samples are not decoded, so nothing else can be made of it' \
    rotate90 in/canon-6.cr2 out.png
gives 0 'gimgxf: in/canon-6.cr2: warning: programs built on LibRaw may go on to turn it, as the maker notes of Canon say' \
    rotate270 in/canon-6.cr2 out.cr2

# Damage: cut files, and those that lead back to themselves.
python3 - <<'END'
import re
import struct
def change(name, to, edit):
    data = bytearray(open('in/' + name, 'rb').read())
    edit(data)
    open(to, 'wb').write(data)
def loop(data):  # the link of the first page
    at = struct.unpack_from('<I', data, 4)[0]
    n = struct.unpack_from('<H', data, at)[0]
    struct.pack_into('<I', data, at + 2 + 12 * n, at)
def strip(data):
    data[:] = data.replace(b'\x12\1\3\0\1\0\0\0', b'\x13\1\3\0\1\0\0\0')
def huge(data):
    at = struct.unpack_from('>Q', data, 8)[0]
    struct.pack_into('>Q', data, at, 1 << 32)
def malformed(data):
    data[:] = data.replace(b'\x12\1\3\0\1\0', b'\x12\1\3\0\2\0')
change('pages-00-6.tif', 'loop.tif', loop)
change('pages-11-6.tif', 'huge.tif', huge)
change('pages-00-6.tif', 'two.tif', malformed)
change('canon-0-6.cr3', 'bare.cr3', strip)
change('fuji-0-6.raf', 'bare.raf', strip)
def beyond(data):  # CMT1 ends behind all
    data[data.index(b'CMT1') - 3] = 0xff
change('canon-0-6.cr3', 'beyond.cr3', beyond)
change('fuji-0-6.raf', 'none.raf', lambda data: data.__setitem__(148, 0))
for name in ('nef-le-6.nef', 'canon-0-6.cr3', 'fuji-0-6.raf'):
    data = open('in/' + name, 'rb').read()
    end = len(data) * 2 // 3 if name.endswith('nef') else len(data) - 20
    open('cut' + name[-4:], 'wb').write(data[:end])
END

# What directories name is looked for: it is moved to the end of the file, which then
# is cut in it. What is called a sample here is a strip, a JPEG file or a block.
python3 - <<'END' >cuts
import struct
def entries(data, tag):
    for kind in (1, 4, 7):
        lead = struct.pack('<HH', tag, kind)
        at = data.find(lead)
        while at >= 0:
            count, value = struct.unpack_from('<II', data, at + 4)
            if count < 5000 and value < len(data) or value == len(data) - 6400:
                yield at, count, value
            at = data.find(lead, at + 1)
for name, tag, sizes in (('nef-le-6.nef', 273, 279), ('nef-le-6.nef', 513, 514),
                         ('dng-le-6.dng', 273, 279), ('dng-le-6.dng', 700, None),
                         ('canon-6.cr2', 273, 279), ('canon-6.cr2', 513, 514),
                         ('arw-le-6.arw', 513, 514), ('pef-le-6.pef', 273, 279),
                         ('orf-6.orf', 273, 279), ('srw-le-6.srw', 273, 279),
                         ('rw2-6.rw2', 280, None), ('rw2-6.rw2', 46, None),
                         ('nef-le-6.nef', 330, None), ('pages-00-6.tif', 273, 279)):
    data = open('in/' + name, 'rb').read()
    for n, (at, count, value) in enumerate(entries(data, tag)):
        size = {280: 6400, 330: 8}.get(tag, count)
        if sizes:
            size = next((v for a, c, v in entries(data, sizes) if a > at), 0)
        if size < 4:
            continue
        moved = bytearray(data)
        struct.pack_into('<I', moved, at + 8, len(data))
        moved += data[value:value + size]
        for i in range(20):
            to = f'cut-{tag}-{n}-{i}-{name}'
            least = 4200 if tag == 280 else 0  # a warning tells of fewer samples
            open(to, 'wb').write(
                moved[:len(data) + least + (size - 1 - least) * i // 19])
            print(to)
END
check 'cuts' [ "$(wc -l <cuts)" -ge 300 ]
taken=
while read -r file; do
    option=
    case $file in *.tif) option=--tag-only ;; esac
    gimgxf rotate90 $option "$file" no.${file##*.} 2>stderr
    [ "$? $(grep -c '' stderr) $(grep -c 'it is cut' stderr)" = '1 1 1' ] || taken+=" $file"
done <cuts
check "cut files are taken:$taken" [ -z "$taken" ]

none='its EXIF has no orientation tag, and no room for one'
refused 1 rotate90 <<END
loop.tif --tag-only no.tif | loop.tif: its directories lead back to each other
huge.tif --tag-only no.tif | huge.tif: its directory (IFD) at byte 40 is missing or damaged
two.tif --tag-only no.tif | two.tif: its orientation tag is malformed
bare.cr3 no.cr3 | bare.cr3: $none
bare.raf no.raf | bare.raf: $none
cut.raf no.raf | cut.raf: it is cut: what it names ends behind its own end; --tolerant turns it all the same
beyond.cr3 no.cr3 | beyond.cr3: it has no box CMT1, which says its orientation
none.raf no.raf | none.raf: $none
END
# By their format the samples of an RW2 have 10 pixels in 16 bytes.
python3 - <<'END'
import struct
tags = (2, 100), (3, 100), (10, 12), (45, 5), (274, 1), (280, 512)
data = b'IIU\0' + struct.pack('<IH', 8, len(tags)) + b''.join(
    struct.pack('<HHII', tag, 4, 1, value) for tag, value in tags)
data = data.ljust(512, b'\0') + bytes(16000)
open('packed.rw2', 'wb').write(data)
open('packed-cut.rw2', 'wb').write(data[:-1])
END
gives 0 '' rotate90 packed.rw2 yes.rw2
gives 1 'gimgxf: packed-cut.rw2: it is cut: what it names ends behind its own end; --tolerant turns it all the same' \
    rotate90 packed-cut.rw2 no.rw2
makes none.raf upright none.raf same.raf
gives 0 'gimgxf: cut.raf: warning: it is cut: what it names ends behind its own end' \
    rotate90 --tolerant cut.raf yes.raf
for file in cut.nef cut.cr3; do
    gimgxf -q rotate90 $file no.${file##*.} 2>/dev/null
    check "$file" [ $? = 1 ]
done
check 'nothing is written' [ -z "$(ls no.* 2>/dev/null)" ]
finish
