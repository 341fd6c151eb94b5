/* JPEG out: sequential files with Huffman codes by our own coder, others
 * through libjpeg-turbo. */
#include "codecs/jpeg/jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/libjpeg.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/samples.h"

enum {
    QUALITY = 98,      /* where none is asked for */
    QUALITY_FULL = 90, /* from here on chroma is not subsampled */
};

/* The destination that libjpeg writes to. Until it has ended, file->size is the
 * capacity. */
struct libjpeg_target {
    struct jpeg_destination_mgr to;
    struct bytes *file;
};

struct jpeg_writer {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct libjpeg_target target;
    struct bytes *file;
    jmp_buf out;
    const struct image *img;
    const struct save_opts *opts;
    struct libjpeg_arrays blocks;
    struct image made;  /* components of the pixels of another format */
    struct image coded; /* the coefficients of samples, for libjpeg */
    struct err *err;
};

static _Noreturn void leave(struct jpeg_writer *w)
{
    longjmp(w->out, 1);
}

static void on_error(j_common_ptr cinfo)
{
    struct jpeg_writer *w = cinfo->client_data;
    libjpeg_describe_error(cinfo, w->err);
    leave(w);
}

static void on_message(j_common_ptr cinfo, int level)
{
    struct jpeg_writer *w = cinfo->client_data;
    char text[JMSG_LENGTH_MAX];
    if (level >= 0)
        return;
    cinfo->err->format_message(cinfo, text);
    warn(w->opts->warnings, "%s", text);
}

/* Leaves if something has failed. */
static void check(struct jpeg_writer *w, int status)
{
    if (status)
        leave(w);
}

static void check_time(struct jpeg_writer *w)
{
    check(w, account_check_time(w->opts->account, w->err));
}

/* libjpeg calls it for each row of blocks. */
static void on_progress(j_common_ptr cinfo)
{
    check_time(cinfo->client_data);
}

/* ---- The file of libjpeg ---- */

/* Makes room, at the begin and whenever the file is full. libjpeg's own
 * jpeg_mem_dest() leaves a pointer to freed memory when memory runs out. */
static boolean on_full(j_compress_ptr c)
{
    enum { ROOM = 1 << 16 }; /* the least that is reserved */
    struct libjpeg_target *target = (struct libjpeg_target *)c->dest;
    struct bytes *file = target->file;
    size_t size = file->size;
    if (!bytes_reserve(file, ROOM)) {
        c->err->msg_code = JERR_OUT_OF_MEMORY;
        c->err->msg_parm.i[0] = 0;
        c->err->error_exit((j_common_ptr)c);
    }
    target->to.next_output_byte = file->data + size;
    target->to.free_in_buffer = file->capacity - size;
    file->size = file->capacity;
    return TRUE;
}

static void on_begin(j_compress_ptr c)
{
    on_full(c);
}

static void on_end(j_compress_ptr c)
{
    struct libjpeg_target *target = (struct libjpeg_target *)c->dest;
    target->file->size -= target->to.free_in_buffer;
}

/* ---- By our own coder ---------------------------------------------------- */

static void take_table(struct huffman_spec *spec, const JHUFF_TBL *table)
{
    if (!table)
        return;
    memcpy(spec->counts, table->bits + 1, sizeof spec->counts);
    memcpy(spec->symbols, table->huffval, sizeof spec->symbols);
}

/* Sets how a picture is coded by c. Returns whether that is sequential, with
 * Huffman codes. */
static bool set_picture(struct sequential *s, const j_compress_ptr c,
                        bool extended)
{
    const jpeg_scan_info *scans = c->scan_info;
    bool suits = true;
    if (c->arith_code || c->num_components > ENTROPY_COMPONENTS ||
        (scans && (scans->Ss || scans->Al || scans->Se != DCTSIZE2 - 1 ||
                   c->num_scans > ENTROPY_COMPONENTS)))
        return false;
    *s = (struct sequential){
        .frame = extended ? MARKER_SOF1 : MARKER_SOF0,
        .width = c->image_width,
        .height = c->image_height,
        .components = (unsigned)c->num_components,
        .scans = scans ? (unsigned)c->num_scans : 1,
    };
    for (int i = 0; i < c->num_components; i++) {
        const jpeg_component_info *info = &c->comp_info[i];
        const int n = info->quant_tbl_no;
        s->component[i] = (struct sequential_component){
            (uint8_t)info->component_id,
            (uint8_t)info->h_samp_factor,
            (uint8_t)info->v_samp_factor,
            (uint8_t)n,
        };
        memcpy(s->steps[n], c->quant_tbl_ptrs[n]->quantval, sizeof *s->steps);
    }
    for (unsigned i = 0; i < s->scans; i++) {
        struct sequential_scan *to = &s->scan[i];
        struct entropy_scan *coding = &to->coding;
        coding->components =
            scans ? (unsigned)scans[i].comps_in_scan : s->components;
        coding->restart = c->restart_interval;
        for (unsigned k = 0; k < coding->components; k++) {
            const int n = scans ? scans[i].component_index[k] : (int)k;
            to->component[k] = (uint8_t)n;
            coding->component[k].dc = (uint8_t)c->comp_info[n].dc_tbl_no;
            coding->component[k].ac = (uint8_t)c->comp_info[n].ac_tbl_no;
        }
        for (int n = 0; n < ENTROPY_TABLES; n++) {
            take_table(&coding->dc[n], c->dc_huff_tbl_ptrs[n]);
            take_table(&coding->ac[n], c->ac_huff_tbl_ptrs[n]);
        }
    }
    sequential_set_sizes(s);
    for (unsigned i = 0; i < s->scans; i++)
        suits = suits &&
                entropy_mcu_blocks(&s->scan[i].coding) <= ENTROPY_MCU_BLOCKS;
    return suits;
}

/* Appends the picture from its first table to EOI: what its meta has of it, as
 * that says; or the samples, or if these are NULL its planes, as c is set to
 * write them. Returns -1 without memory, or if libjpeg has to write the
 * picture, or to tell why it cannot. */
static int put_picture(struct jpeg_writer *w, const struct samples *samples)
{
    const struct image *img = w->img;
    const struct save_opts *opts = w->opts;
    const struct jpeg_parameters *p =
        codec_is_own(&codec_jpeg, img) ? parameters_of(img->meta) : NULL;
    const bool own = p && p->coded && !samples;
    const struct sequential *from;
    struct sequential to = { .frame = 0 };
    bool optimize = own ? opts->optimize : w->c.optimize_coding;
    int status = 0;
    if (own && p->turned)
        return sequential_write_turned(w->file, p->turned, w->err);
    if (own)
        sequential_turn(&to, p->coded, img->turned);
    else if (!set_picture(&to, &w->c, p && p->extended))
        return fail(w->err, "not a sequential JPEG with Huffman codes");
    for (unsigned i = 0; own && opts->no_restart && i < to.scans; i++)
        to.scan[i].coding.restart = 0;
    from = own && img->pixels.kind == PIXELS_CODED ? p->coded : &to;
    if (samples) {
        status = samples_encode(samples, NULL, &to, opts->pool, w->err);
    } else if (from == &to) {
        to.turn = XFORM_NONE; /* as the planes are turned */
        status = sequential_take_planes(&to, img, opts->pool, w->err);
    }
    if (status == 0)
        status =
            sequential_write(w->file, &to, from, optimize, opts->pool, w->err);
    sequential_free(&to);
    return status;
}

/* ---- All files ----------------------------------------------------------- */

/* Sets the size of the picture that coefficients make. Version 8 of the
 * interface, Ubuntu's, needs that; in 6b, Debian's, it is always the size of
 * the image. */
static void set_size(j_compress_ptr c)
{
#if JPEG_LIB_VERSION >= 80
    c->jpeg_width = c->image_width;
    c->jpeg_height = c->image_height;
    c->min_DCT_h_scaled_size = c->min_DCT_v_scaled_size = DCTSIZE;
#endif
    (void)c;
}

static void write_blocks(struct jpeg_writer *w, const struct image *img)
{
    const struct meta *meta = w->img->meta;
    set_size(&w->c);
    libjpeg_arrays_lend(&w->blocks, img, (j_common_ptr)&w->c);
    jpeg_write_coefficients(&w->c, w->blocks.list);
    for (size_t i = 0; meta && i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (block->kind != BLOCK_TRAILER)
            jpeg_write_marker(&w->c, (int)block->where, block->data,
                              (unsigned)block->size);
    }
    jpeg_finish_compress(&w->c);
}

/* Returns whether our own coder has written the coefficients of the picture, or
 * of its samples; libjpeg has to do it if not, or to tell why it cannot, which
 * takes planes. */
static bool write_sequential(struct jpeg_writer *w,
                             const struct samples *samples)
{
    /* All that a JPEG file begins with before its tables: SOI, what c is set to
     * write of JFIF, without a thumbnail (T.871, 10.1), and of Adobe (T.872,
     * 6.5.3), and the segments of the picture. */
    struct bytes *file = w->file;
    static const uint8_t start[] = { 0xff, MARKER_SOI };
    uint8_t jfif[14] = "JFIF", adobe[12] = "Adobe\0\144";
    const struct meta *meta = w->img->meta;
    jfif[5] = w->c.JFIF_major_version;
    jfif[6] = w->c.JFIF_minor_version;
    jfif[7] = w->c.density_unit;
    write_be16(jfif + 8, w->c.X_density);
    write_be16(jfif + 10, w->c.Y_density);
    adobe[11] = w->c.jpeg_color_space == JCS_YCbCr  ? 1
                : w->c.jpeg_color_space == JCS_YCCK ? 2
                                                    : 0;
    bool done = bytes_append(file, start, sizeof start) &&
                (!w->c.write_JFIF_header ||
                 marker_put(file, MARKER_APP0, jfif, sizeof jfif)) &&
                (!w->c.write_Adobe_marker ||
                 marker_put(file, MARKER_APP0 + 14, adobe, sizeof adobe));
    for (size_t i = 0; done && meta && i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (block->kind != BLOCK_TRAILER)
            done = marker_put(file, block->where, block->data, block->size);
    }
    if (!done)
        fail_memory(w->err, "no memory for the encoded picture");
    if (done && put_picture(w, samples) == 0)
        return true;
    check_time(w);
    if (w->err->memory || w->img->pixels.kind != PIXELS_ROWS)
        leave(w);
    w->file->size = 0;
    return false;
}

/* The tables get finer steps where the picture would lose too much. */
static void cap_steps(struct jpeg_writer *w, const struct image *img)
{
    unsigned cap[NUM_QUANT_TBLS];
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        cap[i] = UINT16_MAX;
    for (unsigned i = 0; i < img->nplanes; i++) {
        int n = w->c.comp_info[i].quant_tbl_no;
        unsigned found = samples_find_cap(&img->plane[i],
                                          w->c.quant_tbl_ptrs[n]->quantval, i);
        if (!found)
            check(w, fail_memory(w->err, "no memory for the encoder"));
        cap[n] = found < cap[n] ? found : cap[n];
    }
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        for (int k = 0; w->c.quant_tbl_ptrs[i] && k < DCTSIZE2; k++) {
            UINT16 *step = &w->c.quant_tbl_ptrs[i]->quantval[k];
            *step = requantize_step(*step, cap[i]);
        }
}

static void write_samples(struct jpeg_writer *w)
{
    const struct image *img = w->img;
    const bool own = codec_is_own(&codec_jpeg, img);
    const bool again = own && !w->opts->quality;
    struct samples samples[MAX_COMPONENTS] = { { .wanted = false } };
    if (!own || w->c.in_color_space != w->c.jpeg_color_space) {
        check(w,
              samples_of_pixels(&w->made, img, &w->c, w->opts->pool, w->err));
        img = &w->made;
        check_time(w);
    }
    if (again)
        cap_steps(w, img);
    for (unsigned i = 0; i < img->nplanes; i++) {
        int n = w->c.comp_info[i].quant_tbl_no;
        samples[i].wanted = true;
        samples[i].plane = img->plane[i];
        samples[i].rounding =
            samples_rounding(w->c.quant_tbl_ptrs[n]->quantval, again);
    }
    if (write_sequential(w, samples))
        return;
    /* libjpeg writes them, as their coefficients. */
    w->coded = (struct image){ .cell = CELL_DCT,
                               .width = img->width,
                               .height = img->height,
                               .nplanes = img->nplanes };
    for (unsigned i = 0; i < img->nplanes; i++) {
        w->coded.plane[i].width = (img->plane[i].width + 7) / DCTSIZE;
        w->coded.plane[i].height = (img->plane[i].height + 7) / DCTSIZE;
    }
    check(w, image_alloc(&w->coded, mem_plain, w->err));
    check(w, samples_encode(samples, &w->coded, NULL, w->opts->pool, w->err));
    write_blocks(w, &w->coded);
}

static void set_up(struct jpeg_writer *w)
{
    static const J_COLOR_SPACE spaces[] = {
        [COLOR_GRAY] = JCS_GRAYSCALE, [COLOR_RGB] = JCS_RGB,
        [COLOR_YCC] = JCS_YCbCr,      [COLOR_CMYK] = JCS_CMYK,
        [COLOR_YCCK] = JCS_YCCK,      [COLOR_OTHER] = JCS_UNKNOWN,
    };
    const struct image *img = w->img;
    struct jpeg_compress_struct *c = &w->c;
    const int quality = w->opts->quality ? w->opts->quality : QUALITY;
    struct density d = { DENSITY_NONE, 0, 0 };
    jpeg_create_compress(c);
    w->target = (struct libjpeg_target){
        { .init_destination = on_begin,
          .empty_output_buffer = on_full,
          .term_destination = on_end },
        w->file,
    };
    c->dest = &w->target.to;
    w->progress.progress_monitor = on_progress;
    c->progress = &w->progress;
    c->image_width = img->width;
    c->image_height = img->height;
    c->input_components = (int)img->nplanes;
    c->in_color_space = spaces[img->color];
    jpeg_set_defaults(c);
    if (codec_is_own(&codec_jpeg, img)) {
        jpeg_set_colorspace(c, parameters_of(img->meta)->space);
        parameters_set(c, img, w->opts);
        /* What the file had is among the blocks. */
        c->write_JFIF_header = FALSE;
        c->write_Adobe_marker = FALSE;
        return;
    }
    jpeg_set_quality(c, quality, TRUE);
    for (int i = 0; quality >= QUALITY_FULL && i < c->num_components; i++)
        c->comp_info[i].h_samp_factor = c->comp_info[i].v_samp_factor = 1;
    c->optimize_coding = TRUE;
    /* JFIF knows dots an inch and dots a cm, up to 65535. */
    if (img->meta)
        d = img->meta->density;
    if (d.unit == DENSITY_METER)
        d = (struct density){ DENSITY_INCH, d.x * 0.0254, d.y * 0.0254 };
    if (d.unit == DENSITY_NONE)
        return;
    if (!(d.x >= 1 && d.x < 65535.5 && d.y >= 1 && d.y < 65535.5)) {
        warn(w->opts->warnings, "a density of %g x %g is not kept", d.x, d.y);
        return;
    }
    c->density_unit = d.unit == DENSITY_INCH;
    c->X_density = (UINT16)(d.x + 0.5);
    c->Y_density = (UINT16)(d.y + 0.5);
}

static int write_guarded(struct jpeg_writer *w)
{
    if (setjmp(w->out))
        return -1;
    set_up(w);
    if (w->img->cell != CELL_DCT)
        write_samples(w);
    else if (!write_sequential(w, NULL))
        write_blocks(w, w->img);
    return 0;
}

int write_jpeg(struct bytes *file, const struct image *img,
               const struct save_opts *opts, struct err *err)
{
    struct jpeg_writer w = {
        .file = file, .img = img, .opts = opts, .err = err
    };
    if (img->width > JPEG_MAX_DIMENSION || img->height > JPEG_MAX_DIMENSION)
        return fail(err,
                    "%u x %u pixels are too many; a JPEG has up to %d "
                    "each way",
                    img->width, img->height, (int)JPEG_MAX_DIMENSION);
    w.c.err = jpeg_std_error(&w.errors);
    w.c.err->error_exit = on_error;
    w.c.err->emit_message = on_message;
    w.c.client_data = &w;
    int status = write_guarded(&w);
    if (status == 0 && img->meta)
        status = segments_append_trailer(file, img->meta, err);
    jpeg_destroy((j_common_ptr)&w.c);
    image_free(&w.made);
    image_free(&w.coded);
    return status;
}
