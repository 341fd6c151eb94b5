# Completion of gimgxf for bash: the options are those of its help.
_gimgxf() {
    local offered='rotate90 rotate180 rotate270 fliph flipv transpose transverse upright
        copy info check relate serve bench help'
    case ${COMP_WORDS[COMP_CWORD]} in
    -*) offered=$("$1" --help all 2>/dev/null |
        sed -nE 's/^ +(-., )?(--[a-z-]+).*/\2/p') ;;
    *) ((COMP_CWORD == 1)) || return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}")
}

complete -o default -F _gimgxf gimgxf
