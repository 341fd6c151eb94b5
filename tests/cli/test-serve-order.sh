# Jobs of serve that share a file give the results that they give one after
# another, on any number of workers.
. "$ROOT/tests/cli/lib.sh"
needs python3

# job OP INPUT OUTPUT
job() {
    printf '{"op": "%s", "input": "%s", "output": "%s"}\n' "$@"
}

# same_pixels A B
same_pixels() {
    gimgxf copy "$1" one.ppm 2>/dev/null &&
        gimgxf copy "$2" two.ppm 2>/dev/null && cmp -s one.ppm two.ppm
}

# all_done NAME N [OPTION...]: serve does the N jobs of the file `jobs`.
all_done() {
    local name=$1 n=$2
    shift 2
    gimgxf serve "$@" - <jobs >answers
    check "$name: all are done" \
        [ "$(member status <answers | grep -cx '"done"')" = "$n" ]
}

# A picture that takes longer than what comes behind it.
python3 - <<'END2'
import random
random.seed(1)
with open('large.ppm', 'wb') as out:
    out.write(b'P6\n500 300\n255\n' + random.randbytes(500 * 300 * 3))
END2
cp "$samples/f-rgb.png" a.png
gimgxf copy large.ppm large.png
for op in rotate90 rotate180 rotate270 fliph; do
    gimgxf $op a.png want-$op.png
    gimgxf $op large.png large-$op.png
done

for j in 1 8; do
    cp large.png four.png
    for i in 1 2 3 4; do
        job rotate90 four.png four.png
    done >jobs
    all_done "-j$j: four quarter turns in place" 4 -j $j
    check "-j$j: four quarter turns are none" same_pixels four.png large.png

    cp large.png b.png
    rm -rf ch* new
    {
        job rotate90 b.png ch1.png
        job rotate90 ch1.png ch2.png
        job rotate90 ch2.png ch3.png
        job rotate90 ch3.png ch4.png
        job rotate90 ch4.png ch5.png
    } >jobs
    all_done "-j$j: a chain" 5 -j $j
    check "-j$j: a chain" same_pixels ch5.png large-rotate90.png

    {
        job rotate90 large.png new/one/ch1.png
        job rotate90 ./new//one/ch1.png new/one/../ch2.png
        job rotate90 "$PWD/new/ch2.png" new/ch3.png
        for i in 1 2 3 4 5 6; do job copy a.png new/one/side$i.png; done
        job rotate90 new/ch3.png new/two/ch4.png
        job rotate90 new/two/ch4.png new/two/three/ch5.png
    } >jobs
    all_done "-j$j: a chain in directories to be made" 11 -j $j
    check "-j$j: a chain in directories to be made" \
        same_pixels new/two/three/ch5.png large-rotate90.png

    for i in {1..10}; do
        job rotate90 large.png last$i.png
        job rotate180 a.png last$i.png
    done >jobs
    all_done "-j$j: two that write one output" 20 -j $j
    for i in {1..10}; do
        check "-j$j: the last one wins, $i" same last$i.png want-rotate180.png
    done

    # What is written is read before: nothing is lost by that.
    {
        for i in 1 2 3; do job copy large.png r$i.png; done
        cp large.png s.png
        for i in 1 2 3; do job rotate90 s.png s$i.png; done
        job rotate180 a.png s.png
        job copy s.png s4.png
    } >jobs
    all_done "-j$j: one file read by several" 8 -j $j
    for i in 1 2 3; do
        check "-j$j: read by several, $i" same_pixels r$i.png large.png
        check "-j$j: read before it is written, $i" \
            same_pixels s$i.png large-rotate90.png
    done
    check "-j$j: read after it was written" same_pixels s4.png want-rotate180.png

    # By other names: links in place of a file and of a directory.
    rm -rf d l hard.png
    mkdir d
    ln -s d l
    ln -s d/link.png link.png
    cp large.png d/link.png
    {
        job rotate90 d/link.png d/link.png
        job rotate90 link.png link.png
        job rotate90 l/link.png l/link.png
        job rotate90 d/../l/link.png l/made.png
        job fliph d/made.png d/flipped.png
        job fliph l/flipped.png d/again.png
    } >jobs
    all_done "-j$j: symbolic links" 6 -j $j
    check "-j$j: symbolic links: a turn each" same_pixels d/again.png large.png
    check "-j$j: symbolic links: still one" [ -L link.png ]
    rm link.png

    # The first one reads the file by one name while the second one writes it
    # by the other: each hard link of an output that is replaced keeps the old
    # content.
    cp large.png soft.png
    ln soft.png hard.png
    {
        job rotate90 hard.png h1.png
        job rotate90 soft.png soft.png
        job rotate180 hard.png h2.png
        job rotate90 soft.png h3.png
    } >jobs
    all_done "-j$j: a hard link" 4 -j $j
    check "-j$j: a hard link: before" same_pixels h1.png large-rotate90.png
    check "-j$j: a hard link: the other name" \
        same_pixels h2.png large-rotate180.png
    check "-j$j: a hard link: after" same_pixels h3.png large-rotate180.png

    # Below a root names are relative to it, or begin with it.
    rm -rf root
    mkdir root
    cp large.png root/a.png
    {
        job rotate90 a.png a.png
        job rotate90 "$PWD/root/a.png" "$PWD/root/a.png"
        job rotate90 a.png "$PWD/root/new/b.png"
        job rotate90 new/b.png c.png
    } >jobs
    all_done "-j$j: below a root" 4 -j $j --root "$PWD/root"
    check "-j$j: below a root" same_pixels root/c.png large.png

    # One that fails has ended, too.
    cp large.png f.png
    rm -f nothing.png g.png
    {
        job rotate90 f.png f.png
        job rotate90 nothing.png f.png
        job turn f.png f.png
        job rotate90 f.png f.png
        job rotate90 nothing.png g.png
        job rotate180 f.png g.png
        echo
        job copy g.png g.png
    } >jobs
    gimgxf serve -j $j - <jobs >answers
    check "-j$j: failures: statuses" diff - <(member status <answers) <<'WANT'
"done"
"failed"
"failed"
"done"
"failed"
"done"
"failed"
"done"
WANT
    check "-j$j: failures: the others" same_pixels g.png large.png
done

# Very many that all wait for each other.
cp a.png many.png
for ((i = 0; i < 402; i++)); do
    job rotate90 many.png many.png
done >jobs
all_done 'very many turns of one file' 402 -j 4
check 'very many turns of one file' same many.png want-rotate180.png

# Others do not wait for those that do.
. "$ROOT/tests/cli/dying.sh"
if build_dies; then
    marked reads-slowly slow.png
    {
        job rotate90 slow.png x1.png
        for i in 2 3 4 5; do job rotate90 x$((i - 1)).png x$i.png; done
        for i in 1 2 3 4; do job rotate90 a.png free$i.png; done
    } >jobs
    serve -j 2 <jobs >answers &
    server=$!
    check 'one that others wait for: the rest is done meanwhile' \
        eventually same free4.png want-rotate90.png
    check 'one that others wait for: these wait' absent x2.png
    touch go
    wait $server
    check 'one that others wait for: all are done' \
        [ "$(member status <answers | grep -cx '"done"')" = 9 ]
    gimgxf rotate90 slow.png want-slow.png
    check 'one that others wait for: the last' same_pixels x5.png want-slow.png

    # The process dies amid a chain, before and after a file is written.
    for j in 1 8; do
        for when in dies-before- dies-after-; do
            pick 2 1 2 3 4
            for at in $picked; do
                rm -f c?.png dies-*.png
                name=([0]=large.png [1]=c1.png [2]=c2.png [3]=c3.png [4]=c4.png)
                name[at]=${when}1.png
                cp large.png k.png
                cp large.png late.png
                {
                    for i in 1 2; do job rotate90 k.png k.png; done
                    for i in 1 2 3 4; do
                        job rotate90 "${name[i - 1]}" "${name[i]}"
                        job rotate90 a.png z$i.png
                    done
                    for i in 1 2 3; do job rotate90 k.png k.png; done
                    job rotate180 late.png "${name[1]}"
                    job copy "${name[1]}" end.png
                } >jobs
                touch once
                serve -j $j <jobs >answers
                which="-j$j, $when$at"
                check "$which: it died" absent once
                if [ "$(member status <answers | grep -cx '"done"')" = 15 ]; then
                    check "$which: a chain" same_pixels "${name[4]}" large.png
                    check "$which: five turns" \
                        same_pixels k.png large-rotate90.png
                else # the one that was alone is to blame
                    check "$which: one failed, and what needs it" \
                        grep -qF 'the job ended its process by signal 9' answers
                fi
                check "$which: the last one wins" \
                    same_pixels "${name[1]}" large-rotate180.png
                check "$which: what reads it" \
                    same_pixels end.png large-rotate180.png
            done
        done
    done

    # What waits for a job that ends its process is done.
    marked dies-by-11 dies.png
    {
        job rotate90 dies.png w.png
        job rotate90 a.png w.png
        job rotate90 w.png w.png
        job rotate90 dies.png w.png
        job rotate90 w.png w.png
    } >jobs
    serve -j 2 <jobs >answers
    check 'after one that ends its process: statuses' \
        [ "$(member status <answers | tr '\n' ' ')" = \
        '"failed" "done" "done" "failed" "done" ' ]
    check 'after one that ends its process' same_pixels w.png want-rotate270.png
fi
finish
