# Completion of gimgxf for bash.

# Whether a word is an option whose value is the next word.
_gimgxf_takes_value() {
    case $1 in
    --format | --edge | --quality | --png-level | --depth | --layout | \
        --background | --max-pixels | --max-memory | --backend | --device | --max-vram | \
        --threads | -j | --directory | -d | --output | -o | --backup | \
        --files-from | --fail-after | --include | --exclude | --manifest | --resume | \
        --root | --shard) return 0 ;;
    esac
    return 1
}

# Counts the operation and the files before the cursor, and notes the first.
# Bash makes three words of --depth=8.
_gimgxf_words() {
    local i word
    count=0 first='' ended=''
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -z $ended && $word == -- ]]; then
            ended=1
        elif [[ -z $ended && $word == -?* ]]; then
            if [[ ${COMP_WORDS[i + 1]} == = ]]; then
                i=$((i + 2))
            elif _gimgxf_takes_value "$word"; then
                i=$((i + 1))
            fi
        else
            ((count++)) || first=$word
        fi
    done
}

_gimgxf() {
    local cur=${COMP_WORDS[COMP_CWORD]} option='' words='' lead=''
    local count first ended
    local operations='rotate90 cw rotate180 rotate270 ccw transpose fliph flop
        hflip mirror flipv flip vflip transverse upright auto-orient copy
        identity'
    local options='--format --no-clobber --force --preserve --ignore-orientation
        --strip --strip=all --tag-only --edge --lossless --quality --optimize
        --no-restart
        --png-level --depth --layout --background --tolerant --directory --output
        --in-place --backup
        --recursive --files-from --null --include --exclude --update --dry-run
        --fail-fast --fail-after --manifest --resume --shard --max-pixels --max-memory --root --backend --device
        --max-vram --threads --quiet --verbose --json --csv --help --version'
    local colors='aliceblue antiquewhite aqua aquamarine azure beige bisque black
        blanchedalmond blue blueviolet brown burlywood cadetblue
        chartreuse chocolate coral cornflowerblue cornsilk crimson
        cyan darkblue darkcyan darkgoldenrod darkgray darkgreen
        darkgrey darkkhaki darkmagenta darkolivegreen darkorange
        darkorchid darkred darksalmon darkseagreen darkslateblue
        darkslategray darkslategrey darkturquoise darkviolet deeppink
        deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite
        forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray
        green greenyellow grey honeydew hotpink indianred indigo ivory
        khaki lavender lavenderblush lawngreen lemonchiffon lightblue
        lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen
        lightgrey lightpink lightsalmon lightseagreen lightskyblue
        lightslategray lightslategrey lightsteelblue lightyellow lime
        limegreen linen magenta maroon mediumaquamarine mediumblue
        mediumorchid mediumpurple mediumseagreen mediumslateblue
        mediumspringgreen mediumturquoise mediumvioletred midnightblue
        mintcream mistyrose moccasin navajowhite navy oldlace olive
        olivedrab orange orangered orchid palegoldenrod palegreen
        paleturquoise palevioletred papayawhip peachpuff peru pink
        plum powderblue purple rebeccapurple red rosybrown royalblue
        saddlebrown salmon sandybrown seagreen seashell sienna silver
        skyblue slateblue slategray slategrey snow springgreen
        steelblue tan teal thistle tomato turquoise violet wheat white
        whitesmoke yellow yellowgreen'
    COMPREPLY=()
    _gimgxf_words

    if [[ $cur == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 1]} cur=
    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif _gimgxf_takes_value "${COMP_WORDS[COMP_CWORD - 1]}"; then
        option=${COMP_WORDS[COMP_CWORD - 1]}
    fi
    [[ -z $ended ]] || option=

    if [[ $option ]]; then
        case $option in
        --format) words='png jpeg bmp tga hdr pnm pbm pgm ppm pam pfm npy npz' ;;
        --strip) words='all metadata gps thumbnail xmp exif icc' ;;
        --edge) words='reencode trim tag fail' ;;
        --depth) words='8 16 float' ;;
        --layout) words='auto hwc chw nhw nhwc nchw' ;;
        --background) words=$colors ;;
        --backend) words='auto cpu cuda' ;;
        --directory | -d | --root)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
            return
            ;;
        --files-from | --manifest | --resume)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
            ;;
        esac
    elif [[ -z $ended && $cur == -* ]]; then
        words=$options
        # - alone is what serve takes its jobs from.
        [[ $first != serve || $count != 1 ]] || words+=' -'
    elif [[ $count == 0 ]]; then
        # Operations make a list; only its last one is completed.
        [[ $cur != *,* ]] || lead=${cur%,*},
        cur=${cur##*,} words=$operations
        [[ $lead ]] || words+=' info bench manifest serve'
    elif [[ $first == manifest && $count == 1 ]]; then
        words='merge check'
    elif [[ $first == serve && $count == 1 ]]; then
        words=-
    elif [[ $count == 1 || ($first != info && $first != bench && $first != serve) ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -P "$lead" -W "$words" -- "$cur")
}

complete -F _gimgxf gimgxf
