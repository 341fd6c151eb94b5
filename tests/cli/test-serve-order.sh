# Jobs of serve that share a file give the results that they give one after
# another, on any number of workers.
. "$ROOT/tests/cli/lib.sh"
needs python3

# orders: jobs of lines "OP INPUT OUTPUT" of stdin.
orders() {
    while read -r op in out; do
        printf '{"op": "%s", "input": "%s", "output": "%s"}\n' "$op" "$in" "$out"
    done
}

# does NAME STATUSES [OPTION...]: serve does the jobs of stdin, of which it answers that.
does() {
    orders >lines
    gimgxf serve "${@:3}" - <lines >answers
    check "$1: statuses" [ "$(member status <answers | tr -d '"' | uniq -c |
        awk '{ print $1, $2 }' | paste -sd ' ')" = "$2" ]
}

# is_like A B...: whether pairs of pictures have the same pixels.
is_like() {
    while [ $# -gt 0 ]; do
        gimgxf -f copy "$1" one.ppm 2>/dev/null && gimgxf -f copy "$2" two.ppm 2>/dev/null &&
            cmp -s one.ppm two.ppm || return
        shift 2
    done
}

# A picture that takes longer than what comes behind it.
{ printf 'P6\n500 300\n255\n' && head -c 450000 /dev/urandom; } >large.ppm
cp "$samples/f-rgb.png" a.png
gimgxf copy large.ppm large.png
for op in rotate90 rotate180 rotate270; do
    gimgxf $op a.png want-$op.png
    gimgxf $op large.png large-$op.png
done

for j in 1 8; do
    rm -rf ch* new d l root ./*hard.png nothing.png g.png
    for name in four b s soft f; do
        cp large.png $name.png
    done
    does "-j$j: four quarter turns in place" '4 done' -j $j <<'END'
rotate90 four.png four.png
rotate90 four.png four.png
rotate90 four.png four.png
rotate90 four.png four.png
END
    check "-j$j: four quarter turns are none" is_like four.png large.png

    does "-j$j: a chain" '5 done' -j $j <<'END'
rotate90 b.png ch1.png
rotate90 ch1.png ch2.png
rotate90 ch2.png ch3.png
rotate90 ch3.png ch4.png
rotate90 ch4.png ch5.png
END
    check "-j$j: a chain" is_like ch5.png large-rotate90.png

    does "-j$j: a chain in directories to be made" '8 done' -j $j <<END
rotate90 large.png new/one/ch1.png
rotate90 ./new//one/ch1.png new/one/../ch2.png
rotate90 $PWD/new/ch2.png new/ch3.png
copy a.png new/one/side1.png
copy a.png new/one/side2.png
copy a.png new/one/side3.png
rotate90 new/ch3.png new/two/ch4.png
rotate90 new/two/ch4.png new/two/three/ch5.png
END
    check "-j$j: a chain in directories to be made" \
        is_like new/two/three/ch5.png large-rotate90.png

    for i in {1..10}; do
        echo "rotate90 large.png last$i.png
rotate180 a.png last$i.png"
    done >list
    does "-j$j: two that write one output" '20 done' -j $j <list
    for i in {1..10}; do
        check "-j$j: the last one wins, $i" same last$i.png want-rotate180.png
    done

    # What is written is read before: nothing is lost by that.
    does "-j$j: one file read by several" '8 done' -j $j <<'END'
copy large.png r1.png
copy large.png r2.png
copy large.png r3.png
rotate90 s.png s1.png
rotate90 s.png s2.png
rotate90 s.png s3.png
rotate180 a.png s.png
copy s.png s4.png
END
    check "-j$j: read by several" is_like r1.png large.png r2.png large.png r3.png large.png
    check "-j$j: read before it is written" is_like s1.png large-rotate90.png \
        s2.png large-rotate90.png s3.png large-rotate90.png
    check "-j$j: read after it was written" is_like s4.png want-rotate180.png

    # By other names: links in place of a file and of a directory.
    mkdir d
    ln -s d l
    ln -sf d/link.png link.png
    cp large.png d/link.png
    does "-j$j: symbolic links" '6 done' -j $j <<'END'
rotate90 d/link.png d/link.png
rotate90 link.png link.png
rotate90 l/link.png l/link.png
rotate90 d/../l/link.png l/made.png
fliph d/made.png d/flipped.png
fliph l/flipped.png d/again.png
END
    check "-j$j: symbolic links: a turn each" is_like d/again.png large.png
    check "-j$j: symbolic links: still one" [ -L link.png ]

    # The first one reads the file by one name while the second one writes it
    # by the other: each hard link of an output that is replaced keeps the old
    # content.
    ln soft.png hard.png
    does "-j$j: a hard link" '4 done' -j $j <<'END'
rotate90 hard.png h1.png
rotate90 soft.png soft.png
rotate180 hard.png h2.png
rotate90 soft.png h3.png
END
    check "-j$j: a hard link: before, by the other name, and after" is_like \
        h1.png large-rotate90.png h2.png large-rotate180.png h3.png large-rotate180.png

    # Below a root names are relative to it, or begin with it.
    mkdir root
    cp large.png root/a.png
    does "-j$j: below a root" '4 done' -j $j --root "$PWD/root" <<END
rotate90 a.png a.png
rotate90 $PWD/root/a.png $PWD/root/a.png
rotate90 a.png $PWD/root/new/b.png
rotate90 new/b.png c.png
END
    check "-j$j: below a root" is_like root/c.png large.png

    # One that fails has ended, too.
    does "-j$j: failures" '1 done 2 failed 1 done 1 failed 2 done' -j $j <<'END'
rotate90 f.png f.png
rotate90 nothing.png f.png
turn f.png f.png
rotate90 f.png f.png
rotate90 nothing.png g.png
rotate180 f.png g.png
copy g.png g.png
END
    check "-j$j: failures: the others" is_like g.png large.png
done

# Very many that all wait for each other.
cp a.png many.png
yes rotate90 many.png many.png | head -n 402 >list
does 'very many turns of one file' '402 done' -j 4 <list
check 'very many turns of one file' same many.png want-rotate180.png

# Others do not wait for those that do.
. "$ROOT/tests/cli/dying.sh"
if build_dies; then
    marked reads-slowly slow.png
    {
        echo rotate90 slow.png x1.png
        for i in 2 3 4 5; do echo rotate90 x$((i - 1)).png x$i.png; done
        for i in 1 2 3 4; do echo rotate90 a.png free$i.png; done
    } | orders >lines
    serve -j 2 <lines >answers &
    server=$!
    check 'one that others wait for: the rest is done meanwhile' \
        eventually same free4.png want-rotate90.png
    check 'one that others wait for: these wait' absent x2.png
    touch go
    wait $server
    check 'one that others wait for: all are done' \
        [ "$(member status <answers | grep -cx '"done"')" = 9 ]
    gimgxf rotate90 slow.png want-slow.png
    check 'one that others wait for: the last' is_like x5.png want-slow.png

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
                    for i in 1 2; do echo rotate90 k.png k.png; done
                    for i in 1 2 3 4; do
                        echo rotate90 "${name[i - 1]}" "${name[i]}"
                        echo rotate90 a.png z$i.png
                    done
                    for i in 1 2 3; do echo rotate90 k.png k.png; done
                    echo rotate180 late.png "${name[1]}"
                    echo copy "${name[1]}" end.png
                } | orders >lines
                touch once
                serve -j $j <lines >answers
                which="-j$j, $when$at"
                check "$which: it died" absent once
                if [ "$(member status <answers | grep -cx '"done"')" = 15 ]; then
                    check "$which: a chain" is_like "${name[4]}" large.png
                    check "$which: five turns" \
                        is_like k.png large-rotate90.png
                else # the one that was alone is to blame
                    check "$which: one failed, and what needs it" \
                        grep -qF 'the job ended its process by signal 9' answers
                fi
                check "$which: the last one wins" \
                    is_like "${name[1]}" large-rotate180.png
                check "$which: what reads it" \
                    is_like end.png large-rotate180.png
            done
        done
    done

    # What waits for a job that ends its process is done.
    marked dies-by-11 dies.png
    orders <<'END' | serve -j 2 >answers
rotate90 dies.png w.png
rotate90 a.png w.png
rotate90 w.png w.png
rotate90 dies.png w.png
rotate90 w.png w.png
END
    check 'after one that ends its process: statuses' \
        [ "$(member status <answers | tr '\n' ' ')" = \
        '"failed" "done" "done" "failed" "done" ' ]
    check 'after one that ends its process' is_like w.png want-rotate270.png
fi
finish
