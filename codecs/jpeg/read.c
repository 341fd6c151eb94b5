/* JPEG in: sequential files by our own decoder, others through libjpeg-turbo.
 *
 * libjpeg counts lost data as warnings and goes on; here the first one ends the
 * reading, unless it is tolerant. It leaves by longjmp(): all that changes
 * after setjmp() lives in a struct jpeg_reader. */
#include "codecs/jpeg/jpeg.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "codecs/base/account.h"
#include "codecs/base/memory.h"
#include "codecs/image/interleave.h"
#include "codecs/jpeg/entropy/marker.h"
#include "codecs/jpeg/libjpeg.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/read_sequential.h"
#include "codecs/jpeg/samples.h"
#include "codecs/metadata/metadata.h"

/* ---- Work ---------------------------------------------------------------- */

/* However few bits a scan has, each block of its components is visited: so a
 * megabyte of scans can take a minute. To visit a block takes some nanoseconds,
 * as long as it takes to look at so many bytes, which struct account counts. */
enum { WORK_OF_BLOCK = 16 };

static uint64_t blocks_of(const jpeg_component_info *info)
{
    return (uint64_t)info->width_in_blocks * info->height_in_blocks;
}

/* ---- Reading ------------------------------------------------------------- */

struct jpeg_reader {
    struct libjpeg_arrays
        arrays; /* where libjpeg_arrays_offer() looks for them */
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf out;
    const struct load_opts *opts;
    const struct decode_plan *plan;
    struct image *img;
    bool blocks;          /* its planes are of coefficients */
    struct image samples; /* the shape of what is made of these; {0}: they stay
                             what they are */
    const uint8_t *at;    /* where the next segment may be; NULL: nowhere */
    unsigned frame;       /* the marker of its header */
    int scans;            /* how many have been noted */
    struct bytes file;
    size_t behind; /* bytes after the end of the picture */
    uint8_t *row;
    bool unfinished; /* libjpeg smooths it to show it */
    bool pixels;     /* the planes are there, and hold what has been read */
    struct err *err;
};

static _Noreturn void leave(struct jpeg_reader *r)
{
    longjmp(r->out, 1);
}

/* Leaves if something has failed. */
static void check(struct jpeg_reader *r, int status)
{
    if (status)
        leave(r);
}

/* Leaves then although --tolerant would take what has been read. */
static void check_whole(struct jpeg_reader *r, int status)
{
    r->pixels = r->pixels && !status;
    check(r, status);
}

static void on_error(j_common_ptr cinfo)
{
    struct jpeg_reader *r = cinfo->client_data;
    libjpeg_describe_error(cinfo, r->err);
    leave(r);
}

/* Level -1 is a warning; what is above it traces the work. Some of the warnings
 * are opinions about a header and cost no pixel; a profile that cannot be put
 * together is named with all else that another format does not hold. */
static void on_message(j_common_ptr cinfo, int level)
{
    struct jpeg_reader *r = cinfo->client_data;
    char text[JMSG_LENGTH_MAX];
    int code = cinfo->err->msg_code;
    if (level >= 0 || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM ||
        code == JWRN_BOGUS_ICC)
        return;
    if (!r->opts->tolerant) {
        libjpeg_describe_error(cinfo, r->err);
        if (r->d.input_scan_number > 0) { /* there are samples to take */
            struct err why = *r->err;
            fail(r->err, "%s; --tolerant reads what is there", why.text);
        }
        leave(r);
    }
    if (cinfo->err->num_warnings++ == 0) {
        cinfo->err->format_message(cinfo, text);
        warn(r->opts->warnings, "damaged, read as far as it goes: %s", text);
    }
}

/* A scan has begun when libjpeg is about to read the first of it. */
static void note_scan(struct jpeg_reader *r)
{
    unsigned *left = r->plan->scans;
    uint64_t blocks = 0;
    if (r->d.input_scan_number == r->scans)
        return;
    r->scans = r->d.input_scan_number;
    if (left && *left == 0)
        check(r, fail(r->err, "it has more scans than it may have here"));
    if (left)
        --*left;
    for (int i = 0; i < r->d.comps_in_scan; i++)
        blocks += blocks_of(r->d.cur_comp_info[i]);
    check_whole(r, account_spend(r->opts->limits.account,
                                 WORK_OF_BLOCK * blocks, r->err));
    if (!parameters_note_scan(r->img->meta, &r->d))
        check(r, fail_memory(r->err, "no memory for so many scans"));
}

static void on_progress(j_common_ptr cinfo)
{
    struct jpeg_reader *r = cinfo->client_data;
    if (r->d.input_scan_number > SCANS_MAX)
        check_whole(r, fail(r->err, "more than %d scans, which is the limit",
                            SCANS_MAX));
    note_scan(r);
    check_whole(r, account_check_time(r->opts->limits.account, r->err));
    r->pixels = r->pixels || r->arrays.lent; /* they are being read */
}

/* Takes the segments from r->at on: up to the first scan, or if `scans`, to the
 * end of the picture; what is between them is passed over. Moves r->at to the
 * marker that ends this, or sets it to NULL if there is none. */
static void take_segments(struct jpeg_reader *r, const uint8_t *end, bool scans)
{
    const uint8_t last = scans ? MARKER_EOI : MARKER_SOS;
    struct marker m;
    while (r->at) {
        bool whole = marker_read(&m, r->at, end);
        if (m.code == last || m.code == MARKER_EOI) {
            r->at = m.at;
            return;
        }
        if (whole && marker_is_metadata(m.code))
            check(r,
                  segments_add(r->img->meta, m.code, m.data, m.size, r->err));
        if (whole && marker_is_frame(m.code))
            r->frame = m.code;
        r->at = !whole                 ? marker_find(r->at + 1, end)
                : m.code == MARKER_SOS ? marker_find(m.behind, end)
                                       : m.behind;
    }
}

/* Sets the sizes of planes of samples as the components have them, or in full
 * resolution. */
static void shape_samples(struct jpeg_reader *r, struct image *img)
{
    struct jpeg_parameters *p = parameters_of(img->meta);
    bool across = false, down = false;
    samples_choose_full(&r->d, r->plan->width ? r->plan->width : img->width,
                        r->plan->height ? r->plan->height : img->height,
                        r->plan->turn, &across, &down);
    for (unsigned i = 0; i < img->nplanes; i++) {
        const jpeg_component_info *info = &r->d.comp_info[i];
        p->component[i].across = across ? 1 : p->component[i].across;
        p->component[i].down = down ? 1 : p->component[i].down;
        img->plane[i].width = across ? img->width : info->downsampled_width;
        img->plane[i].height = down ? img->height : info->downsampled_height;
    }
}

/* Sets the shape of the picture. YCbCr stays YCbCr on its way to another JPEG:
 * nothing is lost to rounding. */
static void shape(struct jpeg_reader *r)
{
    static const enum color colors[] = {
        [JCS_UNKNOWN] = COLOR_OTHER, [JCS_GRAYSCALE] = COLOR_GRAY,
        [JCS_RGB] = COLOR_RGB,       [JCS_YCbCr] = COLOR_YCC,
        [JCS_CMYK] = COLOR_CMYK,     [JCS_YCCK] = COLOR_YCCK,
    };
    struct image *img = r->img;
    struct jpeg_parameters *p = parameters_of(img->meta);
    const enum representation representation = r->plan->representation;
    J_COLOR_SPACE space = r->d.jpeg_color_space;
    if (space == JCS_YCbCr && r->opts->portable)
        space = JCS_RGB;
    if (space == JCS_UNKNOWN && representation <= REPRESENTATION_PLANES)
        check(r, fail(r->err, "%d components of an unknown color space",
                      r->d.num_components));
    r->d.out_color_space = space;
    img->color = colors[space];
    img->cell = CELL_U8;
    img->maxval = 255;
    img->nplanes = (unsigned)r->d.num_components;
    parameters_note(img->meta, &r->d, r->frame);
    if (representation == REPRESENTATION_SAMPLES) {
        for (unsigned i = 0; i < COMPONENTS; i++)
            p->component[i].across = p->component[i].down = 1;
        return;
    }
    if (img->nplanes > COMPONENTS)
        check(r, fail(r->err,
                      "%u components; up to %d can be turned as they "
                      "are",
                      img->nplanes, COMPONENTS));
    if (representation == REPRESENTATION_PLANES && r->unfinished) {
        shape_samples(r, img);
        return;
    }
    r->blocks = true;
    if (representation == REPRESENTATION_PLANES) {
        r->samples = *img;
        shape_samples(r, &r->samples);
    }
    img->cell = CELL_DCT;
    for (unsigned i = 0; i < img->nplanes; i++) {
        img->plane[i].width = r->d.comp_info[i].width_in_blocks;
        img->plane[i].height = r->d.comp_info[i].height_in_blocks;
    }
}

/* Refuses a picture that is beyond the limits. Blocks of which samples are made
 * take more memory than these. libjpeg keeps the coefficients of several scans
 * beside the samples. Scans that are too many are refused before the first of
 * them is read. */
static void check_limits(struct jpeg_reader *r)
{
    struct limits limits = r->opts->limits;
    const struct image *img = r->img;
    check(r, image_check_planes(img, &limits, r->err));
    limits.reserve = NULL;
    if (r->samples.nplanes)
        check(r, image_check_planes(&r->samples, &limits, r->err));
    if (!r->blocks && jpeg_has_multiple_scans(&r->d)) {
        uint64_t all = 2 * (uint64_t)img->width * img->height * img->nplanes;
        char what[64];
        for (int i = 0; i < r->d.num_components; i++)
            all += blocks_of(&r->d.comp_info[i]) * sizeof(JBLOCK);
        snprintf(what, sizeof what, "%u x %u pixels in several scans need",
                 img->width, img->height);
        if (all > limits.bytes)
            check(r, limit_refuse_memory(what, all, &r->opts->limits, r->err));
    }
    struct bytes file = r->file;
    const uint8_t *p = marker_first(file), *end = file.data + file.size;
    uint64_t blocks = 0;
    struct marker m;
    while (p && marker_read(&m, p, end)) {
        const bool scan = m.code == MARKER_SOS;
        for (size_t at = 1;
             scan && at < m.size && at < 1 + 2 * (size_t)m.data[0]; at += 2)
            for (int i = 0; i < r->d.num_components; i++)
                if (r->d.comp_info[i].component_id == m.data[at])
                    blocks += blocks_of(&r->d.comp_info[i]);
        p = scan ? marker_find(m.behind, end) : m.behind;
    }
    check(r,
          account_check_work(limits.account, WORK_OF_BLOCK * blocks, r->err));
}

/* Finds the end of the picture without decoding it. */
static void pass_over_scans(struct jpeg_reader *r)
{
    const uint8_t *end = r->file.data + r->file.size;
    take_segments(r, end, true);
    if (r->at) {
        r->behind = (size_t)(end - r->at) - 2;
        return;
    }
    if (!r->opts->tolerant)
        check(r,
              fail(r->err, "the file is cut short: the end of the picture is "
                           "missing"));
    warn(r->opts->warnings, "the end of the picture is missing");
}

/* Reads coefficients or pixels without libjpeg. Returns false if libjpeg has to
 * read the file. A picture that is turned elsewhere stays coded, whatever was
 * to be made of it here. */
static bool read_coded(struct jpeg_reader *r)
{
    struct sequential_reading reading = {
        .img = r->img,
        .file = r->file,
        .plan = r->plan,
        .opts = r->opts,
        .to_rgb =
            r->d.out_color_space == JCS_RGB && r->d.jpeg_color_space != JCS_RGB,
    };
    if (r->opts->libraries || r->d.progressive_mode || r->d.arith_code)
        return false;
    const enum sequential_verdict verdict = read_sequential(&reading, r->err);
    r->behind = reading.behind;
    if (verdict == SEQUENTIAL_FAILED)
        leave(r);
    if (parameters_of(r->img->meta)->turned)
        r->samples.nplanes = 0;
    return verdict == SEQUENTIAL_READ;
}

/* Returns whether libjpeg smooths the picture to show it: low frequencies,
 * which are the first nine behind DC in zigzag order, have not all their bits
 * yet (jdcoefct.c, smoothing_ok()). Encoded anew with all bits, it is shown as
 * its samples are, so these must be the smooth ones. Of a file that is cut
 * short that is not known. */
static bool is_unfinished(const struct jpeg_reader *r)
{
    enum { SMOOTHED = 9, FRAME = 1 /* behind the number of components */ };
    uint8_t missing[COMPONENTS][1 + SMOOTHED];
    const uint8_t *p = marker_first(r->file),
                  *end = r->file.data + r->file.size;
    const int components = r->d.num_components;
    struct marker m = { .code = 0 };
    if (!r->d.progressive_mode || components > COMPONENTS)
        return false;
    memset(missing, UINT8_MAX, sizeof missing);
    while (p && marker_read(&m, p, end) && m.code != MARKER_EOI) {
        const unsigned n = m.code == MARKER_SOS && m.size ? m.data[0] : 0;
        if (n && m.size >= FRAME + 2 * n + 3) {
            const uint8_t *last = m.data + FRAME + 2 * n;
            for (unsigned i = 0; i < n * (unsigned)components; i++)
                for (unsigned k = last[0];
                     r->d.comp_info[i % components].component_id ==
                         m.data[FRAME + 2 * (i / components)] &&
                     k <= last[1] && k <= SMOOTHED;
                     k++)
                    missing[i % components][k] = last[2] & 15;
        }
        p = m.code == MARKER_SOS ? marker_find(m.behind, end) : m.behind;
    }
    bool all = p && p < end && m.code == MARKER_EOI, unfinished = false;
    for (int i = 0; i < components; i++)
        for (unsigned k = 1; k <= SMOOTHED; k++)
            unfinished = unfinished || missing[i][k];
    return all && unfinished;
}

/* Reads the samples that the components store, as they are shown. */
static void read_stored_samples(struct jpeg_reader *r)
{
    JSAMPROW rows[COMPONENTS][MAX_SAMP_FACTOR * DCTSIZE];
    JSAMPARRAY planes[COMPONENTS];
    r->d.raw_data_out = TRUE;
    r->d.out_color_space = r->d.jpeg_color_space;
    jpeg_start_decompress(&r->d);
    r->pixels = true;
    const unsigned step = (unsigned)r->d.max_v_samp_factor * DCTSIZE;
    while (r->d.output_scanline < r->d.output_height) {
        for (unsigned i = 0; i < r->img->nplanes; i++) {
            const jpeg_component_info *info = &r->d.comp_info[i];
            const unsigned n = (unsigned)info->v_samp_factor * DCTSIZE;
            const uint32_t first = r->d.output_scanline / step * n;
            planes[i] = rows[i];
            for (unsigned k = 0; k < n; k++)
                rows[i][k] = first + k < info->downsampled_height
                                 ? plane_row(&r->img->plane[i], first + k)
                                 : r->row;
        }
        jpeg_read_raw_data(&r->d, planes, step);
    }
}

static void read_pixels(struct jpeg_reader *r)
{
    const bool stored = r->plan->representation == REPRESENTATION_PLANES;
    if (read_coded(r)) {
        r->at = NULL; /* such files have no segments between scans */
        return;
    }
    check_limits(r);
    if (r->blocks) { /* rows of which are zeroed as they are read */
        check(r,
              image_alloc(r->img, r->samples.nplanes ? mem_plain : r->opts->mem,
                          r->err));
        libjpeg_arrays_lend(&r->arrays, r->img, (j_common_ptr)&r->d);
        libjpeg_arrays_offer((j_common_ptr)&r->d);
        jpeg_read_coefficients(&r->d);
    } else {
        r->row =
            memory_alloc((size_t)r->img->width * r->img->nplanes + DCTSIZE);
        if (!r->row)
            check(r, fail_memory(r->err, "no memory for a row"));
        check(r, image_alloc(r->img, r->opts->mem, r->err));
        if (r->opts->tolerant) /* what is not read of a damaged file */
            memset(r->img->pixels.rows.cells, 0, r->img->pixels.rows.size);
        if (stored) {
            read_stored_samples(r);
        } else {
            jpeg_start_decompress(&r->d);
            r->pixels = true;
        }
        while (!stored && r->d.output_scanline < r->d.output_height) {
            uint32_t y = r->d.output_scanline;
            JSAMPROW row = r->row;
            jpeg_read_scanlines(&r->d, &row, 1);
            interleave_split_row(r->img, y, r->row);
        }
    }
    while (!jpeg_input_complete(&r->d))
        jpeg_consume_input(&r->d);
    r->behind = r->d.src->bytes_in_buffer;
}

/* Samples are made of the blocks, which are freed. */
static void make_samples(struct jpeg_reader *r)
{
    struct jpeg_parameters *p = parameters_of(r->img->meta);
    struct samples samples[COMPONENTS];
    struct image made = r->samples;
    check(r, image_alloc(&made, r->opts->mem, r->err));
    for (unsigned i = 0; i < made.nplanes; i++) {
        samples[i] = (struct samples){ .wanted = true, .plane = made.plane[i] };
        memcpy(samples[i].step, p->step[p->component[i].quantization],
               sizeof samples[i].step);
    }
    samples_decode(samples, r->img, p->coded, r->opts->pool);
    image_free_pixels(r->img);
    *r->img = made;
    r->blocks = false;
    if (p->coded && !parameters_note_coded(p))
        check(r, fail_memory(r->err, "no memory for so many scans"));
}

static int read_guarded(struct jpeg_reader *r,
                        void (*read)(struct jpeg_reader *))
{
    if (setjmp(r->out) == 0) {
        note_scan(r);
        shape(r);
        read(r);
        return 0;
    }
    if (!r->opts->tolerant || !r->pixels || r->err->memory)
        return -1;
    warn(r->opts->warnings, "damaged, read as far as it goes: %s",
         r->err->text);
    return 0;
}

static int take_guarded(struct jpeg_reader *r)
{
    if (setjmp(r->out))
        return -1;
    parameters_note_tables(r->img->meta, &r->d, r->img->nplanes);
    libjpeg_arrays_finish(&r->arrays);
    if (r->samples.nplanes)
        make_samples(r);
    if (r->plan->representation == REPRESENTATION_PLANES && !r->blocks)
        samples_fill(&r->d, r->img);
    parameters_trim(r->img, r->plan->width, r->plan->height);
    if (r->plan->representation == REPRESENTATION_REALIGNED &&
        !parameters_of(r->img->meta)->turned &&
        samples_realign(r->img, r->plan->turn, r->opts->pool, r->err))
        return -1;
    if (xform_transposes(r->img->turned) && r->blocks) {
        /* Its blocks are turned as they are written: it has the shape of then.
         */
        struct image *img = r->img;
        const struct image was = *img;
        img->width = was.height;
        img->height = was.width;
        for (unsigned i = 0; i < img->nplanes; i++) {
            img->plane[i].width = was.plane[i].height;
            img->plane[i].height = was.plane[i].width;
        }
    }
    take_segments(r, r->file.data + r->file.size - r->behind, true);
    return segments_take_trailer(r->img->meta, r->file, r->behind, r->err);
}

int open_jpeg(struct reader *reader, struct err *err)
{
    struct jpeg_reader *r = reader->state = memory_alloc_zeroed(1, sizeof *r);
    if (!r)
        return fail_memory(err, "no memory for the decoder");
    reader->img.meta->free_state = parameters_free;
    r->opts = reader->opts;
    r->img = &reader->img;
    r->file = reader->file;
    r->err = err;
    r->d.err = jpeg_std_error(&r->errors);
    r->d.err->error_exit = on_error;
    r->d.err->emit_message = on_message;
    r->d.client_data = r;
    if (setjmp(r->out))
        return -1;
    /* What comes before the first scan. No viewer looks for an orientation
     * behind it. */
    const uint64_t bytes = r->opts->limits.bytes;
    jpeg_create_decompress(&r->d);
    r->d.mem->max_memory_to_use = bytes < LONG_MAX ? (long)bytes : LONG_MAX;
    r->progress.progress_monitor = on_progress;
    r->d.progress = &r->progress;
    jpeg_mem_src(&r->d, r->file.data, r->file.size);
    jpeg_read_header(&r->d, TRUE);
    if (r->d.data_precision != 8)
        check(r, fail(r->err, "%d bits a sample; only 8 can be read",
                      r->d.data_precision));
    r->at = marker_first(r->file);
    take_segments(r, r->file.data + r->file.size, false);
    check(r, metadata_read_orientation(r->img, &segments_format, r->err));
    r->img->width = r->d.image_width;
    r->img->height = r->d.image_height;
    account_allow_pixels(r->opts->limits.account,
                         (uint64_t)r->img->width * r->img->height);
    parameters_alignments(&reader->info, &r->d);
    r->unfinished = is_unfinished(r);
    if (r->unfinished) /* no part of it stays as it is shown, but all of it */
        reader->info.alignment[REPRESENTATION_REALIGNED] =
            reader->info.alignment[REPRESENTATION_COEFFICIENTS];
    return 0;
}

static int read_picture(struct reader *reader,
                        void (*read)(struct jpeg_reader *), struct err *err)
{
    struct jpeg_reader *r = reader->state;
    r->plan = reader->plan;
    r->err = err;
    return read_guarded(r, read) ? -1 : take_guarded(r);
}

int decode_jpeg(struct reader *reader, struct err *err)
{
    static const int units[] = { DENSITY_ASPECT, DENSITY_INCH, DENSITY_METER };
    if (read_picture(reader, read_pixels, err))
        return -1;
    if (!reader->opts->portable)
        return 0;
    const struct jpeg_decompress_struct *d =
        &((const struct jpeg_reader *)reader->state)->d;
    struct meta *meta = reader->img.meta;
    if (d->saw_JFIF_marker && d->density_unit <= 2) {
        double scale = d->density_unit == 2 ? 100 : 1; /* a cm, a meter */
        meta->density =
            (struct density){ units[d->density_unit], d->X_density * scale,
                              d->Y_density * scale };
        /* A ratio of 1:1 is what every picture has unless it says more. */
        if (d->density_unit == 0 && d->X_density == d->Y_density)
            meta->density.unit = DENSITY_NONE;
    }
    return segments_read_portable(meta, reader->opts, err);
}

int describe_jpeg(struct reader *reader, struct err *err)
{
    if (read_picture(reader, pass_over_scans, err))
        return -1;
    struct jpeg_reader *r = reader->state;
    parameters_describe(reader->img.meta, &r->d);
    return 0;
}

void close_jpeg(struct reader *reader)
{
    struct jpeg_reader *r = reader->state;
    if (!r)
        return;
    jpeg_destroy((j_common_ptr)&r->d);
    memory_free(r->row);
    memory_free(r);
}
