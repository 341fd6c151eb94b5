# bash, zsh and fish offer the options that --help all has, the operations and the
# commands; and files where there is nothing else.
. "$ROOT/tests/cli/lib.sh"
export PATH=${program%/*}:$PATH # which the completions call
gimgxf --help all | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--.*' | sort >options
check 'there are options' [ "$(wc -l <options)" -gt 40 ]
words='rotate90 rotate180 rotate270 fliph flipv transpose transverse upright copy
info check relate serve bench help'
printf '%s\n' $words | sort >words
for word in $words; do
    lacks=
    [ "$word" != bench ] || lacks=--size # a value: to measure would take a minute
    "$program" $word $lacks >said 2>&1 </dev/null # each lacks a file, or does something
    check "$word is known" [ "$(grep -c 'is not an operation\|unknown' said)" = 0 ]
done

# agree SHELL LINE LIST: whether what it has offered, the first words of `got`, is
# this list.
agree() {
    cut -d : -f 1 got | cut -f 1 | sort >sorted
    check "$1: $2" same "$3" sorted
}

. "$ROOT/man/gimgxf.bash"
offered() {
    COMP_WORDS=("$program" "$@")
    COMP_CWORD=$# COMPREPLY=()
    _gimgxf "$program"
    printf '%s\n' "${COMPREPLY[@]}" >got
}
offered --
agree bash -- options
offered ''
agree bash '' words
offered copy ''
check 'bash leaves files to readline' [ "$(cat got)" = '' ]
offered copy --edg
check 'bash: what begins so' [ "$(cat got)" = --edge ]

if offers zsh; then
    cat >ask.zsh <<'END'
_describe() { print -rl -- "${(@P)argv[-1]}" }
_files() { print files }
ask() { words=(gimgxf "$@"); CURRENT=$#words; PREFIX=$words[-1]; source $completion }
completion=$1; shift
ask "$@"
END
    for line in -- ''; do
        zsh -f ask.zsh "$ROOT/man/_gimgxf" "$line" >got
        agree zsh "$line" "$([ "$line" ] && echo options || echo words)"
    done
    check 'zsh: files' [ "$(zsh -f ask.zsh "$ROOT/man/_gimgxf" copy '')" = files ]
fi

if offers fish; then
    mkdir none
    cd none || exit 1
    for line in -- ''; do
        HOME=$PWD fish -N -c "source $ROOT/man/gimgxf.fish; complete -C 'gimgxf $line'" |
            grep -v '^-[^-]' >../got
        cd ..
        agree fish "$line" "$([ "$line" ] && echo options || echo words)"
        cd none || exit 1
    done
    touch a.png
    check 'fish: files' grep -qx a.png <(HOME=$PWD fish -N -c \
        "source $ROOT/man/gimgxf.fish; complete -C 'gimgxf copy '")
fi
finish
