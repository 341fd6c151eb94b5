# --dry-run prints which files a batch takes and what each becomes.
. "$ROOT/tests/cli/lib.sh"
needs python3

# plans LINES ARGUMENTS...: whether that is the plan, a line an item.
plans() {
    gives 0 '' --dry-run copy "${@:2}"
    check "plan ($(diff <(echo "$1") stdout | grep '^[<>]' |
        head -n 3 | tr '\n' ' ')) of: ${*:2}" [ "$(cat stdout)" = "$1" ]
}

# planned: for each line "ARGUMENTS | INPUT -> OUTPUT, ..." of stdin the same, and for
# "ARGUMENTS | ! MESSAGE" whether nothing is planned, for that reason.
planned() {
    local line words want
    while IFS= read -r line; do
        want=${line#* | }
        if [[ $want = '! '* ]]; then
            refused 2 --dry-run copy <<<"${line/ | ! / | }"
        else
            eval "words=(${line%% | *})"
            plans "${want//, /$'\n'}" "${words[@]}"
        fi
    done
}

# inputs: those of the plan that was printed last.
inputs() {
    sed 's/ -> .*//' stdout
}

# ---- Directories ----

mkdir -p photos/2020/.cache photos/.thumbs photos/a photos/cache elsewhere
touch photos/{b.jpg,2020/c.PNG,a.png,a/d.tga,a-b.jpg,.hidden.jpg,notes.txt} \
    photos/{.gimgxf-abcdefghijkl,.thumbs/t.jpg,2020/.cache/s.png} \
    photos/cache/k.jpg photos/plain elsewhere/e.jpg
ln -s ../elsewhere/e.jpg photos/link.jpg
ln -s ../elsewhere photos/other
ln -s nowhere photos/dead.bmp
ln -s b.jpg/x photos/dead.jpg
ln -s circle.png photos/circle.png
mkfifo photos/pipe.jpg

all='photos/2020/c.PNG -> out/2020/c.PNG
photos/a-b.jpg -> out/a-b.jpg
photos/a.png -> out/a.png
photos/a/d.tga -> out/a/d.tga
photos/b.jpg -> out/b.jpg
photos/cache/k.jpg -> out/cache/k.jpg
photos/link.jpg -> out/link.jpg'
plans "$all" -r -d out photos
check 'the order is that of the bytes' [ "$(inputs)" = \
    "$(inputs | LC_ALL=C sort)" ]
plans "$all" -r -d out/ photos
plans "$all" photos --recursive --directory out
plans "${all//photos\//photos//}" -r -d out photos//
plans "$(sed '/link/d; s,\(.*\) -> .*,\1 -> \1,' <<<"$all")" -r -i photos
plans 'photos/link.jpg -> photos/link.jpg' -i photos/link.jpg
plans "$(sed "s,^,$PWD/," <<<"$all")" -r -d out "$PWD/photos"

# What --backup left is not turned as well, unless it is named.
mkdir kept
touch kept/{a.jpg,a.jpg.old,b.old.jpg,.old.jpg,old.jpg}
plans 'kept/a.jpg -> kept/a.jpg
kept/b.old.jpg -> kept/b.old.jpg
kept/old.jpg -> kept/old.jpg' -r -i kept
plans 'kept/a.jpg -> kept/a.jpg
kept/old.jpg -> kept/old.jpg' -r -i --backup .old.jpg kept
plans 'kept/a.jpg -> kept/a.jpg' -r -i --backup .old --include 'a.*' kept
plans 'kept/b.old.jpg -> kept/b.old.jpg' -i --backup .old.jpg kept/b.old.jpg

# A link that is named is followed; without --recursive a directory is an input.
planned <<'END'
-r -d out photos/other | photos/other/e.jpg -> out/e.jpg
-r -d out elsewhere/e.jpg | elsewhere/e.jpg -> out/e.jpg
-d out photos/ | photos/ -> out/photos
-r -d out none/x.jpg | none/x.jpg -> out/x.jpg
-d out . | ! .: a directory; --recursive (-r) takes the pictures in it
-d out '' | ! the name of an input is empty
END

# Where the outputs go nothing is taken, however that is called.
mkdir -p tree/out/sub tree/in
touch tree/{out/{old.jpg,sub/old.jpg},in/new.jpg}
planned <<'END'
-r -d tree/out tree | tree/in/new.jpg -> tree/out/in/new.jpg
-r -d tree/in/../out tree | tree/in/new.jpg -> tree/in/../out/in/new.jpg
-r -o 'tree/out/{stem}-{op}.{ext}' tree | tree/in/new.jpg -> tree/out/new-copy.jpg
-r -d tree/out tree/out | ! tree/out/old.jpg is the input itself; only -i (--in-place) replaces inputs
-d elsewhere/e.jpg photos/b.jpg | ! elsewhere/e.jpg: not a directory
END

# One that cannot be read is an input, which will fail.
mkdir -p closed/no.d
touch closed/no.d/x.jpg closed/y.jpg
chmod 0 closed/no.d
chmod 755 . closed
nobody=()
! can_be_nobody || nobody=(setpriv --reuid 65534 --clear-groups)
reader() {
    "${nobody[@]}" "$program" --backend "$GIMGXF_BACKEND" "$@"
}
if reader --version >/dev/null 2>&1 &&
    ! "${nobody[@]}" ls closed/no.d >/dev/null 2>&1; then
    touch closed/y.ng
    # Neither what it would become nor whether that is a name is of any matter.
    while IFS='|' read -r options y; do
        check "a directory that cannot be read, $options" [ "$(reader --dry-run copy -r \
            $options closed | cut -f 1 | paste -sd '|')" = "closed/no.d -> $y" ]
    done <<'END'
-d out|out/no.d|closed/y.jpg -> out/y.jpg
-o same.png|same.png|closed/y.jpg -> same.png
-o {stem}.p{ext} --include *.ng|no.pd|closed/y.ng -> y.png
END
else
    echo 'skipped a directory that cannot be read: root reads it'
fi
chmod 755 closed/no.d

# ---- Patterns ----

planned <<'END'
-r -d out --include '*.jpg' photos | photos/a-b.jpg -> out/a-b.jpg, photos/b.jpg -> out/b.jpg, photos/cache/k.jpg -> out/cache/k.jpg, photos/link.jpg -> out/link.jpg
-r -d out --include 'notes*' --include plain photos | photos/notes.txt -> out/notes.txt, photos/plain -> out/plain
-r -d out --include '.h*' photos | photos/.hidden.jpg -> out/.hidden.jpg
-r -d out --include '.*' photos | photos/.hidden.jpg -> out/.hidden.jpg
-r -d out --include 'c*/*' photos | photos/cache/k.jpg -> out/cache/k.jpg
-d out --include 'x/*' --exclude '*b.*' x/a.jpg x/b.jpg a.jpg x/y/c.jpg | x/a.jpg -> out/a.jpg
-d out --include '*.jpg' .x.jpg | .x.jpg -> out/.x.jpg
END
refused 1 --dry-run copy -d out <<'END'
-r elsewhere --exclude e.jpg | no pictures found among 1 file; --include and --exclude leave none
--exclude '*.jpg' .x.jpg | no pictures found among 1 file; --include and --exclude leave none
-r --include '*/s.png' photos | no pictures found among 10 files; --include and --exclude leave none
-r --include 'photos/*' photos | no pictures found among 10 files; --include and --exclude leave none
END
plans "$(grep -v cache <<<"$all")" -r -d out --exclude cache photos
plans "$(grep -v cache <<<"$all")" -r -d out --exclude 'cache/*' photos
plans "$(grep -v 2020/ <<<"$all")" -r -d out --exclude '2*' photos
plans "$(grep -v '\.jpg' <<<"$all")" -r -d out --exclude '*.jpg' photos
plans "$(grep -v '/[ab]\.\(png\|jpg\)' <<<"$all")" \
    -r -d out --exclude '[ab].*' photos

# ---- Lists ----

printf 'b.jpg\n\n-d.jpg\nsub/c.jpg' >list
printf 'a\nb.jpg\0photos/a\0c d.jpg\0' >list0
printf 'a.jpg\r\n' >return
printf -- '-\n' >stream
planned <<'END'
-d out --files-from list a.jpg | a.jpg -> out/a.jpg, b.jpg -> out/b.jpg, -d.jpg -> out/-d.jpg, sub/c.jpg -> out/c.jpg
-r -d out -0 --files-from list0 | a\nb.jpg -> out/a\nb.jpg, photos/a/d.tga -> out/d.tga, c d.jpg -> out/c d.jpg
-d out --files-from return | a.jpg\x0d -> out/a.jpg\x0d
-d out --files-from list0 | ! --files-from: line 2 of list0 contains a NUL byte; is --null missing?
-d out --files-from none | ! --files-from: none: No such file or directory
-d out --files-from photos | ! --files-from: photos: Is a directory
-d out --files-from stream | ! standard input cannot be an input of a batch; write ./- for a file of that name
END
plans '' -d out --files-from /dev/null
gimgxf copy --dry-run -d out --files-from - <list >stdout
check 'a list on standard input' [ "$(inputs | paste -sd ' ')" = \
    'b.jpg -d.jpg sub/c.jpg' ]

# Names of any bytes.
printf '%s\n' 'a "b".jpg' "c'd.jpg" 'e -> f.jpg' $'esc\033[31m.jpg' \
    $'\377\376.jpg' $'del\177.jpg' 'ü.jpg' 'g\h.jpg' >list
plans 'a "b".jpg -> out/a "b".jpg
c'\''d.jpg -> out/c'\''d.jpg
e -> f.jpg -> out/e -> f.jpg
esc\x1b[31m.jpg -> out/esc\x1b[31m.jpg
\xff\xfe.jpg -> out/\xff\xfe.jpg
del\x7f.jpg -> out/del\x7f.jpg
ü.jpg -> out/ü.jpg
g\h.jpg -> out/g\h.jpg' -d out --files-from list
gives 0 '' --dry-run --json rotate90 -d out --files-from list
check 'JSON has the same bytes' python3 - <<'PY'
import json, sys
rows = [json.loads(line) for line in open('stdout', encoding='utf-8',
                                          errors='surrogatepass')]
names = open('list', 'rb').read().split(b'\n')[:-1]
names = [name.decode('utf-8', 'surrogateescape') for name in names]
sys.exit([(row['input'], row['output'], row['op']) for row in rows] !=
         [(name, 'out/' + name, 'rotate90') for name in names])
PY

# ---- Names of outputs ----

mkdir x
touch x/-
fields='expected {dir}, {stem}, {ext} or {op}'
suffix='the name does not say which format to write; give it a suffix such as .png or .jpg, or --format NAME'
planned <<END
-d out --format PNG photos/a.jpg b.PNG c d.tar.gz .e | photos/a.jpg -> out/a.png, b.PNG -> out/b.PNG, c -> out/c.png, d.tar.gz -> out/d.tar.png, .e -> out/.e.png
-d out --format jpeg a.jpg b.JPE c.png | a.jpg -> out/a.jpg, b.JPE -> out/b.JPE, c.png -> out/c.jpeg
-d out --format ppm a.pgm b.PPM | a.pgm -> out/a.ppm, b.PPM -> out/b.PPM
-r -d out --format bmp --include '*.PNG' photos | photos/2020/c.PNG -> out/2020/c.bmp
-o '{dir}/{stem}-r.{ext}' a/b.jpg c.png /d/e.bmp /f.bmp | a/b.jpg -> a/b-r.jpg, c.png -> ./c-r.png, /d/e.bmp -> /d/e-r.bmp, /f.bmp -> /f-r.bmp
-o '{dir}/{stem}-r.{ext}' ../g.pam h//i.tga | ../g.pam -> ../g-r.pam, h//i.tga -> h/i-r.tga
-o '{stem}-r.{ext}' photo .x b.jpg | photo -> photo-r, .x -> .x-r, b.jpg -> b-r.jpg
-o '{stem}-r.{ext}' --format png photo b.jpg | photo -> photo-r.png, b.jpg -> b-r.png
-o '{{{op}}}{stem}.{ext}' a.jpg b.jpg | a.jpg -> {copy}a.jpg, b.jpg -> {copy}b.jpg
-o x/y.jpg a.jpg | a.jpg -> x/y.jpg
-d out -o x/y.jpg a.jpg | a.jpg -> out/x/y.jpg
-d out -o '{dir}/{stem}.{ext}' a/b.jpg | a/b.jpg -> out/a/b.jpg
-o '{stem}' x/- | x/- -> ./-
-i x/- | x/- -> x/-
-d out a.xyz | a.xyz -> out/a.xyz
-o '{stem}' --format png a.jpg | a.jpg -> a
-o 'out/{stem}.xyz' a.jpg | ! out/a.xyz: $suffix
-o '{stem}' a.jpg | ! a: $suffix
-o - a.jpg | ! --output: a batch cannot write to standard output; write ./- for a file of that name
-o '{name}.jpg' a.jpg | ! --output: {name} is not a field; $fields
-o '{n}.jpg' a.jpg | ! --output: {n} is not a field; $fields
-o '{}.jpg' a.jpg | ! --output: {} is not a field; $fields
-o '{stem:4}.jpg' a.jpg | ! --output: {stem:4} is not a field; $fields
-o '{Stem}.jpg' a.jpg | ! --output: {Stem} is not a field; $fields
-o 'x{stem.jpg' a.jpg | ! --output: a { without }; write {{ for a plain {
-o 'x{st{em}.jpg' a.jpg | ! --output: a { without }; write {{ for a plain {
-o 'x}.jpg' a.jpg | ! --output: a } without {; write }} for a plain }
-o 'out/' a.jpg | ! --output: out/ is the name of a directory; did you mean -d out/?
-o '{ext}' a | ! '', what a becomes, is not the name of a file
-o 'out/.' a.jpg | ! 'out/.', what a.jpg becomes, is not the name of a file
END
rm -r x
gives 0 '' --dry-run -o '{op}-{stem}.jpg' cw,fliph a.jpg
check 'the canonical operation' [ "$(cut -f 1 stdout)" = 'a.jpg -> transpose-a.jpg' ]

# What leaves the folder.
mkdir -p held/real held/sub
ln -s real held/inside
ln -s ../elsewhere held/outside
ln -s ../../elsewhere held/sub/up
ln -s ../elsewhere/e.jpg held/final.jpg
ln -s ../elsewhere/none.jpg held/dangling.jpg
ln -s real/x.jpg held/within.jpg
ln -s circle.jpg held/circle.jpg
ln -s held heldlink
link='by a link that leads out of it'
planned <<END
-o 'out/{dir}/{stem}.{ext}' ../a.jpg | ! out/../a.jpg, what ../a.jpg becomes, would leave out by ..
-d out -o '../{stem}.{ext}' a.jpg | ! out/../a.jpg, what a.jpg becomes, would leave out by ..
-d out -o '/x/{stem}.{ext}' a.jpg | ! --output: /x/{stem}.{ext} must be a relative name, since --directory is given
-d out -o '{dir}/{stem}.{ext}' /x/a.jpg | /x/a.jpg -> out//x/a.jpg
-o '../out/{stem}.{ext}' ../a.jpg | ../a.jpg -> ../out/a.jpg
-o '{dir}/{stem}-1.{ext}' ../a.jpg | ../a.jpg -> ../a-1.jpg
-o 'out/{dir}/{stem}.{ext}' a..b/c...jpg | a..b/c...jpg -> out/a..b/c...jpg
-o 'held/{dir}/{stem}.{ext}' inside/a.jpg | inside/a.jpg -> held/inside/a.jpg
-o 'held/{dir}/{stem}.{ext}' outside/a.jpg | ! held/outside/a.jpg, what outside/a.jpg becomes, would leave held $link
-o 'held/{dir}/{stem}.{ext}' sub/up/new/a.jpg | ! held/sub/up/new/a.jpg, what sub/up/new/a.jpg becomes, would leave held $link
-d held final.jpg | ! held/final.jpg, what final.jpg becomes, would leave held $link
-d held dangling.jpg | ! held/dangling.jpg, what dangling.jpg becomes, would leave held $link
-o 'heldlink//{stem}.{ext}' final.jpg | ! heldlink//final.jpg, what final.jpg becomes, would leave heldlink/ $link
-d held within.jpg | within.jpg -> held/within.jpg
-d held circle.jpg | circle.jpg -> held/circle.jpg
-d heldlink a.jpg | a.jpg -> heldlink/a.jpg
-i held/final.jpg | held/final.jpg -> held/final.jpg
END

# Too long for a name.
long=$(printf '%0250d/' 1 2 3 4 5 6 7 8)$(printf '%0250d/' 1 2 3 4 5 6 7 8)
gives 0 '' --dry-run copy -d out "${long}a.jpg"
tells 2 'the name of an input is too long' --dry-run copy -d out \
    "${long}${long}a.jpg"
tells 2 'the name of the output of .* is too long' --dry-run copy -o \
    "{dir}/${long:0:200}/{stem}.{ext}" "${long}a.jpg"

# ---- Outputs that would be lost ----

# An output of two inputs, or that is another's input, whatever it is called, or yet
# to be made. Hard links have their own names, and stay what they are.
mkdir hard
touch hard/a.jpg
ln hard/a.jpg hard/b.jpg
apart='{dir} in --output (-o) keeps them apart'
only='only -i (--in-place) replaces inputs'
planned <<END
-d out x/a.jpg y/a.jpg | ! x/a.jpg and y/a.jpg would both become out/a.jpg; $apart
-d out x/a.jpg /y/a.jpg | ! x/a.jpg and /y/a.jpg would both become out/a.jpg; $apart
-d out --format png a.jpg a.bmp | ! a.jpg and a.bmp would both become out/a.png; --exclude leaves one of them out
-o 'out/{stem}.{ext}' x/a.jpg y/a.jpg | ! x/a.jpg and y/a.jpg would both become out/a.jpg; $apart
-o c.jpg a.jpg b.jpg | ! a.jpg and b.jpg would both become c.jpg; {stem} in --output (-o) keeps them apart
-o 'held/{dir}/{stem}.{ext}' inside/a.jpg real/a.jpg | ! inside/a.jpg and real/a.jpg would both become held/inside/a.jpg; $apart
-o 'held/{dir}/{stem}.{ext}' real/x.jpg within.jpg | ! real/x.jpg and within.jpg would both become held/real/x.jpg; $apart
-d out -o '{dir}/{stem}.{ext}' x/a.jpg y/a.jpg | x/a.jpg -> out/x/a.jpg, y/a.jpg -> out/y/a.jpg
-d out a.jpg b.jpg a.jpg | ! a.jpg is named twice
-r -i photos photos/b.jpg | ! photos/b.jpg is named twice
-o '{dir}//{stem}-r.{ext}' x/a.jpg ./x//a.jpg | ! x/a.jpg and ./x//a.jpg would both become x//a-r.jpg; $apart
-o '{dir}/{stem}-r.{ext}' n/../x/a.jpg x/a.jpg | ! n/../x/a.jpg and x/a.jpg would both become n/../x/a-r.jpg; $apart
-d out a.jpg ./a.jpg | ! a.jpg and ./a.jpg would both become out/a.jpg; $apart
-d out -o x.jpg photos/link.jpg elsewhere/e.jpg | ! photos/link.jpg and elsewhere/e.jpg would both become out/x.jpg; $apart
-i "$PWD/x/a.jpg" x/a.jpg | ! $PWD/x/a.jpg and x/a.jpg are the same file, which cannot be replaced twice
-i photos/other/e.jpg elsewhere/e.jpg | ! photos/other/e.jpg and elsewhere/e.jpg are the same file, which cannot be replaced twice
-i elsewhere/e.jpg photos/link.jpg | ! elsewhere/e.jpg and photos/link.jpg are the same file, which cannot be replaced twice
-i hard/a.jpg hard/b.jpg | hard/a.jpg -> hard/a.jpg, hard/b.jpg -> hard/b.jpg
-o '{stem}2.jpg' a.jpg a2.jpg | ! a2.jpg, what a.jpg becomes, is itself an input; $only
-o '{dir}/{stem}2.jpg' x/a2.jpg ./x/a.jpg | ! ./x/a2.jpg, what ./x/a.jpg becomes, is itself an input; $only
-o '{dir}/other/{stem}.{ext}' elsewhere/e.jpg photos/e.jpg | ! photos/other/e.jpg, what photos/e.jpg becomes, is itself an input; $only
-o '{stem}.{ext}' a.jpg | ! a.jpg is the input itself; $only
-d x x/a.jpg | ! x/a.jpg is the input itself; $only
-o elsewhere/e.jpg photos/link.jpg | ! elsewhere/e.jpg is the input photos/link.jpg by another name; $only
END

# A file that is mounted twice has two names and one inode, as it has on a file
# system without upper and lower case.
mkdir twice
touch twice/{a,b}.jpg
if has_tool unshare && unshare -m sh -c 'mount --bind twice/a.jpg twice/b.jpg' 2>/dev/null; then
    unshare -m sh -c 'mount --bind twice/a.jpg twice/b.jpg && "$@"' sh \
        "$program" copy --dry-run -i twice/a.jpg twice/b.jpg >stdout 2>stderr
    check 'a file with two names' [ "$(cat stderr)" = "gimgxf: twice/a.jpg \
and twice/b.jpg are the same file, which cannot be replaced twice" ]
else
    echo 'skipped a file that is mounted twice: nothing can be mounted here'
fi

# ---- Shards ----

# shard K/N ROOT: the inputs of a shard, as they stand below the root.
shard() {
    (cd "$2" && "$program" copy --dry-run -r -d "$PLACE/out" --shard "$1" .) |
        sed 's/ -> .*//; s/^..//'
}
mkdir -p many/{a,b,c}
touch many/{a,b,c}/{1..300}.jpg
cp -r many copied
for k in 1 2 3 4 5 6 7; do
    shard $k/7 many >part$k
    gimgxf copy --dry-run -r -d out --shard $k/7 copied |
        sed 's/ -> .*//; s/^copied.//' >copy$k
    check "share $k is the same below another root" same part$k copy$k
    check "share $k is about as large as the others" \
        [ $((($(wc -l <part$k) - 900 / 7) ** 2)) -lt 1600 ]
done
check 'all shares are all, each once' [ "$(sort part?)" = \
    "$(cd many && find . -name '*.jpg' | sed 's/^..//' | sort)" ]
check 'whose share a name is does not change' python3 - <<'EOF'
import sys
def mixed(name):
    h = 0xcbf29ce484222325
    for byte in name:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    h = (h ^ h >> 33) * 0xff51afd7ed558ccd % 2**64
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53 % 2**64
    return h ^ h >> 33
sys.exit(any(mixed(name) % 7 != k for k in range(7)
             for name in open(f'part{k + 1}', 'rb').read().split(b'\n')[:-1]))
EOF
for k in 1 2; do
    planned <<<"-d out --shard $k/2 x/a.jpg x/a.jpg | ! x/a.jpg is named twice"
done

# ---- Very many ----

seq -f 'some/directory/%06.0f.jpg' 100000 >list
gives 0 '' --dry-run copy -d out --files-from list
check 'all are there' lines stdout 100000
echo some/directory/000001.jpg >>list
planned <<<'-d out --files-from list | ! some/directory/000001.jpg is named twice'
finish
