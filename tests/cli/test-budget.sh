# Small files that would cost much memory or time cost neither.
. "$ROOT/tests/cli/lib.sh"
needs python3

cpu_only
loads starve || skip_all 'this build has an allocator of its own'

# --max-memory counts alone where it is given, and no file may fill a disk.
printf 'P5 8200 9000 255\n' >cut.pgm
needs_memory='8200 x 9000 pixels in 1 channels need 145M bytes, more than the'
refused 1 --tolerant <<END
rotate90 cut.pgm o.pgm | cut.pgm: $needs_memory 65553K that a file of 17 bytes may take; --max-memory 145M allows them
--max-memory 64M rotate90 cut.pgm o.pgm | cut.pgm: $needs_memory 65536K of --max-memory; --max-memory 145M allows them
END
gives 0 'gimgxf: cut.pgm: warning: cut short, read as far as it goes' \
    --tolerant --max-memory 145M rotate90 cut.pgm o.pgm
{ printf 'P4 8000 8000\n' && head -c 4000 /dev/zero; } >cut.pbm
for memory in 64M 1G; do
    gives 0 'gimgxf: cut.pbm: warning: cut short, read as far as it goes' \
        --tolerant --max-memory $memory rotate90 cut.pbm $memory.pbm
done
check 'cut short, through a file: the same' same 64M.pbm 1G.pbm
# One of which hardly anything is there is no picture.
{ printf 'P6 5000 5000 255\n' && head -c 4000 /dev/zero; } >cut.ppm
gives 1 'gimgxf: cut.ppm: 4000 of the 75000000 bytes of its samples are there, '\
'which --tolerant reads only with --max-memory' --tolerant copy cut.ppm o.ppm
gives 0 'gimgxf: cut.ppm: warning: cut short, read as far as it goes' \
    --tolerant --max-memory 1G flipv cut.ppm o.ppm

# By default a picture gets a quarter of the memory, and a sparse one 512 MB.
quarter=$(($(getconf _PHYS_PAGES) * $(getconf PAGE_SIZE) / 4))
height=$((quarter / 60000 + 100))
printf 'P5 30000 %d 255\n' $height >large.pgm
truncate -s +$((30000 * height)) large.pgm
gimgxf --max-pixels 1000G copy large.pgm o.bmp 2>said
check "a quarter of the memory: $(cat said)" \
    grep -q "more than the $((quarter >> 20))M of --max-memory" said
rm large.pgm
if [ $((quarter >> 20)) -gt 700 ]; then
    python3 -c 'import sys
from costly_files import png, deflate_zeros
sys.stdout.buffer.write(png(16500, 16500, 8, 0, deflate_zeros(16501 * 16500)))
' >sparse.png
    gimgxf -v rotate90 sparse.png less.png 2>said
    check 'a sparse picture: through a file' \
        grep -q 'temporary file of 272250000 bytes' said
    if whole; then # test-scratch has smaller ones
        gimgxf -v --max-memory 700M rotate90 sparse.png whole.png 2>said
        check 'a sparse picture: as --max-memory says' [ $? = 0 ]
        check 'a sparse picture: in memory' \
            [ "$(grep -c 'temporary file' said)" = 0 ]
        check 'a sparse picture: the same' same less.png whole.png
    fi
fi
gives 0 '' --max-seconds 600 copy "$samples/f.ppm" o.ppm
gives 0 '' --max-seconds 599.5 copy "$samples/f.ppm" o.ppm
number='is not a number of seconds, such as 60 or 0.5'
refused 2 copy "$samples/f.ppm" o.ppm <<END
--max-seconds 0 | --max-seconds: 0 is out of range; expected 0.001 to 1000000000
--max-seconds -1 | --max-seconds: '-1' $number
--max-seconds 1s | --max-seconds: '1s' $number
--max-seconds 1e3 | --max-seconds: '1e3' $number
--max-seconds nan | --max-seconds: 'nan' $number
--max-seconds 0x10 | --max-seconds: '0x10' $number
--max-seconds 1.2.3 | --max-seconds: '1.2.3' $number
--max-seconds '' | --max-seconds: '' $number
END

# What is compared is in memory as a whole, and XMP of little else than tags takes
# more work than its bytes say. That of tags within tags is read in less than it is
# edited. Thumbnails may take no more for their own pixels.
python3 - <<'END'
from costly_files import FILES
for name in 'flat-gray.png', 'tags.png', 'nested.png', 'thumbnails.jpg':
    open(name, 'wb').write(FILES[name]())
END
gives 0 '' rotate90 flat-gray.png o.png
gimgxf relate flat-gray.png flat-gray.png >said 2>&1
check "relate: $(cat said)" grep -q 'more than the 246M that a file of 486K' said
rm -f o.png
gimgxf --verify rotate90 flat-gray.png o.png 2>said
check "--verify: $(cat said)" grep -q 'more than the 246M that a file of 5' said
check '--verify: nothing is written' absent o.png
! whole || gives 0 '' --verify --max-memory 600M rotate90 flat-gray.png o.png
work='it takes more work than a sound file of its size does'
gives 1 "gimgxf: tags.png: $work" info tags.png
for name in tags nested; do
    gives 1 "gimgxf: $name.png: $work" rotate90 $name.png o.png
done
gives 1 "gimgxf: thumbnails.jpg: $work" rotate90 thumbnails.jpg o.jpg
rm -f ./*.png thumbnails.jpg

all=$(python3 "$ROOT/tests/support/costly_files.py" check "$program" "$PLACE")
check "costly files: $all" [ $? = 0 ]
finish
