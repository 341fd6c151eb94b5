# Completion of gimgxf for fish: shows what the program says that it takes.

# Pictures may have any name, so all files are offered if none has a suffix of
# pictures.
function __gimgxf_files -a kind lead suffixes
    set -l typed (commandline -ct | string replace -- "$lead" '')
    set -l files
    switch $kind
        case :directories
            set files (__fish_complete_directories $typed)
        case '*'
            set files (complete -C "'' $typed")
    end
    if test $kind = :pictures
        set -l pictures (string match -ri -- "^.*(?:/|\.(?:$suffixes))\$" $files)
        and set files $pictures
    end
    printf '%s\n' $lead$files
end

function __gimgxf_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] --complete $words[2..] 2>/dev/null)
        if string match -q ':*' -- $line
            __gimgxf_files (string split \t -- $line)
        else
            echo -- $line
        end
    end
end

complete -c gimgxf -f -a '(__gimgxf_complete)'
