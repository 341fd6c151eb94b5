/* What the tags of a TIFF say of the place of its picture: EXIF, XMP, the
 * resources of Photoshop, GeoTIFF, and descriptions that programs read. */
#include "codecs/tiff/turn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
    TAG_GEO_KEYS = 34735,
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

/* ---- EXIF -------------------------------------------------------------- */

static void exchange_axes(struct directory *dir)
{
    static const uint16_t pairs[][2] = {
        { TAG_WIDTH, TAG_HEIGHT },
        { TAG_TILE_WIDTH, TAG_TILE_HEIGHT },
        { TAG_X_RESOLUTION, TAG_Y_RESOLUTION },
        { TAG_CELL_WIDTH, TAG_CELL_HEIGHT },
        { 0x1001, 0x1002 }, /* of a related picture */
        { 0xa002, 0xa003 }, /* of the picture, in pixels */
        { 0xa20e, 0xa20f }, /* resolution of the focal plane */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        directory_exchange(dir, pairs[i][0], pairs[i][1]);
}

/* Turns a place in the picture, of which width and height may follow. */
static void turn_subject(const struct directory *picture, struct directory *dir,
                         unsigned tag)
{
    const struct field *field = directory_find(dir, tag);
    const enum xform t = picture->turn;
    const uint32_t size[2] = { width_of(picture), height_of(picture) };
    const bool flip = xform_transposes(t);
    uint64_t was[4] = { 0 };
    if (!field || field->count < 2 || field->count > 4)
        return;
    for (unsigned i = 0; i < field->count; i++)
        was[i] = directory_number(dir, tag, i, 0);
    if (was[0] >= size[0] || was[1] >= size[1])
        return;
    const bool sized = flip && field->count == 4;
    const uint64_t x = was[flip], y = was[!flip];
    const uint64_t is[4] = {
        t & XFORM_MIRROR_X ? size[flip] - 1 - x : x,
        t & XFORM_MIRROR_Y ? size[!flip] - 1 - y : y,
        was[sized ? 3 : 2],
        was[sized ? 2 : 3],
    };
    directory_set_numbers(dir, tag, field->type, is, field->count);
}

/* ---- GeoTIFF ----------------------------------------------------------- */

/* Reads n doubles of a field. Returns false if it has fewer. */
static bool get_doubles(const struct directory *dir, unsigned tag, double *to,
                        unsigned n)
{
    const struct field *field = directory_find(dir, tag);
    if (!field || field->type != FIELD_DOUBLE || field->count < n)
        return false;
    for (unsigned i = 0; i < n; i++)
        to[i] = tiff_read_double(dir->form, field->data + 8 * i);
    return true;
}

/* Returns whether places are those of the middles of pixels. */
static bool is_point(const struct directory *dir)
{
    enum { RASTER_TYPE = 1025, POINT = 2 };
    const struct field *keys = directory_find(dir, TAG_GEO_KEYS);
    for (uint64_t i = 4; keys && i + 3 < keys->count; i += 4)
        if (directory_number(dir, TAG_GEO_KEYS, i, 0) == RASTER_TYPE)
            return directory_number(dir, TAG_GEO_KEYS, i + 3, 0) == POINT;
    return false;
}

/* Reads the matrix that leads from pixels to the map, or makes it of a tie
 * point and a scale (GeoTIFF 1.0, 2.6.3). */
static bool read_matrix(const struct directory *dir, double m[16])
{
    const struct field *model = directory_find(dir, TAG_MODEL);
    double p[6], s[3];
    if (model && model->count == 16 && get_doubles(dir, TAG_MODEL, m, 16))
        return true;
    if (!get_doubles(dir, TAG_TIE_POINTS, p, 6) ||
        !get_doubles(dir, TAG_MODEL_SCALE, s, 3))
        return false;
    memset(m, 0, 16 * sizeof *m);
    m[0] = s[0];
    m[5] = -s[1];
    m[10] = s[2];
    m[3] = p[3] - p[0] * s[0];
    m[7] = p[4] + p[1] * s[1];
    m[11] = p[5] - p[2] * s[2];
    m[15] = 1;
    return true;
}

/* Turns tie points alone, of places in a picture of this size, turned. */
static void turn_ties(struct directory *dir, const double size[2])
{
    const struct field *tie = directory_find(dir, TAG_TIE_POINTS);
    const bool flip = xform_transposes(dir->turn);
    const uint64_t count =
        tie && tie->type == FIELD_DOUBLE ? tie->count / 6 : 0;
    uint8_t *p = count ? directory_own(dir, TAG_TIE_POINTS) : NULL;
    for (uint64_t i = 0; p && i < count; i++, p += 6 * 8) {
        const double was[2] = { tiff_read_double(dir->form, p),
                                tiff_read_double(dir->form, p + 8) };
        for (unsigned k = 0; k < 2; k++) {
            const bool back = dir->turn & (k ? XFORM_MIRROR_Y : XFORM_MIRROR_X);
            const double at = was[flip ? !k : k];
            tiff_write_double(dir->form, p + 8 * k, back ? size[k] - at : at);
        }
    }
}

/* Puts the turn before what leads to the map. Zeros stay positive. */
static void turn_map(struct directory *dir)
{
    const double less = is_point(dir) ? 1 : 0;
    const enum xform t = dir->turn;
    const bool flip = xform_transposes(t);
    const double size[2] = { (flip ? height_of(dir) : width_of(dir)) - less,
                             (flip ? width_of(dir) : height_of(dir)) - less };
    double m[16];
    uint8_t data[sizeof m];
    if (!read_matrix(dir, m)) {
        turn_ties(dir, size);
        return;
    }
    for (unsigned row = 0; row < 12; row += 4) {
        const double a = m[row + flip], b = m[row + !flip];
        m[row] = (t & XFORM_MIRROR_X ? -a : a) + 0.0;
        m[row + 1] = (t & XFORM_MIRROR_Y ? -b : b) + 0.0;
        if (t & XFORM_MIRROR_X)
            m[row + 3] += a * size[0];
        if (t & XFORM_MIRROR_Y)
            m[row + 3] += b * size[1];
    }
    for (unsigned i = 0; i < 16; i++)
        tiff_write_double(dir->form, data + 8 * i, m[i]);
    directory_remove(dir, TAG_TIE_POINTS);
    directory_remove(dir, TAG_MODEL_SCALE);
    directory_set(dir, TAG_MODEL, FIELD_DOUBLE, data, 16);
}

/* ---- Descriptions ------------------------------------------------------ */

/* tifffile says the shape of all pages: finds the numbers of rows and columns
 * in it, with the text between them. Returns false if it is another shape. */
static bool find_shape(const struct directory *dir, char *text, char **rows,
                       char **end)
{
    const uint32_t width = width_of(dir), height = height_of(dir);
    char *at[16], *p = strchr(text, '[');
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
    if (n > 2 && directory_number(dir, TAG_PLANAR, 0, 1) != 2 &&
        directory_number(dir, TAG_SAMPLES, 0, 1) > 1)
        last--;
    else if (n > 2 && value[last] == 1 && width != 1)
        last--;
    if (!p || n < 2 || value[last] != width || value[last - 1] != height)
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
static void exchange_sizes(char *text)
{
    for (char *p = text; (p = strstr(p, "Size")); p += 4)
        if (p > text && (p[-1] == 'l' || isspace((unsigned char)p[-1])) &&
            (p[4] == 'X' || p[4] == 'Y'))
            p[4] ^= 'X' ^ 'Y';
}

static bool is_ome(const char *text)
{
    return strstr(text, "<OME") || strstr(text, "<ome:OME");
}

static bool is_shaped(const char *text)
{
    return strncmp(text, "{\"shape\":", 9) == 0;
}

static void turn_description(struct directory *dir)
{
    char *text = (char *)directory_own(dir, TAG_DESCRIPTION), *rows, *end;
    if (text && is_ome(text))
        exchange_sizes(text);
    else if (text && is_shaped(text) && find_shape(dir, text, &rows, &end))
        exchange_numbers(rows, end);
}

/* ---- Metadata of other rooms ------------------------------------------- */

/* Turns a packet of XMP or resources of Photoshop. */
static int turn_body(struct bytes *body, unsigned tag,
                     const struct directory *dir, enum xform t,
                     const struct save_opts *save, struct err *err)
{
    const bool flip = xform_transposes(t);
    const struct lengths lengths = { .count = 0 };
    struct image img = {
        .width = flip ? height_of(dir) : width_of(dir),
        .height = flip ? width_of(dir) : height_of(dir),
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
static int keep_exact(struct bytes *body, const struct directory *dir,
                      const struct save_opts *opts, struct err *err)
{
    const struct image still = { .turned = XFORM_NONE };
    const enum xform t = dir->turn, back = xform_inverse(t);
    struct warnings unheard = { 0 };
    struct save_opts save = *opts;
    struct bytes again = { 0 };
    save.warnings = &unheard;
    if (!bytes_append(&again, body->data, body->size))
        return fail_memory(err, "no memory for a tag");
    int status = turn_body(&again, TAG_PHOTOSHOP, dir, back, &save, err);
    if (status == 0)
        status = turn_body(&again, TAG_PHOTOSHOP, dir, t, &save, err);
    if (status == 0 && (again.size != body->size ||
                        memcmp(again.data, body->data, body->size) != 0)) {
        warn(opts->warnings, "the thumbnail of Photoshop cannot be turned "
                             "without loss, so it is not kept");
        save.drop |= DROP_THUMBNAIL;
        status = photoshop_turn(body, SIZE_MAX, &still, &save, err);
    }
    bytes_free(&again);
    return status;
}

/* Makes a packet of XMP or resources of Photoshop true of the picture. */
static int turn_block(struct directory *dir, unsigned tag,
                      const struct save_opts *save, struct err *err)
{
    const struct field *field = directory_find(dir, tag);
    struct bytes body = { 0 };
    if (!field || !field->size)
        return 0;
    if (!bytes_append(&body, field->data, field->size))
        return fail_memory(err, "no memory for a tag");
    int status = turn_body(&body, tag, dir, dir->turn, save, err);
    if (status == 0 && tag == TAG_PHOTOSHOP && dir->turn != XFORM_NONE)
        status = keep_exact(&body, dir, save, err);
    if (status == 0)
        directory_set(dir, tag, field->type, body.data, body.size);
    bytes_free(&body);
    return status;
}

/* Photoshop shows its layers, not the picture. */
static int drop_layers(struct directory *dir, const struct save_opts *save,
                       struct err *err)
{
    static const char keys[][5] = { "Layr", "Lr16", "Lr32",
                                    "ryaL", "61rL", "23rL" };
    const struct field *field = directory_find(dir, TAG_LAYERS);
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && field; i++)
        found = found ||
                (field->size && memmem(field->data, field->size, keys[i], 4));
    if (!found || dir->turn == XFORM_NONE)
        return 0;
    if (save->lossless)
        return fail(err, "it has layers of Photoshop, which are not turned "
                         "and would be lost; --lossless refuses");
    warn(save->warnings, "the layers of Photoshop are not turned, so "
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

static void leave_out(struct directory *dir, const struct save_opts *save)
{
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
static int check_tags(const struct directory *dir, struct err *err)
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
        if ((refused[i].always || dir->turn != XFORM_NONE) &&
            directory_find(dir, refused[i].tag))
            return fail_unread(err,
                               "%s: its own tags would no longer be true, so "
                               "it is not turned",
                               refused[i].what);
    return 0;
}

int tags_check(struct directory *dir, uint64_t pages, struct warnings *warnings,
               struct err *err)
{
    const bool flip = xform_transposes(dir->turn);
    if (check_tags(dir, err))
        return -1;
    char *text = dir->turn == XFORM_NONE
                     ? NULL
                     : (char *)directory_own(dir, TAG_DESCRIPTION);
    char *rows, *end;
    if (!text)
        return 0;
    const char *images =
        strncmp(text, "ImageJ=", 7) ? NULL : strstr(text, "\nimages=");
    if (images && strtoull(images + 8, NULL, 10) > pages)
        return fail_unread(err, "an ImageJ stack, whose pictures are not "
                                "pages of the file; save it as BigTIFF");
    if (is_shaped(text) && (strstr(text, "\"truncated\": true") ||
                            (flip && !find_shape(dir, text, &rows, &end))))
        return fail_unread(err, "an array of tifffile, whose shape is not "
                                "that of its pages");
    if (is_ome(text) && strstr(text, "<BinaryOnly") && flip)
        return fail_unread(err, "an OME-TIFF whose sizes are in another file");
    if (is_ome(text) && strstr(text, "<ROI "))
        warn(warnings, "regions in OME-XML stay where they were");
    return 0;
}

int tags_turn(struct directory *dir, const struct save_opts *save,
              struct err *err)
{
    leave_out(dir, save);
    const struct field *exif = directory_find(dir, TAG_EXIF_IFD);
    struct directory *of[] = { dir, exif ? exif->child : NULL };
    const bool flip = xform_transposes(dir->turn);
    for (unsigned i = 0; i < 2 && of[i]; i++) {
        turn_subject(dir, of[i], TAG_SUBJECT_AREA);
        turn_subject(dir, of[i], TAG_SUBJECT_LOCATION);
        if (save->orientation && directory_find(of[i], TAG_ORIENTATION))
            directory_set_number(of[i], TAG_ORIENTATION, save->orientation);
    }
    if (turn_block(dir, TAG_PACKET, save, err) ||
        turn_block(dir, TAG_PHOTOSHOP, save, err) ||
        drop_layers(dir, save, err))
        return -1;
    if (dir->turn != XFORM_NONE)
        turn_map(dir);
    if (flip)
        turn_description(dir);
    for (unsigned i = 0; i < 2 && of[i] && flip; i++)
        exchange_axes(of[i]);
    return 0;
}
