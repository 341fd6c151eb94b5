# --resume from other directories, by links and on other machines never turns a
# file in place twice.
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

# photos DIRECTORY: whether all is turned there, once.
photos() {
    check "$title: a.png" same a.png "$1/a.png"
    check "$title: b.ppm" same b.ppm "$1/sub/b.ppm"
    check "$title: c.jpg" same c.jpg "$1/sub/c.jpg"
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

title='what was moved'
fresh
mv tree moved
refuses . 'none of these files is in the manifest, and 2 that are, such as '\
'/.*/photos/.*, are not where they were' -r moved
gimgxf -q rotate90 -d out --resume log moved/photos/sub/c.jpg
check "$title: to another place there is no harm" same c.jpg out/c.jpg
gimgxf -q rotate90 -i --manifest log2 --resume log2 moved/photos/sub/c.jpg
check "$title: with another manifest" same c.jpg moved/photos/sub/c.jpg
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
rm -r out log2

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

title='another operation of the same manifest'
again
gimgxf -q fliph -r -i --manifest log2 p
gimgxf fliph -r -i --resume log2 p 2>said
check "$title: $(cat said)" grep -q '^gimgxf: 0 of 2 done, 2 skipped' said
title='and what is before it'
gimgxf rotate90 -r -i --resume log2 p 2>said
check "$title: $(cat said)" grep -q 'p/a.jpg: rotate90 was done, but the file has' \
    said

rm -rf p keep log2 copy alone.jpg

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
finish
