# Standard input and output, and which messages are printed where.
. "$ROOT/tests/cli/lib.sh"
in=$samples/f-rgb.png
gives 0 '' rotate90 "$in" want.png

gimgxf rotate90 - - <"$in" >out.png
check 'the format of the input' same want.png out.png
gimgxf rotate90 "$in" - | gimgxf -q rotate270 - --format ppm - >out.ppm
makes out.ppm -q copy "$in" copy.ppm
gimgxf rotate90 - out2.png <"$in"
check 'from a pipe to a file' same want.png out2.png
makes want.png --format png rotate90 "$in" out.xyz

# What is written to where it stands has the format of the input, too, unless its
# name says another.
mkfifo pipe pipe.ppm
gives 0 '' -q rotate90 "$in" want.ppm
for pair in pipe=want.png pipe.ppm=want.ppm; do
    cat "${pair%=*}" >out &
    gives 0 '' -q rotate90 "$in" "${pair%=*}"
    wait
    check "to ${pair%=*}" same "${pair#*=}" out
done
gimgxf rotate90 "$in" >(cat >out) && eventually same want.png out
check 'to a command' same want.png out
for redirected in /dev/stdout /dev/fd/1; do
    gimgxf --json rotate90 "$in" $redirected 2>json | cat >out
    check "to $redirected" same want.png out
done
gimgxf --json rotate90 "$in" /dev/stdout 2>json >out
check 'to /dev/stdout, which is a file' same want.png out
check 'JSON goes to stderr then' grep -q '"status": "done"' json

gimgxf rotate90 "$in" - 2>stderr >/dev/full
check 'a full stdout fails' [ $? = 1 ]
check 'and says so' [ "$(cat stderr)" = \
    "gimgxf: -: cannot be written: No space left on device" ]
gimgxf --help >/dev/full 2>stderr
check 'help to a full stdout' [ $? = 1 ]
set -o pipefail
gimgxf rotate90 "$in" - 2>stderr | true
check 'a closed pipe is no signal' [ $? -lt 128 ]

gimgxf --json rotate90 "$in" - >out.png 2>json
check 'the picture has stdout for itself' same want.png out.png
check 'JSON goes to stderr then' grep -q '"status": "done"' json
prints rotate90 --help
# A screen of 24 rows, the last of which is for the prompt, and 80 columns.
check 'help fits a screen' [ "$(wc -l <stdout)" -le 23 ]
check 'and its width' [ "$(wc -L <stdout)" -le 79 ]
check 'help says where the rest is' grep -q -e '--help all' stdout
cp stdout common
gives 0 '' --help all
check 'all of it fits the width of a screen' [ "$(wc -L <stdout)" -le 79 ]
check 'each common option is among all' \
    [ -z "$(grep -E '^ +-' common | grep -vxFf stdout)" ]
check 'which are more' [ "$(grep -cE '^ +-' stdout)" -gt 40 ]
gives 0 '' --version
check 'version' grep -qx 'gimgxf [0-9.]*' <(head -n 1 stdout)
check 'version: libraries' grep -qE \
    '^libraries: libpng [0-9.]+, libjpeg(-turbo)? [0-9.]+,.* zlib [0-9.]+$' stdout
check 'version: the libpng that runs' grep -qF \
    "libpng $(pkg-config --modversion libpng)," stdout
check 'version: SIMD' grep -qE '^SIMD: (sse2|portable)$' stdout
check 'version: GPUs' grep -qE '^GPU( [0-9]+)?: ' stdout
finish
