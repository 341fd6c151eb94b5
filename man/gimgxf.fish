# Completion of gimgxf for fish: a table of the options, and functions that read it.

set -g __gimgxf_operations \
    rotate90\t'a quarter turn clockwise' \
    cw\trotate90 \
    rotate180\t'half a turn' \
    rotate270\t'a quarter turn counterclockwise' \
    ccw\trotate270 \
    transpose\t'mirror at the diagonal from the top left' \
    transverse\t'mirror at the diagonal from the top right' \
    fliph\t'exchange left and right' \
    flop\tfliph \
    hflip\tfliph \
    mirror\tfliph \
    flipv\t'exchange top and bottom' \
    flip\tflipv \
    vflip\tflipv \
    upright\t'as the orientation tag asks' \
    auto-orient\tupright \
    copy\t'no turn' \
    identity\tcopy

set -g __gimgxf_commands \
    info\t'describe pictures' \
    check\t'find damaged pictures' \
    relate\t'find the turn between two pictures' \
    serve\t'do jobs from standard input' \
    bench\t'time and check the kernels'

# The suffixes of pictures that can be read and written.
set -g __gimgxf_suffixes png jpeg jpg jpe jfif gif bmp dib tga vda icb vst \
    hdr rgbe pic pnm pbm pgm ppm pam pfm npy npz qoi jxl tif tiff btf \
    heic heif hif heics heifs avif avifs webp \
    dng nef nrw cr2 cr3 arw sr2 pef orf raf rw2 rwl srw 3fr iiq erf kdc dcr mef gpr raw

set -g __gimgxf_colors \
    aliceblue antiquewhite aqua aquamarine azure beige bisque black \
    blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse \
    chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan \
    darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta \
    darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen \
    darkslateblue darkslategray darkslategrey darkturquoise darkviolet \
    deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite \
    forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green \
    greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender \
    lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan \
    lightgoldenrodyellow lightgray lightgreen lightgrey lightpink \
    lightsalmon lightseagreen lightskyblue lightslategray lightslategrey \
    lightsteelblue lightyellow lime limegreen linen magenta maroon \
    mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen \
    mediumslateblue mediumspringgreen mediumturquoise mediumvioletred \
    midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive \
    olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise \
    palevioletred papayawhip peachpuff peru pink plum powderblue purple \
    rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown \
    seagreen seashell sienna silver skyblue slateblue slategray slategrey \
    snow springgreen steelblue tan teal thistle tomato turquoise violet \
    wheat white whitesmoke yellow yellowgreen

set -g __gimgxf_sections nvidia book mat_transpose others libraries sweep \
    gimgxf jpeg loops

# The options whose value is the next word, from the table below.
set -g __gimgxf_awaiting

# Prints the words before the cursor that are neither options nor values of options:
# the operation, and the files.
function __gimgxf_words
    set -l skip 1 # the name of the program
    set -l ended 0
    for word in (commandline -opc)
        if test $skip = 1
            set skip 0
        else if test $ended = 0; and test "$word" = --
            set ended 1
        else if test $ended = 0; and string match -qr -- '^-.' "$word"
            contains -- "$word" $__gimgxf_awaiting
            and set skip 1
        else
            echo -- $word
        end
    end
end

# Whether the command before the cursor is one of these letters of the table below.
function __gimgxf_takes -a who
    set -l words (__gimgxf_words)
    switch "$words[1]"
        case ''
            string match -qr '[tsirc]' $who
        case serve info bench relate check
            string match -q "*"(string sub -l 1 $words[1])"*" $who
        case '*'
            string match -q '*t*' $who
    end
end

# Whether the word at the cursor is the operation (0), the word behind it (1), and so
# on, of a command that is one of these letters.
function __gimgxf_at -a who least most
    set -l count (count (__gimgxf_words))
    test $count -ge $least -a $count -le $most
    and not string match -q -- '--*=*' (commandline -ct)
    and __gimgxf_takes $who
end

# Prints the word at the cursor, or the value in it if it is --OPTION=VALUE.
function __gimgxf_typed
    string replace -r -- '^--[^=]*=' '' (commandline -ct)
end

# Prints these words as completions of the last word of a list.
function __gimgxf_list
    set -l lead (__gimgxf_typed | string match -r -- '^.*,')
    for word in $argv
        contains -- (string split -f 1 \t $word) (string split , "$lead")
        or echo -- "$lead$word"
    end
end

function __gimgxf_turns
    set -l lead (commandline -ct | string match -r -- '^.*,')
    printf '%s\n' "$lead"$__gimgxf_operations
    test -n "$lead"
    or printf '%s\n' $__gimgxf_commands
end

function __gimgxf_devices
    set -l gpus /proc/driver/nvidia/gpus/*
    set -l last (math max 0, (count $gpus) - 1)
    __gimgxf_list (seq 0 $last)
    __gimgxf_typed | string match -q '*,*'
    or echo all
end

# Prints directories, and files by their suffix. Pictures may have any name, so all
# files are offered if none has a suffix of pictures.
function __gimgxf_pictures
    set -l files (complete -C "'' "(commandline -ct))
    set -l suffixes (string join '|' $__gimgxf_suffixes)
    string match -ri -- "^.*(?:/|\.(?:$suffixes))\$" $files
    or printf '%s\n' $files
end

# __gimgxf_option COMMANDS ARGUMENT...: adds an option of these commands, with the
# arguments of `complete`. t: operations, which turn pictures; s: serve; i: info;
# r: relate; c: check; b: bench.
function __gimgxf_option -a who
    complete -c gimgxf -n "__gimgxf_takes $who" $argv[2..]
    argparse -i s= l= x r -- $argv[2..]
    if set -q _flag_x; or set -q _flag_r
        set -a __gimgxf_awaiting --$_flag_l
        set -q _flag_s
        and set -a __gimgxf_awaiting -$_flag_s
    end
end

complete -c gimgxf -f
complete -c gimgxf -n '__gimgxf_at tsibrc 0 0' -a '(__gimgxf_turns)'
complete -c gimgxf -n '__gimgxf_at tirc 1 9999' -a '(__gimgxf_pictures)'
complete -c gimgxf -n '__gimgxf_at s 1 1' -a - -d 'jobs from standard input'

__gimgxf_option ts -l format -x -d 'write this format' \
    -a 'png jpeg gif bmp tga qoi hdr tiff webp pnm pbm pgm ppm pam pfm npy npz'
__gimgxf_option ts -s n -l no-clobber -d 'do not replace an existing output'
__gimgxf_option ts -s f -l force -d 'replace an existing output'
__gimgxf_option ts -s p -l preserve \
    -d 'copy mode, owner and times of the input'
__gimgxf_option ts -l ignore-orientation \
    -d 'turn the stored pixels, leave the tag'
__gimgxf_option ts -l tag-only -d 'set the orientation tag, move no pixel'
__gimgxf_option ts -l all -d 'turn every picture of a HEIF file'
__gimgxf_option ts -l pixels -d 'move the pixels, or fail'
__gimgxf_option ts -l sidecar -d 'set the orientation in .xmp files, too'
__gimgxf_option ts -l strip -f -d 'drop metadata, or these parts of it' \
    -a '(__gimgxf_list all metadata gps thumbnail xmp exif icc)'
__gimgxf_option ts -l edge -x -d 'how to treat incomplete blocks of a JPEG' \
    -a 'reencode trim tag fail'
__gimgxf_option ts -l lossless \
    -d 'fail rather than lose samples; as --edge fail'
__gimgxf_option ts -l quality -x -d 'encode the JPEG again, 1 to 100'
__gimgxf_option ts -l optimize -d 'optimize the Huffman tables of a JPEG'
__gimgxf_option ts -l no-restart -d 'write a JPEG without restart markers'
__gimgxf_option ts -l png-level -x -d 'compression effort of a PNG' \
    -a 'fast default small 0 1 2 3 4 5 6 7 8 9'
__gimgxf_option ts -l depth -x -d 'make samples 8, 16 or float' -a '8 16 float'
__gimgxf_option tsirc -l layout -x -d 'axes of NPY arrays' \
    -a 'auto hwc chw nhw nhwc nchw'
__gimgxf_option ts -l background -x -d 'background color for transparency' \
    -a "$__gimgxf_colors"
__gimgxf_option tsi -l tolerant -d 'read what is left of a damaged file'
__gimgxf_option t -s d -l directory -x -d 'write all outputs below this directory' \
    -a '(__fish_complete_directories (__gimgxf_typed))'
__gimgxf_option t -s o -l output -x -d 'make output names from a template' \
    -a '(__fish_complete_directories (__gimgxf_typed)) {dir}/{stem}-{op}.{ext}'
__gimgxf_option t -s i -l in-place -d 'replace each input'
__gimgxf_option t -l backup -x -d 'with --in-place: keep the old file' -a '.bak .orig'
__gimgxf_option tic -s r -l recursive -d 'take the pictures in directories, too'
__gimgxf_option tic -l files-from -r -F -d 'read the names of inputs from a file'
__gimgxf_option tsic -s 0 -l null -d 'NUL ends each name, or job'
__gimgxf_option tic -l include -x -d 'take only matching names' -a '*.jpg *.png'
__gimgxf_option tic -l exclude -x -d 'skip matching names' -a '*.jpg *.png'
__gimgxf_option t -s u -l update -d 'skip outputs that are newer'
__gimgxf_option t -l dry-run -d 'print what would be done'
__gimgxf_option ts -l isolate -d 'have a file that ends its process fail alone'
__gimgxf_option t -l fail-after -x -d 'stop after this many failures'
__gimgxf_option t -l stack -r -F -d 'write all pictures into one NPY array'
__gimgxf_option t -l manifest -r -F -d 'append the result of each file'
__gimgxf_option t -l resume -r -F -d 'skip what this manifest has as done'
__gimgxf_option t -l shard -x -d 'do one share of the files' -a '1/2 2/2'
__gimgxf_option ts -l verify -d 'decode the output and compare it'
__gimgxf_option ts -l digest -d 'note digests of the pictures as shown'
__gimgxf_option tsrc -l max-pixels -x -d 'refuse larger pictures'
__gimgxf_option tsrc -l max-memory -x -d 'memory for pictures'
__gimgxf_option tsrc -l max-seconds -x -d 'give a file up after so many seconds'
__gimgxf_option s -l root -x -d 'keep all files below this directory' \
    -a '(__fish_complete_directories (__gimgxf_typed))'
__gimgxf_option ts -l backend -x -d 'what moves the samples' -a 'auto cpu cuda'
__gimgxf_option tsb -l device -x -d 'the GPUs to use' -a '(__gimgxf_devices)'
__gimgxf_option ts -l max-vram -x -d 'limit the memory of each GPU'
__gimgxf_option tsic -s j -l threads -x -d 'limit the number of processors'
__gimgxf_option tsirc -l sandbox -x -d 'keep to the files and calls it needs' \
    -a 'on off'
__gimgxf_option tirc -s q -l quiet -d 'print no warnings'
__gimgxf_option tirc -s v -l verbose -d 'say what was done, how, and how long'
__gimgxf_option tibrc -l json -d 'print JSON'
__gimgxf_option tsibrc -s h -l help -d 'print a summary'
__gimgxf_option tsirc -l version -d 'print the version'
__gimgxf_option b -l only -x -d 'run what has this in its name or section' \
    -a "$__gimgxf_sections"
__gimgxf_option b -l size -x -d 'use this size, WxH in pixels'
__gimgxf_option b -l cpu -d 'time the CPU'
__gimgxf_option b -l sweep -d 'time shapes of blocks as well'
__gimgxf_option b -l rounds -x -d 'number of rounds'
__gimgxf_option b -l profile -d 'launch each once, time none'
