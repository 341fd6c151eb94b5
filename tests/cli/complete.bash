# complete.bash FILE: for each line on standard input, with the cursor at its
# end, prints what bash offers by the completion in this file: the line, a tab,
# and a word.
. "$1"
while IFS= read -r line; do
    # As readline does it: = and : are words of their own.
    spaced=${line//=/ = }
    read -r -a COMP_WORDS <<<"${spaced//:/ : }"
    [[ $line != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _gimgxf 2>/dev/null
    for word in "${COMPREPLY[@]}"; do
        printf '%s\t%s\n' "$line" "$word"
    done
done
