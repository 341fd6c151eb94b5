# --isolate: a picture that ends the process fails alone. The program is one whose
# decoder of HDR does what the picture says (tests/broken/hdr.c).
. "$ROOT/tests/cli/lib.sh"
program=$(dirname "$program")/broken/gimgxf
[ -x "$program" ] || skip_all 'the broken decoder was not built'
export ASAN_OPTIONS=handle_segv=0 TSAN_OPTIONS=handle_segv=0

# pictures DIRECTORY: 20, of which the eighth does as `attack` says.
pictures() {
    local i
    rm -rf "$1"
    mkdir -p "$1"
    for i in {01..20}; do
        cp "$samples/f-rgb.png" "$1/$i.png"
    done
    rm "$1/08.png"
    printf '#?BROKEN %s\n' "$attack" >"$1/08.hdr"
}

# one_failed: whether the line about in/08.hdr is all that went wrong.
one_failed() {
    [ "$(grep -v " of 20 done\|bytes in\| in, .* out, " stderr)" = \
        "gimgxf: in/08.hdr: the job ended its process $ended; the output was not written" ]
}

# all_but_one DIRECTORY: whether the others are there, turned, and nothing else.
all_but_one() {
    local i
    no_temporary "$1" || return
    for i in 0{1..7} 09 {10..20}; do
        cmp -s want.png "$1/$i.png" || return
    done
    [ "$(ls "$1" | grep -vc 08.hdr)" = 19 ]
}

# notes STATUS N: whether so many lines of the manifest have this status.
notes() {
    [ "$(grep -c "\"status\": \"$1\"" log)" = "$2" ]
}

gimgxf rotate90 "$samples/f-rgb.png" want.png
for way in 'crash - by signal 11 (Segmentation fault)' \
    'killed - by signal 9 (Killed)' 'exit 0 with status 0'; do
    attack=${way% by *}
    attack=${attack% with *}
    ended=${way#"$attack "}
    for j in 1 2 8; do
        pictures in
        rm -rf out log
        called 1 rotate90 --isolate -j $j -r -d out --manifest log in
        check "$attack, -j $j: one line" one_failed
        check "$attack, -j $j: the others" all_but_one out
        check "$attack, -j $j: it has no output" absent out/08.hdr
        check "$attack, -j $j: manifest" notes done 19
        check "$attack, -j $j: manifest, failed" notes failed 1
        cp "$samples/f-rgb.png" in/08.hdr
        tells 0 '^gimgxf: 1 of 20 done, 19 skipped' rotate90 --isolate -j $j \
            -r -d out --resume log in
        check "$attack, -j $j: nothing was done twice" \
            [ "$(grep '"status": "done"' log | cut -d , -f 1 | sort -u | wc -l)" = \
            "$(grep -c '"status": "done"' log)" ]
        check "$attack, -j $j: resumed, all are there" \
            [ "$(ls out | wc -l)" = 20 ]
    done
done

# In place, twice: what is done is not done again.
attack='crash -' ended='by signal 11 (Segmentation fault)'
for j in 1 2 8; do
    pictures in
    rm -f log
    called 1 rotate90 --isolate -j $j -r -i --manifest log in
    check "in place, -j $j: one line" one_failed
    check "in place, -j $j: the others, once" all_but_one in
    check "in place, -j $j: it stays" grep -q BROKEN in/08.hdr
    called 1 rotate90 --isolate -j $j -r -i --resume log in
    check "in place, -j $j, resumed: not again" all_but_one in
done

# JSON: an object for each, in order.
pictures in
gimgxf rotate90 --isolate --json -r -d json in >stdout 2>stderr
check 'JSON: status' [ $? = 1 ]
check 'JSON: in order' cmp -s <(grep -o '"input": "[^"]*"' stdout) \
    <(grep -o '"input": "[^"]*"' stdout | sort)
check 'JSON: done' [ "$(grep -c '"status": "done", "how": "lossless"' stdout)" = 19 ]
check 'JSON: failed' grep -q '"in/08.hdr".*"status": "failed".*by signal 11' stdout

# Several that end their processes, and an end at the first.
for i in 02 03 19; do
    printf '#?BROKEN crash -\n' >in/$i.png
done
called 1 rotate90 --isolate -j 4 -r -d several in
check 'several: told' [ "$(grep -c 'by signal 11' stderr)" = 4 ]
check 'several: the others' [ "$(ls several | wc -l)" = 16 ]
called 1 rotate90 --isolate -j 1 --fail-after 1 -r -d first in
check 'the first: the end' [ "$(ls first)" = 01.png ]
check 'the first: told once' [ "$(grep -c 'by signal 11' stderr)" = 1 ]

# Without a fault it is as without the option, but for the seconds, and a GPU that
# turns no coded JPEG then.
mkdir good
cp "$samples"/f* good
rm -f good/*.hdr
gimgxf rotate90 -r -d plain --json good >plain.json 2>plain.said
want=$?
gimgxf rotate90 --isolate -r -d isolated --json good >isolated.json 2>isolated.said
check 'no fault: the same status' [ $? = $want ]
check 'no fault: the same files' diff -r plain isolated
without_seconds() {
    sed 's/"seconds": {[^}]*}//; s/"worker": [0-9]*//; s/"backend": "cuda"/"backend": "cpu"/; s/isolated/plain/g; s/, [0-9.]* s$//' "$1"
}
check 'no fault: the same JSON' \
    cmp -s <(without_seconds plain.json) <(without_seconds isolated.json)
check 'no fault: the same words' \
    cmp -s <(without_seconds plain.said) <(without_seconds isolated.said)

# A process that dies between writing and answering: what it wrote is done.
. "$ROOT/tests/cli/dying.sh"
if build_dies; then
    mkdir late
    cp "$samples/f-rgb.png" late/1.png
    cp "$samples/f-rgb.png" late/dies-after-2.png
    touch late/once
    (
        cd late || exit 2
        LD_PRELOAD=$OLDPWD/dies.so gimgxf rotate90 --isolate -i ./*.png
    ) 2>stderr
    check 'late: status' [ $? = 0 ]
    check 'late: counted' grep -q '^gimgxf: 2 of 2 done' stderr
    check 'late: written once' cmp -s want.png late/dies-after-2.png
    check 'late: warned' grep -q \
        'dies-after-2.png: warning: the process .* the output was written$' stderr
fi

# Where it has no meaning.
gives 2 "gimgxf: --isolate: has no meaning with --stack, which makes one array of \
all pictures" rotate90 --isolate --stack x.npy good/f-rgb.png

# A device that is not there: nothing is done, and the status says so.
if [ "$GIMGXF_BACKEND" = cuda ]; then
    gives 3 "$("$program" --backend cuda --device 1000 copy good/f-rgb.png o.png 2>&1)" \
        --device 1000 rotate90 --isolate -d nowhere good/f-rgb.png
    check 'nothing is made' absent nowhere
fi
finish
