/* JPEG in, through libjpeg-turbo.
 *
 * libjpeg counts lost data as warnings and goes on; here the first one ends the
 * reading, unless it is tolerant. It leaves by longjmp(): all that changes after
 * setjmp() lives in a struct reader, which one function sets up and takes down.
 */
#include "codecs/jpeg.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "codecs/planes.h"

/* A small file can ask for thousands of passes over a large picture. Progressive
 * files have about ten scans; one for each coefficient of a component is 64. */
enum { SCANS_MAX = 200 };

struct reader {
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr mgr;
    struct jpeg_progress_mgr progress;
    jmp_buf out;
    const struct load_opts *opts;
    struct image *img;
    uint8_t *row;
    bool pixels; /* the planes are there, and hold what has been read */
    struct err *err;
};

static _Noreturn void leave(struct reader *r)
{
    longjmp(r->out, 1);
}

static void on_error(j_common_ptr cinfo)
{
    struct reader *r = cinfo->client_data;
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    fail(r->err, "%s", text);
    leave(r);
}

/* Level -1 is a warning; what is above it traces the work. Some of the warnings
 * are opinions about a header and cost no pixel; a profile that cannot be put
 * together is named with all else that another format does not hold. */
static void on_message(j_common_ptr cinfo, int level)
{
    struct reader *r = cinfo->client_data;
    char text[JMSG_LENGTH_MAX];
    int code = cinfo->err->msg_code;
    if (level >= 0 || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM ||
        code == JWRN_BOGUS_ICC)
        return;
    if (!r->opts->tolerant)
        on_error(cinfo);
    if (cinfo->err->num_warnings++ == 0) {
        cinfo->err->format_message(cinfo, text);
        warn(r->opts->warnings, "damaged, read as far as it goes: %s", text);
    }
}

static void on_progress(j_common_ptr cinfo)
{
    struct reader *r = cinfo->client_data;
    if (r->d.input_scan_number > SCANS_MAX) {
        fail(r->err, "more than %d scans", SCANS_MAX);
        leave(r);
    }
}

static void set_up(struct reader *r)
{
    uint64_t bytes = r->opts->limits.bytes;
    r->d.mem->max_memory_to_use = bytes < LONG_MAX ? (long)bytes : LONG_MAX;
    r->progress.progress_monitor = on_progress;
    r->d.progress = &r->progress;
    jpeg_save_markers(&r->d, JPEG_COM, SEGMENT_MAX);
    for (int n = 0; n < 16; n++)
        jpeg_save_markers(&r->d, JPEG_APP0 + n, SEGMENT_MAX);
}

static void take_segments(struct reader *r)
{
    struct meta *meta = r->img->meta;
    for (jpeg_saved_marker_ptr m = r->d.marker_list; m; m = m->next)
        if (segment_add(meta, m->marker, m->data, m->data_length, r->err))
            leave(r);
}

/* YCbCr stays YCbCr on its way to another JPEG: nothing is lost to rounding. */
static void choose_color(struct reader *r)
{
    struct image *img = r->img;
    switch (r->d.jpeg_color_space) {
    case JCS_GRAYSCALE:
        img->color = COLOR_GRAY;
        break;
    case JCS_YCbCr:
        img->color = r->opts->neutral ? COLOR_RGB : COLOR_YCC;
        r->d.out_color_space = r->opts->neutral ? JCS_RGB : JCS_YCbCr;
        break;
    case JCS_RGB:
        img->color = COLOR_RGB;
        r->d.out_color_space = JCS_RGB;
        break;
    case JCS_CMYK:
        img->color = COLOR_CMYK;
        break;
    case JCS_YCCK:
        img->color = COLOR_YCCK;
        r->d.out_color_space = JCS_YCCK;
        break;
    default:
        fail(r->err, "%d components of an unknown color space",
             r->d.num_components);
        leave(r);
    }
}

static void shape(struct reader *r)
{
    struct image *img = r->img;
    if (r->d.data_precision != 8) {
        fail(r->err, "%d bits a sample; only 8 can be read",
             r->d.data_precision);
        leave(r);
    }
    choose_color(r);
    img->cell = CELL_U8;
    img->maxval = 255;
    img->width = r->d.image_width;
    img->height = r->d.image_height;
    img->nplanes = (unsigned)r->d.num_components;
    img->meta->jpeg.space = r->d.jpeg_color_space;
    img->meta->jpeg.progressive = r->d.progressive_mode;
    img->meta->jpeg.arithmetic = r->d.arith_code;
    img->meta->jpeg.restart = r->d.restart_interval;
    for (int i = 0; i < r->d.num_components; i++)
        img->meta->jpeg.ids[i] = (uint8_t)r->d.comp_info[i].component_id;
}

static void allocate(struct reader *r)
{
    struct image *img = r->img;
    if (image_check(img->width, img->height, img->nplanes, img->cell,
                    &r->opts->limits, r->err) ||
        image_alloc(img, r->opts->mem, r->err))
        leave(r);
    r->row = malloc((size_t)img->width * img->nplanes);
    if (!r->row) {
        fail(r->err, "no memory for a row");
        leave(r);
    }
    if (r->opts->tolerant)
        memset(img->cells, 0, img->size);
}

static void read_rows(struct reader *r)
{
    jpeg_start_decompress(&r->d);
    r->pixels = true;
    while (r->d.output_scanline < r->d.output_height) {
        uint32_t y = r->d.output_scanline;
        JSAMPROW row = r->row;
        jpeg_read_scanlines(&r->d, &row, 1);
        planes_split_row(r->img, y, r->row);
    }
}

static void take_neutral(struct reader *r)
{
    static const int units[] = { DENSITY_ASPECT, DENSITY_INCH, DENSITY_METER };
    struct meta *meta = r->img->meta;
    JOCTET *icc;
    unsigned size;
    if (jpeg_read_icc_profile(&r->d, &icc, &size)) {
        bool taken = bytes_append(&meta->icc, icc, size);
        free(icc);
        if (!taken) {
            fail(r->err, "no memory for an ICC profile");
            leave(r);
        }
    }
    if (r->d.saw_JFIF_marker && r->d.density_unit <= 2) {
        double scale = r->d.density_unit == 2 ? 100 : 1; /* a cm, a meter */
        meta->density = (struct density){ units[r->d.density_unit],
                                          r->d.X_density * scale,
                                          r->d.Y_density * scale };
        /* A ratio of 1:1 is what every picture has unless it says more. */
        if (r->d.density_unit == 0 && r->d.X_density == r->d.Y_density)
            meta->density.unit = DENSITY_NONE;
    }
}

static void read_all(struct reader *r, struct bytes file)
{
    jpeg_create_decompress(&r->d);
    set_up(r);
    jpeg_mem_src(&r->d, file.data, file.size);
    jpeg_read_header(&r->d, TRUE);
    shape(r);
    allocate(r);
    read_rows(r);
    /* To the end of the image. jpeg_finish_decompress() would do it, and free the
     * list of segments. */
    while (!jpeg_input_complete(&r->d))
        jpeg_consume_input(&r->d);
    if (r->d.src->bytes_in_buffer)
        warn(r->opts->warnings,
             "%zu bytes after the end of the picture are not kept",
             r->d.src->bytes_in_buffer);
}

static int read_guarded(struct reader *r, struct bytes file)
{
    if (setjmp(r->out) == 0) {
        read_all(r, file);
        return 0;
    }
    if (!r->opts->tolerant || !r->pixels)
        return -1;
    warn(r->opts->warnings, "damaged, read as far as it goes: %s",
         r->err->text);
    return 0;
}

/* The list of segments may have grown while the scans were read, so it is taken
 * at the end. */
static int take_guarded(struct reader *r)
{
    if (setjmp(r->out))
        return -1;
    take_segments(r);
    segments_note(r->img);
    if (!r->opts->neutral)
        return 0;
    take_neutral(r);
    return segments_to_neutral(r->img, r->err);
}

int read_jpeg(struct image *img, struct bytes file,
              const struct load_opts *opts, struct err *err)
{
    struct reader r = { .opts = opts, .img = img, .err = err };
    int status = -1;

    r.d.err = jpeg_std_error(&r.mgr);
    r.mgr.error_exit = on_error;
    r.mgr.emit_message = on_message;
    r.d.client_data = &r;
    img->meta = meta_new(&codec_jpeg);
    if (!img->meta)
        fail(err, "no memory for the decoder");
    else if (read_guarded(&r, file) == 0)
        status = take_guarded(&r);
    jpeg_destroy_decompress(&r.d);
    free(r.row);
    if (status)
        image_free(img);
    return status;
}
