# --json prints one object a file, which a JSON parser reads and which is true.
. "$ROOT/tests/cli/lib.sh"
needs python3

# field FILE KEY: as Python's json module reads it.
field() {
    python3 -c 'import json, os, sys
value = json.load(open(sys.argv[1], encoding="utf-8"))
for key in sys.argv[2].split("."):
    value = value[key]
print(os.fsencode(value).hex() if sys.argv[2] == "input" else value)' "$1" "$2"
}

gives 0 '' --json rotate90 "$samples/f-sideways.jpg" out.png
for pair in op=rotate90 status=done how=lossless turned=rotate180 from=jpeg \
    to=png width=48 height=64 error=None; do
    check "$pair" [ "$(field stdout "${pair%=*}")" = "${pair#*=}" ]
done
check bytes_out [ "$(field stdout bytes_out)" = "$(stat -c %s out.png)" ]
check seconds [ "$(field stdout seconds.decode)" != 0 ]

gives 0 '' --json copy "$samples/f.ppm" same.ppm
check unchanged [ "$(field stdout how)" = unchanged ]
gives 0 '' --json rotate90 "$samples/f.jpg" out.jpg
check lossless [ "$(field stdout how)" = lossless ]
gives 0 '' --json --quality 90 rotate90 "$samples/f.jpg" out.jpg
check reencoded [ "$(field stdout how)" = reencoded ]
echo x >out.jpg
gives 0 'gimgxf: out.jpg: exists, so it is left alone' --json -n rotate90 \
    "$samples/f.jpg" out.jpg
check skipped [ "$(field stdout status)" = skipped ]
gives 1 'gimgxf: none: No such file or directory' --json copy none out.png
check failed [ "$(field stdout status)" = failed ]
check error [ "$(field stdout error)" = 'No such file or directory' ]

# A name is bytes: those that are no UTF-8 come back by surrogateescape.
name=$(printf 'q"\\\001\377\303\251.png')
cp "$samples/f-rgb.png" "$name"
gives 0 '' --json rotate90 "$name" out.png
check name [ "$(field stdout input)" = "$(printf %s "$name" | od -An -v -tx1 | tr -d " \n")" ]

gives 0 '' info --json "$samples/f-gray16.png"
for pair in format=png width=48 height=64 color=gray channels=1 bits=16 \
    alpha=False orientation=1 interlaced=False; do
    check "info $pair" [ "$(field stdout "${pair%=*}")" = "${pair#*=}" ]
done
gives 0 '' info "$samples/f-rgb.png"
check info [ "$(cat stdout)" = "$samples/f-rgb.png: PNG, 48 x 64, RGB, 8 bits
  metadata: pHYs, tEXt" ]
gives 0 '' info "$samples/f.pgm"
check info [ "$(cat stdout)" = "$samples/f.pgm: PNM, 48 x 64, gray, 10 bits" ]
finish
