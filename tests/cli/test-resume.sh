# --resume from other directories, after files were moved, and on other machines
# never turns a file in place twice.
. "$ROOT/tests/cli/lib.sh"

gimgxf rotate90 "$samples/f-rgb.png" a.png
gimgxf rotate90 "$samples/f.ppm" b.ppm
gimgxf rotate90 "$samples/f.jpg" c.jpg

# fresh: three pictures in tree/photos, of which the first two are done by a
# batch from tree, with its manifest in log. Both are of other sizes afterwards,
# but for the PPM, which keeps its time too.
fresh() {
    cd "$PLACE" || exit 1
    rm -rf tree moved other log
    mkdir -p tree/photos/sub other
    cp "$samples/f-rgb.png" tree/photos/a.png
    cp "$samples/f.ppm" tree/photos/sub/b.ppm
    cp "$samples/f.jpg" tree/photos/sub/c.jpg
    touch -d 2001-01-01 tree/photos/a.png tree/photos/sub/?.*
    cd tree || exit 1
    gimgxf -q -p rotate90 -i --manifest ../log photos/a.png photos/sub/b.ppm
    cd ..
    cp log before
}

# The manifest as one that was written by an older version.
old_version() {
    sed -i -E 's/, "(directory|inode|written_inode|written_mtime)": "[^"]*"//g' log
}

# photos DIRECTORY: whether all is turned there, once.
photos() {
    check "$title: a.png" same a.png "$1/a.png"
    check "$title: b.ppm" same b.ppm "$1/sub/b.ppm"
    check "$title: c.jpg" same c.jpg "$1/sub/c.jpg"
    (cd tree && gimgxf manifest check "$PLACE/log" >/dev/null)
    check "$title: manifest check" [ $? = 0 ]
}

# sums: of all files, but for what is said.
sums() {
    find . -type f ! -name sums ! -name said ! -name stdout \
        -exec md5sum {} + | sort
}

# goes_on DIRECTORY ARGUMENTS...: a batch from there, and whether it does what is
# left.
goes_on() {
    local from=$1
    shift
    (cd "$from" && gimgxf rotate90 -i --resume "$PLACE/log" "$@" 2>"$PLACE/said")
    check "$title: status of $*" [ $? = 0 ]
    check "$title: one was left ($(cat said))" \
        grep -q '^gimgxf: 1 of 3 done.* 2 skipped' said
}

# refuses DIRECTORY PATTERN ARGUMENTS...: whether nothing is done.
refuses() {
    local from=$1 pattern=$2
    shift 2
    sums >sums
    for run in --dry-run -q; do
        (cd "$from" && gimgxf $run rotate90 -i --resume "$PLACE/log" "$@" \
            >"$PLACE/stdout" 2>"$PLACE/said")
        check "$title: status of $run $*" [ $? = 2 ]
        check "$title: $(cat said)" grep -q -- "$pattern" said
        check "$title: one line" [ "$(wc -l <said)" = 1 ]
        check "$title: nothing is planned" [ ! -s stdout ]
    done
    check "$title: nothing is changed" cmp -s sums <(sums)
}
: >said
: >stdout

title='the same directory'
fresh
goes_on tree -r photos
photos tree/photos
check "$title: the directory is noted" [ "$(grep -c "\"directory\": \"$PWD/tree\"" \
    log)" = "$(wc -l <log)" ]

title='the directory above'
fresh
goes_on . -r tree/photos
photos tree/photos

title='the directory itself'
fresh
goes_on tree/photos -r .
photos tree/photos
(cd / && gimgxf -q rotate90 -r -i --resume "$PLACE/log" "$PLACE/tree")
photos tree/photos

title='by way of a link'
fresh
ln -s tree/photos link
goes_on . -r link
photos tree/photos
rm link
ln -s tree/photos/a.png a-link.png
cp log log2
gimgxf -q rotate90 -i --resume log2 a-link.png
check "$title: a link to a file" same a.png tree/photos/a.png
rm a-link.png log2

title='what was renamed'
fresh
mv tree moved
mv moved/photos/a.png moved/photos/x.png
goes_on . -r moved
mv moved/photos/x.png moved/photos/a.png
check "$title: a.png" same a.png moved/photos/a.png
check "$title: b.ppm" same b.ppm moved/photos/sub/b.ppm
check "$title: c.jpg" same c.jpg moved/photos/sub/c.jpg

title='a copy, where the old one is gone, under other names'
fresh
cp -r tree/photos moved
rm -r tree
goes_on . -r moved
check "$title: b.ppm" same b.ppm moved/sub/b.ppm
check "$title: a.png" same a.png moved/a.png

title='the same names below another directory'
fresh
cp -rp tree/. other
rm -r tree
sed -i 's/, "crc32": "[^"]*"//' log # the checksum would do as well
sed -i '/b.ppm/d' log
(cd other && gimgxf -q rotate90 -i --resume ../log photos/a.png)
check "$title: done" same a.png other/photos/a.png

title='the same names, and originals'
fresh
rm -r tree
mkdir -p other/photos/sub
cp "$samples/f-rgb.png" other/photos/a.png
cp "$samples/f.ppm" other/photos/sub/b.ppm
touch -d 2001-01-01 other/photos/a.png other/photos/sub/b.ppm
(cd other && gimgxf -q rotate90 -i --resume ../log photos/a.png photos/sub/b.ppm)
check "$title: turned" same a.png other/photos/a.png
check "$title: of the same size and time" same b.ppm other/photos/sub/b.ppm

title='the same names, and an original that has the inode of what was made'
fresh
cat "$samples/f.ppm" >tree/photos/sub/b.ppm
touch -d 2001-01-01 tree/photos/sub/b.ppm
mv tree moved
(cd moved && gimgxf -q rotate90 -r -i --resume ../log photos)
check "$title: turned" same b.ppm moved/photos/sub/b.ppm
check "$title: done" same a.png moved/photos/a.png

title='the same names, and nobody can tell'
fresh
cp -r tree/photos other
rm -r tree
printf x >>other/photos/a.png
refuses other "photos/a.png: a file of this name was done from $PWD/tree, and \
it is unknown whether it is this one" -r photos

title='other files, and those of the manifest are gone'
fresh
rm -r tree
cp "$samples/f.jpg" other/d.jpg
refuses other "the manifest has 2 files from $PWD/tree that are not there now, and \
none of these" -r .
gimgxf -q rotate90 -d out --resume log other/d.jpg
check "$title: to another place there is no harm" same c.jpg out/d.jpg
gimgxf -q rotate90 -i --manifest log2 --resume log2 other/d.jpg
check "$title: with another manifest" same c.jpg other/d.jpg
rm -r out log2

title='other files, and those of the manifest are where they were'
fresh
cp "$samples/f.jpg" other/d.jpg
(cd other && gimgxf -q rotate90 -i --resume ../log d.jpg)
check "$title: turned" same c.jpg other/d.jpg
check "$title: noted" [ "$(wc -l <log)" -gt "$(wc -l <before)" ]

title='another operation'
fresh
rm -r tree
cp "$samples/f.jpg" other/d.jpg
(cd other && gimgxf -q rotate270 -i --resume ../log d.jpg)
check "$title: done" gimgxf rotate90 other/d.jpg other/e.jpg
check "$title: turned" cmp -s <(gimgxf copy other/e.jpg -) "$samples/f.jpg"

# ---- Manifests of older versions ----

title='an old manifest, the same directory'
fresh
old_version
goes_on tree -r photos
photos tree/photos
title='an old manifest, merged' # which leaves out the checksum of "ready"
fresh
old_version
gimgxf manifest merge log | sed 's/, "crc32": "[^"]*"//' >merged
mv merged log
refuses tree 'photos/a.png: a file of this name was done, from a directory that '\
'is not noted' -r photos

title='an old manifest, another directory'
fresh
old_version
goes_on . -r tree/photos
photos tree/photos # by the checksums
fresh
old_version
sed -i 's/, "crc32": "[^"]*"//' log
refuses . 'the manifest has 2 files from a directory that is not noted that are '\
'not there now' -r tree/photos
title='an old manifest, other files of its directory'
fresh
old_version
(cd tree && gimgxf -q rotate90 -i --resume ../log photos/sub/c.jpg)
check "$title: turned" same c.jpg tree/photos/sub/c.jpg

# ---- What was ended on the way ----

title='ended between ready and done'
for state in before after; do
    fresh
    grep '"ready"' before >log
    [ $state = after ] || {
        cp "$samples/f-rgb.png" tree/photos/a.png
        cp "$samples/f.ppm" tree/photos/sub/b.ppm
        touch -d 2001-01-01 tree/photos/a.png tree/photos/sub/b.ppm
    }
    gimgxf -q rotate90 -r -i --resume log tree/photos
    check "$title, $state: status" [ $? = 0 ]
    photos tree/photos
    fresh
    grep '"ready"' before >log
    mv tree moved
    (cd moved && gimgxf -q rotate90 -r -i --resume ../log photos)
    check "$title, moved: a.png" same a.png moved/photos/a.png
    check "$title, moved: b.ppm" same b.ppm moved/photos/sub/b.ppm
done

# ---- To another place ----

title='to another place, from another directory'
fresh
gimgxf -q rotate90 -r -d out --manifest log2 tree/photos
for from in tree .. /; do
    (cd $from && gimgxf rotate90 -r -d "$PLACE/out" --resume "$PLACE/log2" \
        "$PLACE/tree/photos" 2>"$PLACE/said")
    check "$title: $from: $(cat said)" grep -q '0 of 3 done, 3 skipped' said
done
title='to another place, on a machine that has it elsewhere'
mkdir mount
cp -rp tree out mount
rm -r tree out
(cd mount && gimgxf rotate90 -r -d out --resume ../log2 tree/photos 2>../said)
check "$title: $(cat said)" grep -q '0 of 3 done, 3 skipped' said
touch mount/tree/photos/a.png
(cd mount && gimgxf rotate90 -r -d out --resume ../log2 tree/photos 2>../said)
check "$title: one was changed" grep -q '1 of 3 done.*2 skipped' said
rm -r mount log2

title='outputs are looked for from where they were named'
fresh
(cd tree && gimgxf -q rotate90 -r -d out --manifest ../log2 photos)
for from in tree . /; do
    (cd $from && gimgxf manifest check "$PLACE/log2" >"$PLACE/said")
    check "$title: from $from" [ $? = 0 ]
done
rm tree/out/a.png
gives 1 "gimgxf: $PWD/tree/out/a.png: the output is gone: No such file or directory" \
    manifest check log2
touch tree/out/a.png
mv tree moved
mkdir tree
(cd moved && gimgxf manifest check ../log2 >../said 2>&1)
check "$title: only from there" grep -q 'out/a.png: the output is gone' said
rmdir tree
(cd moved && gimgxf manifest check ../log2 >../said 2>&1)
check "$title: if there is such a directory" \
    grep -q 'out/a.png: the output has 0 bytes' said
rm -r moved log2

# ---- What was done twice ----

title='twice in place, under other names'
fresh
rm log
ln -s tree link
gimgxf -q rotate90 -r -i --manifest log tree/photos/sub
(cd tree && gimgxf -q rotate90 -r -i --manifest ../log .)
sed 's/, "anew": true//' log >unmeant # as before lines said that
gimgxf manifest check unmeant >said 2>&1
check "$title: both" grep -q ' 2 twice' said
rm unmeant
fresh
cp tree/photos/a.png tree/photos/d.png
rm log
ln -sf tree link
gimgxf -q rotate90 -i --manifest log tree/photos/a.png tree/photos/d.png
(cd / && gimgxf -q rotate90 -i --manifest "$PLACE/log" "$PLACE/link/photos/a.png")
gives 1 "gimgxf: $PWD/link/photos/a.png: rotate90 was done twice" \
    manifest check log
check "$title: counted" grep -q ' 1 twice' stdout
gimgxf manifest merge log >merged
gives 1 "gimgxf: $PWD/link/photos/a.png: rotate90 was done twice" \
    manifest check merged
gimgxf -q rotate180 -i --manifest log link/photos/d.png
gimgxf manifest check log >said 2>&1
check "$title: another operation is another job" grep -q ' 1 twice' said
rm log
title='twice to another place, under other names'
gimgxf -q rotate90 -r -d out --manifest log tree/photos
gimgxf -q rotate90 -r -d other/out --manifest log tree/photos
gives 0 '' manifest check log
(cd other && gimgxf -q rotate90 -d ../out --manifest ../log ../link/photos/a.png)
gives 1 "gimgxf: $PWD/other/../link/photos/a.png: rotate90 was done twice" \
    manifest check log
rm -r out link merged

# ---- What was done in place and has changed ----

# again: p with two pictures, both turned in place by a batch with log2.
again() {
    cd "$PLACE" || exit 1
    rm -rf p keep log2
    mkdir p
    cp "$samples/f.jpg" p/a.jpg
    cp "$samples/f.ppm" p/b.ppm
    touch -d 2001-01-01 p/a.jpg p/b.ppm
    cp -rp p keep
    gimgxf -q "$@" rotate90 -r -i --manifest log2 p
}

# is_done [OPTION...]: whether all of p is as it was, and done.
is_done() {
    cp -rp p held
    for run in --dry-run --json --verbose; do
        gimgxf $run rotate90 -r -i --resume log2 p >stdout 2>said
        check "$title: $run: status" [ $? = 0 ]
        check "$title: $run: $(cat said)" \
            grep -Eq '^gimgxf: 0 of 2 .*2 (skipped|left alone)' said
    done
    check "$title: nothing is changed" diff -r held p
    rm -r held
    gives 0 '' manifest check log2
}

# is_left NAME WHY: whether it fails as changed in this way, and stays, whatever
# is resumed, while the other one is done.
is_left() {
    cp -rp p held
    line="gimgxf: $1: rotate90 was done, but the file $2. To turn it, name it \
alone, with --manifest log2 and without --resume; to keep it as it is, leave it \
out, as by --exclude"
    for run in --dry-run --json --verbose; do
        gimgxf $run rotate90 -r -i --resume log2 p >stdout 2>said
        status=$?
        check "$title: $run: $(cat said)" grep -qFx -- "$line" said
        check "$title: $run: once" [ "$(grep -c 'was done, but' said)" = 1 ]
        [ $run = --dry-run ] && continue
        check "$title: $run: status" [ $status = 1 ]
        check "$title: $run: counted" \
            grep -Eq '^gimgxf: 0 of 2 done.*1 skipped.*1 failed' said
    done
    check "$title: nothing is changed" diff -r held p
    rm -r held
    gimgxf manifest check log2 >stdout 2>said
    check "$title: manifest check: status" [ $? = 1 ]
    check "$title: manifest check: $(cat said)" grep -q "^gimgxf: $1: the output" said
    check "$title: manifest check: counted" grep -q ' 1 lost' stdout
}
new='has changed since; it may be a new picture, or another program has edited it'
old='is as it was before that; it may have been restored'

for way in -q -p; do
    title="done in place, as it was written, $way"
    again $way
    is_done
    touch p/?.*
    title="touched, $way"
    is_done
    for f in p/?.*; do cp "$f" copy && rm "$f" && mv copy "$f"; done
    title="another inode, $way"
    is_done
done

title='a new picture of the same name'
again
rm p/a.jpg
cp "$samples/f-sideways.jpg" p/a.jpg
is_left p/a.jpg "$new"
cp "$samples/f.jpg" p/c.jpg
gimgxf rotate90 -r -i --resume log2 p 2>said
check "$title: the others go on" same c.jpg p/c.jpg
rm p/c.jpg
gimgxf -q rotate90 "$samples/f-sideways.jpg" alone.jpg
gimgxf -q rotate90 -i --manifest log2 p/a.jpg
check "$title: turned alone" same alone.jpg p/a.jpg
sed -i /c.jpg/d log2
is_done
title='a new picture of the same size'
again
head -c -1 p/b.ppm >copy
printf '\377' >>copy
cp copy p/b.ppm
is_left p/b.ppm "$new"
gimgxf -q rotate90 -r -i --exclude b.ppm --resume log2 p
check "$title: left out" [ $? = 0 ]

for way in -q -p; do
    title="restored, $way"
    again $way
    rm p/a.jpg
    cp -p keep/a.jpg p
    is_left p/a.jpg "$old"
    again $way
    cat keep/b.ppm >p/b.ppm # of the same size, and now the same inode and time
    touch -r keep/b.ppm p/b.ppm
    is_left p/b.ppm "$old"
done

title='edited by another program'
again
printf x >>p/a.jpg
is_left p/a.jpg "$new"

title='no file any more'
again
rm p/a.jpg
mkfifo p/a.jpg
gimgxf -q rotate90 -i --resume log2 p/a.jpg p/b.ppm 2>said
check "$title: a pipe: $(cat said)" grep -qF "the file $new" said
rm p/a.jpg

title='another operation of the same manifest'
again
gimgxf -q fliph -r -i --manifest log2 p
is_done
gimgxf -q rotate90 -i --manifest log2 p/b.ppm # once more, on purpose
title='and what is behind it'
gimgxf fliph -r -i --resume log2 p 2>said
check "$title: $(cat said)" grep -q '^gimgxf: 0 of 2 done, 2 skipped' said
title='another operation, of before'
again
cp -p p/a.jpg between.jpg
gimgxf -q fliph -r -i --manifest log2 p
cp between.jpg p/a.jpg
gimgxf fliph -r -i --resume log2 p 2>said
check "$title: $(cat said)" grep -q 'p/a.jpg: fliph was done, but the file has' \
    said

title='done in place, by an older version'
again
sed -i '/"ready"/d
    s/, "\(inode\|written_inode\|written_mtime\|crc32\)": "[^"]*"//g' log2
is_done
touch p/?.*
is_done
rm p/a.jpg
cp "$samples/f-sideways.jpg" p/a.jpg
is_left p/a.jpg "$new"
rm -rf p keep log2 copy alone.jpg between.jpg

# ---- The file that is resumed ----

title='a manifest that is not there'
cd "$PLACE" || exit 1
cp "$samples/f.jpg" d.jpg
gives 2 'gimgxf: --resume: none: No such file or directory; add --manifest '\
'none to begin one' rotate90 -d out --resume none d.jpg
gives 2 'gimgxf: --resume: none: No such file or directory; leave --resume out '\
'to begin' rotate90 -d out --resume none --manifest other.log d.jpg
gives 2 'gimgxf: --resume: none: No such file or directory; add --manifest '\
'none to begin one' rotate90 -d out --dry-run --resume none d.jpg
check "$title: nothing is done" absent out
check "$title: none is made" absent none
gives 0 '' -q rotate90 -d out --resume new --manifest ./new d.jpg
check "$title: unless it is the one that is written" \
    [ "$(grep -c '"done"' new)" = 1 ]

title='no manifest'
for file in d.jpg "$samples/f.ppm" "$samples/make-samples"; do
    cp "$file" file
    gimgxf rotate90 -d out --resume file d.jpg 2>said
    check "$title: $file" [ $? = 2 ]
    check "$title: $(cat said)" [ "$(cat said)" = \
        'gimgxf: --resume: file: not a manifest' ]
    check "$title: it stays" same "$file" file
done
gives 2 'gimgxf: --resume: .: Is a directory' \
    rotate90 -d out --manifest log --resume . d.jpg
gives 2 'gimgxf: --resume: .: not a regular file; --manifest must say '\
'where to go on' rotate90 -d out --resume . d.jpg
gimgxf rotate90 -d out --resume <(cat new) d.jpg 2>said
check "$title: a pipe" grep -q 'not a regular file' said
gimgxf rotate90 -d out --manifest log --resume <(cat new) d.jpg 2>said
check "$title: a pipe, with a manifest" grep -q '0 of 1 done' said
sed 's/"directory": "/&./' new >file
gives 2 'gimgxf: --resume: file: line 1: directory is not an absolute name' \
    rotate90 -d out --resume file d.jpg
sed 's/"inode": "/&x/' new >file
gives 2 'gimgxf: --resume: file: line 1: inode is not DEVICE:INODE' \
    rotate90 -d out --resume file d.jpg
finish
