/* Files that are recognized, but neither read nor written. */
#include "codecs/foreign.h"

#include <string.h>
#include <strings.h>

#include "codecs/base/byte_order.h"

/* ---- The formats ----------------------------------------------------------
 */

/* Bytes that tell a format for certain. */
struct magic {
    unsigned at, size;
    const char *bytes; /* NULL: there are no more */
};

#define SUFFIXES(...)                                                          \
    (const char *const[])                                                      \
    {                                                                          \
        __VA_ARGS__, NULL                                                      \
    }
#define MAGICS(...)                                                            \
    (const struct magic[])                                                     \
    {                                                                          \
        __VA_ARGS__,                                                           \
        {                                                                      \
            0                                                                  \
        }                                                                      \
    }
#define MAGIC(at, bytes)                                                       \
    {                                                                          \
        at, sizeof(bytes) - 1, bytes                                           \
    }

/* The formats that are recognized by other signs come first. */
enum {
    FOREIGN_WEBP,
    FOREIGN_TIFF,
    FOREIGN_JP2,
    FOREIGN_ICO,
    FOREIGN_SVG,
    FOREIGN_PCX,
    FOREIGN_VIDEO,
};

static const struct foreign table[] = {
#if HAVE_WEBP
    [FOREIGN_WEBP] = { "WebP", "a WebP picture", SUFFIXES(NULL), NULL, NULL },
#else
    [FOREIGN_WEBP] = { "WebP", "a WebP picture", SUFFIXES("webp"), NULL,
                       "libwebp-dev" },
#endif
#if HAVE_TIFF /* what codec_tiff does not recognize */
    [FOREIGN_TIFF] = { "TIFF", "a TIFF picture", SUFFIXES(NULL), NULL, NULL },
#else
    [FOREIGN_TIFF] = { "TIFF", "a TIFF picture", SUFFIXES("tif", "tiff", "btf"),
                       NULL, "libtiff-dev" },
#endif
    [FOREIGN_JP2] = { "JPEG 2000", "a JPEG 2000 picture",
                      SUFFIXES("jp2", "j2k", "j2c", "jpf", "jpx", "jpc", "jph"),
                      MAGICS(MAGIC(0, "\0\0\0\x0cjP  \r\n\x87\n"),
                             MAGIC(0, "\xff\x4f\xff\x51")) },
    [FOREIGN_ICO] = { "ICO", "a Windows icon or cursor (ICO)",
                      SUFFIXES("ico", "cur"), NULL },
    [FOREIGN_SVG] = { "SVG", "an SVG drawing", SUFFIXES("svg", "svgz"), NULL },
    [FOREIGN_PCX] = { "PCX", "a PCX picture", SUFFIXES("pcx"), NULL },
    [FOREIGN_VIDEO] = { "video", "a video",
                        SUFFIXES("mp4", "mov", "m4v", "3gp", "avi", "mkv",
                                 "webm", "mpg", "mpeg", "mts", "m2ts"),
                        /* Matroska and WebM, MPEG, QuickTime without brands */
                        MAGICS(MAGIC(0, "\x1a\x45\xdf\xa3"),
                               MAGIC(0, "\0\0\1\xba"), MAGIC(4, "moov"),
                               MAGIC(4, "mdat"), MAGIC(4, "wide")) },
    { "PSD", "a Photoshop document (PSD)", SUFFIXES("psd", "psb"),
      MAGICS(MAGIC(0, "8BPS\0\1"), MAGIC(0, "8BPS\0\2")) },
    { "RAW", "a camera's raw picture", SUFFIXES("crw", "mrw", "srf", "x3f"),
      /* CRW, X3F, MRW: the others are read */
      MAGICS(MAGIC(0, "II\x1a\0\0\0HEAPCCDR"), MAGIC(0, "FOVb"),
             MAGIC(0, "\0MRM")) },
    { "JPEG XR", "a JPEG XR picture", SUFFIXES("jxr", "wdp", "hdp"),
      MAGICS(MAGIC(0, "II\xbc\1"), MAGIC(0, "II\xbc\0")) },
    { "OpenEXR", "an OpenEXR picture", SUFFIXES("exr"),
      MAGICS(MAGIC(0, "\x76\x2f\x31\1")) },
    { "DDS", "a DDS texture", SUFFIXES("dds"),
      MAGICS(MAGIC(0, "DDS \x7c\0\0\0")) },
    { "ICNS", "a macOS icon (ICNS)", SUFFIXES("icns"),
      MAGICS(MAGIC(0, "icns")) },
    { "PDF", "a PDF document", SUFFIXES("pdf"), MAGICS(MAGIC(0, "%PDF-")) },
    { "PostScript", "a PostScript document", SUFFIXES("ps", "eps", "ai"),
      MAGICS(MAGIC(0, "%!PS"), MAGIC(0, "\xc5\xd0\xd3\xc6")) },
    { "XCF", "a GIMP document (XCF)", SUFFIXES("xcf"),
      MAGICS(MAGIC(0, "gimp xcf ")) },
    { "farbfeld", "a farbfeld picture", SUFFIXES("ff"),
      MAGICS(MAGIC(0, "farbfeld")) },
    { "FITS", "a FITS file", SUFFIXES("fits", "fit", "fts"),
      MAGICS(MAGIC(0, "SIMPLE  =")) },
    { "DICOM", "a DICOM file", SUFFIXES("dcm", "dicom"),
      MAGICS(MAGIC(128, "DICM")) },
    { "DjVu", "a DjVu document", SUFFIXES("djvu", "djv"),
      MAGICS(MAGIC(0, "AT&TFORM")) },
    { "FLIF", "a FLIF picture", SUFFIXES("flif"), MAGICS(MAGIC(0, "FLIF")) },
    { "BPG", "a BPG picture", SUFFIXES("bpg"), MAGICS(MAGIC(0, "BPG\xfb")) },
    { "MNG", "an MNG or JNG picture", SUFFIXES("mng", "jng"),
      MAGICS(MAGIC(0, "\x8aMNG\r\n\x1a\n"), MAGIC(0, "\x8bJNG\r\n\x1a\n")) },
};
enum { FOREIGNS = sizeof table / sizeof *table };

/* ---- By the first bytes ----------------------------------------------- */

static bool has(struct bytes head, size_t at, const char *bytes, size_t n)
{
    return head.size >= at + n && memcmp(head.data + at, bytes, n) == 0;
}

static const struct foreign *by_magic(struct bytes head)
{
    for (size_t i = 0; i < FOREIGNS; i++)
        for (const struct magic *m = table[i].magics; m && m->bytes; m++)
            if (has(head, m->at, m->bytes, m->size))
                return &table[i];
    return NULL;
}

/* RIFF: four letters behind the size name the contents. */
static const struct foreign *by_riff(struct bytes head)
{
    if (!has(head, 0, "RIFF", 4))
        return NULL;
    return has(head, 8, "WEBP", 4)   ? &table[FOREIGN_WEBP]
           : has(head, 8, "AVI ", 4) ? &table[FOREIGN_VIDEO]
                                     : NULL;
}

/* ISO 14496-12, 4.3: the brands of a file, the first and those that it is
 * compatible with. A file of unknown brands is a video. */
static const struct foreign *by_brand(struct bytes head)
{
    static const struct {
        const char *brand;
        unsigned kind;
    } brands[] = {
        { "jpx ", FOREIGN_JP2 },
    };
    if (!has(head, 4, "ftyp", 4) || head.size < 12)
        return NULL;
    size_t end = read_be16(head.data + 2);
    end = end < head.size ? end : head.size;
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        for (size_t at = 8; at + 4 <= end; at += at == 8 ? 8 : 4)
            if (has(head, at, brands[i].brand, 4))
                return &table[brands[i].kind];
    return &table[FOREIGN_VIDEO];
}

static const struct foreign *by_tiff(struct bytes head)
{
    bool tiff = has(head, 0, "MM\0*", 4) || has(head, 0, "MM\0+", 4) ||
                has(head, 0, "II*\0", 4) || has(head, 0, "II+\0", 4);
    return tiff && head.size >= 8 ? &table[FOREIGN_TIFF] : NULL;
}

/* ---- What has no certain sign ------------------------------------------- */

/* An icon file is a directory of at least one icon, whose reserved byte is 0.
 */
static const struct foreign *by_icon(struct bytes head)
{
    bool icon = has(head, 0, "\0\0\1\0", 4) || has(head, 0, "\0\0\2\0", 4);
    if (!icon || head.size < 22 || head.data[5] != 0 || head.data[4] == 0 ||
        head.data[9] != 0)
        return NULL;
    size_t offset = read_le32(head.data + 18);
    return offset >= 6 + 16u * head.data[4] ? &table[FOREIGN_ICO] : NULL;
}

static const struct foreign *by_pcx(struct bytes head)
{
    bool pcx = head.size >= 128 && head.data[0] == 10 && head.data[1] <= 5 &&
               head.data[2] == 1 && head.data[64] == 0;
    return pcx ? &table[FOREIGN_PCX] : NULL;
}

/* Returns where the text of a file begins: behind a byte order mark and white
 * space. */
static size_t text_start(struct bytes head)
{
    size_t at = has(head, 0, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < head.size && strchr(" \t\r\n", head.data[at]) && head.data[at])
        at++;
    return at;
}

static bool starts_in_any_case(struct bytes head, const char *word)
{
    size_t at = text_start(head), n = strlen(word);
    return head.size >= at + n &&
           strncasecmp((const char *)head.data + at, word, n) == 0;
}

static bool contains(struct bytes head, const char *word)
{
    return head.size && memmem(head.data, head.size, word, strlen(word));
}

static const struct foreign *by_text(struct bytes head)
{
    bool svg = starts_in_any_case(head, "<svg") ||
               ((starts_in_any_case(head, "<?xml") ||
                 starts_in_any_case(head, "<!--") ||
                 starts_in_any_case(head, "<!DOCTYPE svg")) &&
                contains(head, "<svg"));
    return svg ? &table[FOREIGN_SVG] : NULL;
}

const struct foreign *foreign_probe(struct bytes head)
{
    static const struct foreign *(*const probes[])(struct bytes) = {
        by_magic, by_riff, by_brand, by_tiff, by_icon, by_pcx, by_text,
    };
    const struct foreign *found = NULL;
    for (size_t i = 0; !found && i < sizeof probes / sizeof *probes; i++)
        found = probes[i](head);
    return found;
}

const struct foreign *foreign_by_suffix(const char *suffix)
{
    for (size_t i = 0; i < FOREIGNS; i++)
        for (const char *const *s = table[i].suffixes; *s; s++)
            if (strcasecmp(*s, suffix) == 0)
                return &table[i];
    return NULL;
}

/* ---- Messages --------------------------------------------------------- */

static const char compressed[] =
    "compressed (bzip2, xz or zstd); unpack it first";

/* Returns whether all bytes are text in UTF-8, whose last letter may be cut. */
static bool is_text(struct bytes head)
{
    char letter[5] = "";
    for (size_t i = 0; i < head.size;) {
        size_t left = head.size - i;
        uint8_t c = head.data[i];
        memcpy(letter, head.data + i, left < 4 ? left : 4);
        letter[left < 4 ? left : 4] = '\0';
        unsigned n = utf8_length(letter);
        if ((n == 0 && left >= 4) || c == 0x7f ||
            (c < 0x20 && !strchr("\t\n\f\r", c)) || c == 0)
            return false;
        i += n ? n : left;
    }
    return head.size > 0;
}

/* Files that are not pictures, but often stand where one is expected. */
static int refuse_other(struct bytes head, struct err *err)
{
    static const struct {
        struct magic magic;
        const char *text;
    } others[] = {
        { MAGIC(0, "\x1f\x8b"),
          "compressed with gzip; unpack it first, e.g. gunzip in.gz" },
        { MAGIC(0, "BZh"), compressed },
        { MAGIC(0, "\xfd\x37zXZ"), compressed },
        { MAGIC(0, "\x28\xb5\x2f\xfd"), compressed },
        { MAGIC(0, "PK\3\4"), "a ZIP archive, not a picture; unpack it first, "
                              "e.g. unzip in.zip" },
        { MAGIC(0, "PK\5\6"), "an archive (NPZ or ZIP) that holds no array" },
        { MAGIC(0, "version https://git-lfs"),
          "a pointer of Git LFS, not the picture; git lfs pull gets it" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (has(head, others[i].magic.at, others[i].magic.bytes,
                others[i].magic.size))
            return fail(err, "%s", others[i].text);
    if (starts_in_any_case(head, "<!DOCTYPE html") ||
        starts_in_any_case(head, "<html"))
        return fail(err, "an HTML page, not a picture; perhaps the download "
                         "failed");
    if (is_text(head))
        return fail(err, "a text file, not a picture");
    return fail(err, "not a picture in a known format");
}

int foreign_refuse_input(struct bytes head, struct err *err)
{
    const struct foreign *foreign = foreign_probe(head);
    if (!foreign)
        return refuse_other(head, err);
    if (foreign->package)
        return fail_unread(err,
                           "%s, which this gimgxf is built without; install %s "
                           "and build it again",
                           foreign->what, foreign->package);
    return fail_unread(
        err, "%s, which gimgxf does not read%s", foreign->what,
        foreign == &table[FOREIGN_VIDEO] ? "" : "; convert it to PNG first");
}

int foreign_refuse_output(const struct foreign *foreign, struct err *err)
{
    if (foreign->package)
        return fail(err,
                    "this gimgxf is built without %s; install %s and build it "
                    "again",
                    foreign->title, foreign->package);
    return fail(err, "gimgxf does not write %s; write PNG, and convert that",
                foreign->title);
}
