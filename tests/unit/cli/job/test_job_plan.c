/* What a job plans by the options, the formats and the head of a file. */
#include "cli/job/stages.h"

#include "tests/support/test.h"

/* The turn of a rectangle by the tag and then by the operation, as maps of its
 * four corners, clockwise from the top left. */
static unsigned corner_of(enum xform t, unsigned corner)
{
    uint8_t corners[] = { 0, 1, 3, 2 };
    const struct plane plane = { corners, 2, 2, 2 };
    const uint8_t *from =
        plane_cell(&plane, 1, t, corner == 1 || corner == 2, corner >= 2);
    return *from;
}

TEST(turn)
{
    for (unsigned tag = 0; tag <= 8; tag++)
        for (unsigned t = 0; t < XFORM_COUNT; t++) {
            struct options opts = { .op = (enum xform)t };
            enum xform all = job_plan_turn(&opts, tag);
            for (unsigned i = 0; i < 4; i++)
                CHECK(corner_of(all, i) ==
                          corner_of(xform_from_exif(tag),
                                    corner_of((enum xform)t, i)),
                      "%s after tag %u", xform_name((enum xform)t), tag);
            opts.ignore_orientation = true;
            CHECK(job_plan_turn(&opts, tag) == opts.op, "tag %u", tag);
        }
}

TEST(formats)
{
    static const struct {
        const struct codec *from, *to;
        unsigned depth;
        bool lossless, refused, own, within;
        enum how how;
    } cases[] = {
        { &codec_png, &codec_png, 0, true, false, true, false, HOW_LOSSLESS },
        { &codec_png, &codec_png, 8, true, false, false, false, HOW_LOSSLESS },
        { &codec_png, &codec_jpeg, 0, false, false, false, false,
          HOW_REENCODED },
        { &codec_png, &codec_jpeg, 0, true, true, false, false, HOW_REENCODED },
        { &codec_jpeg, &codec_jpeg, 0, true, false, true, false,
          HOW_REENCODED },
        { &codec_pfm, &codec_hdr, 0, true, true, false, false, HOW_LOSSLESS },
        { &codec_hdr, &codec_hdr, 0, true, false, true, false, HOW_LOSSLESS },
        { &codec_npy, &codec_npy, 0, true, false, true, true, HOW_LOSSLESS },
        { &codec_npy, &codec_npy, 16, false, false, false, false,
          HOW_LOSSLESS },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct options opts = { .depth = cases[i].depth,
                                .lossless = cases[i].lossless };
        struct result result = { .from = cases[i].from, .to = cases[i].to };
        struct job_plan plan;
        struct err err = { .text = "" };
        int status = job_plan_formats(&plan, &opts, &result, &err);
        CHECK(!status == !cases[i].refused, "%zu: %s", i, err.text);
        CHECK(plan.own == cases[i].own && plan.within == cases[i].within, "%zu",
              i);
        CHECK(result.how == cases[i].how, "%zu: %s", i,
              job_how_name(result.how));
    }
}

/* A JPEG of 40 x 37 pixels in MCUs of 16 x 8: neither columns nor rows can be
 * reversed without loss. */
TEST(edges)
{
    static const struct {
        enum xform op;
        enum edge edge;
        int status;
        enum how how;
        enum representation representation;
        uint32_t width, height;
        unsigned tag, warnings;
    } cases[] = {
        { XFORM_TRANSPOSE, EDGE_FAIL, 0, HOW_LOSSLESS,
          REPRESENTATION_COEFFICIENTS, 0, 0, 0, 0 },
        { XFORM_MIRROR_X, EDGE_FAIL, -1, HOW_REENCODED,
          REPRESENTATION_COEFFICIENTS, 0, 0, 0, 0 },
        { XFORM_MIRROR_X, EDGE_TRIM, 0, HOW_TRIMMED,
          REPRESENTATION_COEFFICIENTS, 32, 37, 0, 0 },
        { XFORM_ROTATE_90, EDGE_TRIM, 0, HOW_TRIMMED,
          REPRESENTATION_COEFFICIENTS, 40, 32, 0, 0 },
        { XFORM_ROTATE_90, EDGE_TAG, 0, HOW_TAGGED, REPRESENTATION_COEFFICIENTS,
          0, 0, 6, 0 },
        { XFORM_ROTATE_180, EDGE_REENCODE, 0, HOW_REENCODED,
          REPRESENTATION_PLANES, 0, 0, 0, 1 },
        { XFORM_MIRROR_X, EDGE_REENCODE, 0, HOW_LUMA_LOSSLESS,
          REPRESENTATION_REALIGNED, 0, 0, 0, 1 },
    };
    const struct stream_info info = {
        .width = 40,
        .height = 37,
        .alignment = { [REPRESENTATION_SAMPLES] = { 1, 1 },
                       [REPRESENTATION_PLANES] = { 2, 1 },
                       [REPRESENTATION_REALIGNED] = { 8, 8 },
                       [REPRESENTATION_COEFFICIENTS] = { 16, 8 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct options opts = { .op = cases[i].op, .edge = cases[i].edge };
        struct result result = { .from = &codec_jpeg, .to = &codec_jpeg };
        struct job_plan plan;
        struct err err = { .text = "" };
        CHECK(!job_plan_formats(&plan, &opts, &result, &err), "%s", err.text);
        int status = job_plan_picture(&plan, &opts, &info, &result, &err);
        const struct decode_plan *decode = &plan.decode;
        CHECK(status == cases[i].status, "%zu: %s", i, err.text);
        CHECK(result.how == cases[i].how, "%zu: %s", i,
              job_how_name(result.how));
        CHECK(decode->representation == cases[i].representation &&
                  decode->width == cases[i].width &&
                  decode->height == cases[i].height,
              "%zu: %u x %u", i, decode->width, decode->height);
        CHECK(plan.tag == cases[i].tag &&
                  decode->turn == (plan.tag ? XFORM_NONE : opts.op),
              "%zu: tag %u", i, plan.tag);
        CHECK(result.warnings.count == cases[i].warnings &&
                  result.edge_warning == cases[i].warnings,
              "%zu: %u warnings", i, result.warnings.count);
    }
}
