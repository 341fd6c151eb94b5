/* The coefficients of a JPEG file as libjpeg reads them; see plain_jpeg.h. */
#include "tests/support/plain_jpeg.h"

#include <stdlib.h>
#include <string.h>

#include <jerror.h>

#include "tests/support/must.h"
#include "tests/support/oracle.h"

static void on_error(j_common_ptr cinfo)
{
    longjmp(((struct plain_jpeg *)cinfo->client_data)->out, 1);
}

/* The revision of a JFIF segment and an unknown transform of Adobe say nothing
 * of the coefficients. */
static void on_message(j_common_ptr cinfo, int level)
{
    const int code = cinfo->err->msg_code;
    if (level < 0 && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM)
        cinfo->err->num_warnings++;
}

struct plain_jpeg *plain_jpeg_begin(void)
{
    struct plain_jpeg *j = calloc(1, sizeof *j);
    must(j);
    j->d.err = jpeg_std_error(&j->mgr);
    j->mgr.error_exit = on_error;
    j->mgr.emit_message = on_message;
    j->d.client_data = j;
    jpeg_create_decompress(&j->d);
    return j;
}

struct plain_jpeg *plain_jpeg_read(struct bytes file, uint64_t pixels_max)
{
    struct plain_jpeg *j = plain_jpeg_begin();
    if (setjmp(j->out))
        return j;
    jpeg_mem_src(&j->d, file.data, file.size);
    jpeg_read_header(&j->d, TRUE);
    j->too_large = pixels_max &&
                   (uint64_t)j->d.image_width * j->d.image_height > pixels_max;
    if (j->too_large)
        return j;
    j->array = jpeg_read_coefficients(&j->d);
    j->sound = j->mgr.num_warnings == 0;
    return j;
}

void plain_jpeg_free(struct plain_jpeg *jpeg)
{
    if (jpeg)
        jpeg_destroy_decompress(&jpeg->d);
    free(jpeg);
}

bool plain_jpeg_fits(const struct plain_jpeg *from, const struct plain_jpeg *to,
                     enum xform turn)
{
    const bool transposes = oracle[turn].xy != 0;
    const JDIMENSION width = from->d.image_width, height = from->d.image_height;
    bool fits = to->d.image_width == (transposes ? height : width) &&
                to->d.image_height == (transposes ? width : height) &&
                to->d.num_components == from->d.num_components;
    for (int i = 0; fits && i < from->d.num_components; i++) {
        const jpeg_component_info *a = &from->d.comp_info[i];
        const jpeg_component_info *b = &to->d.comp_info[i];
        fits = b->width_in_blocks ==
                   (transposes ? a->height_in_blocks : a->width_in_blocks) &&
               b->height_in_blocks ==
                   (transposes ? a->width_in_blocks : a->height_in_blocks);
    }
    return fits;
}

static const JCOEF *block_at(struct plain_jpeg *j, int i, uint32_t x,
                             uint32_t y)
{
    return j->d.mem->access_virt_barray((j_common_ptr)&j->d, j->array[i], y, 1,
                                        FALSE)[0][x];
}

static bool component_is_turned(struct plain_jpeg *from, struct plain_jpeg *to,
                                int i, enum xform turn)
{
    const jpeg_component_info *a = &from->d.comp_info[i],
                              *b = &to->d.comp_info[i];
    const bool transposes = oracle[turn].xy != 0;
    const JDIMENSION w = transposes ? b->height_in_blocks : b->width_in_blocks,
                     h = transposes ? b->width_in_blocks : b->height_in_blocks;
    if (w > a->width_in_blocks || h > a->height_in_blocks ||
        b->component_id != a->component_id)
        return false;
    for (uint32_t y = 0; y < b->height_in_blocks; y++)
        for (uint32_t x = 0; x < b->width_in_blocks; x++) {
            uint32_t sx, sy;
            JBLOCK block;
            turn_source(turn, w, h, x, y, &sx, &sy);
            memcpy(block, block_at(to, i, x, y), sizeof block);
            if (!is_turned_block(turn, (const uint8_t *)block,
                                 (const uint8_t *)block_at(from, i, sx, sy)))
                return false;
        }
    return true;
}

static bool steps_are_turned(const struct plain_jpeg *from,
                             const struct plain_jpeg *to, int i,
                             enum xform turn)
{
    const UINT16 *a = from->d.comp_info[i].quant_table->quantval;
    const UINT16 *b = to->d.comp_info[i].quant_table->quantval;
    for (int k = 0; k < DCTSIZE2; k++)
        if (b[k] != a[oracle[turn].xy ? k % 8 * 8 + k / 8 : k])
            return false;
    return true;
}

bool plain_jpeg_is_turned(struct plain_jpeg *from, struct plain_jpeg *to,
                          int components, enum xform turn)
{
    bool same = components <= from->d.num_components &&
                components <= to->d.num_components;
    for (int i = 0; same && i < components; i++)
        same = component_is_turned(from, to, i, turn) &&
               steps_are_turned(from, to, i, turn);
    return same;
}
