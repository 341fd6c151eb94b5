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

/* A small file can ask for thousands of passes over a large picture.
 * Progressive files have about ten scans; one for each coefficient of a
 * component is 64. */
enum { SCANS_MAX = 200 };

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
    struct reader *of;
    struct image samples; /* the shape of what is made of blocks; {0}: they stay
                             what they are */
    const uint8_t *at;    /* where the next segment may be; NULL: nowhere */
    size_t behind;        /* bytes after the end of the picture */
    bool pixels;     /* the planes are there, and hold what has been read */
    bool unfinished; /* libjpeg smooths it to show it */
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
    if (!r->of->opts->tolerant) {
        libjpeg_describe_error(cinfo, r->err);
        if (r->d.input_scan_number > 0) { /* there are samples to take */
            struct err why = *r->err;
            fail(r->err, "%s; --tolerant reads what is there", why.text);
        }
        leave(r);
    }
    if (cinfo->err->num_warnings++ == 0) {
        cinfo->err->format_message(cinfo, text);
        warn(r->of->opts->warnings, "damaged, read as far as it goes: %s",
             text);
    }
}

/* A scan has begun when libjpeg is about to read the first of it. */
static void note_scan(struct jpeg_reader *r)
{
    const struct load_opts *opts = r->of->opts;
    struct bytes *scans = &parameters_of(r->of->img.meta)->scans;
    uint64_t blocks = 0;
    if (r->d.input_scan_number > SCANS_MAX)
        check_whole(r, fail(r->err, "more than %d scans, which is the limit",
                            SCANS_MAX));
    if ((size_t)r->d.input_scan_number * sizeof(struct jpeg_scan) ==
        scans->size)
        return;
    for (int i = 0; i < r->d.comps_in_scan; i++)
        blocks += blocks_of(r->d.cur_comp_info[i]);
    check_whole(
        r, account_spend(opts->limits.account, WORK_OF_BLOCK * blocks, r->err));
    if (!parameters_note_scan(r->of->img.meta, &r->d))
        check(r, fail_memory(r->err, "no memory for so many scans"));
}

static void on_progress(j_common_ptr cinfo)
{
    struct jpeg_reader *r = cinfo->client_data;
    note_scan(r);
    check_whole(r, account_check_time(r->of->opts->limits.account, r->err));
    r->pixels = r->pixels || r->arrays.lent; /* they are being read */
}

/* Takes the segments from r->at on: up to the first scan, or if `scans`, to the
 * end of the picture; what is between them is passed over. Moves r->at to the
 * marker that ends this, or sets it to NULL if there is none. */
static void take_segments(struct jpeg_reader *r, const uint8_t *end, bool scans)
{
    const uint8_t last = scans ? MARKER_EOI : MARKER_SOS;
    struct meta *meta = r->of->img.meta;
    struct marker m;
    while (r->at) {
        bool whole = marker_read(&m, r->at, end);
        if (m.code == last || m.code == MARKER_EOI) {
            r->at = m.at;
            return;
        }
        if (whole && marker_is_metadata(m.code)) {
            check(r, segments_add(meta, m.code, m.data, m.size, r->err));
            struct metadata_block *block = &meta->block[meta->nblocks - 1];
            block->begin = (size_t)(m.at - r->of->file.data);
            block->end = (size_t)(m.behind - r->of->file.data);
        }
        if (whole && marker_is_frame(m.code))
            parameters_of(meta)->extended = m.code == MARKER_SOF1;
        r->at = !whole                 ? marker_find(r->at + 1, end)
                : m.code == MARKER_SOS ? marker_find(m.behind, end)
                                       : m.behind;
    }
}

/* Returns how many blocks the scans have, and sets r->unfinished: whether bits
 * are missing of low frequencies, the first nine behind DC in zigzag order
 * (jdcoefct.c, smoothing_ok()). */
static uint64_t look_at_scans(struct jpeg_reader *r)
{
    enum { LOW = 9 };
    const uint8_t *p = marker_first(r->of->file),
                  *end = r->of->file.data + r->of->file.size;
    unsigned whole[MAX_COMPONENTS] = { 0 }; /* a bit for each frequency */
    uint64_t blocks = 0;
    struct marker m;
    while (p && marker_read(&m, p, end)) {
        const bool scan = m.code == MARKER_SOS && m.size;
        const size_t ids = scan ? 1 + 2 * (size_t)m.data[0] : m.size;
        const uint8_t *band = m.data + ids; /* Ss, Se, Ah and Al */
        unsigned bits = 0;
        for (unsigned k = 0; ids + 3 <= m.size && k <= LOW; k++)
            bits |= (k >= band[0] && k <= band[1] && !(band[2] & 15)) << k;
        for (size_t at = 1; at < ids && ids + 3 <= m.size; at += 2)
            for (int i = 0; i < r->d.num_components; i++)
                if (r->d.comp_info[i].component_id == m.data[at]) {
                    blocks += blocks_of(&r->d.comp_info[i]);
                    whole[i] |= bits;
                }
        p = scan ? marker_find(m.behind, end) : m.behind;
    }
    for (int i = 0; r->d.progressive_mode && i < r->d.num_components; i++)
        r->unfinished = r->unfinished || (whole[i] | 1) + 1 != 2 << LOW;
    return blocks;
}

/* Sets the shape of the picture. YCbCr stays YCbCr on its way to another JPEG:
 * nothing is lost to rounding. An unfinished one becomes the pixels that are
 * shown: encoded anew it has all bits, so that nobody smooths it any more. */
static void shape(struct jpeg_reader *r)
{
    static const enum color colors[] = {
        [JCS_UNKNOWN] = COLOR_OTHER, [JCS_GRAYSCALE] = COLOR_GRAY,
        [JCS_RGB] = COLOR_RGB,       [JCS_YCbCr] = COLOR_YCC,
        [JCS_CMYK] = COLOR_CMYK,     [JCS_YCCK] = COLOR_YCCK,
    };
    struct image *img = &r->of->img, *made = &r->samples;
    struct jpeg_parameters *p = parameters_of(img->meta);
    const struct decode_plan *plan = r->of->plan;
    const enum representation representation = plan->representation;
    bool across = false, down = false;
    J_COLOR_SPACE space = r->d.jpeg_color_space;
    if (space == JCS_YCbCr && r->of->opts->portable)
        space = JCS_RGB;
    if (space == JCS_UNKNOWN && representation <= REPRESENTATION_PLANES)
        check(r, fail(r->err, "%d components of an unknown color space",
                      r->d.num_components));
    r->d.out_color_space = space;
    img->color = colors[space];
    img->cell = CELL_U8;
    img->maxval = 255;
    img->nplanes = (unsigned)r->d.num_components;
    parameters_note(img->meta, &r->d);
    if (representation == REPRESENTATION_SAMPLES ||
        (representation == REPRESENTATION_PLANES && r->unfinished)) {
        for (unsigned i = 0; i < COMPONENTS; i++)
            p->component[i].across = p->component[i].down = 1;
        return;
    }
    if (img->nplanes > COMPONENTS)
        check(r, fail(r->err,
                      "%u components; up to %d can be turned as they "
                      "are",
                      img->nplanes, COMPONENTS));
    if (representation == REPRESENTATION_PLANES) {
        *made = *img;
        samples_choose_full(&r->d, plan->width ? plan->width : img->width,
                            plan->height ? plan->height : img->height,
                            plan->turn, &across, &down);
    }
    img->cell = CELL_DCT;
    for (unsigned i = 0; i < img->nplanes; i++) {
        const jpeg_component_info *info = &r->d.comp_info[i];
        img->plane[i].width = info->width_in_blocks;
        img->plane[i].height = info->height_in_blocks;
        p->component[i].across = across ? 1 : p->component[i].across;
        p->component[i].down = down ? 1 : p->component[i].down;
        /* As the components have them, or in full resolution. */
        made->plane[i].width = across ? img->width : info->downsampled_width;
        made->plane[i].height = down ? img->height : info->downsampled_height;
    }
}

/* Refuses a picture that is beyond the limits. Blocks of which samples are made
 * take more memory than these. libjpeg keeps the coefficients of several scans
 * beside the samples. Scans that are too many are refused before the first of
 * them is read. */
static void check_limits(struct jpeg_reader *r)
{
    struct limits limits = r->of->opts->limits;
    const struct image *img = &r->of->img;
    check(r, image_check_planes(img, &limits, r->err));
    limits.reserve = NULL;
    if (r->samples.nplanes)
        check(r, image_check_planes(&r->samples, &limits, r->err));
    if (img->cell != CELL_DCT && jpeg_has_multiple_scans(&r->d)) {
        uint64_t all = 2 * (uint64_t)img->width * img->height * img->nplanes;
        char what[64];
        for (int i = 0; i < r->d.num_components; i++)
            all += blocks_of(&r->d.comp_info[i]) * sizeof(JBLOCK);
        snprintf(what, sizeof what, "%u x %u pixels in several scans need",
                 img->width, img->height);
        if (all > limits.bytes)
            check(r, limit_refuse_memory(what, all, &limits, r->err));
    }
    check(r, account_check_work(limits.account,
                                WORK_OF_BLOCK * look_at_scans(r), r->err));
}

/* Finds the end of the picture without decoding it. */
static void pass_over_scans(struct jpeg_reader *r)
{
    const uint8_t *end = r->of->file.data + r->of->file.size;
    take_segments(r, end, true);
    if (r->at) {
        r->behind = (size_t)(end - r->at) - 2;
        return;
    }
    if (!r->of->opts->tolerant)
        check(r,
              fail(r->err, "the file is cut short: the end of the picture is "
                           "missing"));
    warn(r->of->opts->warnings, "the end of the picture is missing");
}

/* Without libjpeg if that may be. A picture that is turned elsewhere stays
 * coded, whatever was to be made of it here. */
static void read_pixels(struct jpeg_reader *r)
{
    const struct load_opts *opts = r->of->opts;
    struct image *img = &r->of->img;
    const bool to_rgb = r->d.out_color_space != r->d.jpeg_color_space;
    int read = 0;
    if (!opts->libraries && !r->d.progressive_mode && !r->d.arith_code)
        read = read_sequential(r->of, to_rgb, &r->behind, r->err);
    check(r, read < 0 ? -1 : 0);
    if (parameters_of(img->meta)->turned)
        r->samples.nplanes = 0;
    if (read) {
        r->at = NULL; /* such files have no segments between scans */
        return;
    }
    check_limits(r);
    check(r,
          image_alloc(img, r->samples.nplanes ? mem_plain : opts->mem, r->err));
    if (opts->tolerant || img->cell == CELL_DCT) /* what has no bits, or is not
                                                    read of a damaged file */
        memset(img->pixels.rows.cells, 0, img->pixels.rows.size);
    if (img->cell == CELL_DCT) {
        libjpeg_arrays_lend(&r->arrays, img, (j_common_ptr)&r->d);
        libjpeg_arrays_offer((j_common_ptr)&r->d);
        jpeg_read_coefficients(&r->d);
    } else {
        const size_t size = (size_t)img->width * img->nplanes;
        JSAMPROW row =
            r->d.mem->alloc_large((j_common_ptr)&r->d, JPOOL_PERMANENT, size);
        jpeg_start_decompress(&r->d);
        r->pixels = true;
        while (r->d.output_scanline < r->d.output_height) {
            uint32_t y = r->d.output_scanline;
            jpeg_read_scanlines(&r->d, &row, 1);
            interleave_split_row(img, y, row);
        }
    }
    while (!jpeg_input_complete(&r->d))
        jpeg_consume_input(&r->d);
    r->behind = r->d.src->bytes_in_buffer;
}

/* Makes what has been read the picture of the plan. */
static void take_picture(struct jpeg_reader *r)
{
    struct image *img = &r->of->img;
    const struct load_opts *opts = r->of->opts;
    const struct decode_plan *plan = r->of->plan;
    const struct bytes file = r->of->file;
    struct jpeg_parameters *p = parameters_of(img->meta);
    parameters_note_tables(img->meta, &r->d, img->nplanes);
    if (r->samples.nplanes) { /* of the blocks, which are freed */
        struct image made = r->samples;
        struct samples samples[COMPONENTS];
        check(r, image_alloc(&made, opts->mem, r->err));
        for (unsigned i = 0; i < made.nplanes; i++) {
            samples[i] =
                (struct samples){ .wanted = true, .plane = made.plane[i] };
            memcpy(samples[i].step, p->step[p->component[i].quantization],
                   sizeof samples[i].step);
        }
        samples_decode(samples, img, p->coded, opts->pool);
        image_free_pixels(img);
        *img = made;
        if (p->coded && !parameters_note_coded(p))
            check(r, fail_memory(r->err, "no memory for so many scans"));
        samples_fill(&r->d, img);
    }
    parameters_trim(img, plan->width, plan->height);
    if (plan->representation == REPRESENTATION_REALIGNED && !p->turned)
        check(r, samples_realign(img, plan->turn, opts->pool, r->err));
    if (xform_transposes(img->turned) && img->cell == CELL_DCT) {
        /* Its blocks are turned as they are written: it has the shape of then.
         */
        const struct image was = *img;
        img->width = was.height;
        img->height = was.width;
        for (unsigned i = 0; i < img->nplanes; i++) {
            img->plane[i].width = was.plane[i].height;
            img->plane[i].height = was.plane[i].width;
        }
    }
    take_segments(r, file.data + file.size - r->behind, true);
    check(r, segments_take_trailer(img->meta, file, r->behind, r->err));
}

int open_jpeg(struct reader *reader, struct err *err)
{
    struct jpeg_reader *r = reader->state = memory_alloc_zeroed(1, sizeof *r);
    struct image *img = &reader->img;
    const struct limits *limits = &reader->opts->limits;
    if (!r)
        return fail_memory(err, "no memory for the decoder");
    img->meta->free_state = parameters_free;
    r->of = reader;
    r->err = err;
    r->d.err = jpeg_std_error(&r->errors);
    r->d.err->error_exit = on_error;
    r->d.err->emit_message = on_message;
    r->d.client_data = r;
    if (setjmp(r->out))
        return -1;
    /* What comes before the first scan. No viewer looks for an orientation
     * behind it. */
    jpeg_create_decompress(&r->d);
    r->d.mem->max_memory_to_use =
        limits->bytes < LONG_MAX ? (long)limits->bytes : LONG_MAX;
    r->progress.progress_monitor = on_progress;
    r->d.progress = &r->progress;
    jpeg_mem_src(&r->d, reader->file.data, reader->file.size);
    jpeg_read_header(&r->d, TRUE);
    if (r->d.data_precision != 8)
        check(r, fail(r->err, "%d bits a sample; only 8 can be read",
                      r->d.data_precision));
    r->at = marker_first(reader->file);
    take_segments(r, reader->file.data + reader->file.size, false);
    check(r, metadata_read_orientation(img, &segments_format, r->err));
    img->width = r->d.image_width;
    img->height = r->d.image_height;
    account_allow_pixels(limits->account, (uint64_t)img->width * img->height);
    parameters_alignments(&reader->info, &r->d);
    if (r->d.progressive_mode)
        look_at_scans(r);
    if (r->unfinished) /* no part of it stays as it is shown, but all of it */
        reader->info.alignment[REPRESENTATION_REALIGNED] =
            reader->info.alignment[REPRESENTATION_COEFFICIENTS];
    return 0;
}

static int read_picture(struct reader *reader,
                        void (*read)(struct jpeg_reader *), struct err *err)
{
    struct jpeg_reader *r = reader->state;
    r->err = err;
    if (setjmp(r->out) == 0) {
        note_scan(r);
        shape(r);
        read(r);
    } else if (!reader->opts->tolerant || !r->pixels || r->err->memory) {
        return -1;
    } else {
        warn(reader->opts->warnings, "damaged, read as far as it goes: %s",
             r->err->text);
    }
    if (setjmp(r->out))
        return -1;
    take_picture(r);
    return 0;
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
    memory_free(r);
}
