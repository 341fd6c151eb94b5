# TIFF: every picture of a file is turned by its own tag, every other tag is kept, by
# an oracle; with the tools of libtiff also the compressions that it alone has.
. "$ROOT/tests/cli/lib.sh"
needs python3
oracle="python3 $ROOT/tests/support/tiff.py"
if gimgxf --help all | grep -q ' tiff '; then
    check 'pictures' $oracle make
else
    finish
fi
if ! gimgxf -q copy "$samples/f.ppm" any.tif 2>stderr; then
    grep -q 'built without\|is missing' stderr && finish
fi

# ---- All kinds of samples, cuts and tags ----

for name in bits two four ten twelve fourteen gray rgb rgba five rgb16 wide float \
    double complex odd predicted reversed pages; do
    pick 2 $turns
    for op in $picked; do
        gives 0 '' "$op" $name.tif $op-$name.tif
        echo "$op $name.tif $op-$name.tif" >>turned
    done
    pick 2 1 2 3 4 5 6 7 8
    for tag in $picked; do
        tagged=$name-$tag.tif
        $oracle tag "$tag" $name.tif $tagged
        gives 0 '' transverse $tagged transverse-$tagged
        gives 0 '' upright $tagged upright-$tagged
        printf '%s\n' "transverse $tagged transverse-$tagged" \
            "copy $tagged upright-$tagged" >>turned
    done
    eight_turns $name.tif at.tif
    mv four four-$name.tif
    echo "copy $name.tif four-$name.tif" >>turned
done
judge $oracle check
makes pages.tif copy pages.tif made.tif
# A density, which stands before the directory, gets the tag of the width.
$oracle again 282 256 rgb.tif made.tif
gives 0 '' rotate90 made.tif turned.tif
gives 0 '' rotate90 turned.tif made.tif
gives 0 '' --ignore-orientation fliph $tagged made.tif
check 'as stored' [ "$($oracle field 274 made.tif)" = "$($oracle field 274 $tagged)" ]
gimgxf -q rotate90 pages.tif one.tif --threads 1
gimgxf -q rotate90 pages.tif many.tif --threads 4
first='warning: --verify looks only at the first page of a TIFF'
gives 0 "gimgxf: pages.tif: $first" --verify rotate90 pages.tif many.tif
check 'whatever the threads' same one.tif many.tif

# ---- What the tags say of the place ----

gives 0 '' rotate90 subject.tif made.tif
check 'a subject' [ "$($oracle field 37396 made.tif)" = '[11, 3, 2, 4]' ]
gives 0 '' rotate90 ome.tif made.tif
check 'OME' grep -aq 'SizeY="23" SizeX="17" PhysicalSizeY="2"' made.tif
gives 0 '' transpose shaped.tif made.tif
check 'tifffile' grep -aq '"shape": \[23, 17\]' made.tif

gives 0 '' transpose packet.tif made.tif
check 'XMP as numbers of two bytes' [ "$($oracle field 700 made.tif)" = '[66, 65, 68, 67]' ]
gives 0 'gimgxf: layers.tif: warning: the layers of Photoshop are not turned, so they are not kept: only the picture is' \
    rotate90 layers.tif made.tif
check 'no layers' [ -z "$($oracle field 37724 made.tif)" ]
gives 1 'gimgxf: layers.tif: it has layers of Photoshop, which are not turned and would be lost; --lossless refuses' \
    --lossless rotate90 layers.tif no.tif

gives 0 'gimgxf: damaged.tif: warning: 6 tags cannot be read: not kept' \
    rotate90 damaged.tif made.tif
check 'what the damage of others leaves alone' [ -n "$($oracle field 40965 made.tif)" ]
gives 0 'gimgxf: chain.tif: warning: pictures that one of SubIFDs links to as the next are not kept' \
    rotate90 chain.tif made.tif

# ---- What is refused ----

own='its own tags would no longer be true, so it is not turned'
refused 1 rotate90 <<END
rpc.tif no.tif | rpc.tif: a map by rational polynomials (RPC): $own; --strip leaves them out
geo.tif no.tif | geo.tif: a map (GeoTIFF): $own; --strip leaves them out
matrix.tif no.tif | matrix.tif: a map (GeoTIFF): $own; --strip leaves them out
stk.tif no.tif | stk.tif: a stack of MetaMorph (STK): $own
imagej.tif no.tif | imagej.tif: an ImageJ stack, whose pictures are not pages of the file; save it as BigTIFF
loop.tif no.tif | loop.tif: its directories lead back to each other
END
gives 0 '' --strip rotate90 geo.tif made.tif
gives 0 '' upright geo.tif made.tif
gimgxf rotate90 cut.tif no.tif 2>stderr
check 'a chain that is cut' grep -q 'its directory (IFD) at byte [0-9]* is missing or damaged' stderr
gives 0 "gimgxf: cut.tif: warning: $(sed 's/^gimgxf: cut.tif: //' stderr): what follows is lost" \
    --tolerant rotate90 cut.tif made.tif
check 'no output' absent no.tif
for ((n = 0; n < 600; n += 7)); do
    head -c $n predicted.tif >short.tif
    gimgxf -q rotate90 short.tif no.tif 2>stderr
    check "cut to $n bytes" [ "$?:$(wc -l <stderr)" = 1:1 ]
done
gives 0 'gimgxf: few.tif: warning: strip 0 is damaged: libtiff: it is too short; 1 such part is kept as far as can be read' \
    rotate90 few.tif made.tif
for fill in 85 170; do
    MALLOC_PERTURB_=$fill gimgxf -q rotate90 few.tif made.$fill.tif
done
check 'rows that a strip lacks do not come from memory' same made.85.tif made.170.tif

# ---- Other formats ----

for file in f-rgb.png f-gray16.png f-rgba.png f.bmp f.pfm; do
    pick 1 $turns
    for op in $picked; do
        check "$op $file" gimgxf -q $op "$samples/$file" made.tif
        gimgxf -q $op "$samples/$file" want.pam --format pam 2>stderr ||
            gimgxf -q $op "$samples/$file" want.pam --format pfm
        gimgxf -q copy made.tif got.pam --format "$(head -c 2 want.pam |
            sed 's/P7/pam/; s/P[Ff]/pfm/')"
        check "$op $file as TIFF" same want.pam got.pam
    done
done
lost='cannot hold, so it is not kept: IPTC, tag 65000'
gives 0 "gimgxf: bits.tif: warning: PNG $lost" rotate90 bits.tif made.png
gives 0 "gimgxf: bits.tif: warning: TIFF of another depth $lost" \
    --depth 16 copy bits.tif made.tif
gives 0 '' --strip copy bits.tif made.pam
gives 1 'gimgxf: pages.tif: its other pictures would be lost, which --lossless refuses' \
    --lossless rotate90 pages.tif lost.png
gives 0 'gimgxf: imagej.tif: warning: only the first of its pictures is converted
gimgxf: imagej.tif: warning: PNG cannot hold, so it is not kept: description' \
    rotate90 imagej.tif first.png
gimgxf -q --depth 16 rotate90 imagej.tif made.tif
check 'what says how pages lie is not kept' [ -z "$($oracle field 270 made.tif)" ]
gimgxf -q rotate90 bits.tif made.tif
makes made.png -q copy made.tif want.png
gimgxf rotate90 double.tif no.png 2>stderr
check 'no other format has such samples' grep -q \
    'samples of 64 bits (floats, .* 1) can be turned as TIFF, but not converted' stderr
gimgxf info --json double.tif >told
check 'info does not tell the cells of such samples' \
    grep -q '"color": "channels", .*"channels": 1, "bits": 0, "float": false' told

# ---- Blocks of luma, and what libtiff alone codes ----

shown='subsampled YCbCr, or JPEG in the old style, is stored as RGB by Deflate, which takes more bytes'
refused="its subsampled YCbCr, or JPEG in the old style, would be stored as RGB; --lossless refuses"
gimgxf info blocks.tif >told
check 'info tells it' grep -q '^  all compressed again: fliph' told
for op in transpose rotate90; do
    gives 0 "gimgxf: blocks.tif: warning: $shown" \
        "$op" blocks.tif made.tif
    gimgxf -q "$op" blocks.tif want.png
    makes want.png -q copy made.tif got.png
done

check 'info tells of the loss' grep -q '"upright": "lossless", "fliph": "reencoded"' \
    <(gimgxf info --json blocks.tif)
check 'and where none is' grep -q '"fliph": "lossless"' <(gimgxf info --json rgb.tif)

# ---- JPEG in the old style ----

said='gimgxf: old.tif: warning: '
decoded="$said$shown
${said}a thumbnail within it stays as it was: strip 0 is damaged: libtiff: Not a JPEG file
${said}a thumbnail that is a JPEG file beside the pictures is not kept"
gimgxf -q --depth 8 copy "$samples/f.pgm" gray.jpg
gimgxf -q copy gray.jpg want.pgm
gimgxf -q --strip copy "$samples/f.jpg" color.jpg
for name in gray color; do
    $oracle old $name.jpg old.tif
    for op in rotate90 flipv transverse; do
        gives 1 "gimgxf: old.tif: $refused" --lossless "$op" old.tif no.tif
        gimgxf -f "$op" old.tif made.tif 2>stderr
        check "$op $name: $(cat stderr)" [ "$(sed 's/ file: .*/ file/' stderr)" = "$decoded" ]
        check "$op $name is stored as Deflate" [ "$($oracle field 259 made.tif | sed -n 1p)" = '[8]' ]
        check "no JPEG is left of $name" [ -z "$($oracle field 513 made.tif)" ]
        gimgxf -q "$op" old.tif want.png
        makes want.png -q copy made.tif got.png
        if [ $name = gray ]; then
            makes got.png -q "$op" gray.jpg want.png
        elif has_tool tiff2rgba; then
            tiff2rgba -n -c none old.tif want.tif 2>/dev/null
            gimgxf -q "$op" want.tif want.ppm
            makes want.ppm -q copy made.tif got.ppm
        fi
    done
done
check 'no output' absent no.tif

# ---- Subsampled chroma, in bits the other way round, and a thumbnail beside it ----

$oracle chroma color.jpg chroma.tif
gimgxf -f rotate90 chroma.tif made.tif 2>stderr
check 'what becomes RGB, and a thumbnail that goes' [ "$(cat stderr)" = \
    "gimgxf: chroma.tif: warning: a thumbnail that is a JPEG file beside the pictures is not kept
gimgxf: chroma.tif: warning: $shown" ]
check 'bits are in the usual order' [ -z "$($oracle field 266 made.tif)" ]
check 'no thumbnail is left' [ -z "$($oracle field 513 made.tif)" ]
gimgxf -q rotate90 chroma.tif want.png
makes want.png -q copy made.tif got.png
gives 1 "gimgxf: chroma.tif: $refused" rotate90 --lossless chroma.tif no.tif
if offers tiffcp; then
    for how in lzw lzw:2 zip:2 zstd lzma g4 g3:1d g3:2d:fill; do
        name=rgb
        case $how in g*) name=reversed ;; esac
        tiffcp -c $how $name.tif coded.tif 2>/dev/null || continue
        pick 2 $turns
        for op in $picked; do
            gives 0 '' "$op" coded.tif made.tif
            tiffcp -c none made.tif $op-${how//:/-}.tif
            tiffcp -c none coded.tif ${how//:/-}.tif
            echo "$op ${how//:/-}.tif $op-${how//:/-}.tif" >>turned
            check "$how stays" [ "$($oracle field 259 made.tif)" = \
                "$($oracle field 259 coded.tif)" ]
        done
    done
    judge $oracle check
    if tiffcp -c jpeg rgb.tif coded.tif 2>/dev/null; then
        check 'info tells of JPEG' grep -q '"fliph": "reencoded"' \
            <(gimgxf info --json coded.tif)
    fi
    if tiffcp -p contig -c webp rgba.tif coded.tif 2>/dev/null; then
        gives 0 'gimgxf: coded.tif: warning: WebP in a TIFF keeps no colors of pixels that are transparent' \
            rotate90 coded.tif made.tif
        gives 1 'gimgxf: coded.tif: its samples are coded as WebP, and would lose the colors of transparent pixels; --lossless refuses' \
            --lossless rotate90 coded.tif no.tif
    fi
fi
finish
