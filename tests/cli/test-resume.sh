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

# goes_on DIRECTORY ARGUMENTS...: a batch from there, and whether it does what is
# left.
goes_on() {
    local from=$1
    shift
    (cd "$from" && gimgxf rotate90 -i --resume "$PLACE/log" "$@" 2>"$PLACE/said")
    check "$title: status of $*" [ $? = 0 ]
    check "$title: one was left ($(cat said))" \
        grep -q '^gimgxf: 1 of 3 done.* 2 skipped' said
    check "$title: all are where they were" [ "$(grep -c warning said)" = 0 ]
}

: >said
: >stdout

ln -s tree/photos link
while read -r from photos; do
    title="photos as $photos, from $from"
    fresh
    goes_on $from -r $photos
    photos tree/photos
    check "$title: the directory is noted" [ "$(grep -c "\"directory\": \"$PWD/tree\"" \
        before)" = "$(wc -l <before)" ]
done <<'END'
tree photos
. tree/photos
tree/photos .
. link
END
(cd / && gimgxf -q rotate90 -r -i --resume "$PLACE/log" "$PLACE/tree")
photos tree/photos

title='what was moved'
fresh
mv tree moved
gimgxf -q rotate90 -d out --resume log moved/photos/sub/c.jpg
check "$title: is to do" same c.jpg out/c.jpg
gimgxf rotate90 -r -i --resume log moved 2>said
check "$title: is warned of" \
    grep -q '^gimgxf: warning: log: 2 of 2 files that it has as replaced' said
rm -r out moved

title='other files, and those of the manifest are where they were'
fresh
cp "$samples/f.jpg" other/d.jpg
(cd other && gimgxf -q rotate90 -i --resume ../log d.jpg)
check "$title: turned" same c.jpg other/d.jpg
check "$title: noted" [ "$(wc -l <log)" -gt "$(wc -l <before)" ]

title='another operation'
rm -r tree
(cd other && gimgxf -q rotate270 -i --resume ../log d.jpg)
check "$title: turned back" same "$samples/f.jpg" other/d.jpg

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
makes alone.jpg -q rotate90 -i --manifest log2 p/a.jpg
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

title='another operation of the same manifest, and what is before it'
again
gimgxf -q fliph -r -i --manifest log2 p
tells 0 '^gimgxf: 0 of 2 done, 2 skipped' fliph -r -i --resume log2 p
tells 1 'p/a.jpg: rotate90 was done, but the file has' rotate90 -r -i --resume log2 p

rm -rf p keep log2 copy alone.jpg

# ---- The file that is resumed ----

cd "$PLACE" || exit 1
cp "$samples/f.jpg" d.jpg
cp "$samples/f.ppm" picture.ppm
cp "$samples/make-samples" script
sed 's/"directory": "/&./' before >relative
none='--resume: none: No such file or directory;'
for file in d.jpg picture.ppm script; do
    cksum $file
done >sums
refused 2 rotate90 -d out d.jpg <<END
--resume none | $none name it by --manifest, too, to begin one
--resume none --manifest other.log | $none name it by --manifest, too, to begin one
--dry-run --resume none | $none name it by --manifest, too, to begin one
--resume d.jpg | --resume: d.jpg: not a manifest
--resume picture.ppm | --resume: picture.ppm: not a manifest
--resume script | --resume: script: not a manifest
--manifest log --resume . | --resume: .: Is a directory
--resume . | --resume: .: not a regular file; --manifest must say where to go on
--resume relative | --resume: relative: line 1: directory is not an absolute name
END
check 'nothing is done' absent out
check 'none is made' absent none
check 'what is no manifest stays' diff sums <(cksum d.jpg; cksum picture.ppm; cksum script)
gives 0 '' -q rotate90 -d out --resume new --manifest ./new d.jpg
check 'unless it is the one that is written' [ "$(grep -c '"done"' new)" = 1 ]
(echo '{"input":"x.psd","status":"passed_over","format":"PSD"}'; cat new) >older
gives 0 '' -q rotate90 -d out --resume older d.jpg
gimgxf rotate90 -d out --resume <(cat new) d.jpg 2>said
check 'a pipe' grep -q 'not a regular file' said
gimgxf rotate90 -d out --manifest log --resume <(cat new) d.jpg 2>said
check 'a pipe, with a manifest' grep -q '0 of 1 done' said
finish
