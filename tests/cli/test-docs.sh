# The man pages know every option, operation and format that --help all prints, and no
# others; they refer to each other, and their examples work; the map in the README knows
# every folder.
. "$ROOT/tests/cli/lib.sh"
man=$ROOT/man
gimgxf --help all >help

# agree NAME: whether the files `want` and `got` list the same, and something.
agree() {
    sort -u -o want want
    sort -u -o got got
    check "$1 ($(diff want got | grep '^[<>]' | tr '\n' ' '))" cmp -s want got
    check "$1: something is listed" [ -s want ]
}

# section NAME PAGE...: its source in these pages, with plain dashes and words.
section() {
    local name=$1 page
    shift
    for page in "$@"; do
        sed -n "/^\.SH \"*$name/,/^\.SH/p" "$man/$page" |
            sed 's/\\-/-/g; s/\\f.//g'
    done
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

# Options. In OPTIONS of one page or another each has a paragraph, and no other is
# mentioned; so it is for each command by itself.
options_of() {
    "$program" "$@" --help | grep -oE '^  (-., |    )?--[a-z-]+' | dashed
}
pages='gimgxf.1 gimgxf-batch.1 gimgxf-check.1 gimgxf-info.1 gimgxf-relate.1 gimgxf-serve.1'
grep -oE '^  (-., |    )--[a-z-]+' help | dashed >want
section OPTIONS $pages | grep -A1 '^\.TP' | dashed >got
agree 'options: the man pages'
section OPTIONS $pages | dashed | grep '^--' >got
grep '^--' want >names
cp names want
agree 'options: no others in the man pages'
# Those that any command has need no word in the page of another.
for command in bench serve info check relate; do
    options_of $command | grep -vxE -- '-.|--help|--version' >want
    section OPTIONS gimgxf-$command.1 | dashed | grep '^--' | grep -vx -- --help >got
    agree "options: gimgxf-$command(1)"
done

# Operations.
sed -n '/^OP: /,/^INPUT/p' help | sed '$d; s/^OP://' | words >want
section OPERATIONS gimgxf.1 | columns 1,2 | words >got
agree 'operations: the man page'

# Formats. The man page has suffixes that --help leaves out.
sed -n '/^png /p' help | words >want
section FORMATS gimgxf-formats.7 | columns 1,2 | words >suffixes
grep -xFf want suffixes >got
agree 'formats: the man page'
# Each codec has a row there and is named in the help.
grep -hA1 '^const struct codec codec_[a-z]* = {' "$ROOT"/codecs/*/*.c |
    sed -n 's/^    \.name = "\(.*\)",$/\1/p' >codecs
for name in $(cat codecs); do
    check "--help all has $name" grep -qw "$name" help
done
section FORMATS gimgxf-formats.7 | columns 1 | words >got
cp codecs want
agree 'formats: the codecs'
sed -n '/^png /p' help | words >want
# A build without a library lacks its formats, and says so.
for format in $(cat want suffixes); do
    ! gimgxf --format "$format" copy none out 2>&1 | grep -q 'built without' || continue
    gives 1 'gimgxf: none: No such file or directory' \
        --format "$format" copy none out
done

# Pages. Each refers to others that are there and is referred to by the first, has
# no line too long to read, and groff has no word about it.
cd "$man" || exit 1
for page in gimgxf*.[17]; do
    for other in $(sed 's/\\-/-/g; s/\\fR//g; s/ (/(/g' "$page" |
        grep -oE 'gimgxf-?[a-z]*\([17]\)' | sort -u | tr '()' '. '); do
        check "$page refers to $other" [ -e "$other" ]
    done
    name=${page%.*}
    # The version is added when it is installed.
    check "$page has its name in .TH" \
        grep -q "^\.TH ${name^^} ${page##*.} ....-..-.. \"gimgxf\" " "$page"
    check "gimgxf.1 refers to $page" grep -qF "${name//-/\\-}\\fR(${page##*.})" \
        <(sed -n '/^\.SH "SEE ALSO"/,$p' gimgxf.1; echo '\fBgimgxf\fR(1)')
    check "lines of $page" [ "$(wc -l <"$page")" -lt 850 ]
    ! has_tool man || check "warnings: $page" \
        [ -z "$(man --warnings -E UTF-8 -l -Tutf8 "$page" 2>&1 >/dev/null)" ]
done
check 'the first page is short' [ "$(wc -l <gimgxf.1)" -le 300 ]

# Examples, as they stand, where there is what they name.
examples() {
    if [ "$1" = README ]; then
        sed -n 's/^    \(gimgxf .*\)/\1/p' "$ROOT/README.md"
        return
    fi
    if [ "$1" = gimgxf-recipes ]; then
        cat "$man/$1.7"
    else
        sed -n '/^\.SH EXAMPLES/,/^\.SH/p' "$man/$1.1"
    fi | sed -n '/^\.EX/,/^\.EE/p' |
        grep -v '^\.E' | sed 's/\\-/-/g; s/^    //'
}
gimgxf_in_path() {
    PATH=$(dirname "$program"):$PATH bash -e -o pipefail "$1"
}
cd "$PLACE" || exit 1
for page in README gimgxf gimgxf-batch gimgxf-check gimgxf-info gimgxf-relate gimgxf-serve \
    gimgxf-recipes; do
    mkdir -p "at-$page/photos/more" && cd "at-$page" || exit 1
    cp "$samples/f-rgb.png" in.png
    cp in.png a.png
    cp "$samples/f.jpg" photo.jpg
    cp "$samples/f-sideways.jpg" photos
    cp photo.jpg photos/more
    gimgxf --format pam --depth 16 copy "$samples/f-rgba.png" - |
        gimgxf --format png copy - drawing.png
    ls ./*.png >list
    touch log.1 log.3 log.4
    mkdir dataset dataset/more uploads
    cp photo.jpg photos/beach.jpg
    cp photo.jpg uploads/in.jpg
    cp photo.jpg dataset/1.jpg
    gimgxf -q copy photo.jpg dataset/more/2.png
    cp "$samples/f-rgba.png" logo.png
    echo '{"op": "fliph", "input": "in.png", "output": "out.png"}' >jobs
    examples "$page" | sed "s#/srv/pictures#$PWD#" >script
    has_tool jq || sed -i 's/ | jq .*//' script
    check "there are examples in $page" [ "$(grep -c gimgxf script)" -gt 1 ]
    gimgxf_in_path script >said 2>&1
    status=$?
    check "examples of $page: $(tail -n 5 said)" [ $status = 0 ]
    cd ..
done

# The newest version in the list of changes is this one.
check 'the version in CHANGELOG.md' [ "$(sed -n '/^## /{s/^## //;s/,.*//p;q}' \
    "$ROOT/CHANGELOG.md")" = "$("$program" --version | sed -n '1s/gimgxf //p')" ]

# Rooms. The map names each folder of sources, and what it names is there.
cd "$ROOT" || exit 1
{
    find cli codecs cuda -mindepth 1 -type d
    printf '%s\n' .debian codecs cuda man mk samples tests
} >"$PLACE/want"
sed -n '/^## The code/,/^## /p' README.md | grep '^|' | cut -d '|' -f 3 |
    grep -o '`[^`]*`' | tr -d '`' | grep -v '\.c$' >"$PLACE/got"
for name in $(sed -n '/^## The code/,/^## /p' README.md |
    sed 's/^|[^|]*|//' | grep -oE '`(\.?[a-z]+|[a-z_/]+\.c)`|`[a-z_/]+`' |
    tr -d '`' | grep -vxE 'info|make'); do
    check "the map: $name" [ -e "$name" ]
done
for name in $(grep -oE '`[a-z]+/[a-z_/.]*`' CONTRIBUTING.md | tr -d '`'); do
    check "CONTRIBUTING.md: $name" [ -e "$name" ]
done
# What make is asked for in the pages is there.
sed -nE 's/^([a-z][a-z0-9 -]*):.*/\1/p' Makefile mk/*.mk | words >"$PLACE/targets"
for name in $(sed -nE 's/^    make ([a-z0-9 -]*).*/\1/p' README.md CONTRIBUTING.md | words) \
    $(grep -ohE '`make [a-z-]+' ./*.md | cut -d ' ' -f 2); do
    check "make $name" grep -qxF -e "$name" "$PLACE/targets"
done
check 'the map fits a glance' [ "$(sed -n '/^## The code/,/^## /p' README.md |
    grep -c '^| [^t]')" -le 15 ]
cd "$PLACE" || exit 1
agree 'the map in the README'
finish
