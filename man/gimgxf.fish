# Completion of gimgxf for fish.

# The words before the cursor that are no options and no values of options:
# the operation, and the files.
function __gimgxf_words
    set -l values --fail-after --format --edge --quality --png-level --depth --layout --background \
        --max-pixels --max-memory --backend --device --max-vram --threads -j \
        --directory -d --output -o --backup --files-from --include --exclude \
        --manifest --resume --root --shard
    set -l skip 1 # the name of the program
    set -l ended 0
    for word in (commandline -opc)
        if test $skip = 1
            set skip 0
        else if test $ended = 0; and test "$word" = --
            set ended 1
        else if test $ended = 0; and string match -qr -- '^-.' "$word"
            if contains -- "$word" $values
                set skip 1
            end
        else
            echo -- $word
        end
    end
end

function __gimgxf_needs_operation
    test (count (__gimgxf_words)) = 0
end

function __gimgxf_needs_file
    set -l words (__gimgxf_words)
    test (count $words) = 1 -a "$words[1]" != manifest -a "$words[1]" != serve
    or test (count $words) -ge 2 -a "$words[1]" != info -a "$words[1]" != serve
end

# Operations make a list; only its last one is completed.
function __gimgxf_operations
    set -l lead (string match -r -- '^.*,' (commandline -ct))
    set -l operations \
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
    test -n "$lead"
    or set -a operations info\t'say what a file is' \
            manifest\t'what became of a batch' \
            serve\t'turn what standard input asks for' \
            bench\t'time what turns pictures'
    printf '%s\n' "$lead"$operations
end

complete -c gimgxf -f
complete -c gimgxf -n __gimgxf_needs_operation -a '(__gimgxf_operations)'
complete -c gimgxf -n __gimgxf_needs_file -F
complete -c gimgxf -l format -x -d 'write this format' \
    -a 'png jpeg bmp tga hdr pnm pbm pgm ppm pam pfm npy npz'
complete -c gimgxf -s n -l no-clobber -d 'leave an output that exists alone'
complete -c gimgxf -s f -l force -d 'replace it, whatever stands before'
complete -c gimgxf -s p -l preserve -d 'give the output the times of the input'
complete -c gimgxf -l ignore-orientation \
    -d 'turn the pixels as stored, leave the tag'
complete -c gimgxf -l tag-only -d 'set the orientation tag, move no pixel'
complete -c gimgxf -l strip -d 'drop metadata, or what is named' \
    -a 'all metadata gps thumbnail xmp exif icc'
complete -c gimgxf -l lossless \
    -d 'fail rather than lose samples; as --edge fail'
complete -c gimgxf -l edge -x -d 'of a JPEG that is no whole blocks' \
    -a 'reencode trim tag fail'
complete -c gimgxf -l quality -x -d 'encode a JPEG anew, 1 to 100'
complete -c gimgxf -l optimize -d 'make a JPEG as small as it gets'
complete -c gimgxf -l no-restart -d 'write a JPEG without restart markers'
complete -c gimgxf -l png-level -x -a 'fast default small' \
    -d 'how hard to try to make a PNG small'
complete -c gimgxf -l depth -x -d 'make samples 8, 16 or float' -a '8 16 float'
complete -c gimgxf -l layout -x -d 'the axes of arrays' \
    -a 'auto hwc chw nhw nhwc nchw'
complete -c gimgxf -l background -x -d 'the color below transparency' \
    -a 'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen'
complete -c gimgxf -l tolerant -d 'take what can be read of a damaged file'
complete -c gimgxf -s d -l directory -x -a '(__fish_complete_directories)' \
    -d 'write all below this directory'
complete -c gimgxf -s o -l output -x -d 'what to call the outputs' \
    -a '{dir}/{stem}-{op}.{ext}'
complete -c gimgxf -s i -l in-place -d 'replace each input'
complete -c gimgxf -l backup -x -d 'and keep the old one' -a '.orig'
complete -c gimgxf -s r -l recursive -d 'take what is in directories too'
complete -c gimgxf -l files-from -r -d 'a list of inputs'
complete -c gimgxf -s 0 -l null -d 'where NUL ends a name'
complete -c gimgxf -l include -x -d 'only names like this' -a '*.jpg *.png'
complete -c gimgxf -l exclude -x -d 'no names like this'
complete -c gimgxf -s u -l update -d 'leave an output alone that is newer'
complete -c gimgxf -l dry-run -d 'print what would be done'
complete -c gimgxf -l fail-fast -d 'end at the first file that fails'
complete -c gimgxf -l fail-after -x -d 'end when so many files have failed'
complete -c gimgxf -l manifest -r -d 'note what became of each file'
complete -c gimgxf -l resume -r -d 'do what this manifest has not as done'
complete -c gimgxf -l shard -x -d 'take a share of the files' -a '1/2 2/2'
complete -c gimgxf -n 'test (__gimgxf_words)[1] = manifest' -a 'merge check'
complete -c gimgxf -n 'test "$(__gimgxf_words)" = serve' -a '-' \
    -d 'jobs from standard input'
complete -c gimgxf -l root -x -a '(__fish_complete_directories)' \
    -d 'the files of serve are all below it'
complete -c gimgxf -l max-pixels -x -d 'refuse larger pictures'
complete -c gimgxf -l max-memory -x -d 'refuse what needs more'
complete -c gimgxf -l backend -x -d 'who moves the samples' -a 'auto cpu cuda'
complete -c gimgxf -l device -x -d 'the GPUs to use' -a 'all 0'
complete -c gimgxf -l max-vram -x -d 'of a GPU, for pictures'
complete -c gimgxf -s j -l threads -x -d 'processors to keep busy'
complete -c gimgxf -s q -l quiet -d 'no warnings'
complete -c gimgxf -s v -l verbose -d 'say what was done, how, and how long'
complete -c gimgxf -l json -d 'the same as a JSON object'
complete -c gimgxf -l csv -d 'info: a table for spreadsheets'
complete -c gimgxf -s h -l help -d 'a summary'
complete -c gimgxf -l version -d 'the version'
