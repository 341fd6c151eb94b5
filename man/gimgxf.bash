# Completion of gimgxf for bash: a table of the options, and functions that read it.

# A row is an option: the commands that take it, its names, and the kind of its value.
#
#   t  operations, which turn pictures     one WORD...   one of these words
#   s  serve                               list WORD...  some, between commas
#   i  info                                color         a color of CSS
#   r  relate, c  check                    devices       GPUs, or all
#   b  bench                               picture       a file by its suffix
#                                          file          any file
#                                          directory     a directory
#                                          other         anything
#
# A kind that begins with = is that of an optional value, which is never the next
# word.
_gimgxf_options='
ts    --format              one png jpeg gif bmp tga qoi hdr tiff webp pnm pbm pgm ppm pam \
                            pfm npy npz
ts    -n,--no-clobber
ts    -f,--force
ts    -p,--preserve
ts    --ignore-orientation
ts    --tag-only
ts    --all
ts    --pixels
ts    --sidecar
ts    --strip               =list all metadata gps thumbnail xmp exif icc
ts    --edge                one reencode trim tag fail
ts    --lossless
ts    --quality             other
ts    --optimize
ts    --no-restart
ts    --png-level           one fast default small 0 1 2 3 4 5 6 7 8 9
ts    --depth               one 8 16 float
tsirc --layout              one auto hwc chw nhw nhwc nchw
ts    --background          color
tsi   --tolerant
t     -d,--directory        directory
t     -o,--output           directory
    t     --stack               file
t     -i,--in-place
t     --backup              one .bak .orig
tic   -r,--recursive
tic   --files-from          file
tsic  -0,--null
tic   --include             other
tic   --exclude             other
t     -u,--update
t     --dry-run
t     --fail-after          other
ts    --isolate
t     --manifest            file
t     --resume              file
t     --shard               other
ts    --verify
ts    --digest
tsrc  --max-pixels          other
tsrc  --max-memory          other
tsrc  --max-seconds         other
s     --root                directory
ts    --backend             one auto cpu cuda
tsb   --device              devices
ts    --max-vram            other
tsic  -j,--threads          other
tsirc --sandbox             one on off
tirc  -q,--quiet
tirc  -v,--verbose
tibrc --json
tsibrc -h,--help
tsirc --version
b     --only                one nvidia book mat_transpose others libraries \
                            sweep gimgxf jpeg loops
b     --size                other
b     --cpu
b     --sweep
b     --rounds              other
b     --profile
'

_gimgxf_operations='rotate90 cw rotate180 rotate270 ccw transpose fliph flop
hflip mirror flipv flip vflip transverse upright auto-orient copy identity'

# The suffixes of pictures that can be read and written.
_gimgxf_suffixes='png|jpeg|jpg|jpe|jfif|gif|bmp|dib|tga|vda|icb|vst|hdr|rgbe|pic'
_gimgxf_suffixes+='|pnm|pbm|pgm|ppm|pam|pfm|npy|npz|qoi|jxl|tif|tiff|btf'
_gimgxf_suffixes+='|heic|heif|hif|heics|heifs|avif|avifs|webp'
_gimgxf_suffixes+='|dng|nef|nrw|cr2|cr3|arw|sr2|pef|orf|raf|rw2|rwl|srw|3fr|iiq|erf'
_gimgxf_suffixes+='|kdc|dcr|mef|gpr|raw'

_gimgxf_colors='
aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond
blue blueviolet brown burlywood cadetblue chartreuse chocolate coral
cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray
darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid
darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey
darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue
firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod
gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki
lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon
lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue
lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue
mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen
mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin
navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod
palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum
powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon
sandybrown seagreen seashell sienna silver skyblue slateblue slategray
slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet
wheat white whitesmoke yellow yellowgreen'

# Prints the kind, as above, of the word behind the operation or sub-command.
_gimgxf_operand() {
    case $command:$count in
    serve:1) echo one - ;;
    serve:* | bench:*) echo other ;;
    *) echo picture ;;
    esac
}

# Reads the row of an option, which may be abbreviated. `kind` stays empty if there
# is no such option. Without -r, a \ at the end of a line joins the next line to it.
_gimgxf_find() {
    while read who names kind values; do
        [[ ,$names != *",$1"* ]] || return
    done <<<"$_gimgxf_options"
}

# Sets `option` if the next word is the value of an option in this word. Behind one
# dash, the value of the first letter that takes one is the rest of the word.
_gimgxf_await() {
    local rest=
    option=$1
    [[ $1 == --* ]] || option=${1:0:2} rest=${1:2}
    _gimgxf_find "$option"
    while [[ ! $kind && $rest ]]; do
        option=-${rest:0:1} rest=${rest:1}
        _gimgxf_find "$option"
    done
    [[ $kind && $kind != =* && ! $rest ]] || option=
}

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
    unset 'words[-1]'
    [[ $typed != [=:] ]] || typed=
    before=${cur%"$typed"}
}

# Sets the operation or sub-command, the number of words that it and its operands
# are, the option that waits for its value, and whether -- has ended the options.
_gimgxf_parse() {
    local word
    for word in "${words[@]}"; do
        if [[ $option ]]; then
            option=
        elif [[ $ended || $word != -?* ]]; then
            ((count++)) || command=$word
        elif [[ $word == -- ]]; then
            ended=1
        else
            _gimgxf_await "$word"
        fi
    done
}

# Prints the options that one of these commands takes.
_gimgxf_list_options() {
    local who names kind values
    while read who names kind values; do
        [[ $who == *["$1"]* ]] || continue
        echo "${names##*,}"
        [[ $kind != =* ]] || echo "${names##*,}="
    done <<<"$_gimgxf_options"
}

# Offers files that begin like `cur`, with `lead` in front. Pictures may have any name,
# so all files are offered if none has a suffix of pictures.
_gimgxf_offer_files() {
    local name small
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -P "$lead" -- "$cur")
    [[ $1 != directory ]] || return
    while IFS= read -r name; do
        small=${name//I/i} # in Turkish that is no large i
        [[ $1 != picture || ${small,,} =~ \.($_gimgxf_suffixes)$ ]] &&
            [[ ! -d $name ]] && COMPREPLY+=("$lead$name")
    done < <(compgen -f -- "$cur")
    [[ $1 == file || ${COMPREPLY[*]} ]] || _gimgxf_offer_files file
}

# Offers words that begin like `cur`, with `lead` in front. In a list the last word is
# completed, and a word is offered only once, except for operations.
_gimgxf_offer_words() {
    local word list=
    if [[ $1 == list && $cur == *,* ]]; then
        list=${cur%,*},
        cur=${cur##*,}
    fi
    shift
    for word; do
        [[ $word == "$cur"* ]] || continue
        [[ $command && ,$list == *",$word,"* ]] ||
            COMPREPLY+=("$lead$list$word")
    done
}

_gimgxf_offer() {
    local gpus
    case $1 in
    one | list) _gimgxf_offer_words "$@" ;;
    color) _gimgxf_offer_words one $_gimgxf_colors ;;
    picture | file | directory) _gimgxf_offer_files "$1" ;;
    devices)
        mapfile -t gpus < <(compgen -G '/proc/driver/nvidia/gpus/*')
        [[ ${gpus[*]} ]] || gpus=(first)
        [[ $cur == *,* ]] || _gimgxf_offer_words one all
        _gimgxf_offer_words list "${!gpus[@]}"
        ;;
    esac
}

_gimgxf() {
    local words cur before lead= who names kind values
    local command= count=0 option= ended= takes
    COMPREPLY=()
    _gimgxf_join
    _gimgxf_parse
    if [[ ! $option && ! $ended && $cur == --*=* ]]; then
        option=${cur%%=*} lead=${cur%%=*}= cur=${cur#*=}
    fi
    case $command in
    '') takes=tsirc ;;
    serve | info | bench | relate | check) takes=${command:0:1} ;;
    *) takes=t ;;
    esac

    if [[ $option ]]; then
        _gimgxf_find "$option"
        _gimgxf_offer ${kind#=} $values
    elif [[ ! $ended && $cur == -* ]]; then
        _gimgxf_offer_words one $(_gimgxf_list_options $takes)
        [[ $command:$count != serve:1 ]] || _gimgxf_offer $(_gimgxf_operand)
    elif [[ $command ]]; then
        _gimgxf_offer $(_gimgxf_operand)
    else
        [[ $cur == *,* ]] || _gimgxf_offer_words one info bench check relate serve
        _gimgxf_offer_words list $_gimgxf_operations
    fi
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    [[ ${COMPREPLY[*]} != *[=] ]] || compopt -o nospace 2>/dev/null
}

complete -F _gimgxf gimgxf
