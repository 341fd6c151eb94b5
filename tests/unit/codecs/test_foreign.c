/* Formats that are recognized but not read: the first bytes of a file or its
 * suffix name the format in the message. */

#include "codecs/codec.h"
#include "codecs/foreign.h"
#include "tests/support/fixture.h"

#define TEXT(bytes) bytes, sizeof(bytes) - 1

static const char nothing[64];

/* The first bytes, what it is, a suffix. Zeros follow. */
static const struct {
    const char *bytes;
    size_t size;
    const char *title, *suffix;
} files[] = {
    { TEXT("\0\0\0\30ftypisom\0\0\2\0isomavc1"), "video", "mp4" },
    { TEXT("\0\0\0\24ftypqt  \0\0\2\0qt  "), "video", "mov" },
    { TEXT("\0\0\0\x08wide\0\0\0\0mdat"), "video", "Mov" },
    { TEXT("RIFF\x24\0\0\0WEBPVP8L"), "WebP", "webp" },
    { TEXT("RIFF\x24\0\0\0AVI LIST"), "video", "avi" },
    { TEXT("\x1a\x45\xdf\xa3\x01"), "video", "webm" },
    { TEXT("II*\0\x08\0\0\0\0\0"), "TIFF", "tif" },
    { TEXT("MM\0*\0\0\0\x08\0\0"), "TIFF", "tiff" },
    { TEXT("MM\0+\0\x08\0\0\0\0\0\0"), "TIFF", "TIF" },
    { TEXT("II*\0\xff\xff\xff\xff"), "TIFF", "tif" },
    /* NewSubfileType and Make of a scanner: the picture itself. */
    { TEXT("II*\0\x08\0\0\0\2\0\xfe\0\4\0\1\0\0\0\0\0\0\0"
           "\x0f\1\2\0\x06\0\0\0\x26\0\0\0\0\0\0\0NIKON"),
      "TIFF", "tiff" },
    { TEXT("II\x1a\0\0\0HEAPCCDR"), "RAW", "crw" },
    { TEXT("FOVb"), "RAW", "x3f" },
    { TEXT("8BPS\0\1"), "PSD", "psd" },
    { TEXT("8BPS\0\2"), "PSD", "psb" },
    { TEXT("\0\0\0\x0cjP  \r\n\x87\n"), "JPEG 2000", "jp2" },
    { TEXT("\xff\x4f\xff\x51\0\x29"), "JPEG 2000", "j2k" },
    { TEXT("II\xbc\1\x08\0\0\0"), "JPEG XR", "jxr" },
    { TEXT("\x76\x2f\x31\1\2\0\0\0"), "OpenEXR", "exr" },
    { TEXT("DDS \x7c\0\0\0"), "DDS", "dds" },
    { TEXT("\0\0\1\0\1\0\x10\x10\0\0\1\0\x20\0\x68\4\0\0\x16\0\0\0"), "ICO",
      "ico" },
    { TEXT("\0\0\2\0\1\0\x20\x20\0\0\0\0\0\0\xa8\4\0\0\x16\0\0\0"), "ICO",
      "cur" },
    { TEXT("icns\0\0\1\0"), "ICNS", "icns" },
    { TEXT("<svg xmlns=\"http://www.w3.org/2000/svg\">"), "SVG", "svg" },
    { TEXT("\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- x -->\n<svg>"), "SVG",
      "svg" },
    { TEXT("%PDF-1.7\n"), "PDF", "pdf" },
    { TEXT("%!PS-Adobe-3.0 EPSF-3.0"), "PostScript", "eps" },
    { TEXT("gimp xcf v011"), "XCF", "xcf" },
    { TEXT("farbfeld\0\0\0\1"), "farbfeld", "ff" },
    { TEXT("\x0a\5\1\x08\0\0\0\0"), "PCX", "pcx" },
    { TEXT("SIMPLE  =                    T"), "FITS", "fits" },
    { TEXT("AT&TFORM"), "DjVu", "djvu" },
    { TEXT("FLIF41"), "FLIF", "flif" },
    { TEXT("BPG\xfb\x20"), "BPG", "bpg" },
    { TEXT("\x8aMNG\r\n\x1a\n"), "MNG", "mng" },
};

TEST(files)
{
    for (size_t i = 0; i < COUNT(files); i++) {
        uint8_t head[200] = { 0 };
        memcpy(head, files[i].bytes, files[i].size);
        struct bytes whole = { head, sizeof head, 0 };
        const struct foreign *f = foreign_probe(whole);
        const char *title = files[i].title;
        if (codec_by_name(files[i].suffix))
            continue;
        CHECK(f && strcmp(f->title, title) == 0, "%zu: %s, not %s", i,
              f ? f->title : "none", title);
        CHECK(!codec_probe(whole) ||
                  codec_probe(whole) == codec_by_name("tiff"),
              "%zu: %s is read", i, title);
        f = foreign_by_suffix(files[i].suffix);
        CHECK(f && strcmp(f->title, title) == 0, "%zu: .%s", i,
              files[i].suffix);
    }
}

/* No beginning of one is read past its end: each is in memory of its own. */
TEST(short)
{
    struct err err;
    for (size_t i = 0; i < COUNT(files); i++)
        for (size_t n = 0; n <= files[i].size; n++) {
            owned_bytes head = copied(files[i].bytes, n);
            foreign_probe(head);
            CHECK(foreign_refuse_input(head, &err), "%zu", n);
        }
}

TEST(suffixes)
{
    for (size_t i = 0; codecs[i]; i++)
        for (const char *const *s = codecs[i]->suffixes; *s; s++)
            CHECK(!foreign_by_suffix(*s), "%s is written", *s);
    CHECK(!foreign_by_suffix("") && !foreign_by_suffix("txt"), "none");
}

/* What is said of a file. */
static const struct {
    const char *bytes;
    size_t size;
    const char *said;
} inputs[] = {
    { TEXT("8BPS\0\1"), "a Photoshop document (PSD), which gimgxf does not "
                        "read; convert it to PNG first" },
    { TEXT("\0\0\0\24ftypqt  \0\0\2\0qt  "),
      "a video, which gimgxf does not read" },
    { TEXT("\n <!doctype HTML><title>404</title>"),
      "an HTML page, not a picture; perhaps the download failed" },
    { TEXT("\x1f\x8b\x08\0"),
      "compressed with gzip; unpack it first, e.g. gunzip in.gz" },
    { TEXT("PK\3\4"), "a ZIP archive, not a picture; unpack it first, e.g. "
                      "unzip in.zip" },
    { TEXT("version https://git-lfs.github.com/spec/v1\noid"),
      "a pointer of Git LFS, not the picture; git lfs pull gets it" },
    { TEXT("Hello, caf\xc3\xa9.\n"), "a text file, not a picture" },
    { TEXT("cut \xe2\x82"), "a text file, not a picture" },
    { TEXT("caf\xe9 au lait, Latin-1"), "not a picture in a known format" },
    { TEXT("text\0text"), "not a picture in a known format" },
    { nothing, sizeof nothing, "not a picture in a known format" },
};

TEST(said)
{
    struct err err;
    for (size_t i = 0; i < COUNT(inputs); i++) {
        uint8_t head[200];
        memcpy(head, inputs[i].bytes, inputs[i].size);
        foreign_refuse_input((struct bytes){ head, inputs[i].size, 0 }, &err);
        CHECK(strcmp(err.text, inputs[i].said) == 0, "%s", err.text);
    }
    foreign_refuse_output(foreign_by_suffix("psd"), &err);
    CHECK(!strcmp(err.text,
                  "gimgxf does not write PSD; write PNG, and convert that"),
          "%s", err.text);
}
