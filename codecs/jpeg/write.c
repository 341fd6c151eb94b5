/* JPEG out: sequential files with Huffman codes by our own coder, others
 * through libjpeg-turbo. */
#include "codecs/jpeg/jpeg.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image/budget.h"
#include "codecs/jpeg/coefficient_arrays.h"
#include "codecs/jpeg/components.h"
#include "codecs/jpeg/libjpeg_memory.h"
#include "codecs/jpeg/library.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/requantize.h"
#include "codecs/jpeg/samples.h"
#include "codecs/jpeg/write_sequential.h"

enum {
    QUALITY = 98,      /* where none is asked for */
    QUALITY_FULL = 90, /* from here on chroma is not subsampled */
};

struct jpeg_writer {
    struct jpeg_compress_struct c;
    struct libjpeg_memory memory;
    struct jpeg_progress_mgr progress;
    struct library_target target;
    struct bytes *file;
    jmp_buf out;
    const struct image *img;
    const struct save_opts *opts;
    struct coefficient_arrays blocks;
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
    library_describe_error(cinfo, w->err);
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

static void check_time(struct jpeg_writer *w)
{
    if (budget_check_time(w->opts->budget, w->err))
        leave(w);
}

/* libjpeg calls it for each row of blocks. */
static void on_progress(j_common_ptr cinfo)
{
    check_time(cinfo->client_data);
}

static void set_colors(struct jpeg_writer *w)
{
    static const J_COLOR_SPACE spaces[] = {
        [COLOR_GRAY] = JCS_GRAYSCALE, [COLOR_RGB] = JCS_RGB,
        [COLOR_YCC] = JCS_YCbCr,      [COLOR_CMYK] = JCS_CMYK,
        [COLOR_YCCK] = JCS_YCCK,      [COLOR_OTHER] = JCS_UNKNOWN,
    };
    const struct image *img = w->img;
    w->c.image_width = img->width;
    w->c.image_height = img->height;
    w->c.input_components = (int)img->nplanes;
    w->c.in_color_space = spaces[img->color];
    jpeg_set_defaults(&w->c);
    if (codec_is_own(&codec_jpeg, img))
        jpeg_set_colorspace(&w->c, parameters_of(img->meta)->space);
}

static void set_coding(struct jpeg_writer *w)
{
    int quality = w->opts->quality ? w->opts->quality : QUALITY;
    jpeg_set_quality(&w->c, quality, TRUE);
    if (quality >= QUALITY_FULL)
        for (int i = 0; i < w->c.num_components; i++)
            w->c.comp_info[i].h_samp_factor = w->c.comp_info[i].v_samp_factor =
                1;
    w->c.optimize_coding = TRUE;
}

/* JFIF knows dots an inch and dots a cm, up to 65535. */
static void set_density(struct jpeg_writer *w)
{
    struct density d = w->img->meta->density;
    if (d.unit == DENSITY_METER)
        d = (struct density){ DENSITY_INCH, d.x * 0.0254, d.y * 0.0254 };
    if (d.unit == DENSITY_NONE)
        return;
    if (!(d.x >= 1 && d.x < 65535.5 && d.y >= 1 && d.y < 65535.5)) {
        warn(w->opts->warnings, "a density of %g x %g is not kept", d.x, d.y);
        return;
    }
    w->c.density_unit = d.unit == DENSITY_INCH;
    w->c.X_density = (UINT16)(d.x + 0.5);
    w->c.Y_density = (UINT16)(d.y + 0.5);
}

static void write_segments(struct jpeg_writer *w)
{
    const struct meta *meta = w->img->meta;
    for (size_t i = 0; meta && i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (block->kind != BLOCK_TRAILER)
            jpeg_write_marker(&w->c, (int)block->where, block->data,
                              (unsigned)block->size);
    }
}

static void write_blocks(struct jpeg_writer *w, const struct image *img)
{
    library_size(&w->c);
    coefficient_arrays_lend(&w->blocks, img, (j_common_ptr)&w->c);
    jpeg_write_coefficients(&w->c, w->blocks.list);
    write_segments(w);
    jpeg_finish_compress(&w->c);
}

/* Returns whether our own coder has written the coefficients of the picture, or
 * of its samples; libjpeg has to do it if not, or to tell why it cannot, which
 * takes planes. */
static bool write_sequential(struct jpeg_writer *w,
                             const struct samples *samples)
{
    const struct image *img = w->img;
    const struct jpeg_parameters *p =
        codec_is_own(&codec_jpeg, img) ? parameters_of(img->meta) : NULL;
    int status = write_sequential_headers(w->file, &w->c, img, w->err);
    if (status == 0 && p && p->coded && !samples)
        status = write_sequential_own(w->file, img, w->opts, w->err);
    else if (status == 0)
        status = write_sequential_coded(w->file, &w->c, samples ? NULL : img,
                                        samples, p && p->extended,
                                        w->opts->pool, w->err);
    if (status)
        check_time(w);
    if (status && (w->err->memory || !img->cells))
        leave(w);
    if (status)
        w->file->size = 0;
    return status == 0;
}

/* Gives the tables of c finer steps where the picture would lose too much. */
static void refine_steps(struct jpeg_writer *w, const struct image *img)
{
    unsigned cap[NUM_QUANT_TBLS];
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        cap[i] = UINT16_MAX;
    for (unsigned i = 0; i < img->nplanes; i++) {
        int n = w->c.comp_info[i].quant_tbl_no;
        unsigned found = samples_find_cap(&img->plane[i],
                                          w->c.quant_tbl_ptrs[n]->quantval, i);
        if (!found) {
            fail_memory(w->err, "no memory for the encoder");
            leave(w);
        }
        cap[n] = found < cap[n] ? found : cap[n];
    }
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        for (int k = 0; w->c.quant_tbl_ptrs[i] && k < DCTSIZE2; k++) {
            UINT16 *step = &w->c.quant_tbl_ptrs[i]->quantval[k];
            *step = requantize_step(*step, cap[i]);
        }
}

/* Lets libjpeg write samples, as their coefficients. */
static void write_transformed(struct jpeg_writer *w, const struct image *img,
                              const struct samples *samples)
{
    const struct block_holder blocks = { .planes = &w->coded };
    w->coded = (struct image){ .cell = CELL_DCT,
                               .width = img->width,
                               .height = img->height,
                               .nplanes = img->nplanes };
    for (unsigned i = 0; i < img->nplanes; i++) {
        w->coded.plane[i].width = (img->plane[i].width + 7) / DCTSIZE;
        w->coded.plane[i].height = (img->plane[i].height + 7) / DCTSIZE;
    }
    if (image_alloc(&w->coded, mem_plain, w->err) ||
        samples_encode(samples, &blocks, w->opts->pool, w->err))
        leave(w);
    write_blocks(w, &w->coded);
}

static void write_samples(struct jpeg_writer *w)
{
    const struct image *img = w->img;
    const bool own = codec_is_own(&codec_jpeg, img);
    const bool again = own && !w->opts->quality;
    struct samples samples[MAX_COMPONENTS] = { { .wanted = false } };
    if (!own || w->c.in_color_space != w->c.jpeg_color_space) {
        if (components_make(&w->made, img, &w->c, w->opts->pool, w->err))
            leave(w);
        img = &w->made;
        check_time(w);
    }
    if (again)
        refine_steps(w, img);
    for (unsigned i = 0; i < img->nplanes; i++) {
        int n = w->c.comp_info[i].quant_tbl_no;
        samples[i].wanted = true;
        samples[i].plane = img->plane[i];
        samples[i].rounding =
            samples_rounding(w->c.quant_tbl_ptrs[n]->quantval, again);
    }
    if (!write_sequential(w, samples)) {
        check_time(w);
        write_transformed(w, img, samples);
    }
}

static void write_all(struct jpeg_writer *w)
{
    if (w->img->cell != CELL_DCT)
        write_samples(w);
    else if (!write_sequential(w, NULL))
        write_blocks(w, w->img);
}

static void set_up(struct jpeg_writer *w)
{
    jpeg_create_compress(&w->c);
    libjpeg_memory_count(&w->memory, (j_common_ptr)&w->c);
    library_set_target(&w->target, &w->c, w->file);
    w->progress.progress_monitor = on_progress;
    w->c.progress = &w->progress;
    set_colors(w);
    if (codec_is_own(&codec_jpeg, w->img)) {
        parameters_set(&w->c, w->img, w->opts);
        /* What the file had is among the blocks. */
        w->c.write_JFIF_header = FALSE;
        w->c.write_Adobe_marker = FALSE;
        return;
    }
    set_coding(w);
    if (w->img->meta)
        set_density(w);
}

static int write_guarded(struct jpeg_writer *w)
{
    if (setjmp(w->out))
        return -1;
    set_up(w);
    write_all(w);
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
    w.c.err = jpeg_std_error(&w.memory.errors);
    w.c.err->error_exit = on_error;
    w.c.err->emit_message = on_message;
    w.c.client_data = &w;
    int status = write_guarded(&w);
    if (status == 0 && img->meta)
        status = trailer_append(file, img->meta, err);
    libjpeg_memory_end(&w.memory, (j_common_ptr)&w.c);
    image_free(&w.made);
    image_free(&w.coded);
    return status;
}
