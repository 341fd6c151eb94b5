/* Files that are recognized, but neither read nor written. */
#include "codecs/foreign.h"

#include <string.h>
#include <strings.h>

#include "codecs/base/byte_order.h"

#ifndef HAVE_WEBP
#define HAVE_WEBP 0
#endif
#ifndef HAVE_TIFF
#define HAVE_TIFF 0
#endif

static bool has(struct bytes head, size_t at, const char *bytes, size_t n)
{
    return head.size >= at + n && memcmp(head.data + at, bytes, n) == 0;
}

/* ---- What has other signs than its first bytes --------------------------- */

/* ISO 14496-12, 4.3: the brands of a file, the first and those that it is
 * compatible with. */
static bool is_jpx(struct bytes head)
{
    if (!has(head, 4, "ftyp", 4))
        return false;
    const size_t size = read_be16(head.data + 2),
                 end = size < head.size ? size : head.size;
    for (size_t at = 8; at + 4 <= end; at += at == 8 ? 8 : 4)
        if (has(head, at, "jpx ", 4))
            return true;
    return false;
}

/* A file of unknown brands. */
static bool is_video(struct bytes head)
{
    return has(head, 4, "ftyp", 4) && head.size >= 12;
}

/* An icon file is a directory of at least one icon, whose reserved byte is 0.
 */
static bool is_icon(struct bytes head)
{
    bool icon = has(head, 0, "\0\0\1\0", 4) || has(head, 0, "\0\0\2\0", 4);
    return icon && head.size >= 22 && head.data[5] == 0 && head.data[4] != 0 &&
           head.data[9] == 0 &&
           read_le32(head.data + 18) >= 6 + 16u * head.data[4];
}

static bool is_pcx(struct bytes head)
{
    return head.size >= 128 && head.data[0] == 10 && head.data[1] <= 5 &&
           head.data[2] == 1 && head.data[64] == 0;
}

/* Returns whether a file begins with a word, in any case, behind a byte order
 * mark and white space. */
static bool begins(struct bytes head, const char *word)
{
    size_t at = has(head, 0, "\xef\xbb\xbf", 3) ? 3 : 0, n = strlen(word);
    while (at < head.size && strchr(" \t\r\n", head.data[at]) && head.data[at])
        at++;
    return head.size >= at + n &&
           strncasecmp((const char *)head.data + at, word, n) == 0;
}

static bool is_svg(struct bytes head)
{
    return begins(head, "<svg") ||
           ((begins(head, "<?xml") || begins(head, "<!--") ||
             begins(head, "<!DOCTYPE svg")) &&
            memmem(head.data, head.size, "<svg", 4));
}

/* ---- The formats --------------------------------------------------------- */

#define MAGIC(at, bytes)                                                       \
    {                                                                          \
        at, sizeof(bytes) - 1, bytes                                           \
    }

static const struct foreign table[] = {
    { "WebP", "a WebP picture", HAVE_WEBP ? "" : "webp",
      .magic = { MAGIC(8, "WEBPVP8") },
      .package = HAVE_WEBP ? NULL : "libwebp-dev" },
    { "TIFF", "a TIFF picture", HAVE_TIFF ? "" : "tif tiff btf",
      /* of which codec_tiff does not recognize all */
      .magic = { MAGIC(0, "MM\0*"), MAGIC(0, "MM\0+"), MAGIC(0, "II*\0"),
                 MAGIC(0, "II+\0") },
      .package = HAVE_TIFF ? NULL : "libtiff-dev" },
    { "JPEG 2000", "a JPEG 2000 picture", "jp2 j2k j2c jpf jpx jpc jph",
      .magic = { MAGIC(0, "\0\0\0\x0cjP  \r\n\x87\n"),
                 MAGIC(0, "\xff\x4f\xff\x51") },
      .is = is_jpx },
    { "ICO", "a Windows icon or cursor (ICO)", "ico cur", .is = is_icon },
    { "SVG", "an SVG drawing", "svg svgz", .is = is_svg },
    { "PCX", "a PCX picture", "pcx", .is = is_pcx },
    /* Matroska and WebM, MPEG, AVI, QuickTime without brands */
    { "video", "a video", "mp4 mov m4v 3gp avi mkv webm mpg mpeg mts m2ts",
      .magic = { MAGIC(0, "\x1a\x45\xdf\xa3"), MAGIC(0, "\0\0\1\xba"),
                 MAGIC(8, "AVI LIST"), MAGIC(4, "moov"), MAGIC(4, "mdat"),
                 MAGIC(4, "wide") },
      .is = is_video },
    { "PSD", "a Photoshop document (PSD)", "psd psb",
      .magic = { MAGIC(0, "8BPS\0\1"), MAGIC(0, "8BPS\0\2") } },
    /* CRW, X3F, MRW: the others are read */
    { "RAW", "a camera's raw picture", "crw mrw srf x3f",
      .magic = { MAGIC(0, "II\x1a\0\0\0HEAPCCDR"), MAGIC(0, "FOVb"),
                 MAGIC(0, "\0MRM") } },
    { "JPEG XR", "a JPEG XR picture", "jxr wdp hdp",
      .magic = { MAGIC(0, "II\xbc\1"), MAGIC(0, "II\xbc\0") } },
    { "OpenEXR", "an OpenEXR picture", "exr",
      .magic = { MAGIC(0, "\x76\x2f\x31\1") } },
    { "DDS", "a DDS texture", "dds", .magic = { MAGIC(0, "DDS \x7c\0\0\0") } },
    { "ICNS", "a macOS icon (ICNS)", "icns", .magic = { MAGIC(0, "icns") } },
    { "PDF", "a PDF document", "pdf", .magic = { MAGIC(0, "%PDF-") } },
    { "PostScript", "a PostScript document", "ps eps ai",
      .magic = { MAGIC(0, "%!PS"), MAGIC(0, "\xc5\xd0\xd3\xc6") } },
    { "XCF", "a GIMP document (XCF)", "xcf",
      .magic = { MAGIC(0, "gimp xcf ") } },
    { "farbfeld", "a farbfeld picture", "ff",
      .magic = { MAGIC(0, "farbfeld") } },
    { "FITS", "a FITS file", "fits fit fts",
      .magic = { MAGIC(0, "SIMPLE  =") } },
    { "DICOM", "a DICOM file", "dcm dicom", .magic = { MAGIC(128, "DICM") } },
    { "DjVu", "a DjVu document", "djvu djv",
      .magic = { MAGIC(0, "AT&TFORM") } },
    { "FLIF", "a FLIF picture", "flif", .magic = { MAGIC(0, "FLIF") } },
    { "BPG", "a BPG picture", "bpg", .magic = { MAGIC(0, "BPG\xfb") } },
    { "MNG", "an MNG or JNG picture", "mng jng",
      .magic = { MAGIC(0, "\x8aMNG\r\n\x1a\n"),
                 MAGIC(0, "\x8bJNG\r\n\x1a\n") } },
};
enum { FOREIGNS = sizeof table / sizeof *table };

const struct foreign *foreign_probe(struct bytes head)
{
    for (size_t i = 0; i < FOREIGNS; i++)
        for (int k = 0; k < FOREIGN_MAGICS && table[i].magic[k].bytes; k++) {
            const struct magic *m = &table[i].magic[k];
            if (has(head, m->at, m->bytes, m->size))
                return &table[i];
        }
    for (size_t i = 0; i < FOREIGNS; i++)
        if (table[i].is && table[i].is(head))
            return &table[i];
    return NULL;
}

const struct foreign *foreign_by_suffix(const char *suffix)
{
    const size_t n = strlen(suffix);
    for (size_t i = 0; i < FOREIGNS; i++)
        for (const char *s = table[i].suffixes; n && *s;) {
            const size_t length = strcspn(s, " ");
            if (length == n && strncasecmp(s, suffix, n) == 0)
                return &table[i];
            s += length + (s[length] == ' ');
        }
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
    if (begins(head, "<!DOCTYPE html") || begins(head, "<html"))
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
    return fail_unread(err, "%s, which gimgxf does not read%s", foreign->what,
                       foreign->is == is_video ? ""
                                               : "; convert it to PNG first");
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
