# The man page and the completions know every option, operation and format that
# --help prints, and no others; the map in the README knows every file.
. "$ROOT/tests/cli/lib.sh"
page=$ROOT/man/gimgxf.1 bash=$ROOT/man/gimgxf.bash
zsh=$ROOT/man/_gimgxf fish=$ROOT/man/gimgxf.fish
. "$bash"
gimgxf --help >help

# agree NAME: whether the files `want` and `got` list the same, and something.
agree() {
    sort -u -o want want
    sort -u -o got got
    check "$1 ($(diff want got | grep '^[<>]' | tr '\n' ' '))" cmp -s want got
    check "$1: something is listed" [ -s want ]
}

# section NAME: its source, with plain dashes and words.
section() {
    sed -n "/^\.SH \"*$1/,/^\.SH/p" "$page" | sed 's/\\-/-/g; s/\\f.//g'
}

# column N...: these columns of the table in a section.
columns() {
    sed -n '/^_$/,/^\.TE/p' | grep '|' | cut -d '|' -f "$1"
}

words() {
    tr -s '|,() ' '\n' | grep .
}

# dashed: -x and --name, wherever they stand.
dashed() {
    grep -oE '(^|[^[:alnum:]-])--?[a-z0][a-z-]*' | grep -oE -- '-.*'
}

# offers WORD...: what bash offers for the last of these words.
offers() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _gimgxf 2>/dev/null
    printf '%s\n' "${COMPREPLY[@]}"
}

# Options. In OPTIONS each has a paragraph, and no other is mentioned.
grep -oE '^  (-., |    )--[a-z-]+' help | dashed >want
section OPTIONS | grep -A1 '^\.TP' | dashed >got
agree 'options: the man page'
section OPTIONS | dashed | grep '^--' >got
grep '^--' want >names
cp names want
agree 'options: no others in the man page'
offers gimgxf - | sed 's/=.*//' >got
agree 'options: bash'
grep -oE '^  (-., |    )--[a-z-]+' help | dashed >want
sed -nE "s/^    [tsim]+b? '(\* )?(-[^']*)'.*/\2/p" "$zsh" | dashed >got
agree 'options: zsh'
sed -nE "s/^__gimgxf_option [tsim]+b?( .*)/\1/p" "$fish" |
    sed 's/ -d .*//; s/ -l / --/' >lines
dashed <lines | grep '^--' >got
sed -n 's/.* -s \(.\) .*/-\1/p' lines >>got
agree 'options: fish'

# Operations.
sed -n '/^OP: /,/^INPUT/p' help | sed '$d; s/^OP://' | words >want
section OPERATIONS | columns 1,2 | words >got
agree 'operations: the man page'
offers gimgxf '' | grep -vxE 'info|bench|manifest|serve' >got
agree 'operations: bash'
offers gimgxf rotate90,flipv, | sed 's/^rotate90,flipv,//' >got
agree 'operations: bash, behind a comma'
sed -n "/operations=(/,/)\$/s/^ *'\([a-z0-9-]*\):.*/\1/p" "$zsh" >got
agree 'operations: zsh'
sed -n '/operations \\$/,/^$/s/^ *\([a-z0-9-]*\)\\t.*/\1/p' "$fish" |
    grep -vxE 'bench|manifest|serve' >got
agree 'operations: fish'

# serve takes its jobs from -.
check 'serve: bash' [ "$(offers gimgxf serve '')" = - ]
check 'serve: bash, behind an option' \
    [ "$(offers gimgxf serve --threads 2 '')" = - ]
check 'serve: bash, once' [ -z "$(offers gimgxf serve - '')" ]
check 'serve: bash, begun' grep -qx -e - <(offers gimgxf serve -)

# Formats. The man page has suffixes that --help leaves out.
sed -n '/^png /p' help | words >want
section FORMATS | columns 1,2 | words >suffixes
grep -xFf want suffixes >got
agree 'formats: the man page'
offers gimgxf --format '' >got
agree 'formats: bash'
sed -n 's/.* formats=(\(.*\))$/\1/p' "$zsh" | words >got
agree 'formats: zsh'
sed -n "/-l format/,/-a/s/.*-a '\(.*\)'/\1/p" "$fish" | words >got
agree 'formats: fish'
for format in $(cat want suffixes); do
    gives 1 'gimgxf: none: No such file or directory' \
        --format "$format" copy none out
done

# Rooms. The map names each folder of sources, and what it names is there.
cd "$ROOT" || exit 1
{
    find cli codecs cuda -mindepth 1 -type d
    printf '%s\n' .debian codecs cuda man samples tests
} >"$PLACE/want"
sed -n '/^## The code/,/^## /p' README.md | grep '^|' | cut -d '|' -f 3 |
    grep -o '`[^`]*`' | tr -d '`' | grep -v '\.c$' >"$PLACE/got"
for name in $(sed -n '/^## The code/,/^## /p' README.md | grep '^|' |
    cut -d '|' -f 3 | grep -o '`[^`]*`' | tr -d '`'); do
    check "the map: $name" [ -e "$name" ]
done
check 'the map fits a glance' [ "$(sed -n '/^## The code/,/^## /p' README.md |
    grep -c '^| [^t]')" -le 15 ]
cd "$PLACE" || exit 1
agree 'the map in the README'
finish
