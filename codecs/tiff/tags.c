/* What the tags of a TIFF say of the place of its picture: EXIF, XMP, the
 * resources of Photoshop, and descriptions that programs read. */
#include "codecs/tiff/tiff.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/image/frames.h"
#include "codecs/metadata/blocks.h"
#include "codecs/metadata/xmp.h"

enum {
    TAG_CELL_WIDTH = 264,
    TAG_CELL_HEIGHT = 265,
    TAG_MODEL_SCALE = 33550,
    TAG_META_MORPH = 33629,
    TAG_INTERGRAPH = 33920,
    TAG_TIE_POINTS = 33922,
    TAG_MODEL = 34264,
    TAG_PHOTOSHOP = 34377,
    TAG_LSM = 34412,
    TAG_SUBJECT_AREA = 0x9214,
    TAG_LAYERS = 37724,
    TAG_SUBJECT_LOCATION = 0xa214,
    TAG_RPC = 50844,
    TAG_NDPI = 65420,
};

/* The size of the picture before the turn; its axes are exchanged last. */
static uint32_t width_of(const struct directory *dir)
{
    return (uint32_t)directory_number(dir, TAG_WIDTH, 0, 0);
}

static uint32_t height_of(const struct directory *dir)
{
    return (uint32_t)directory_number(dir, TAG_HEIGHT, 0, 0);
}

/* ---- Descriptions ------------------------------------------------------ */

/* tifffile says the shape of all pages, as "[2, 17, 23, 3]": exchanges rows and
 * columns, behind which samples may follow. Returns false if it is another
 * shape. */
static bool turn_shape(const struct directory *dir, char *text)
{
    const uint32_t w = width_of(dir), h = height_of(dir);
    char was[32], is[32], *at = text, *found = NULL;
    const int n = snprintf(was, sizeof was, "%u, %u", h, w);
    snprintf(is, sizeof is, "%u, %u", w, h);
    const char *end = strchr(text, ']');
    for (; end && (at = strstr(at, was)) && at < end; at++)
        if ((at[-1] == '[' || at[-1] == ' ') && (at[n] == ']' || at[n] == ','))
            found = at;
    if (found)
        memcpy(found, is, (size_t)n);
    return found;
}

/* Makes a description true of a turned picture. */
static int turn_description(struct directory *dir, uint64_t pages,
                            struct warnings *warnings, struct err *err)
{
    const bool flip = xform_transposes(dir->turn);
    char *text = (char *)directory_own(dir, TAG_DESCRIPTION);
    if (!text)
        return 0;
    const char *images =
        strncmp(text, "ImageJ=", 7) ? NULL : strstr(text, "\nimages=");
    if (images && strtoull(images + 8, NULL, 10) > pages)
        return fail_unread(err, "an ImageJ stack, whose pictures are not "
                                "pages of the file; save it as BigTIFF");
    if (strncmp(text, "{\"shape\":", 9) == 0 &&
        (strstr(text, "\"truncated\": true") ||
         (flip && !turn_shape(dir, text))))
        return fail_unread(err, "an array of tifffile, whose shape is not "
                                "that of its pages");
    if (!strstr(text, "<OME") && !strstr(text, "<ome:OME"))
        return 0;
    if (flip && strstr(text, "<BinaryOnly"))
        return fail_unread(err, "an OME-TIFF whose sizes are in another file");
    /* SizeX becomes SizeY, and PhysicalSizeX and its unit. */
    for (char *p = text; flip && (p = strstr(p, "Size")); p += 4)
        if (p > text && (p[-1] == 'l' || isspace((unsigned char)p[-1])) &&
            (p[4] == 'X' || p[4] == 'Y'))
            p[4] ^= 'X' ^ 'Y';
    if (strstr(text, "<ROI "))
        warn(warnings, "regions in OME-XML stay where they were");
    return 0;
}

/* Some hold places in the file, or what no turn keeps true. */
int tags_check(struct directory *dir, uint64_t pages,
               const struct save_opts *save, struct err *err)
{
    static const struct {
        unsigned tag;
        bool always;
        const char *what;
    } refused[] = {
        { TAG_LSM, true, "a stack of a Zeiss microscope (LSM)" },
        { TAG_META_MORPH, true, "a stack of MetaMorph (STK)" },
        { TAG_NDPI, true, "a slide of Hamamatsu (NDPI)" },
        { TAG_RPC, false, "a map by rational polynomials (RPC)" },
        { TAG_INTERGRAPH, false, "a map by the matrix of Intergraph" },
        { TAG_MODEL_SCALE, false, "a map (GeoTIFF)" },
        { TAG_TIE_POINTS, false, "a map (GeoTIFF)" },
        { TAG_MODEL, false, "a map (GeoTIFF)" },
    };
    const bool turned = dir->turn != XFORM_NONE;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if ((refused[i].always || (turned && !save->strip)) &&
            directory_find(dir, refused[i].tag))
            return fail_unread(err,
                               "%s: its own tags would no longer be true, so "
                               "it is not turned%s",
                               refused[i].what,
                               refused[i].always ? ""
                                                 : "; --strip leaves them out");
    return turned ? turn_description(dir, pages, save->warnings, err) : 0;
}

/* ---- Metadata ---------------------------------------------------------- */

/* Turns a place in the picture, of which width and height may follow. */
static void turn_subject(const struct directory *picture, struct directory *dir,
                         unsigned tag)
{
    const struct field *field = directory_find(dir, tag);
    const uint32_t w = width_of(picture), h = height_of(picture);
    const bool flip = xform_transposes(picture->turn);
    uint64_t v[4] = { 0 };
    if (!field || field->count < 2 || field->count > 4)
        return;
    for (unsigned i = 0; i < field->count; i++)
        v[i] = directory_number(dir, tag, i, 0);
    if (v[0] >= w || v[1] >= h)
        return;
    const struct frame_place pixel = { (uint32_t)v[0], (uint32_t)v[1], 1, 1 },
                             is = frame_place_turn(pixel, picture->turn,
                                                   flip ? h : w, flip ? w : h);
    const bool sized = flip && field->count == 4;
    const uint64_t turned[4] = { is.x, is.y, v[sized ? 3 : 2],
                                 v[sized ? 2 : 3] };
    directory_set_numbers(dir, tag, field->type, turned, field->count);
}

/* Makes a packet of XMP or resources of Photoshop true of the picture. */
static int turn_block(struct directory *dir, unsigned tag,
                      const struct save_opts *opts, struct err *err)
{
    const struct field *field = directory_find(dir, tag);
    const bool flip = xform_transposes(dir->turn);
    const struct lengths lengths = { .count = 0 };
    const struct image img = {
        .width = flip ? height_of(dir) : width_of(dir),
        .height = flip ? width_of(dir) : height_of(dir),
        .turned = dir->turn,
        .orientation = 1,
    };
    struct bytes body = { 0 };
    if (!field || !field->size)
        return 0;
    if (!bytes_append(&body, field->data, field->size))
        return fail_memory(err, "no memory for a tag");
    const int status =
        tag == TAG_PACKET
            ? xmp_packet_turn(&body, SIZE_MAX, &img, opts, &lengths, err)
            : photoshop_turn(&body, &img, opts, err);
    if (status == 0) /* it may be numbers of several bytes */
        directory_set(dir, tag,
                      field->count == field->size ? field->type : FIELD_BYTE,
                      body.data, body.size);
    bytes_free(&body);
    return status;
}

void tags_set_coding(struct directory *dir, const struct coding *c)
{
    const struct {
        unsigned tag;
        uint64_t value, count;
    } tags[] = {
        { TAG_BITS, c->bits, c->samples },
        { TAG_COMPRESSION, c->compression, 1 },
        { TAG_PHOTOMETRIC, c->photometric, 1 },
        { TAG_SAMPLES, c->samples, 1 },
        { TAG_PLANAR, 1, 1 },
        { TAG_PREDICTOR, c->predictor, c->predictor > 1 },
        { TAG_EXTRA_SAMPLES, 2, c->samples % 2 == 0 },
        { TAG_SAMPLE_FORMAT, c->format, c->samples },
    };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const uint64_t value = tags[i].value;
        const uint64_t values[4] = { value, value, value, value };
        if (tags[i].count)
            directory_set_numbers(dir, tags[i].tag, FIELD_SHORT, values,
                                  tags[i].count);
        else
            directory_remove(dir, tags[i].tag);
    }
}

/* What says how the samples lie or look. */
static const uint16_t needed[] = {
    254, 256, 257, 258, 259, 262, 266, 273, 274, 277, 278, 279, 280,   281, 284,
    290, 291, 292, 293, 301, 317, 318, 319, 320, 322, 323, 324, 325,   330, 332,
    333, 334, 336, 338, 339, 340, 341, 347, 529, 530, 531, 532, 50674,
};

int tags_turn(struct directory *dir, const struct save_opts *save,
              struct err *err)
{
    static const uint16_t axes[][2] = {
        { TAG_WIDTH, TAG_HEIGHT },
        { TAG_TILE_WIDTH, TAG_TILE_HEIGHT },
        { TAG_X_RESOLUTION, TAG_Y_RESOLUTION },
        { TAG_CELL_WIDTH, TAG_CELL_HEIGHT },
        { 0x1001, 0x1002 }, /* of a related picture */
        { 0xa002, 0xa003 }, /* of the picture, in pixels */
        { 0xa20e, 0xa20f }, /* resolution of the focal plane */
    };
    static const struct {
        unsigned drop, tag;
    } named[] = { { DROP_GPS, TAG_GPS_IFD },
                  { DROP_EXIF, TAG_EXIF_IFD },
                  { DROP_EXIF, TAG_GPS_IFD },
                  { DROP_XMP, TAG_PACKET },
                  { DROP_ICC, TAG_ICC } };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (save->drop & named[i].drop)
            directory_remove(dir, named[i].tag);
    for (size_t i = dir->nfields; save->strip && i-- > 0;) {
        const unsigned tag = dir->field[i].tag;
        bool kept = tag == TAG_ICC && save->strip != STRIP_ALL;
        for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
            kept = kept || needed[k] == tag;
        if (!kept)
            directory_remove(dir, tag);
        i = i < dir->nfields ? i : dir->nfields;
    }
    const struct field *exif = directory_find(dir, TAG_EXIF_IFD);
    struct directory *of[] = { dir, exif ? exif->child : NULL };
    for (unsigned i = 0; i < 2 && of[i]; i++) {
        turn_subject(dir, of[i], TAG_SUBJECT_AREA);
        turn_subject(dir, of[i], TAG_SUBJECT_LOCATION);
        if (save->orientation && directory_find(of[i], TAG_ORIENTATION))
            directory_set_number(of[i], TAG_ORIENTATION, save->orientation);
    }
    if (turn_block(dir, TAG_PACKET, save, err) ||
        turn_block(dir, TAG_PHOTOSHOP, save, err))
        return -1;
    /* Photoshop shows its layers, not the picture. */
    if (directory_find(dir, TAG_LAYERS) && dir->turn != XFORM_NONE) {
        if (save->lossless)
            return fail(err, "it has layers of Photoshop, which are not turned "
                             "and would be lost; --lossless refuses");
        warn(save->warnings, "the layers of Photoshop are not turned, so "
                             "they are not kept: only the picture is");
        directory_remove(dir, TAG_LAYERS);
    }
    for (unsigned i = 0; i < 2 && of[i]; i++)
        for (size_t k = 0; k < sizeof axes / sizeof *axes; k++)
            if (xform_transposes(dir->turn))
                directory_exchange(of[i], axes[k][0], axes[k][1]);
    return 0;
}
