/* Any bytes as a JPEG file: its pixels, and its coefficients and stored
 * samples, turned and written again. */

#include "tests/fuzz/fuzz_picture.h"
#include "tests/support/fixture.h"

/* Turns by the definition: what the stage does has tests of its own. A plane
 * keeps its size or exchanges its axes; cells are as good where they were. */
static void claim_turn(struct image *img, enum xform t)
{
    struct image dst = { 0 };
    struct err err;
    must(image_like(&dst, img, t, mem_plain, &err) == 0);
    memset(dst.pixels.rows.cells, 0, dst.pixels.rows.size);
    for (unsigned i = 0; i < dst.nplanes; i++) {
        struct plane *to = &dst.plane[i], *from = &img->plane[i];
        uint32_t rows = to->height < from->height ? to->height : from->height;
        uint32_t width = to->width < from->width ? to->width : from->width;
        for (uint32_t y = 0; y < rows; y++)
            memcpy(plane_row(to, y), plane_row(from, y),
                   width * cell_size(img->cell));
    }
    image_take_meta(&dst, img);
    image_free(img);
    *img = dst;
}

/* Two threads write what one does. */
static void write_side_by_side(const struct image *img, struct save_opts save,
                               struct bytes one)
{
    struct warnings warnings = { 0 };
    owned_bytes two = { 0 };
    struct err err = { .text = "" };
    save.pool = fuzz_pool(2);
    save.warnings = &warnings;
    must(encode_as(&codec_jpeg, &two, img, &save, &err) == 0);
    must(two.size == one.size && !memcmp(two.data, one.data, one.size));
}

/* Whether Huffman codes can be for all coefficients (T.81, F.1.2). */
static bool is_in_range(const struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; y < img->plane[i].height; y++) {
            const int16_t *at = plane_row(&img->plane[i], y);
            for (size_t k = 0; k < (size_t)64 * img->plane[i].width; k++)
                if (at[k] < -1023 || at[k] > 1023)
                    return false;
        }
    return true;
}

/* Coefficients survive writing and reading, unless JPEG has no codes for
 * them. */
static void write_again(struct image *img, const struct load_opts *load,
                        struct decode_plan plan, unsigned way)
{
    struct warnings warnings = { 0 };
    struct save_opts save = { .suffix = "",
                              .orientation = way % 9,
                              .optimize = way % 2,
                              .no_restart = way & 64,
                              .warnings = &warnings };
    struct load_opts again = *load;
    struct image back = { 0 };
    owned_bytes made = { 0 };
    struct err err = { .text = "" };
    bool standard = img->cell != CELL_DCT || is_in_range(img);
    if (encode_as(&codec_jpeg, &made, img, &save, &err)) {
        must(!standard || strstr(err.text, "EXIF"));
    } else {
        write_side_by_side(img, save, made);
        again.tolerant = false;
        again.limits = (struct limits){ .pixels = 1 << 20, .bytes = 256 << 20 };
        plan.width = plan.height = 0;
        if (img->cell == CELL_DCT) { /* they are aligned now */
            plan.representation = REPRESENTATION_COEFFICIENTS;
            plan.turn = XFORM_NONE;
        }
        must(codec_decode_file(&codec_jpeg, &back, made, &again, &plan, &err) ==
             0);
        must(back.width == img->width && back.height == img->height);
        if (img->cell == CELL_DCT)
            must(same_cells(img, &back));
        image_free(&back);
    }
}

/* A file with restart markers that two threads might read is read by them as by
 * one: to the same planes, with the same words. */
static void side_by_side(struct bytes file, unsigned way)
{
    struct warnings warnings[2] = { { 0 }, { 0 } };
    struct load_opts load = { .limits = { .pixels = 1 << 18,
                                          .bytes = 16 << 20 },
                              .mem = mem_plain,
                              .tolerant = way & 256,
                              .warnings = &warnings[0] };
    const struct decode_plan plan = { .representation =
                                          way & 128
                                              ? REPRESENTATION_COEFFICIENTS
                                              : REPRESENTATION_PLANES };
    owned_image one = { 0 }, two = { 0 };
    struct err err[2] = { 0 };
    int status =
        codec_decode_file(&codec_jpeg, &one, file, &load, &plan, &err[0]);
    load.pool = fuzz_pool(2);
    load.warnings = &warnings[1];
    must(codec_decode_file(&codec_jpeg, &two, file, &load, &plan, &err[1]) ==
         status);
    must(warnings[0].count == warnings[1].count);
    for (unsigned i = 0; i < warnings[0].count && i < WARNINGS_MAX; i++)
        must(!strcmp(warnings[0].list[i].text, warnings[1].list[i].text));
    if (status == 0) {
        must(same_cells(&one, &two));
        must(one.meta->nblocks == two.meta->nblocks);
        for (size_t i = 0; i < one.meta->nblocks; i++)
            must(one.meta->block[i].where == two.meta->block[i].where &&
                 one.meta->block[i].size == two.meta->block[i].size &&
                 (!one.meta->block[i].size ||
                  !memcmp(one.meta->block[i].data, two.meta->block[i].data,
                          one.meta->block[i].size)));
    } else {
        must(!strcmp(err[0].text, err[1].text));
    }
}

static void as_coded(struct bytes file, unsigned way)
{
    struct warnings warnings = { 0 };
    struct load_opts load = { .limits = { .pixels = 1 << 18,
                                          .bytes = 16 << 20 },
                              .mem = mem_plain,
                              .warnings = &warnings };
    struct stream_info info;
    struct err err = { .text = "" };
    enum xform t = (enum xform)(way % XFORM_COUNT);
    load.tolerant = way & 16;
    if (codec_look(&codec_jpeg, &info, file, &load, &err))
        return;
    for (int representation = REPRESENTATION_PLANES;
         representation < REPRESENTATIONS; representation++) {
        const struct alignment *alignment = &info.alignment[representation];
        owned_image img = { 0 };
        struct decode_plan plan = {
            .representation = (enum representation)representation,
            .turn = t,
            .width = info.width - info.width % alignment->x,
            .height = info.height - info.height % alignment->y,
        };
        if (representation == REPRESENTATION_PLANES && way & 32)
            plan.width = plan.height = 0;
        else if (!plan.width || !plan.height) /* nothing would be left */
            continue;
        if (codec_decode_file(&codec_jpeg, &img, file, &load, &plan, &err)) {
            must(!img.pixels.kind && !img.meta);
            continue;
        }
        must(img.orientation == info.orientation.value ||
             (img.orientation == 1 && info.orientation.value == 0));
        claim_turn(&img, t);
        write_again(&img, &load, plan, way);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes file = { .data = (uint8_t *)(uintptr_t)data, .size = size };
    const unsigned way = fuzz_way(data, size);
    fuzz_picture(&codec_jpeg, data, size);
    as_coded(file, way);
    side_by_side(file, way);
    return 0;
}
