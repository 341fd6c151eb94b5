# complete.zsh DIRECTORY: for each line on standard input, with the cursor at
# its end, prints what zsh offers by the completion in this directory: the line,
# a tab, and a word. A shell on a terminal of its own completes the lines; what
# it adds to the lists of matches is written down.
zmodload zsh/zpty || exit 1
export GIMGXF_MATCHES=$(mktemp)

# Waits until the shell has come as far as it was told to write this.
wait_for() {
    local i
    for ((i = 0; i < 1000; i++)); do
        zpty -r -t shell >/dev/null
        grep -qxF -e "$1" $GIMGXF_MATCHES && return
        sleep 0.02
    done
    echo "zsh does not answer" >&2
    exit 1
}

zpty shell zsh -fi
zpty -w shell "PS1= PS2= fpath=(${(q)1} \$fpath) LISTMAX=10000
autoload -U compinit
compinit -D -u
compadd() {
    local -a matches
    if [[ \${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
        builtin compadd -A matches \"\$@\"
        printf '%s\n' \$matches >>\$GIMGXF_MATCHES
    fi
    builtin compadd \"\$@\"
}
end-of-matches() { echo END >>\$GIMGXF_MATCHES }
zle -N end-of-matches
bindkey '^I' list-choices
bindkey '^X' end-of-matches
end-of-matches"
wait_for END
while IFS= read -r line; do
    : >$GIMGXF_MATCHES
    zpty -w -n shell $'\C-u'$line$'\t\C-x'
    wait_for END
    grep -vx END $GIMGXF_MATCHES | while IFS= read -r word; do
        printf '%s\t%s\n' "$line" "$word"
    done
done
zpty -d shell
rm $GIMGXF_MATCHES
