/* JPEG files as the tests make and read them; see jpeg_file.h. */
#include "tests/support/jpeg_file.h"

#include "tests/support/fixture.h"
#include "tests/support/plain_jpeg.h"

const struct jpeg_sampling jpeg_samplings[JPEG_SAMPLINGS] = {
    { "4:4:4", 1, 1, { { 1, 1 }, { 1, 1 } } },
    { "4:2:2", 2, 1, { { 1, 1 }, { 1, 1 } } },
    { "4:4:0", 1, 2, { { 1, 1 }, { 1, 1 } } },
    { "4:2:0", 2, 2, { { 1, 1 }, { 1, 1 } } },
    { "4:1:1", 4, 1, { { 1, 1 }, { 1, 1 } } },
    { "1x4", 1, 4, { { 1, 1 }, { 1, 1 } } },
    { "4:1:0", 4, 2, { { 1, 1 }, { 1, 1 } } },
    { "2x4", 2, 4, { { 1, 1 }, { 1, 1 } } },
    { "3x1", 3, 1, { { 1, 1 }, { 1, 1 } } },
    { "1x3", 1, 3, { { 1, 1 }, { 1, 1 } } },
    { "3x2", 3, 2, { { 1, 1 }, { 1, 1 } } },
    { "2x2 1x2 2x1", 2, 2, { { 1, 2 }, { 2, 1 } } },
    { "1x1 2x2 2x2", 1, 1, { { 2, 2 }, { 2, 2 } } },
    { "1x2 2x1 1x1", 1, 2, { { 2, 1 }, { 1, 1 } } },
    { "2x2 2x2 1x1", 2, 2, { { 2, 2 }, { 1, 1 } } },
    { "4x1 2x1 1x1", 4, 1, { { 2, 1 }, { 1, 1 } } },
    { "2x1 1x2 2x2", 2, 1, { { 1, 2 }, { 2, 2 } } },
    { "all 2x1", 2, 1, { { 2, 1 }, { 2, 1 } } },
};

const jpeg_scan_info jpeg_scans_alone[3] = { { 1, { 2 }, 0, 63, 0, 0 },
                                             { 1, { 0 }, 0, 63, 0, 0 },
                                             { 1, { 1 }, 0, 63, 0, 0 } };
const jpeg_scan_info jpeg_scans_apart[2] = { { 1, { 0 }, 0, 63, 0, 0 },
                                             { 2, { 1, 2 }, 0, 63, 0, 0 } };

struct coding sized(struct coding coding, uint32_t width, uint32_t height)
{
    coding.width = width;
    coding.height = height;
    return coding;
}

struct coding sampled(unsigned sampling, uint32_t width, uint32_t height)
{
    const struct jpeg_sampling *s = &jpeg_samplings[sampling];
    struct coding coding = { width, height, JCS_YCbCr, .h = s->h, .v = s->v };
    memcpy(coding.others, s->others, sizeof s->others);
    return coding;
}

unsigned space_channels(J_COLOR_SPACE space)
{
    return space == JCS_GRAYSCALE                   ? 1
           : space == JCS_CMYK || space == JCS_YCCK ? 4
                                                    : 3;
}

unsigned jpeg_sample(unsigned c, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    unsigned across = 200 * x / w, down = 200 * y / h;
    const unsigned samples[4] = { 20 + across, 20 + down,
                                  20 + (across * 2 + down) / 3,
                                  220 - (across + down) / 2 };
    return samples[c];
}

static void smooth_row(uint8_t *row, uint32_t y, const struct coding *coding,
                       const void *context)
{
    unsigned n = space_channels(coding->space);
    (void)context;
    for (uint32_t x = 0; x < coding->width; x++)
        for (unsigned i = 0; i < n; i++)
            row[n * x + i] =
                (uint8_t)jpeg_sample(i, x, y, coding->width, coding->height);
}

struct bytes make_jpeg_of(const struct coding *coding, jpeg_row *make_row,
                          const void *context)
{
    struct jpeg_compress_struct c = { 0 };
    struct jpeg_error_mgr mgr;
    unsigned char *data = NULL;
    unsigned long size = 0;
    c.err = jpeg_std_error(&mgr);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &size);
    c.image_width = coding->width;
    c.image_height = coding->height;
    c.input_components = (int)space_channels(coding->space);
    c.in_color_space = coding->space == JCS_YCbCr  ? JCS_RGB
                       : coding->space == JCS_YCCK ? JCS_CMYK
                                                   : coding->space;
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, coding->space);
    jpeg_set_quality(&c, coding->quality ? coding->quality : 95, TRUE);
    for (int i = 0; i < c.num_components; i++) {
        c.comp_info[i].h_samp_factor = c.comp_info[i].v_samp_factor = 1;
        if (coding->ids[i])
            c.comp_info[i].component_id = coding->ids[i];
    }
    for (int i = 1; i < c.num_components; i++)
        if (coding->others[i - 1][0]) {
            c.comp_info[i].h_samp_factor = coding->others[i - 1][0];
            c.comp_info[i].v_samp_factor = coding->others[i - 1][1];
        }
    if (coding->h)
        c.comp_info[0].h_samp_factor = coding->h;
    if (coding->v)
        c.comp_info[0].v_samp_factor = coding->v;
    c.write_JFIF_header = c.write_Adobe_marker = FALSE;
    c.optimize_coding = !coding->arithmetic && !coding->standard;
    c.arith_code = coding->arithmetic;
    c.restart_interval = coding->restart;
    if (coding->progressive)
        jpeg_simple_progression(&c);
    if (coding->scans) {
        c.scan_info = coding->scan;
        c.num_scans = coding->scans;
    }
    jpeg_start_compress(&c, TRUE);
    owned_memory uint8_t *row =
        malloc((size_t)c.input_components * coding->width);
    must(row);
    for (uint32_t y = 0; y < coding->height; y++) {
        JSAMPROW rows = row;
        make_row(row, y, coding, context);
        jpeg_write_scanlines(&c, &rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return (struct bytes){ data, size, size };
}

struct bytes make_jpeg(const struct coding *coding)
{
    return make_jpeg_of(coding, smooth_row, NULL);
}

/* With noise, whose strength is *context, codes of all lengths are needed. */
static void noisy_row(uint8_t *row, uint32_t y, const struct coding *coding,
                      const void *context)
{
    const unsigned *noise = context;
    uint32_t state = 20240229 + 7919 * y;
    smooth_row(row, y, coding, NULL);
    for (size_t i = 0;
         i < (size_t)coding->width * space_channels(coding->space); i++) {
        state = state * 1664525 + 1013904223;
        row[i] = (uint8_t)(row[i] + (state >> 16) % (*noise + 1));
    }
}

struct bytes make_noisy_jpeg(const struct coding *coding, unsigned noise)
{
    return make_jpeg_of(coding, noisy_row, &noise);
}

static void columns_row(uint8_t *row, uint32_t y, const struct coding *coding,
                        const void *context)
{
    (void)context;
    for (uint32_t x = 0; x < 3 * coding->width; x++) {
        uint32_t random = (x + y / 16 * 3 * coding->width) * 2654435761u;
        row[x] = (uint8_t)(random >> 25);
    }
}

struct bytes make_columns_jpeg(const struct coding *coding)
{
    return make_jpeg_of(coding, columns_row, NULL);
}

static void plain_row(uint8_t *row, uint32_t y, const struct coding *coding,
                      const void *context)
{
    const uint8_t *sample = context;
    (void)y;
    memset(row, *sample, (size_t)coding->width * space_channels(coding->space));
}

struct bytes make_plain_jpeg(uint32_t side, uint8_t sample, uint8_t step)
{
    const struct coding coding = { side, side, JCS_GRAYSCALE, .quality = 100 };
    struct bytes file = make_jpeg_of(&coding, plain_row, &sample);
    size_t table = find_marker(file, 2, 0xdb, 0xdb);
    must(table < file.size);
    file.data[table + 5] = step;
    return file;
}

void jpeg_lengthen_steps(struct bytes file)
{
    for (size_t at = 2; (at = find_marker(file, at, 0xdb, 0xdb)) < file.size;
         at += 69)
        for (int k = 5; k < 69; k++)
            file.data[at + k] |= 0xf0;
}

/* ---- Segments -------------------------------------------------------------*/

void insert_bytes(struct bytes *file, size_t at, const void *data, size_t size)
{
    must(bytes_reserve(file, size));
    memmove(file->data + at + size, file->data + at, file->size - at);
    if (size)
        memcpy(file->data + at, data, size);
    file->size += size;
}

void remove_bytes(struct bytes *file, size_t at, size_t size)
{
    if (size > file->size - at)
        size = file->size - at;
    memmove(file->data + at, file->data + at + size, file->size - at - size);
    file->size -= size;
}

size_t find_marker(struct bytes file, size_t from, unsigned low, unsigned high)
{
    for (; from + 1 < file.size; from++)
        if (file.data[from] == 0xff && file.data[from + 1] >= low &&
            file.data[from + 1] <= high)
            return from;
    return file.size;
}

void add_segment(struct bytes *file, size_t *at, unsigned marker,
                 const void *data, size_t size)
{
    size_t length = size + 2;
    uint8_t head[4] = { 0xff, (uint8_t)marker, (uint8_t)(length >> 8),
                        (uint8_t)length };
    const size_t place = at && *at ? *at : 2;
    must(length <= 65535);
    insert_bytes(file, place, head, sizeof head);
    insert_bytes(file, place + 4, data, size);
    if (at)
        *at = place + size + 4;
}

struct bytes headed(const char *head, size_t size, struct bytes body)
{
    struct bytes data = { 0 };
    must(bytes_append(&data, head, size) &&
         bytes_append(&data, body.data, body.size));
    return data;
}

void add_headed(struct bytes *file, size_t *at, unsigned marker,
                const char *head, size_t size, struct bytes body)
{
    owned_bytes data = headed(head, size, body);
    add_segment(file, at, marker, data.data, data.size);
}

struct segments read_segments(struct bytes file)
{
    struct segments list = { .count = 0 };
    size_t at = 2;
    REQUIRE(file.size >= 4 && !memcmp(file.data, "\xff\xd8", 2) &&
                !memcmp(file.data + file.size - 2, "\xff\xd9", 2),
            "no JPEG");
    while (file.size - at >= 4 && file.data[at] == 0xff) {
        const uint8_t *p = file.data + at;
        size_t size = (size_t)p[2] << 8 | p[3];
        REQUIRE(size >= 2 && size <= file.size - at - 2, "no segment");
        if (p[1] >= 0xe0 && list.count < SEGMENTS_MAX)
            list.segment[list.count++] =
                (struct segment_seen){ p[1], p + 4, size - 2 };
        if (p[1] == 0xda) {
            list.scan = at;
            return list;
        }
        at += 2 + size;
    }
    REQUIRE(false, "no scan");
    return list;
}

const struct segment_seen *find_segment(const struct segments *list,
                                        unsigned marker, const char *begin)
{
    size_t length = strlen(begin);
    for (size_t i = 0; i < list->count; i++)
        if (list->segment[i].marker == marker &&
            list->segment[i].size >= length &&
            memcmp(list->segment[i].data, begin, length) == 0)
            return &list->segment[i];
    return NULL;
}

bool segment_is(const struct segment_seen *segment, struct bytes data)
{
    return segment && segment->size == data.size &&
           (!data.size || !memcmp(segment->data, data.data, data.size));
}

/* ---- Through the codec ----------------------------------------------------*/

struct image read_jpeg_as(struct bytes file, enum representation representation,
                          struct thread_pool *pool)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = representation;
    f->load.pool = pool;
    fixture_read(f, file);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    return fixture_take_img(f);
}

struct bytes jpeg_written(const struct image *img, struct save_opts save,
                          struct thread_pool *pool)
{
    struct warnings warnings = { 0 };
    struct bytes made = { 0 };
    struct err err = { .text = "" };
    save.suffix = "";
    save.pool = pool;
    save.warnings = &warnings;
    CHECK(!encode_as(&codec_jpeg, &made, img, &save, &err), "%s", err.text);
    CHECK(warnings.count == 0, "%s", warnings.list[0].text);
    return made;
}

struct image jpeg_picture(enum color color, uint32_t width, uint32_t height,
                          unsigned noise)
{
    struct image img = { .cell = CELL_U8,
                         .color = color,
                         .width = width,
                         .height = height,
                         .maxval = 255,
                         .orientation = 1,
                         .nplanes = color == COLOR_GRAY   ? 1
                                    : color >= COLOR_CMYK ? 4
                                                          : 3 };
    struct err err;
    uint64_t state = 5;
    must(image_alloc(&img, mem_plain, &err) == 0);
    for (unsigned c = 0; c < img.nplanes; c++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++)
                ((uint8_t *)plane_row(&img.plane[c], y))[x] =
                    (uint8_t)(jpeg_sample(c, x, y, width, height) +
                              test_random(&state) % (noise + 1));
    return img;
}

/* ---- Reading --------------------------------------------------------------*/

void say_nothing(j_common_ptr cinfo)
{
    (void)cinfo;
}

struct decoded libjpeg_decode(struct bytes file, J_COLOR_SPACE out)
{
    struct jpeg_decompress_struct d = { 0 };
    struct jpeg_error_mgr mgr;
    struct decoded made = { 0 };
    d.err = jpeg_std_error(&mgr);
    mgr.output_message = say_nothing;
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, file.data, file.size);
    jpeg_read_header(&d, TRUE);
    d.out_color_space = out == JCS_UNKNOWN ? d.jpeg_color_space : out;
    made.coding = (struct coding){
        .width = d.image_width,
        .height = d.image_height,
        .space = d.jpeg_color_space,
        .h = d.comp_info->h_samp_factor,
        .v = d.comp_info->v_samp_factor,
        .restart = d.restart_interval,
        .progressive = d.progressive_mode,
        .arithmetic = d.arith_code,
    };
    for (int i = 0; i < d.num_components && i < 4; i++)
        made.coding.ids[i] = d.comp_info[i].component_id;
    jpeg_start_decompress(&d);
    made.out = d.out_color_space;
    made.channels = (unsigned)d.output_components;
    size_t row = (size_t)d.output_width * made.channels;
    made.samples = malloc(row * d.output_height);
    must(made.samples);
    while (d.output_scanline < d.output_height) {
        JSAMPROW to = made.samples + row * d.output_scanline;
        jpeg_read_scanlines(&d, &to, 1);
    }
    jpeg_finish_decompress(&d);
    made.warnings = mgr.num_warnings;
    jpeg_destroy_decompress(&d);
    return made;
}

void jpeg_steps(struct bytes file, uint16_t step[64])
{
    owned_plain_jpeg *jpeg = plain_jpeg_read(file, 0);
    memcpy(step, jpeg->d.quant_tbl_ptrs[0]->quantval, 64 * sizeof *step);
}

unsigned decoded_at(const struct decoded *d, unsigned c, uint32_t x, uint32_t y)
{
    return d->samples[((size_t)y * d->coding.width + x) * d->channels + c];
}

int decoded_distance(const struct decoded *is, const struct decoded *was,
                     enum xform t)
{
    const uint32_t w = was->coding.width, h = was->coding.height;
    const bool flip = oracle[t].xy != 0;
    int most = 0;
    if (is->coding.width != (flip ? h : w) ||
        is->coding.height != (flip ? w : h) || is->channels != was->channels)
        return 1000;
    for (uint32_t y = 0; y < is->coding.height; y++)
        for (uint32_t x = 0; x < is->coding.width; x++) {
            uint32_t sx, sy;
            turn_source(t, w, h, x, y, &sx, &sy);
            for (unsigned c = 0; c < is->channels; c++) {
                int off = abs((int)decoded_at(is, c, x, y) -
                              (int)decoded_at(was, c, sx, sy));
                most = off > most ? off : most;
            }
        }
    return most;
}

int image_distance(const struct image *img, const struct decoded *was,
                   enum xform t)
{
    const size_t row = (size_t)img->width * img->nplanes;
    owned_decoded is = { .coding = { .width = img->width,
                                     .height = img->height },
                         .channels = img->nplanes,
                         .samples = malloc(row * img->height + 1) };
    must(is.samples);
    for (uint32_t y = 0; y < img->height; y++)
        for (size_t i = 0; i < row; i++)
            is.samples[y * row + i] =
                (uint8_t)cell_at(img, (unsigned)(i % img->nplanes),
                                 (uint32_t)(i / img->nplanes), y);
    int most = decoded_distance(&is, was, t);
    return most;
}
