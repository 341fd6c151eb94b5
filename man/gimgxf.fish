# Completion of gimgxf for fish: the options are those of its help.
function __gimgxf_options
    set -l words (commandline -opc)
    $words[1] --help all 2>/dev/null |
        string replace -rf '^ +(?:-., )?(--[a-z-]+)\S*(?: [A-Z]\S*)? +(.*)' '$1\t$2'
end

complete -c gimgxf -n 'string match -q -- "-*" (commandline -ct)' -a '(__gimgxf_options)'
complete -c gimgxf -n 'test (count (commandline -opc)) = 1' -a 'rotate90 rotate180
    rotate270 fliph flipv transpose transverse upright copy info check relate serve bench
    help'
