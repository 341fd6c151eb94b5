# bash, zsh and fish complete exactly what the program accepts, according to
# --help all and its messages.
. "$ROOT/tests/cli/lib.sh"
export PATH=${program%/*}:$PATH # which the completions call
"$program" --help all >help
mkdir -p files/sub none
cd none || exit 1 # a directory in which nothing is, and nothing stays

words() {
    tr -s '|,() ' '\n' | grep .
}

# dashed: --name, wherever it stands.
dashed() {
    grep -oE '(^|[^[:alnum:]-])--[a-z][a-z-]*' | grep -oE -- '--.*'
}

# ask LINE WANT...: when the shells are run, they are to offer just these words
# at the end of the line. Without a word, those on standard input.
ask() {
    local line=$1
    shift
    printf '%s\n' "$line" >>../lines
    if [ $# = 0 ]; then
        cat
    else
        printf '%s\n' "$@"
    fi | grep . | sed "s#^#$line\t#" >>../want
}

# ---- Options --------------------------------------------------------------

# value OPTION: one that it takes, for those that have no words to choose from.
value() {
    case $1 in
    --shard) echo 1/2 ;;
    --backup) echo .bak ;;
    --directory | --root) echo . ;;
    --background) echo red ;;
    *) echo 1 ;;
    esac
}

# expected OPTION: the words that the message of a wrong value lists, if it
# lists words and nothing else.
expected() {
    local word='[a-z0-9]+'
    "$program" copy none none.png "$1=?" 2>&1 </dev/null |
        sed -nE "s/^[^;]*; expected (($word, )*$word( or $word)?)\$/\1/p" |
        sed 's/ or /, /' | words
}

# takes COMMAND OPTION: whether this command can have this option.
takes() {
    local word=$2
    if grep -qE -- "$2 [A-Z]" ../help; then
        word=$2=$(expected "$2" | head -n 1)
        [ "$word" != "$2=" ] || word=$2=$(value "$2")
    fi
    "$program" "$word" $1 >../out 2>&1 </dev/null
    ! grep -qE -- "is for (gimgxf )?(info|serve)|info writes no pictures" ../out
}

options=$(grep -oE '^  (-., |    )--[a-z-]+' ../help | grep -oE -- '--.*')
check 'there are options' [ "$(wc -w <<<"$options")" -gt 40 ]
ask 'gimgxf --' <<<"$options"
for option in $options; do
    ! takes 'copy none none.png' "$option" || echo "$option"
done | ask 'gimgxf copy --'
for command in serve bench check relate; do
    "$program" $command --help | grep -oE '^  (-., |    )--[a-z-]+' | dashed |
        ask "gimgxf $command --"
done

# What the man page says of info, besides what has a meaning everywhere.
{
    printf '%s\n' --help --version --null --threads
    "$program" info --update none 2>&1 | dashed
    sed -n '/^\.SH OPTIONS/,/^\.SH/p' "$ROOT/man/gimgxf-info.1" |
        sed 's/\\-/-/g; s/\\f.//g' | dashed
} | sort -u | ask 'gimgxf info --'
for option in $(grep '^gimgxf info --' ../want | cut -f 2); do
    check "info takes $option" takes 'info none' "$option"
done

# ---- Values ---------------------------------------------------------------

: >../chosen
for option in $(grep -E '^  .*--[a-z-]+([ =[]+[A-Z=])' ../help | dashed |
    sort -u); do
    expected "$option" >../list
    case $option in
    # Its message leaves out names of what it has listed already.
    --format) grep '^png ' ../help | words >../list ;;
    esac
    [ -s ../list ] || continue
    echo "$option" >>../chosen
    ask "gimgxf copy $option=" <../list
    grep -q -- "$option\[" ../help || ask "gimgxf copy $option " <../list
done
for option in --format --edge --depth --layout --backend --png-level --strip; do
    check "$option has words" grep -qx -e "$option" ../chosen
done
sed -n '/colors\[\] =/,/;/p' "$ROOT/cli/options/setters.c" |
    grep -oE '[a-z]+ [0-9a-f]{6} ' | cut -d' ' -f1 >../colors
check 'colors are found' [ "$(wc -l <../colors)" = 148 ]
ask 'gimgxf copy --background ' <../colors
ask 'gimgxf serve --background=' <../colors
ask 'gimgxf copy --device 0,0,' ''
expected --strip | grep -vxE 'xmp|all' | ask 'gimgxf copy --strip=xmp,all,'

# The sections, as the man page has them.
sed -n '/^\.BI .*only "/,/^\.TP/p' "$ROOT/man/gimgxf-bench.1" |
    sed '1,/sections/d' | grep -oE '\\fB[a-z_]+' | sed 's/^...//' | sort -u |
    ask 'gimgxf bench --only '
for section in loops gimgxf; do # the CPU's, as the message has them
    check "section $section" grep -qxF "gimgxf bench --only 	$section" ../want
done
check 'the sections of the CPU' grep -q 'sections are loops, gimgxf$' \
    <("$program" bench --cpu --only nothing 2>&1)

# ---- Words ----------------------------------------------------------------

sed -n '/^OP: /,/^INPUT/p' ../help | sed '$d; s/^OP://' | words >../operations
ask 'gimgxf rotate90,flipv,' <../operations
ask 'gimgxf --format png rotate90,' <../operations
sed -n 's/^gimgxf \([a-z]*\) .*/\1/p' ../help >../commands
check 'there are sub-commands' lines ../commands 5
echo help >>../commands
for line in '' '--edge trim -j 2 ' '-- '; do
    sort -u ../operations ../commands | ask "gimgxf $line"
done
ask 'gimgxf serve ' -
ask 'gimgxf serve --threads 2 ' -
for line in 'serve - ' 'bench ' 'copy --quality '; do
    ask "gimgxf $line" ''
done

# ---- Files ----------------------------------------------------------------

cd ../files || exit 1
for suffix in $(sed -n '/^\.SH FORMATS/,/^\.SH/p' "$ROOT/man/gimgxf-formats.7" |
    sed -n '/^_$/,/^\.TE/p' | grep '|' | cut -d '|' -f 2 | words); do
    touch "a.$suffix" "B.${suffix^^}"
done
find . -name '*.*' ! -name . | sed 's#^\./##' >../pictures
check 'there are pictures' [ "$(wc -l <../pictures)" -gt 40 ]
touch notes.txt batch.jsonl sub/in.png sub/x.txt
for line in 'copy ' 'copy a.png ' 'copy --force a.png ' 'info a.png ' \
    'copy -- ' 'rotate90,flipv '; do
    { cat ../pictures; echo sub; } | ask "gimgxf $line"
done
ask 'gimgxf copy sub/' in.png
ask 'gimgxf copy no' notes.txt # no picture is called so
for line in 'copy -d ' 'copy --directory ' 'copy --directory=' 'copy -rd ' \
    'serve --root ' 'serve --root='; do
    ask "gimgxf $line" sub
done
for line in 'copy --manifest ' 'copy --resume=' 'info --files-from '; do
    ls | ask "gimgxf $line"
done

# ---- The shells -----------------------------------------------------------

# plain: a word without what stands before it in any shell: an option and =,
# what is done of a list, a directory; and without / and blanks behind it.
plain() {
    sed -E 's/ *$//; s#/$##; s/\t--[a-z-]+=(.+)/\t\1/; s/\t--strip=$/\t--strip/
        s#\t.*[,/]#\t#'
}

# agree SHELL: whether it offers, at each line, what is wanted there. Some offer
# letters too, where a word begins with --, or options where nothing has begun.
sort -u ../want >../wanted
agree() {
    plain <../"$1" | grep -vP '\t$|--\t-[^-]| \t-.' | sort -u >../got
    check "$1: $(diff ../wanted ../got | grep '^[<>]' | head)" \
        same ../wanted ../got
}

# accepts SHELL: whether the program takes each value that is offered. (All shells
# offer the same.)
accepts() {
    local option word
    for option in $(cat ../chosen) --background; do
        # shellcheck disable=SC2046 # they are words
        pick 12 $(plain <../"$1" | grep -P "^gimgxf copy $option[ =]\t" |
            cut -f 2 | sort -u)
        for word in $(printf '%s\n' $picked | sort -u); do
            "$program" copy none none.png "$option=$word" >../out 2>&1
            check "$1: $option=$word" [ $? != 2 ]
        done
    done
}

LC_ALL=$users bash "$ROOT/tests/cli/complete.bash" "$ROOT/man/gimgxf.bash" <../lines >../bash
agree bash
accepts bash
if offers zsh; then
    check 'zsh: syntax' zsh -n "$ROOT/man/_gimgxf"
    LC_ALL=$users zsh -f "$ROOT/tests/cli/complete.zsh" "$ROOT/man" <../lines >../zsh
    agree zsh
fi
if offers fish; then
    check 'fish: syntax' fish -n "$ROOT/man/gimgxf.fish"
    LC_ALL=$users HOME=$PWD fish -N "$ROOT/tests/cli/complete.fish" "$ROOT/man/gimgxf.fish" \
        <../lines >../fish
    agree fish
fi

# Names that bash takes apart, whole and in part.
touch 'c:d=e.png'
COMP_WORDS=("$program" copy c : d = e) COMP_CWORD=6
. "$ROOT/man/gimgxf.bash"
_gimgxf 2>/dev/null
check 'bash: = and : in names' [ "${COMPREPLY[*]}" = e.png ]
finish
