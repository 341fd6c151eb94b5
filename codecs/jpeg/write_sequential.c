/* Sequential files with Huffman codes, written without libjpeg. */
#include "codecs/jpeg/write_sequential.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/offer.h"
#include "codecs/jpeg/parameters.h"

/* As T.871, 10.1 has it, without a thumbnail. */
static bool put_jfif(struct bytes *file, const j_compress_ptr c)
{
    uint8_t data[14] = "JFIF";
    data[5] = c->JFIF_major_version;
    data[6] = c->JFIF_minor_version;
    data[7] = c->density_unit;
    write_be16(data + 8, c->X_density);
    write_be16(data + 10, c->Y_density);
    return marker_put(file, JPEG_APP0, data, sizeof data);
}

/* As T.872, 6.5.3 has it. */
static bool put_adobe(struct bytes *file, const j_compress_ptr c)
{
    uint8_t data[12] = "Adobe\0\144";
    data[11] = c->jpeg_color_space == JCS_YCbCr  ? 1
               : c->jpeg_color_space == JCS_YCCK ? 2
                                                 : 0;
    return marker_put(file, JPEG_APP0 + 14, data, sizeof data);
}

int write_sequential_headers(struct bytes *file, const j_compress_ptr c,
                             const struct image *img, struct err *err)
{
    static const uint8_t start[] = { 0xff, MARKER_SOI };
    const struct meta *meta = img->meta;
    bool done = bytes_append(file, start, sizeof start) &&
                (!c->write_JFIF_header || put_jfif(file, c)) &&
                (!c->write_Adobe_marker || put_adobe(file, c));
    for (size_t i = 0; done && meta && i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (block->kind != BLOCK_TRAILER)
            done = marker_put(file, block->where, block->data, block->size);
    }
    return done ? 0 : fail_memory(err, "no memory for the encoded picture");
}

/* Writes the blocks in the planes of img, or if that is NULL, of samples. */
static int write_planes(struct bytes *file, struct sequential *to,
                        const struct image *img, const struct samples *samples,
                        bool optimize, struct thread_pool *pool,
                        struct err *err)
{
    const struct block_holder blocks = { .coded = to };
    int status = img ? sequential_take_planes(to, img, pool, err)
                     : samples_encode(samples, &blocks, pool, err);
    if (status == 0)
        status =
            sequential_write(file, to, to, XFORM_NONE, optimize, pool, err);
    sequential_free(to);
    return status;
}

int write_sequential_own(struct bytes *file, const struct image *img,
                         const struct save_opts *opts, struct err *err)
{
    const struct sequential *from = parameters_of(img->meta)->coded;
    struct sequential_turned *turned = parameters_of(img->meta)->turned;
    struct sequential to;
    if (turned) {
        offer_take_steps(turned);
        return sequential_write_turned(file, turned, err);
    }
    sequential_turn(&to, from, img->turned);
    for (unsigned i = 0; opts->no_restart && i < to.scans; i++)
        to.scan[i].coding.restart = 0;
    if (img->cells)
        return write_planes(file, &to, img, NULL, opts->optimize, opts->pool,
                            err);
    return sequential_write(file, &to, from, img->turned, opts->optimize,
                            opts->pool, err);
}

static void set_table(struct huffman_spec *spec, const JHUFF_TBL *table)
{
    if (!table)
        return;
    memcpy(spec->counts, table->bits + 1, sizeof spec->counts);
    memcpy(spec->symbols, table->huffval, sizeof spec->symbols);
}

/* Sets scan `s` by that of c, or as the one scan of all components. */
static void set_scan(struct sequential_scan *s, const j_compress_ptr c,
                     const jpeg_scan_info *info)
{
    int count = info ? info->comps_in_scan : c->num_components;
    s->coding.components = (unsigned)count;
    s->coding.restart = c->restart_interval;
    for (int i = 0; i < count; i++) {
        int n = info ? info->component_index[i] : i;
        s->component[i] = (uint8_t)n;
        s->coding.component[i].dc = (uint8_t)c->comp_info[n].dc_tbl_no;
        s->coding.component[i].ac = (uint8_t)c->comp_info[n].ac_tbl_no;
    }
    for (int i = 0; i < ENTROPY_TABLES; i++) {
        set_table(&s->coding.dc[i], c->dc_huff_tbl_ptrs[i]);
        set_table(&s->coding.ac[i], c->ac_huff_tbl_ptrs[i]);
    }
}

static void set_picture(struct sequential *s, const j_compress_ptr c,
                        bool extended)
{
    *s = (struct sequential){
        .frame = extended ? MARKER_SOF1 : MARKER_SOF0,
        .width = c->image_width,
        .height = c->image_height,
        .components = (unsigned)c->num_components,
        .scans = c->scan_info ? (unsigned)c->num_scans : 1,
    };
    for (int i = 0; i < c->num_components; i++) {
        const jpeg_component_info *info = &c->comp_info[i];
        s->component[i] = (struct sequential_component){
            (uint8_t)info->component_id,
            (uint8_t)info->h_samp_factor,
            (uint8_t)info->v_samp_factor,
            (uint8_t)info->quant_tbl_no,
        };
        memcpy(s->steps[info->quant_tbl_no],
               c->quant_tbl_ptrs[info->quant_tbl_no]->quantval,
               sizeof *s->steps);
    }
    for (unsigned i = 0; i < s->scans; i++)
        set_scan(&s->scan[i], c, c->scan_info ? &c->scan_info[i] : NULL);
    sequential_set_sizes(s);
}

int write_sequential_coded(struct bytes *file, const j_compress_ptr c,
                           const struct image *img,
                           const struct samples *samples, bool extended,
                           struct thread_pool *pool, struct err *err)
{
    static const char other[] = "not a sequential JPEG with Huffman codes";
    struct sequential s;
    bool progressive = c->scan_info && (c->scan_info->Ss || c->scan_info->Al ||
                                        c->scan_info->Se != DCTSIZE2 - 1);
    if (c->arith_code || progressive ||
        c->num_components > ENTROPY_COMPONENTS ||
        (c->scan_info && c->num_scans > ENTROPY_COMPONENTS))
        return fail(err, other);
    set_picture(&s, c, extended);
    for (unsigned i = 0; i < s.scans; i++)
        if (entropy_mcu_blocks(&s.scan[i].coding) > ENTROPY_MCU_BLOCKS)
            return fail(err, other);
    return write_planes(file, &s, img, samples, c->optimize_coding, pool, err);
}
