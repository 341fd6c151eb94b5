/* What libjpeg says of a file that our coder has turned; see the header. */
#include "tests/support/entropy_oracle.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "codecs/jpeg/entropy/sequential.h"
#include "tests/support/must.h"
#include "tests/support/test.h"

/* The coefficients of a file, as libjpeg reads them. */
struct coefficients {
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr mgr;
    jmp_buf out;
    jvirt_barray_ptr *array;
};

static void on_error(j_common_ptr cinfo)
{
    longjmp(((struct coefficients *)cinfo->client_data)->out, 1);
}

/* The revision of a JFIF segment says nothing of the picture. */
static void on_message(j_common_ptr cinfo, int level)
{
    if (level < 0 && cinfo->err->msg_code != JWRN_JFIF_MAJOR)
        cinfo->err->num_warnings++;
}

/* Returns whether libjpeg reads the file without a warning. */
static bool read_coefficients(struct coefficients *c, struct bytes file,
                              uint64_t pixels_max)
{
    memset(c, 0, sizeof *c);
    c->d.err = jpeg_std_error(&c->mgr);
    c->mgr.error_exit = on_error;
    c->mgr.emit_message = on_message;
    c->d.client_data = c;
    jpeg_create_decompress(&c->d);
    if (setjmp(c->out))
        return false;
    jpeg_mem_src(&c->d, file.data, file.size);
    jpeg_read_header(&c->d, TRUE);
    if (pixels_max &&
        (uint64_t)c->d.image_width * c->d.image_height > pixels_max)
        return false;
    c->array = jpeg_read_coefficients(&c->d);
    return c->mgr.num_warnings == 0;
}

static const JCOEF *block_at(struct coefficients *c, int i, uint32_t x,
                             uint32_t y)
{
    return c->d.mem->access_virt_barray((j_common_ptr)&c->d, c->array[i], y, 1,
                                        FALSE)[0][x];
}

/* Returns whether b is a after a turn. */
static bool is_turned(const JCOEF *a, const JCOEF *b, enum xform turn)
{
    for (int v = 0; v < DCTSIZE; v++)
        for (int u = 0; u < DCTSIZE; u++) {
            bool odd = ((turn & XFORM_MIRROR_X) && u % 2) !=
                       ((turn & XFORM_MIRROR_Y) && v % 2);
            int want =
                a[xform_transposes(turn) ? u * DCTSIZE + v : v * DCTSIZE + u];
            if (b[v * DCTSIZE + u] != (odd ? -want : want))
                return false;
        }
    return true;
}

static bool component_is_turned(struct coefficients *from,
                                struct coefficients *to, int i, enum xform turn)
{
    const jpeg_component_info *a = &from->d.comp_info[i],
                              *b = &to->d.comp_info[i];
    const bool transposes = xform_transposes(turn);
    if (b->width_in_blocks !=
            (transposes ? a->height_in_blocks : a->width_in_blocks) ||
        b->height_in_blocks !=
            (transposes ? a->width_in_blocks : a->height_in_blocks) ||
        b->component_id != a->component_id)
        return false;
    for (uint32_t y = 0; y < b->height_in_blocks; y++)
        for (uint32_t x = 0; x < b->width_in_blocks; x++) {
            uint32_t sx, sy;
            JBLOCK block;
            xform_source(turn, b->width_in_blocks, b->height_in_blocks, x, y,
                         &sx, &sy);
            memcpy(block, block_at(to, i, x, y), sizeof block);
            if (!is_turned(block_at(from, i, sx, sy), block, turn))
                return false;
        }
    return true;
}

static bool steps_are_turned(const struct coefficients *from,
                             const struct coefficients *to, int i,
                             enum xform turn)
{
    const UINT16 *a = from->d.comp_info[i].quant_table->quantval;
    const UINT16 *b = to->d.comp_info[i].quant_table->quantval;
    for (int k = 0; k < DCTSIZE2; k++)
        if (b[k] != a[xform_transposes(turn) ? k % 8 * 8 + k / 8 : k])
            return false;
    return true;
}

static bool picture_is_turned(struct coefficients *from,
                              struct coefficients *to, enum xform turn)
{
    bool same = from->d.num_components == to->d.num_components;
    for (int i = 0; same && i < from->d.num_components; i++)
        same = component_is_turned(from, to, i, turn) &&
               steps_are_turned(from, to, i, turn);
    return same;
}

/* Replaces the blocks by those that their planes give. */
static void go_by_planes(struct sequential *s, struct thread_pool *pool)
{
    struct image img = { .cell = CELL_DCT,
                         .width = s->width,
                         .height = s->height,
                         .nplanes = s->components };
    struct err err;
    for (unsigned i = 0; i < s->scans; i++)
        for (unsigned c = 0; c < s->scan[i].coding.components; c++) {
            struct plane *plane = &img.plane[s->scan[i].component[c]];
            plane->width = s->scan[i].coding.component[c].columns;
            plane->height = s->scan[i].coding.component[c].rows;
        }
    must(image_alloc(&img, mem_plain, &err) == 0);
    memset(img.cells, 0x55, img.size);
    sequential_give_planes(s, &img, pool);
    for (unsigned i = 0; i < s->scans; i++)
        entropy_blocks_free(&s->scan[i].blocks);
    must(sequential_take_planes(s, &img, pool, &err) == 0);
    image_free(&img);
}

/* Reads and writes the picture without libjpeg. Returns whether we read it. */
static bool turn_file(struct bytes *made, struct bytes file,
                      const struct entropy_trial *trial)
{
    static const uint8_t start[] = { 0xff, 0xd8 };
    const bool transposes = xform_transposes(trial->turn);
    struct sequential from, to;
    struct err err = { .memory = false };
    size_t end;
    bool read =
        sequential_read(&from, file, transposes, trial->pool, &end, &err) == 0;
    must(!err.memory);
    if (read) {
        must(end <= file.size);
        if (trial->planes && !transposes)
            go_by_planes(&from, trial->pool);
        sequential_turn(&to, &from, trial->turn);
        must(bytes_append(made, start, sizeof start));
        if (sequential_write(made, &to, &from, trial->turn, trial->optimize,
                             trial->pool, &err))
            made->size = 0;
        must(!err.memory);
    }
    sequential_free(&from);
    return read;
}

static enum entropy_verdict judge(struct coefficients *from,
                                  struct coefficients *to, struct bytes made,
                                  enum xform turn)
{
    enum entropy_verdict verdict = ENTROPY_WRONG;
    if (made.size > 0 && read_coefficients(to, made, 0) &&
        picture_is_turned(from, to, turn))
        verdict = ENTROPY_SAME;
    jpeg_destroy_decompress(&to->d);
    return verdict;
}

enum entropy_verdict entropy_try(struct bytes file,
                                 const struct entropy_trial *trial)
{
    struct coefficients *from = calloc(2, sizeof *from);
    struct bytes made = { 0 };
    enum entropy_verdict verdict;
    must(from);
    bool ours = turn_file(&made, file, trial);
    bool theirs = read_coefficients(from, file, trial->pixels_max);
    bool too_large = trial->pixels_max &&
                     (uint64_t)from->d.image_width * from->d.image_height >
                         trial->pixels_max;
    if (!ours || too_large)
        verdict = theirs ? ENTROPY_ONLY_LIBJPEG : ENTROPY_REFUSED;
    else if (!theirs)
        verdict = ENTROPY_WRONG;
    else
        verdict = judge(from, from + 1, made, trial->turn);
    jpeg_destroy_decompress(&from->d);
    bytes_free(&made);
    free(from);
    return verdict;
}

const char *entropy_verdict_name(enum entropy_verdict verdict)
{
    static const char *const names[] = {
        [ENTROPY_SAME] = "as libjpeg reads it",
        [ENTROPY_REFUSED] = "refused by both",
        [ENTROPY_ONLY_LIBJPEG] = "left to libjpeg",
        [ENTROPY_WRONG] = "wrong",
    };
    return names[verdict];
}

/* ---- Damage ------------------------------------------------------------- */

/* Returns where the coded data begins. */
static size_t find_data(struct bytes file)
{
    size_t at = 2;
    while (at + 4 <= file.size && file.data[at] == 0xff) {
        bool scan = file.data[at + 1] == 0xda;
        at += 2 + (size_t)file.data[at + 2] * 256 + file.data[at + 3];
        if (scan)
            break;
    }
    return at < file.size ? at : file.size / 2;
}

static void remove_bytes(struct bytes *file, size_t at, size_t count)
{
    if (count > file->size - at)
        count = file->size - at;
    memmove(file->data + at, file->data + at + count, file->size - at - count);
    file->size -= count;
}

static void insert_byte(struct bytes *file, size_t at, uint8_t byte)
{
    must(bytes_append(file, &byte, 1));
    memmove(file->data + at + 1, file->data + at, file->size - 1 - at);
    file->data[at] = byte;
}

void entropy_mutate(struct bytes *file, uint64_t *random)
{
    size_t data = find_data(*file);
    for (uint64_t left = 1 + test_random(random) % 3; left; left--) {
        size_t first = test_random(random) % 3 && data < file->size ? data : 2;
        size_t at = first + test_random(random) % (file->size - first);
        uint8_t any = (uint8_t)test_random(random);
        switch (test_random(random) % 6) {
        case 0:
        case 1:
            file->data[at] ^= (uint8_t)(1 << any % 8);
            break;
        case 2:
            file->data[at] = any;
            break;
        case 3:
            file->data[at] = 0xff;
            break;
        case 4:
            remove_bytes(file, at, 1 + any % 4u);
            break;
        default:
            insert_byte(file, at, any);
        }
    }
}
