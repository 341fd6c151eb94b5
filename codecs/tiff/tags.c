/* What the tags of a TIFF say of the place of its picture: EXIF, XMP, the
 * resources of Photoshop, GeoTIFF, and descriptions that programs read. */
#include "codecs/tiff/turn.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/metadata/blocks.h"
#include "codecs/metadata/xmp.h"

enum {
    TAG_CELL_WIDTH = 264,
    TAG_CELL_HEIGHT = 265,
    TAG_MODEL_SCALE = 33550,
    TAG_META_MORPH = 33629,
    TAG_TIE_POINTS = 33922,
    TAG_INTERGRAPH = 33920,
    TAG_MODEL = 34264,
    TAG_LSM = 34412,
    TAG_GEO_KEYS = 34735,
    TAG_SUBJECT_AREA = 0x9214,
    TAG_SUBJECT_LOCATION = 0xa214,
    TAG_RPC = 50844,
    TAG_NDPI = 65420,
};

/* ---- Values that are changed in place ---------------------------------- */

/* Makes the values of a field its own, with a NUL behind them. */
static int own(struct field *field, struct err *err)
{
    uint8_t *copy = memory_alloc(field->size + 1);
    if (!copy)
        return fail_memory(err, "no memory for a tag");
    if (field->size)
        memcpy(copy, field->data, field->size);
    copy[field->size] = 0;
    if (field->owned)
        memory_free(field->data);
    field->data = copy;
    field->owned = true;
    return 0;
}

static bool has_text(const struct field *field, const char *text)
{
    return field && field->size &&
           memmem(field->data, field->size, text, strlen(text));
}

static bool begins(const struct field *field, const char *text)
{
    return field && field->size >= strlen(text) &&
           memcmp(field->data, text, strlen(text)) == 0;
}

/* ---- EXIF -------------------------------------------------------------- */

static void exchange_axes(struct directory *dir)
{
    static const uint16_t pairs[][2] = {
        { TAG_X_RESOLUTION, TAG_Y_RESOLUTION },
        { TAG_CELL_WIDTH, TAG_CELL_HEIGHT },
        { 0x1001, 0x1002 }, /* of a related picture */
        { 0xa002, 0xa003 }, /* of the picture, in pixels */
        { 0xa20e, 0xa20f }, /* resolution of the focal plane */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        directory_exchange(dir, pairs[i][0], pairs[i][1]);
}

/* A place in the picture, of which width and height may follow. */
static int turn_subject(const struct tiff_turn *turn, struct directory *dir,
                        unsigned tag, struct err *err)
{
    const struct field *field = directory_find(dir, tag);
    const uint32_t size[2] = { turn->width, turn->height };
    const bool flip = xform_transposes(turn->t);
    uint64_t was[4] = { 0 }, is[4];
    if (!field || field->count < 2 || field->count > 4)
        return 0;
    for (unsigned i = 0; i < field->count; i++)
        was[i] = directory_number(turn->form, dir, tag, i, 0);
    memcpy(is, was, sizeof is);
    if (was[0] >= size[0] || was[1] >= size[1])
        return 0;
    is[0] = turn->t & XFORM_MIRROR_X ? size[flip] - 1 - was[flip] : was[flip];
    is[1] =
        turn->t & XFORM_MIRROR_Y ? size[!flip] - 1 - was[!flip] : was[!flip];
    if (field->count == 4 && flip) {
        is[2] = was[3];
        is[3] = was[2];
    }
    const struct field made = *field;
    return directory_set_numbers(turn->form, dir, &made, is, err);
}

/* ---- GeoTIFF ----------------------------------------------------------- */

/* Returns the count of a field of doubles; 0 if there is none. */
static uint64_t doubles(const struct field *field)
{
    return field && field->type == FIELD_DOUBLE ? field->count : 0;
}

/* Returns whether places are those of the middles of pixels. */
static bool is_point(const struct tiff_turn *turn, const struct directory *dir)
{
    enum { RASTER_TYPE = 1025, POINT = 2 };
    const struct field *keys = directory_find(dir, TAG_GEO_KEYS);
    for (uint64_t i = 4; keys && i + 3 < keys->count; i += 4)
        if (directory_number(turn->form, dir, TAG_GEO_KEYS, i, 0) ==
            RASTER_TYPE)
            return directory_number(turn->form, dir, TAG_GEO_KEYS, i + 3, 0) ==
                   POINT;
    return false;
}

/* The matrix that leads from pixels to the map, of a tie point and a scale
 * (GeoTIFF 1.0, 2.6.3). */
static void matrix_of(struct tiff_form form, const struct field *tie,
                      const struct field *scale, double m[16])
{
    double p[6], s[3];
    for (unsigned i = 0; i < 6; i++)
        p[i] = tiff_read_double(form, tie->data + 8 * i);
    for (unsigned i = 0; i < 3; i++)
        s[i] = tiff_read_double(form, scale->data + 8 * i);
    memset(m, 0, 16 * sizeof *m);
    m[0] = s[0];
    m[5] = -s[1];
    m[10] = s[2];
    m[3] = p[3] - p[0] * s[0];
    m[7] = p[4] + p[1] * s[1];
    m[11] = p[5] - p[2] * s[2];
    m[15] = 1;
}

/* Puts the turn before what the matrix does. Zeros stay positive. */
static void turn_matrix(double m[16], enum xform t, double width, double height)
{
    const unsigned x = xform_transposes(t) ? 1 : 0; /* becomes the columns */
    for (unsigned row = 0; row < 12; row += 4) {
        const double a = m[row + x], b = m[row + !x];
        m[row] = (t & XFORM_MIRROR_X ? -a : a) + 0.0;
        m[row + 1] = (t & XFORM_MIRROR_Y ? -b : b) + 0.0;
        if (t & XFORM_MIRROR_X)
            m[row + 3] += a * width;
        if (t & XFORM_MIRROR_Y)
            m[row + 3] += b * height;
    }
}

static int turn_ties(const struct tiff_turn *turn, struct field *tie,
                     const double size[2], struct err *err)
{
    const bool flip = xform_transposes(turn->t);
    if (own(tie, err))
        return -1;
    for (uint64_t i = 0; i + 6 <= tie->count; i += 6) {
        uint8_t *p = tie->data + 8 * i;
        const double was[2] = { tiff_read_double(turn->form, p),
                                tiff_read_double(turn->form, p + 8) };
        for (unsigned k = 0; k < 2; k++) {
            const bool back = turn->t & (k ? XFORM_MIRROR_Y : XFORM_MIRROR_X);
            const double at = was[flip ? !k : k];
            tiff_write_double(turn->form, p + 8 * k, back ? size[k] - at : at);
        }
    }
    return 0;
}

static int turn_map(const struct tiff_turn *turn, struct directory *dir,
                    struct err *err)
{
    struct field *tie = directory_find(dir, TAG_TIE_POINTS);
    const struct field *scale = directory_find(dir, TAG_MODEL_SCALE);
    const struct field *model = directory_find(dir, TAG_MODEL);
    const double less = is_point(turn, dir) ? 1 : 0;
    const bool flip = xform_transposes(turn->t);
    const double size[2] = { (flip ? turn->height : turn->width) - less,
                             (flip ? turn->width : turn->height) - less };
    double m[16];
    uint8_t data[sizeof m];
    if (doubles(model) == 16) {
        for (unsigned i = 0; i < 16; i++)
            m[i] = tiff_read_double(turn->form, model->data + 8 * i);
    } else if (doubles(tie) >= 6 && doubles(scale) >= 3) {
        matrix_of(turn->form, tie, scale, m);
    } else {
        return doubles(tie) ? turn_ties(turn, tie, size, err) : 0;
    }
    turn_matrix(m, turn->t, size[0], size[1]);
    for (unsigned i = 0; i < 16; i++)
        tiff_write_double(turn->form, data + 8 * i, m[i]);
    directory_remove(dir, TAG_TIE_POINTS);
    directory_remove(dir, TAG_MODEL_SCALE);
    return directory_set(dir, TAG_MODEL, FIELD_DOUBLE, data, 16, err);
}

/* ---- Descriptions ------------------------------------------------------ */

/* tifffile says the shape of all pages: finds the numbers of rows and columns
 * in it, with the text between them. Returns false if it is another shape. */
static bool find_shape(const struct tiff_turn *turn, const char *text,
                       const char **rows, const char **end)
{
    const char *at[16], *p = strchr(text, '[');
    unsigned long long value[16];
    unsigned n = 0, last;
    char *behind = NULL;
    for (; p && *p != ']' && n < 16; p = behind + strspn(behind, " ")) {
        at[n] = p + 1 + strspn(p + 1, " ");
        value[n] = strtoull(at[n], &behind, 10);
        if (behind == at[n++])
            return false;
    }
    last = n - 1;
    if (n > 2 && !turn->separate && turn->samples > 1)
        last--;
    else if (n > 2 && value[last] == 1 && turn->width != 1)
        last--;
    if (!p || n < 2 || value[last] != turn->width ||
        value[last - 1] != turn->height)
        return false;
    *rows = at[last - 1];
    *end = at[last] + strspn(at[last], "0123456789");
    return true;
}

/* Exchanges two numbers and keeps what stands between them. */
static void exchange_numbers(char *from, const char *end)
{
    char text[128];
    const size_t size = (size_t)(end - from);
    const size_t first = strspn(from, "0123456789");
    const size_t gap = strcspn(from + first, "0123456789");
    if (size >= sizeof text)
        return;
    const size_t second = size - first - gap;
    memcpy(text, from + first + gap, second);
    memcpy(text + second, from + first, gap);
    memcpy(text + second + gap, from, first);
    memcpy(from, text, size);
}

/* OME-XML: SizeX becomes SizeY, and PhysicalSizeX and its unit. */
static void exchange_sizes(uint8_t *text, size_t size)
{
    for (size_t i = 1; i + 5 < size; i++)
        if ((text[i - 1] == 'l' || isspace(text[i - 1])) &&
            memcmp(text + i, "Size", 4) == 0 &&
            (text[i + 4] == 'X' || text[i + 4] == 'Y'))
            text[i + 4] ^= 'X' ^ 'Y';
}

static bool is_ome(const struct field *description)
{
    return has_text(description, "<OME") || has_text(description, "<ome:OME");
}

static int turn_description(const struct tiff_turn *turn, struct directory *dir,
                            struct err *err)
{
    struct field *field = directory_find(dir, TAG_DESCRIPTION);
    const char *rows, *end;
    if (!xform_transposes(turn->t) || !field)
        return 0;
    if (own(field, err))
        return -1;
    if (is_ome(field))
        exchange_sizes(field->data, field->size);
    else if (begins(field, "{\"shape\":") &&
             find_shape(turn, (const char *)field->data, &rows, &end))
        exchange_numbers((char *)field->data + (rows - (char *)field->data),
                         end);
    return 0;
}

/* ---- Metadata of other rooms ------------------------------------------- */

/* Turns a packet of XMP or resources of Photoshop. */
static int turn_body(struct bytes *body, unsigned tag, enum xform t,
                     const struct tiff_turn *turn, const struct save_opts *save,
                     struct err *err)
{
    const bool flip = xform_transposes(turn->t);
    const struct lengths lengths = { .count = 0 };
    struct image img = {
        .width = flip ? turn->height : turn->width,
        .height = flip ? turn->width : turn->height,
        .turned = t,
        .orientation = 1,
        .meta = meta_new(&codec_tiff),
    };
    uint64_t allowance = embedded_jpeg_allowance(&img);
    struct save_opts own = *save;
    own.allowance = &allowance;
    int status = -1;
    if (!img.meta)
        fail_memory(err, "no memory for a tag");
    else if (tag == TAG_PACKET)
        status = xmp_packet_turn(body, SIZE_MAX, &img, &own, &lengths, err);
    else
        status = photoshop_turn(body, SIZE_MAX, &img, &own, err);
    meta_free(img.meta);
    return status;
}

/* A thumbnail that changes whenever it is turned is not kept: it is encoded
 * anew each time, with loss. */
static int keep_exact(struct bytes *body, const struct tiff_turn *turn,
                      struct err *err)
{
    const struct image still = { .turned = XFORM_NONE };
    struct warnings unheard = { 0 };
    struct save_opts save = *turn->save;
    struct bytes again = { 0 };
    save.warnings = &unheard;
    if (!bytes_append(&again, body->data, body->size))
        return fail_memory(err, "no memory for a tag");
    int status =
        turn_body(&again, TAG_PHOTOSHOP, xform_inverse(turn->t), turn, &save,
                  err) ||
                turn_body(&again, TAG_PHOTOSHOP, turn->t, turn, &save, err)
            ? -1
            : 0;
    if (status == 0 && (again.size != body->size ||
                        memcmp(again.data, body->data, body->size) != 0)) {
        warn(turn->save->warnings, "the thumbnail of Photoshop cannot be "
                                   "turned without loss, so it is not kept");
        save.drop |= DROP_THUMBNAIL;
        status = photoshop_turn(body, SIZE_MAX, &still, &save, err);
    }
    bytes_free(&again);
    return status;
}

/* Makes a packet of XMP or resources of Photoshop true of the picture. */
static int turn_block(const struct tiff_turn *turn, struct directory *dir,
                      unsigned tag, struct err *err)
{
    const struct field *field = directory_find(dir, tag);
    struct bytes body = { 0 };
    if (!field || !field->size)
        return 0;
    if (!bytes_append(&body, field->data, field->size))
        return fail_memory(err, "no memory for a tag");
    const unsigned type = field->type;
    int status = turn_body(&body, tag, turn->t, turn, turn->save, err);
    if (status == 0 && tag == TAG_PHOTOSHOP && turn->t != XFORM_NONE)
        status = keep_exact(&body, turn, err);
    if (status == 0)
        status = directory_set(dir, tag, type, body.data, body.size, err);
    bytes_free(&body);
    return status;
}

/* Photoshop shows its layers, not the picture. */
static int drop_layers(const struct tiff_turn *turn, struct directory *dir,
                       struct err *err)
{
    static const char *const keys[] = { "Layr", "Lr16", "Lr32",
                                        "ryaL", "61rL", "23rL" };
    const struct field *field = directory_find(dir, TAG_LAYERS);
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        found = found || has_text(field, keys[i]);
    if (!found || turn->t == XFORM_NONE)
        return 0;
    if (turn->save->lossless)
        return fail(err, "it has layers of Photoshop, which are not turned "
                         "and would be lost; --lossless refuses");
    warn(turn->save->warnings, "the layers of Photoshop are not turned, so "
                               "they are not kept: only the picture is");
    directory_remove(dir, TAG_LAYERS);
    return 0;
}

/* ---- What is left out -------------------------------------------------- */

/* Returns whether a tag says how the samples lie or look. */
static bool is_needed(unsigned tag, bool strip_all)
{
    static const uint16_t needed[] = {
        254, 256, 257, 258, 259, 262, 266, 273, 274, 277,   278,
        279, 280, 281, 284, 290, 291, 292, 293, 301, 317,   318,
        319, 320, 322, 323, 324, 325, 330, 332, 333, 334,   336,
        338, 339, 340, 341, 347, 529, 530, 531, 532, 50674,
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i] == tag)
            return true;
    return tag == TAG_ICC && !strip_all;
}

static void leave_out(const struct tiff_turn *turn, struct directory *dir)
{
    static const struct {
        unsigned drop, tag;
    } named[] = { { DROP_GPS, TAG_GPS_IFD },
                  { DROP_EXIF, TAG_EXIF_IFD },
                  { DROP_EXIF, TAG_GPS_IFD },
                  { DROP_XMP, TAG_PACKET },
                  { DROP_ICC, TAG_ICC } };
    const struct save_opts *save = turn->save;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (save->drop & named[i].drop)
            directory_remove(dir, named[i].tag);
    for (size_t i = 0; save->strip && i < dir->nfields;) {
        const unsigned tag = dir->field[i].tag;
        if (is_needed(tag, save->strip == STRIP_ALL))
            i++;
        else
            directory_remove(dir, tag);
    }
}

/* ---- All of it --------------------------------------------------------- */

/* Those that hold places in the file, or what no turn keeps true. */
static int check_tags(const struct directory *dir, bool turned, struct err *err)
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
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if ((refused[i].always || turned) &&
            directory_find(dir, refused[i].tag))
            return fail_unread(err,
                               "%s: its own tags would no longer be true, so "
                               "it is not turned",
                               refused[i].what);
    return 0;
}

int tags_check(const struct tiff_turn *turn, const struct directory *dir,
               uint64_t pages, struct err *err)
{
    const struct field *field = directory_find(dir, TAG_DESCRIPTION);
    const bool turned = turn->t != XFORM_NONE;
    const char *images, *rows, *end;
    if (check_tags(dir, turned, err))
        return -1;
    if (!field || !field->size || !turned)
        return 0;
    char *text = memory_alloc(field->size + 1);
    if (!text)
        return fail_memory(err, "no memory for a description");
    memcpy(text, field->data, field->size);
    text[field->size] = 0;
    int status = 0;
    images = begins(field, "ImageJ=") ? strstr(text, "\nimages=") : NULL;
    if (images && strtoull(images + 8, NULL, 10) > pages)
        status = fail_unread(err, "an ImageJ stack, whose pictures are not "
                                  "pages of the file; save it as BigTIFF");
    else if (begins(field, "{\"shape\":") &&
             (strstr(text, "\"truncated\": true") ||
              (xform_transposes(turn->t) &&
               !find_shape(turn, text, &rows, &end))))
        status = fail_unread(err, "an array of tifffile, whose shape is not "
                                  "that of its pages");
    else if (is_ome(field) && strstr(text, "<BinaryOnly") &&
             xform_transposes(turn->t))
        status = fail_unread(err, "an OME-TIFF whose sizes are in another "
                                  "file");
    else if (is_ome(field) && strstr(text, "<ROI "))
        warn(turn->save->warnings, "regions in OME-XML stay where they were");
    memory_free(text);
    return status;
}

/* The size is that of the stored samples, which may be larger than a tag can
 * hold in its type. */
int tags_turn(const struct tiff_turn *turn, struct directory *dir,
              struct err *err)
{
    struct field *exif = directory_find(dir, TAG_EXIF_IFD);
    struct directory *of[] = { dir, exif ? exif->child : NULL };
    leave_out(turn, dir);
    exif = directory_find(dir, TAG_EXIF_IFD);
    of[1] = exif ? exif->child : NULL;
    for (unsigned i = 0; i < 2 && of[i]; i++) {
        const unsigned orientation = turn->save->orientation;
        if (turn_subject(turn, of[i], TAG_SUBJECT_AREA, err) ||
            turn_subject(turn, of[i], TAG_SUBJECT_LOCATION, err))
            return -1;
        if (xform_transposes(turn->t))
            exchange_axes(of[i]);
        if (orientation && directory_find(of[i], TAG_ORIENTATION) &&
            directory_set_number(turn->form, of[i], TAG_ORIENTATION,
                                 orientation, err))
            return -1;
    }
    if (turn_block(turn, dir, TAG_PACKET, err) ||
        turn_block(turn, dir, TAG_PHOTOSHOP, err) ||
        drop_layers(turn, dir, err))
        return -1;
    return turn->t == XFORM_NONE                                          ? 0
           : turn_map(turn, dir, err) || turn_description(turn, dir, err) ? -1
                                                                          : 0;
}
