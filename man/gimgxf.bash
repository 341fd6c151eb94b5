# Completion of gimgxf for bash: shows what the program says that it takes.

# Sets `words` to the words before the cursor, and `cur` to the word at it, as they
# were typed: bash splits them at = and :. What bash split off `cur` is `before`.
_gimgxf_join() {
    local i typed=${COMP_WORDS[COMP_CWORD]}
    words=("${COMP_WORDS[1]}")
    for ((i = 2; i <= COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == [=:]* || ${COMP_WORDS[i - 1]} == [=:] ]]; then
            words[-1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
    done
    cur=${words[-1]}
    [[ $typed != [=:] ]] || typed=
    before=${cur%"$typed"}
}

# Offers files that begin like `cur`, with `lead` in front. Pictures may have any name,
# so all files are offered if none has a suffix of pictures.
_gimgxf_files() {
    local name small
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -P "$lead" -- "$cur")
    [[ $1 != directories ]] || return
    while IFS= read -r name; do
        small=${name//I/i} # in Turkish that is no large i
        [[ $1 != pictures || ${small,,} =~ \.($suffixes)$ ]] &&
            [[ ! -d $name ]] && COMPREPLY+=("$lead$name")
    done < <(compgen -f -- "$cur")
    [[ $1 == files || ${COMPREPLY[*]} ]] || _gimgxf_files files
}

_gimgxf() {
    local words cur before line lead rest suffixes
    COMPREPLY=()
    _gimgxf_join
    while IFS= read -r line; do
        if [[ $line == :* ]]; then
            rest=${line#*$'\t'}
            lead=${rest%%$'\t'*} suffixes=${rest#*$'\t'}
            cur=${cur#"$lead"} line=${line#:}
            _gimgxf_files "${line%%$'\t'*}"
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    [[ ${COMPREPLY[*]} != *[=] ]] || compopt -o nospace 2>/dev/null
}

complete -F _gimgxf gimgxf
