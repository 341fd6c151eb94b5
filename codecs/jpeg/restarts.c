/* Strips between restart markers decoded on several threads.
 *
 * At a restart marker a decoder starts anew, so that rows of MCUs between two
 * of them, with the headers of the file, are a picture of their own. The
 * messages about a damaged file must not depend on the number of threads, so a
 * strip counts only if libjpeg has nothing to say about it.
 *
 * At the end of a picture libjpeg does not notice data that is left over. At a
 * restart marker it does: it warns of the bytes that it skips. So each strip
 * but the last gets one more row of MCUs, and some extra bytes before the
 * restart marker between them. If libjpeg warns of exactly these, the strip was
 * complete. */
#include "codecs/jpeg/restarts.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/mcus.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/raw_planes.h"
#include "codecs/jpeg/splice.h"

enum {
    EXTRA =
        16, /* bytes before a restart marker: more than libjpeg reads ahead */
    /* Offsets from the second byte of the marker of a frame. */
    FRAME_HEIGHT = 4,
    FRAME_SAMPLING = 10, /* of the first component */
};

struct decoded_strip {
    struct coefficient_arrays
        blocks; /* where coefficient_arrays_offer() looks for them */
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr mgr;
    jmp_buf out;
    const struct decoding *all;
    uint32_t first, end; /* rows of MCUs */
    const uint8_t *at;   /* its entropy-coded data */
    size_t size;
    struct bytes file; /* made of these and the headers */
    bool done;
};

struct decoding {
    const struct jpeg_decompress_struct *d;
    struct mcus m;
    struct image *img;
    struct bytes head; /* SOI to the first scan, without APPn and COM */
    size_t frame;      /* the position of the marker of the frame in it */
    struct decoded_strip *strip;
    size_t count;
};

/* ---- Finding strips ---------------------------------------------------- */

/* Copies the headers, which end at `data`. */
static bool copy_head(struct decoding *all, struct bytes file, size_t data)
{
    if (!bytes_append(&all->head, file.data, 2))
        return false;
    for (size_t at = 2, size; at < data; at += size) {
        const uint8_t *p = file.data + at;
        size = parameters_segment_size(p, data - at);
        if (!size || (p[1] != 0xff && !parameters_is_app_or_com(p[1]) &&
                      !bytes_append(&all->head, p, size)))
            return false;
    }
    all->frame = parameters_find_frame(all->head.data, all->head.size);
    if (!all->frame ||
        parameters_find_data(all->head.data, all->head.size) != all->head.size)
        return false;
    /* A component by itself is coded block by block (T.81, A.2.2). */
    if (all->m.components == 1)
        all->head.data[all->frame + FRAME_SAMPLING] = 0x11;
    return true;
}

/* Finds the data of each strip. Returns false if a restart marker or the end of
 * the picture is missing. */
static bool find_strips(struct decoding *all, struct bytes file, size_t data,
                        size_t *behind)
{
    const struct mcus *m = &all->m;
    const uint8_t *p = file.data + data, *end = file.data + file.size;
    uint64_t passed = 0,
             needed = ((uint64_t)m->rows * m->columns - 1) / m->restart;
    size_t i = 0;
    all->strip[0].at = p;
    for (; (p = splice_next_marker(p, end)) && p[1] != JPEG_EOI; p += 2) {
        struct decoded_strip *s = &all->strip[i];
        if (p[1] != JPEG_RST0 + passed % 8 || passed++ == needed)
            return false;
        if (s->end == m->rows || passed != mcus_restarts(m, s->end))
            continue;
        s->size = (size_t)(p - s->at);
        s[1].at = p + 2;
        i++;
    }
    if (!p || passed != needed)
        return false;
    all->strip[i].size = (size_t)(p - all->strip[i].at);
    *behind = (size_t)(end - p) - 2;
    return i + 1 == all->count;
}

/* ---- A strip as a file ------------------------------------------------- */

/* The height of its own rows, and of one more if others follow. */
static uint32_t height_of(const struct decoded_strip *s)
{
    const struct mcus *m = &s->all->m;
    return s->end == m->rows ? s->all->img->height - s->first * m->high
                             : (s->end - s->first + 1) * m->high;
}

static bool make_file(struct decoded_strip *s)
{
    static const uint8_t extra[EXTRA] = { 0 };
    const struct mcus *m = &s->all->m;
    const struct bytes *head = &s->all->head;
    uint64_t restarts = mcus_restarts(m, s->end) - mcus_restarts(m, s->first);
    bool last = s->end == m->rows;
    const uint8_t end[4] = { 0xff, (uint8_t)(JPEG_RST0 + (restarts + 7) % 8),
                             0xff, JPEG_EOI };
    uint32_t height = height_of(s);
    if (!bytes_reserve(&s->file, head->size + s->size + EXTRA + sizeof end))
        return false;
    bytes_append(&s->file, head->data, head->size);
    write_be16(s->file.data + s->all->frame + FRAME_HEIGHT, height);
    bytes_append(&s->file, s->at, s->size);
    splice_number_restarts(s->file.data + head->size, s->size, 0);
    if (!last)
        bytes_append(&s->file, extra, sizeof extra);
    bytes_append(&s->file, last ? end + 2 : end, last ? 2 : 4);
    return true;
}

/* ---- Decoding ---------------------------------------------------------- */

static void on_error(j_common_ptr cinfo)
{
    struct decoded_strip *s = cinfo->client_data;
    longjmp(s->out, 1);
}

static void on_message(j_common_ptr cinfo, int level)
{
    struct decoded_strip *s = cinfo->client_data;
    if (level >= 0)
        return;
    s->done = s->end < s->all->m.rows &&
              s->d.input_iMCU_row == s->end - s->first &&
              cinfo->err->msg_code == JWRN_EXTRANEOUS_DATA &&
              cinfo->err->msg_parm.i[0] == EXTRA;
    longjmp(s->out, 1);
}

/* NULL: there is none, or its number is too large. */
static const JQUANT_TBL *table_of(const struct jpeg_decompress_struct *d, int i)
{
    int n = d->comp_info[i].quant_tbl_no;
    return n < NUM_QUANT_TBLS ? d->quant_tbl_ptrs[n] : NULL;
}

static bool same_component(const struct decoded_strip *s, int i)
{
    const jpeg_component_info *info = &s->d.comp_info[i];
    const JQUANT_TBL *a = table_of(&s->d, i), *b = table_of(s->all->d, i);
    return (uint32_t)info->h_samp_factor == s->all->m.across[i] &&
           (uint32_t)info->v_samp_factor == s->all->m.down[i] &&
           (a && b ? !memcmp(a->quantval, b->quantval, sizeof a->quantval)
                   : a == b);
}

/* Whether libjpeg reads from the copied headers what it has read from the file:
 * the planes have room only for that. */
static bool is_same_picture(const struct decoded_strip *s)
{
    const struct jpeg_decompress_struct *d = s->all->d;
    if (s->d.image_width != d->image_width ||
        s->d.image_height != height_of(s) ||
        s->d.data_precision != d->data_precision ||
        s->d.num_components != d->num_components ||
        s->d.comps_in_scan != d->comps_in_scan ||
        s->d.restart_interval != d->restart_interval ||
        s->d.progressive_mode != d->progressive_mode ||
        s->d.arith_code != d->arith_code)
        return false;
    for (int i = 0; i < d->num_components; i++)
        if (!same_component(s, i))
            return false;
    return true;
}

static void read_blocks(struct decoded_strip *s)
{
    const struct image *img = s->all->img;
    j_common_ptr cinfo = (j_common_ptr)&s->d;
    coefficient_arrays_lend_rows(&s->blocks, img, cinfo, s->all->m.down,
                                 s->first, s->end);
    for (unsigned i = 0; i < img->nplanes; i++)
        s->blocks.array[i].behind = cinfo->mem->alloc_large(
            cinfo, JPOOL_IMAGE, (size_t)img->plane[i].stride);
    coefficient_arrays_offer(cinfo);
    jpeg_read_coefficients(&s->d);
}

static void read_samples(struct decoded_strip *s)
{
    uint32_t high = s->all->m.high;
    s->d.raw_data_out = TRUE;
    s->d.jpeg_color_space = s->all->d->jpeg_color_space;
    s->d.out_color_space = s->all->d->out_color_space;
    jpeg_start_decompress(&s->d);
    raw_planes_read(&s->d, s->all->img, s->first * high, s->end * high);
    while (!jpeg_input_complete(&s->d))
        jpeg_consume_input(&s->d);
}

static void read_guarded(struct decoded_strip *s)
{
    if (setjmp(s->out))
        return;
    jpeg_create_decompress(&s->d);
    jpeg_mem_src(&s->d, s->file.data, s->file.size);
    jpeg_read_header(&s->d, TRUE);
    if (!is_same_picture(s))
        return;
    if (s->all->img->cell == CELL_DCT)
        read_blocks(s);
    else
        read_samples(s);
    s->done = s->end == s->all->m.rows;
}

static void read_strip(void *context, size_t i)
{
    const struct decoding *all = context;
    struct decoded_strip *s = &all->strip[i];
    s->d.err = jpeg_std_error(&s->mgr);
    s->mgr.error_exit = on_error;
    s->mgr.emit_message = on_message;
    s->d.client_data = s;
    if (make_file(s))
        read_guarded(s);
    jpeg_destroy_decompress(&s->d);
    bytes_free(&s->file);
}

static bool read_all(struct decoding *all, struct bytes file, uint32_t per,
                     struct thread_pool *pool, size_t *behind)
{
    size_t data = parameters_find_data(file.data, file.size);
    for (size_t i = 0; i < all->count; i++) {
        struct decoded_strip *s = &all->strip[i];
        s->all = all;
        mcus_strip(&all->m, per, i, &s->first, &s->end);
    }
    if (!data || !find_strips(all, file, data, behind) ||
        !copy_head(all, file, data))
        return false;
    thread_pool_run(pool, read_strip, all, all->count);
    for (size_t i = 0; i < all->count; i++)
        if (!all->strip[i].done)
            return false;
    return true;
}

bool restarts_read(struct image *img, const struct jpeg_decompress_struct *d,
                   struct bytes file, struct thread_pool *pool, size_t *behind)
{
    struct decoding all = { .d = d, .img = img };
    uint32_t per;
    if (d->progressive_mode || d->arith_code || !d->restart_interval ||
        d->comps_in_scan != d->num_components ||
        !mcus_of(&all.m, d->comp_info, d->num_components, d->image_width,
                 d->image_height, d->restart_interval))
        return false;
    all.count = mcus_share(&all.m, pool, &per);
    all.strip = all.count < 2 ? NULL : calloc(all.count, sizeof *all.strip);
    if (!all.strip)
        return false;
    bool done = read_all(&all, file, per, pool, behind);
    bytes_free(&all.head);
    free(all.strip);
    return done;
}
