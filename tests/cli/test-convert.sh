# Conversion to another format: what loses nothing is done, what loses something
# must be asked for, and what the other format cannot hold is named.
. "$ROOT/tests/cli/lib.sh"

# A palette becomes its colors.
gives 0 '' copy "$samples/f-palette.png" out.ppm
check 'palette to RGB' [ "$(tail -c +14 out.ppm | head -c 3 | od -An -tu1 |
    tr -s ' ')" = ' 240 240 230' ]

# 16 bits to 8, and floats to integers, only if asked.
gives 0 '' --depth 8 copy "$samples/f-gray16.png" out.jpg
gives 0 "gimgxf: $samples/f.pfm: warning: 6368 samples were below 0 or above 1 \
and are clipped" --depth 8 copy "$samples/f.pfm" out.png

# Alpha only on a background; none of these is done unasked.
refused 1 copy <<END
$samples/f-gray16.png out.jpg | $samples/f-gray16.png: JPEG cannot hold samples of 16 bits; --depth 8 makes them fit
$samples/f.pfm out.png | $samples/f.pfm: PNG cannot hold samples of 32 bits; --depth 16 makes them fit
$samples/f-rgba.png out.jpg | $samples/f-rgba.png: JPEG cannot hold transparency; --background COLOR lays it on a color
END
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'\
'\377\000\000\377\000\000\000\000' >in.pam
gives 0 '' --background '#0080ff' copy in.pam out.ppm
check 'background' [ "$(tail -c 6 out.ppm | od -An -v -tu1 | tr -s ' ')" = \
    ' 255 0 0 0 128 255' ]

# Scaled to the full range; 1023 is not 65535, and its steps stay apart.
printf 'P2 3 1 1023\n0 512 1023\n' >in.pgm
gives 0 '' copy in.pgm out.npy
check 'scaled' [ "$(tail -c 6 out.npy | od -An -v -tu2 | tr -s ' ')" = \
    ' 0 32800 65535' ]

# What cannot be carried is named, once.
gives 0 "gimgxf: $samples/f-rgb.png: warning: PNM cannot hold, so it is not \
kept: density, tEXt" copy "$samples/f-rgb.png" out.ppm
gives 0 '' -q copy "$samples/f-rgb.png" out.ppm
gives 0 '' --strip copy "$samples/f-rgb.png" out.ppm

# A misnamed file stays what it is.
cp "$samples/f-rgb.png" wrong.jpg
gives 0 'gimgxf: wrong.jpg: warning: its suffix is .jpg, but it is a PNG and '\
'stays one; --format converts it' rotate90 wrong.jpg out.jpg
check 'it is a PNG' grep -q IHDR out.jpg
finish
