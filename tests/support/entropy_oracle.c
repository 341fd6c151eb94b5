/* What libjpeg says of a file that our coder has turned; see the header. */
#include "tests/support/entropy_oracle.h"

#include "codecs/jpeg/entropy/sequential.h"
#include "tests/support/plain_jpeg.h"
#include "tests/support/test.h"

/* ---- Files -------------------------------------------------------------- */

const struct entropy_kind entropy_kinds[ENTROPY_KINDS] = {
    { "gray", { .space = JCS_GRAYSCALE } },
    { "gray, 2x2", { .space = JCS_GRAYSCALE, .h = 2, .v = 2 } },
    { "4:4:4", YCC_OF(.h = 1) },
    { "4:2:2", YCC_OF(.h = 2, .v = 1) },
    { "4:4:0", YCC_OF(.h = 1, .v = 2) },
    { "4:2:0", YCC_OF(.h = 2, .v = 2) },
    { "4:1:1", YCC_OF(.h = 4, .v = 1) },
    { "3x1", YCC_OF(.h = 3, .v = 1) },
    { "2x1, 1x2, 2x2",
      YCC_OF(.h = 2, .v = 1, .others = { { 1, 2 }, { 2, 2 } }) },
    { "CMYK", { .space = JCS_CMYK } },
    { "CMYK, 2x2 and 1x2",
      { .space = JCS_CMYK, .h = 2, .v = 2, .others = { { 1, 2 }, { 1, 1 } } } },
    { "two scans", YCC_OF(.h = 2, .v = 1, SCANS_APART) },
    { "4:1:0", YCC_OF(.h = 4, .v = 2) },
    { "1x2, 2x1", YCC_OF(.h = 1, .v = 2, .others = { { 2, 1 }, { 1, 1 } }) },
    { "scans of one", YCC_OF(.h = 2, .v = 2, SCANS_ALONE) },
    { "scans of one, 3x1", YCC_OF(.h = 3, .v = 1, SCANS_ALONE) },
};

struct bytes entropy_make_kind(unsigned k, uint32_t width, uint32_t height,
                               unsigned restart, unsigned way)
{
    static const int qualities[] = { 40, 75, 95, 100 };
    static const unsigned noises[] = { 0, 10, 40, 200 };
    struct coding coding = sized(entropy_kinds[k].coding, width, height);
    coding.restart = restart;
    coding.standard = way % 2;
    coding.quality = qualities[way / 2 % 4];
    return make_noisy_jpeg(&coding, noises[way / 2 % 4]);
}

/* ---- Judging ------------------------------------------------------------ */

/* Replaces the blocks by those that their planes give. */
static void go_by_planes(struct sequential *s, struct thread_pool *pool)
{
    owned_image img = { .cell = CELL_DCT,
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
    memset(img.pixels.rows.cells, 0x55, img.pixels.rows.size);
    sequential_give_planes(s, &img, pool);
    for (unsigned i = 0; i < s->scans; i++)
        entropy_blocks_free(&s->scan[i].blocks);
    must(sequential_take_planes(s, &img, pool, &err) == 0);
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
        if (sequential_write(made, &to, &from, trial->optimize, trial->pool,
                             &err))
            made->size = 0;
        must(!err.memory);
    }
    sequential_free(&from);
    return read;
}

static enum entropy_verdict judge(struct plain_jpeg *from, struct bytes made,
                                  enum xform turn)
{
    owned_plain_jpeg *to = plain_jpeg_read(made, 0);
    bool same = to->sound && plain_jpeg_fits(from, to, turn) &&
                plain_jpeg_is_turned(from, to, from->d.num_components, turn);
    return same ? ENTROPY_SAME : ENTROPY_WRONG;
}

enum entropy_verdict entropy_try(struct bytes file,
                                 const struct entropy_trial *trial)
{
    owned_bytes made = { 0 };
    enum entropy_verdict verdict;
    bool ours = turn_file(&made, file, trial);
    owned_plain_jpeg *from = plain_jpeg_read(file, trial->pixels_max);
    if (!ours || from->too_large)
        verdict = from->sound ? ENTROPY_ONLY_LIBJPEG : ENTROPY_REFUSED;
    else if (!from->sound)
        verdict = ENTROPY_WRONG;
    else
        verdict = judge(from, made, trial->turn);
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

void entropy_mutate(struct bytes *file, uint64_t *random)
{
    const struct segments list = read_segments(*file);
    const size_t data = list.scan + 2 + file->data[list.scan + 3];
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
            insert_bytes(file, at, &any, 1);
        }
    }
}
