/* Whether the output of a job is its input turned, for fuzz_job.c, by what
 * libpng and libjpeg decode of both. */
#ifndef TESTS_FUZZ_JUDGE_JOB_H
#define TESTS_FUZZ_JUDGE_JOB_H

#include "cli/job/job.h"
#include "tests/support/fixture.h"
#include "tests/support/plain_jpeg.h"
#include "tests/support/plain_picture.h"

enum { JUDGED_PIXELS = 1 << 16 };

/* Returns whether the file might say an orientation, be it in its head. */
static inline bool has_tags(const struct codec *codec, struct bytes file)
{
    static const char *const words[] = { "Exif",        "eXIf",  "rientation",
                                         "Raw profile", "zTXt",  "iTXt",
                                         "xpacket",     "adobe", "orNT" };
    if (codec == &codec_tga || codec == &codec_bmp || codec == &codec_hdr)
        return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (memmem(file.data, file.size, words[i], strlen(words[i])))
            return true;
    return false;
}

/* Both files are JPEG and not encoded anew: block for block. */
static inline void judge_blocks(const struct result *result,
                                struct plain_jpeg *from, struct plain_jpeg *to)
{
    const enum how how = result->how;
    const int all = from->d.num_components;
    must(to->sound);
    must(how == HOW_TRIMMED || plain_jpeg_fits(from, to, result->turned) ||
         how == HOW_LUMA_LOSSLESS);
    must(plain_jpeg_is_turned(from, to, how == HOW_LUMA_LOSSLESS ? 1 : all,
                              result->turned));
}

static inline void judge_jpeg(const struct result *result, struct bytes input,
                              struct bytes output)
{
    owned_plain_jpeg *from = plain_jpeg_read(input, JUDGED_PIXELS);
    owned_plain_jpeg *to = plain_jpeg_read(output, JUDGED_PIXELS);
    if (from->sound && result->how != HOW_REENCODED)
        judge_blocks(result, from, to);
    must(to->sound || !from->sound);
}

/* Sample for sample, where nothing may be lost. */
static inline void judge_samples(const struct options *opts,
                                 const struct result *result,
                                 struct bytes input, struct bytes output)
{
    const bool png = result->from == &codec_png && result->to == &codec_png;
    struct plain_picture from, to;
    plain_picture_read(&from, result->from->name, input, JUDGED_PIXELS);
    plain_picture_read(&to, result->to->name, output, JUDGED_PIXELS);
    if (from.sound && (result->to == &codec_png || result->to == &codec_jpeg))
        must(to.samples != NULL);
    if (from.sound && to.samples &&
        (result->how == HOW_LOSSLESS || result->how == HOW_TAGGED)) {
        must(plain_picture_is_turned(&from, &to, result->turned));
        must(!png || opts->depth || from.stored == to.stored);
    }
    plain_picture_free(&to);
    plain_picture_free(&from);
}

/* What was written says of itself that it is upright. */
static inline void judge_tag(const struct result *result, struct bytes output)
{
    struct warnings warnings = { 0 };
    struct load_opts load = { .limits = { .pixels = JUDGED_PIXELS,
                                          .bytes = 64 << 20 },
                              .mem = mem_plain,
                              .warnings = &warnings };
    struct stream_info info = { .width = 0 };
    struct err err;
    must(codec_look(result->to, &info, output, &load, &err) == 0);
    must(info.orientation.value <= 1 && !info.orientation.other);
}

/* The job has succeeded. Ends the program if its output is wrong. */
static inline void judge_job(const struct options *opts,
                             const struct result *result, struct bytes input,
                             struct bytes output)
{
    const bool tagged = opts->tag_only || result->how == HOW_TAGGED;
    must(output.size == result->bytes_out);
    if (result->how == HOW_UNCHANGED) {
        must(same_bytes(input, output));
        return;
    }
    if (tagged || opts->ignore_orientation || !has_tags(result->from, input))
        must(result->turned == (tagged ? XFORM_NONE : opts->op));
    if (!tagged && !opts->ignore_orientation && !opts->tolerant)
        judge_tag(result, output);
    if (opts->tolerant)
        return;
    if (result->from == &codec_jpeg && result->to == &codec_jpeg)
        judge_jpeg(result, input, output);
    else
        judge_samples(opts, result, input, output);
}

#endif
