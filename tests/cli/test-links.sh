# Links on the way to an output: links that lead out of the directory of a
# batch, and links of other users, are not followed.
. "$ROOT/tests/cli/lib.sh"
cp "$samples/f-rgb.png" in.png
gives 0 '' rotate90 in.png want.png

# A directory below -d becomes a link while the batch runs, after its plan was
# made: nobody hears of more files than a pipe holds, and the batch waits with
# the last ones. Names are long, so that this takes fewer files.
mkdir -p in/a in/z
long=$(printf '%0200d' 0)
for ((i = 100; i < 750; i++)); do
    printf 'P5\n1 1\n255\nx' >in/a/$long-$i.pgm
done
cp in.png in/z/in.png
mkfifo told
for options in '-d out' '-o out/{dir}/{stem}.{ext}'; do
    rm -rf out outside
    mkdir -p out/a out/z out/in/z outside
    [ "$options" = '-d out' ] && swapped=z || swapped=in/z
    "$program" -q -j 4 --json rotate90 -r $options in >told 2>stderr &
    exec 9<told
    read -r line <&9
    rmdir "out/$swapped"
    ln -s "$PWD/outside" "out/$swapped"
    cat <&9 >rest
    exec 9<&-
    wait $!
    check "$options: a swapped directory" [ $? = 1 ]
    check "$options: nothing is outside" [ -z "$(ls outside)" ]
    check "$options: it is told" [ "$(cat stderr)" = \
        "gimgxf: out/$swapped/in.png: its name leads out of out" ]
    check "$options: the others" \
        [ "$(find out -name '*.pgm' | wc -l)" = 650 ]
done

# A directory below one that was named becomes a link after it was walked, as
# above: what is found there by the names of what was found before is neither
# read nor replaced. The one that is named may be a link, and a file that is one
# is read; so it is of many directories, which are not kept open.
mkdir outside-too many
for ((i = 10; i < 30; i++)); do
    mkdir -p many/$i
done
ln -s tree named
cp in.png far.png
for roots in tree "$(echo many/*) ./named"; do
    for options in '-i' '-d turned' '-d turned -u'; do
        rm -rf tree turned
        mkdir -p tree/a tree/y tree/z
        cp in/a/*.pgm tree/a
        ln -s "$PWD/far.png" tree/y
        cp in.png tree/z
        cp in.png outside-too
        "$program" -q -j 4 --json rotate90 -r $options $roots >told \
            2>stderr &
        exec 9<told
        read -r line <&9
        mv tree/z tree/was
        ln -s ../outside-too tree/z
        cat <&9 >rest
        exec 9<&-
        wait $!
        status=$?
        call="$options ${roots##* }"
        check "$call: a swapped input" [ $status = 1 ]
        check "$call: it is not replaced" same in.png outside-too/in.png
        check "$call: it is not read" [ ! -e turned/z/in.png ]
        check "$call: it is told" [ "$(cat stderr)" = "gimgxf: \
${roots##* }/z/in.png: z has become a link, which is not followed" ]
        check "$call: the others" \
            [ "$(grep -c '"status": "done"' rest)" -ge 449 ]
        check "$call: a link elsewhere" same in.png far.png
        [ "$options" = -i ] ||
            check "$call: a file by a link" same want.png turned/y/far.png
    done
done

# A link that another user has put into a directory that all may write to is not
# followed: neither to a file, nor to one that would be new, nor to a directory.
# One's own are.
if can_be_nobody; then
    chmod 711 .
    mkdir -m 1777 shared
    mkdir elsewhere
    echo secret >secret.png
    chmod 600 secret.png
    as_nobody ln -s ../secret.png shared/file.png
    as_nobody ln -s ../elsewhere/new.png shared/new.png
    as_nobody ln -s ../elsewhere shared/folder
    ln -s ../elsewhere/mine.png shared/mine.png
    planted='is a link that another user put into a directory that all may write to; it is not followed'
    refused 1 rotate90 in.png <<END
shared/file.png | shared/file.png: file.png $planted
shared/new.png | shared/new.png: new.png $planted
shared/folder/new.png | shared/folder/new.png: folder $planted
END
    refused 2 rotate90 in.png <<END
-o shared/folder/new.png | shared/folder: folder $planted
-d shared/folder | shared/folder: folder $planted
END
    check 'what it leads to is as it was' [ "$(cat secret.png)" = secret ]
    check 'its mode, too' [ "$(stat -c %a secret.png)" = 600 ]
    check 'and nothing is new' [ -z "$(ls elsewhere)" ]
    gives 0 '' rotate90 in.png shared/mine.png
    check 'my own link' same want.png elsewhere/mine.png
    chmod 1755 shared
    gives 0 '' rotate90 in.png shared/new.png
    check 'a directory of mine' same want.png elsewhere/new.png
else
    echo 'skipped: links of other users, which takes root and setpriv'
fi

# What a file is replaced by is renamed beside it, whatever the directory is
# called meanwhile; a link of /proc leads to what is open.
gimgxf rotate90 in.png /dev/fd/7 --format png 7>by-number.png
check 'a file by its descriptor' same want.png by-number.png
gimgxf rotate90 in.png /proc/self/fd/7 --format png 7>&1 >stdout | cat >piped.png
check 'a pipe by its descriptor' same want.png piped.png
rm -f gone.png
exec 7>gone.png
rm gone.png
gimgxf rotate90 in.png /dev/fd/7 --format png 2>stderr
check 'a file without a name' [ $? = 1 ]
exec 7>&-
check 'none is made' [ -z "$(find . -name 'gone*')" ]
finish
