# The Makefile: a folder remembers what was chosen for it, lines are short, several
# goals are done in order, and the help names every target.
. "$ROOT/tests/cli/lib.sh"
needs make
cpu_only
# What the make that runs this was given is not for those below.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS V \
    CC CFLAGS CXX CXXFLAGS NVCCFLAGS LDFLAGS CUDA ARCHS ISAL HARDEN DEPS
build=$PLACE/b
make_in() {
    (cd "$ROOT" && exec make BUILD="$build" "$@")
}

# chooses TITLE WORD...: makes the note of what decides, with these words.
chooses() {
    local title=$1
    shift
    make_in "$@" "$build/flags" >said 2>&1
    check "$title: status" [ $? = 0 ]
    cp "$build/flags" "$title"
}
# shellcheck disable=SC2016 # for make
chooses first CUDA=0 ISAL=0 CFLAGS='-O1 -DNAME="it'\''s"' LDFLAGS='-Wl,-rpath,$$ORIGIN'
chooses again
check 'what was chosen is remembered' cmp first again
check 'and said' grep -q 'chosen before: .*CUDA="0".*ISAL="0"' said
chooses other CFLAGS=-O0
check 'another choice counts' grep -q 'CFLAGS=-O0' other
check 'and leaves the rest' grep -q 'LDFLAGS=-Wl,-rpath,\$ORIGIN' other
HARDEN=0 CFLAGS=-O3 chooses environment
check 'so it is in the environment' grep -q 'CFLAGS=-O3' environment
chooses after
check 'which is remembered too' cmp environment after
check 'of each variable' grep -qx 'chosen_HARDEN = 0' "$build/choices"

# printed WORD...: what is printed where an object is made; `true` compiles nothing.
printed() {
    make_in CC=true "$@" "$build/cli/main.c.o" 2>&1 | grep -v '^gimgxf: '
}
check 'a short line' [ "$(printed)" = 'CC   cli/main.c' ]
check 'V=1: the command' grep -q '^true -std=c11 .*cli/main.c$' <(printed V=1)
check '-s: nothing' [ -z "$(printed -s)" ]

# pkg-config is asked a few times, however many files there are.
mkdir bin
printf '#!/bin/sh\necho asked >>"%s"\n' "$PLACE/asked" >bin/pkg-config
chmod +x bin/pkg-config
PATH=$PLACE/bin:$PATH make_in CC=true "$build/below-cli.a" AR=true >said 2>&1
check 'the objects are made' [ "$(grep -c '^CC ' said)" -gt 50 ]
check 'pkg-config is asked once' [ "$(wc -l <asked)" -le 6 ]

# Goals in order: nothing is built before what it needs is installed.
make_in -n -j4 clean help >said 2>&1
check 'one goal' grep -q 'rm -rf build' said
check 'before the next' \
    [ "$(grep -n 'rm -rf build' said | cut -d: -f1)" -lt "$(grep -n sed said | cut -d: -f1)" ]

make_in help >help
check 'the help' [ "$(wc -l <help)" -gt 20 ]
for target in $(cat "$ROOT/Makefile" "$ROOT"/mk/*.mk |
    sed -e ':more' -e '/\\$/N; s/\\\n//; tmore' | sed -n 's/^\.PHONY: //p' |
    tr -s ' ' '\n' | grep '^[a-z]'); do
    case $target in
    all | format | tests) ;;
    *) check "help: $target" grep -qwe "$target" help ;;
    esac
done
finish
