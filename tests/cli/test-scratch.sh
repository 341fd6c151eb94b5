# Pictures that are more than --max-memory go through a temporary file, and
# become what they become in memory, byte for byte.
. "$ROOT/tests/cli/lib.sh"

noise() {
    head -c "$1" /dev/urandom
}

{ printf 'P6 1801 1603 255\n' && noise $((1801 * 1603 * 3)); } >a.ppm
{ printf 'P5 3001 1437 65535\n' && noise $((3001 * 1437 * 2)); } >a.pgm
{ printf 'P4 4003 2203\n' && noise $((501 * 2203)); } >a.pbm
{ printf 'P7\nWIDTH 1301\nHEIGHT 1703\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n' &&
    noise $((1301 * 1703 * 4)); } >a.pam
{ printf 'PF\n803 901\n-1.0\n' && noise $((803 * 901 * 12)); } >a.pfm
{ printf 'P2 # numbers\n3001 2803 255\n' &&
    noise $((3001 * 2803)) | od -An -v -tu1 -w16; } >numbers.pgm
{ printf 'P1 4003 2101\n' && noise 8410303 | LC_ALL=C tr '\000-\177\200-\377' '[0*128][1*128]'; } >numbers.pbm
for i in ppm pgm pbm pam; do
    gimgxf copy a.$i $i.png
done

# through FILE OUT OPTION...: turns FILE to OUT in memory and through a file.
through() {
    local in=$1 out=$2 said
    shift 2
    gimgxf -f "$@" "$in" "whole.$out" 2>said.whole
    said=$(gimgxf -fv --max-memory 16M "$@" "$in" "less.$out" 2>&1)
    grep warning <<<"$said" >said.less
    check "$*, $in: the same warnings" diff said.whole said.less
    check "$*, $in: through a file" [ "${said#*temporary file of}" != "$said" ]
    check "$*, $in: the same" same "whole.$out" "less.$out"
}

# says_the_same: cut.png is refused alike in memory and through a file.
says_the_same() {
    tells 1 . --max-memory 16M rotate90 cut.png gone.png
    gives 1 "$(cat stderr)" rotate90 cut.png gone.png
}

# The output of a large picture is a file from the beginning, and no temporary one.
{ printf 'P6 3001 2003 255\n' && head -c $((3001 * 2003 * 3)) /dev/zero; } >fits.ppm
gimgxf -v rotate90 fits.ppm turned.ppm 2>said
check 'what fits goes through no file' [ "$(grep -c 'temporary file of' said)" = 0 ]
rm fits.ppm turned.ppm

try 2 "$turns" through a.ppm ppm
try 3 "$turns" through ppm.png png
through numbers.pgm pgm rotate90
through numbers.pbm pbm flipv
through a.pgm pgm rotate90
through a.pgm ppm rotate90
through a.pbm pbm rotate270
through a.pam pam transverse
through a.pfm pfm rotate90
through a.pfm pfm flipv
through pgm.png png rotate270 --png-level fast
through pbm.png png transpose
through pam.png png rotate180 --png-level small
through pam.png png copy --png-level 0
through a.pgm pgm flipv -j 1

ways=('ppm png rotate90' 'pgm pgm rotate270 -j 1' 'pgm png transpose'
    'pfm pfm transverse')
# One row, or one column, or few: what pads them is most of their memory.
for size in '70001 1' '1 70001' '70001 2' '3 70001' '70001 17' '70001 33'; do
    set -- $size
    { printf 'P6 %s 255\n' "$size" && noise $(($1 * $2 * 3)); } >narrow.ppm
    { printf 'P5 %s 65535\n' "$size" && noise $(($1 * $2 * 2)); } >narrow.pgm
    { printf 'PF\n%s\n-1.0\n' "$size" && noise $(($1 * $2 * 12)); } >narrow.pfm
    try 1 "$turns" through narrow.ppm ppm
    pick 1 0 1 2 3
    for way in $picked; do
        through narrow.${ways[way]}
    done
done

# From one format to another, where samples stay as they are.
through ppm.png ppm rotate90
through a.ppm png rotate270
through a.ppm pam fliph
through pam.png pam transpose
through a.pam png rotate180
through pgm.png pgm copy
through numbers.pgm png transverse

# From one to another, where samples change: more and fewer bits and channels,
# floats that are out of range, a palette and a color that are transparent.
through ppm.png png rotate90 --depth 16
through pgm.png png fliph --depth 8
through a.pgm pgm rotate270 --depth 8
through a.pam ppm rotate90 --background '#405060'
through ppm.png pfm transpose --depth float
through a.pfm png rotate90 --depth 16
through a.pfm ppm flipv --depth 8
if has_tool python3; then
    python3 "$ROOT/tests/support/large_pngs.py"
    through palette.png ppm rotate90 --background white
    through palette.png pam transverse
    through key.png pam rotate180
    through key.png png copy --depth 8
    through bits.png pgm rotate90 --depth 8

    # Interlaced ones, which stay so. Without --png-level a copy is the file.
    try 1 "copy $turns" through passes.png png --png-level 3
    through passes-bits.png png flipv
    through passes-palette.png png transverse
    through passes-palette.png ppm rotate270 --background black
    through passes-deep.png png rotate90
    through passes-deep.png pam fliph
    for cut in 60 95; do # of a hundred parts, in the last pass or two before
        head -c $(($(wc -c <passes.png) * cut / 100)) passes.png >cut.png
        try 1 'rotate90 flipv' through cut.png png --tolerant
        says_the_same
    done

    # Animations, frame by frame: the picture in the file, or in memory, where
    # it alone fits.
    for name in moving apart; do
        try 1 'rotate90 flipv transverse' through $name.png png
    done
    through moving.png png copy
    through moving.png ppm rotate90
    through moving-passes.png png rotate270
    gimgxf -v --max-memory 27M rotate90 moving.png less.png 2>said
    check 'only frames go through a file' grep -q 'temporary file of' said
    gimgxf rotate90 moving.png whole.png
    check 'only frames: the same' same whole.png less.png
    head -c $(($(wc -c <moving.png) - 1000)) moving.png >cut.png
    through cut.png png rotate90 --tolerant
    says_the_same
fi

# Arrays, as numpy turns them.
judged large_arrays.py "$program" --backend "$GIMGXF_BACKEND"
rm -f ./*.npy

# In and out of pipes, and in place.
gimgxf rotate90 a.ppm whole.ppm
gimgxf --max-memory 16M rotate90 - - <a.ppm >less.ppm
check 'pipes: the same' same whole.ppm less.ppm
cp a.ppm b.ppm
chmod 640 b.ppm
makes whole.ppm -q --max-memory 16M --in-place --backup .old rotate90 b.ppm
check 'in place: its mode' [ "$(stat -c %a b.ppm)" = 640 ]
check 'in place: its backup' same a.ppm b.ppm.old
echo old >old.ppm
chmod 604 old.ppm
makes whole.ppm --max-memory 16M rotate90 a.ppm old.ppm
check 'an old file: its mode' [ "$(stat -c %a old.ppm)" = 604 ]
check 'an old file: nothing is left' no_temporary .
# A new file has the mode, and with -p the times, of its input.
chmod 740 b.ppm
touch -d 2001-02-03 b.ppm
for option in '' -p; do
    (umask 027 && gimgxf -q --max-memory 16M $option rotate90 b.ppm "c$option.ppm")
    (umask 027 && gimgxf -q $option rotate90 b.ppm "d$option.ppm")
    check "a new file $option: the same" same "c$option.ppm" "d$option.ppm"
    check "a new file $option: its mode" \
        [ "$(stat -c %a "c$option.ppm")" = "$(stat -c %a "d$option.ppm")" ]
done
check 'a new file -p: its times' [ "$(stat -c %Y ./c-p.ppm)" = "$(stat -c %Y b.ppm)" ]
mkdir out
gimgxf -q --max-memory 16M rotate90 -d out a.ppm ppm.png a.pam -j 4
check 'a batch: the same' same whole.ppm out/a.ppm
check 'nothing is left' no_temporary .

# What needs the whole picture says so, and what it needs.
more='more than the 16384K of --max-memory; --max-memory'
gives 1 "gimgxf: ppm.png: 1801 x 1603 pixels in 3 channels need 19074K bytes, \
$more 19074K allows them" --max-memory 16M rotate90 ppm.png gone.bmp
# Damage is told as of a picture that fits, and what is there is read if asked.
head -c 6000000 ppm.png >cut.png
says_the_same
for memory in 16M 1G; do
    called 0 -q --max-memory $memory --tolerant rotate90 cut.png cut.$memory.png
done
check 'a cut file: the same rows' same cut.16M.png cut.1G.png
check 'no output' absent gone.png

# The memory that it takes: less than the cells alone.
{ printf 'P6 6001 5001 255\n' && noise $((1 << 20)) >chunk &&
    for ((i = 0; i < 86; i++)); do cat chunk; done | head -c $((6001 * 5001 * 3)); } >large.ppm
if has_tool python3; then
    cat >peak.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
sys.exit(peak > int(sys.argv[1]))
END
    limit=60 # MiB; a sanitizer takes more, and cannot be limited
    ! gimgxf -v copy a.ppm b.ppm 2>&1 | grep -q 'this build has sanitizers' ||
        limit=100000
    for t in rotate90 flipv; do
        check "$t: memory" python3 peak.py $limit "$program" -q --backend cpu \
            --max-memory 24M $t large.ppm out.ppm
        gimgxf -q $t large.ppm whole.ppm
        check "$t: the same" same whole.ppm out.ppm
    done
fi
rm -f whole.ppm out.ppm

# Directories that are missing are made when the output is whole, and it is not
# copied then. (Before Linux 5.19, Landlock lets no file go to another directory.)
gimgxf -q rotate90 large.ppm whole.ppm
for memory in 24M 4G; do
    (ulimit -f 8192 && exec "$program" -q --backend "$GIMGXF_BACKEND" \
        --max-memory $memory rotate90 -d missing/deep large.ppm) 2>stderr
    check "$memory: a file that becomes too large" grep -q \
        'file cannot be written: File too large\|output cannot be written: File' stderr
    check "$memory: no directories" absent missing
    gimgxf -q --max-memory $memory rotate90 -d missing/deep large.ppm
    check "$memory: the same" same whole.ppm missing/deep/large.ppm
    rm -r missing
    can_trace || continue
    strace -E ASAN_OPTIONS=detect_leaks=0 -f -o trace -e trace=openat \
        "$program" -q --max-memory $memory rotate90 -d missing/deep large.ppm \
        2>/dev/null
    check "$memory: not copied" [ "$(uname -r | cut -d. -f1)" -lt 6 -o \
        "$(grep -c O_TMPFILE trace)" = "$([ $memory = 24M ] && echo 2 || echo 1)" ]
    rm -r missing
done
rm -f whole.ppm

# A disk that is full while cells are written, or while the file is.
disk() {
    unshare -rm sh -c 'mount -t tmpfs -o "$1" none disk && shift && "$@"' \
        sh "$@"
}
mkdir disk
if has_tool unshare && disk size=64k true 2>/dev/null; then
    for size in 8M 14M; do
        disk size=$size sh -c '"$1" --max-memory 16M rotate90 a.ppm disk/o.ppm
            echo $?; ls -A disk; df disk | tail -n 1 | tr -s " " | cut -d" " -f3' \
            sh "$program" >said 2>&1
        check "$size: a full disk" diff - said <<'END'
gimgxf: a.ppm: it is more than --max-memory, and its temporary file cannot be written: No space left on device
1
0
END
    done
    # In memory as well, what is large goes to its file while it is encoded.
    disk size=8M sh -c '"$1" rotate90 large.ppm disk/o.ppm
        echo $?; ls -A disk; df disk | tail -n 1 | tr -s " " | cut -d" " -f3' \
        sh "$program" >said 2>&1
    check 'a large picture: a full disk' diff - said <<'END'
gimgxf: large.ppm: the output cannot be written: No space left on device
1
0
END
else
    echo 'skipped a full disk: none can be mounted here'
fi
finish
