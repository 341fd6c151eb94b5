/* How a JPEG file is coded beside its samples. */
#include "codecs/jpeg/parameters.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/entropy/sequential.h"

void parameters_forget_coded(struct jpeg_parameters *p)
{
    if (p->coded)
        sequential_free(p->coded);
    memory_free(p->coded);
    memory_free(p->turned);
    p->coded = NULL;
    p->turned = NULL;
}

void parameters_free(void *state)
{
    struct jpeg_parameters *p = state;
    parameters_forget_coded(p);
    bytes_free(&p->scans);
    memory_free(p);
}

/* ---- Shapes -------------------------------------------------------------- */

struct parameters_move parameters_move(const struct jpeg_parameters *p,
                                       unsigned i, uint32_t width,
                                       uint32_t height, enum xform turn)
{
    struct parameters_move move = { 0, 0 };
    unsigned across, down;
    entropy_most(p->component, COMPONENTS, &across, &down);
    if (xform_reverses_x(turn))
        move.right =
            -entropy_samples(width, p->component[i].across, across) % DCTSIZE;
    if (xform_reverses_y(turn))
        move.down =
            -entropy_samples(height, p->component[i].down, down) % DCTSIZE;
    return move;
}

void parameters_refine(uint16_t step[4][64], unsigned divisor[4],
                       const struct sequential_component *component,
                       unsigned moved, uint64_t pixels)
{
    unsigned finer = 0, kept = 0;
    for (unsigned i = 0; i < COMPONENTS && component[i].across; i++)
        *(moved >> i & 1 ? &finer : &kept) |= 1u << component[i].quantization;
    for (unsigned n = 0; n < 4; n++) {
        divisor[n] = finer >> n & ~kept >> n & 1
                         ? requantize_divisor(step[n], pixels)
                         : 1;
        for (unsigned k = 0; k < DCTSIZE2; k++)
            step[n][k] = requantize_finer(step[n][k], divisor[n]);
    }
}

void parameters_trim(struct image *img, uint32_t width, uint32_t height)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    unsigned x, y;
    if (!width || !height || (width == img->width && height == img->height))
        return;
    entropy_most(p->component, COMPONENTS, &x, &y);
    if (img->cell == CELL_DCT)
        x *= DCTSIZE, y *= DCTSIZE;
    for (unsigned i = 0; i < img->nplanes; i++) {
        img->plane[i].width = entropy_samples(width, p->component[i].across, x);
        img->plane[i].height = entropy_samples(height, p->component[i].down, y);
    }
    img->untrimmed_width = img->width;
    img->untrimmed_height = img->height;
    img->width = width;
    img->height = height;
    if (p->coded)
        sequential_trim(p->coded, width, height);
}

void parameters_alignments(struct stream_info *info, j_decompress_ptr d)
{
    /* Samples of the first component, and of the others, that stay together. */
    static const uint32_t units[REPRESENTATIONS][2] = {
        [REPRESENTATION_PLANES] = { 1, 1 },
        [REPRESENTATION_REALIGNED] = { DCTSIZE, 1 },
        [REPRESENTATION_COEFFICIENTS] = { DCTSIZE, DCTSIZE },
    };
    const uint32_t most_x = (uint32_t)d->max_h_samp_factor,
                   most_y = (uint32_t)d->max_v_samp_factor;
    for (int k = 0; k < REPRESENTATIONS; k++) {
        struct alignment *alignment = &info->alignment[k];
        bool whole = false;
        /* The fewest pixels that are whole units of all components. */
        for (*alignment = (struct alignment){ 1, 1 }; !whole && units[k][0];) {
            bool x = true, y = true;
            for (int i = 0; i < d->num_components; i++) {
                const jpeg_component_info *c = &d->comp_info[i];
                const uint32_t unit = units[k][i > 0];
                x = x && alignment->x * (uint32_t)c->h_samp_factor %
                                 (unit * most_x) ==
                             0;
                y = y && alignment->y * (uint32_t)c->v_samp_factor %
                                 (unit * most_y) ==
                             0;
            }
            alignment->x += !x;
            alignment->y += !y;
            whole = x && y;
        }
    }
}

/* Returns how many MCUs there are in a row of a scan of all components; one
 * component is coded block by block, whatever its sampling (T.81, A.2). */
static uint32_t mcu_columns(const jpeg_component_info *info, int components,
                            uint32_t width)
{
    uint32_t most = 1;
    for (int i = 0; components > 1 && i < components; i++)
        if ((uint32_t)info[i].h_samp_factor > most)
            most = (uint32_t)info[i].h_samp_factor;
    return entropy_divide_up(width, DCTSIZE * most);
}

/* ---- Noting -------------------------------------------------------------- */

void parameters_note(struct meta *meta, j_decompress_ptr d)
{
    struct jpeg_parameters *p = parameters_of(meta);
    const int components =
        d->num_components < COMPONENTS ? d->num_components : COMPONENTS;
    bool differ = true;
    p->space = d->jpeg_color_space;
    meta->progressive = d->progressive_mode;
    p->arithmetic = d->arith_code;
    p->restart = d->restart_interval;
    p->columns = mcu_columns(d->comp_info, d->num_components, d->image_width);
    for (int i = 0; i < components; i++) {
        const jpeg_component_info *component = &d->comp_info[i];
        p->component[i].id = (uint8_t)component->component_id;
        p->component[i].across = (uint8_t)component->h_samp_factor;
        p->component[i].down = (uint8_t)component->v_samp_factor;
        for (int k = 0; k < i; k++)
            differ = differ && p->component[i].id != p->component[k].id;
    }
    /* Some files call all of their components alike, which libjpeg reads where
     * one scan has all, in order. Nobody may (T.81, B.2.2), and no scan can
     * name one of them: they get the numbers that JFIF has. */
    for (int i = 0; i < components && !differ; i++)
        p->component[i].id = (uint8_t)(i + 1);
}

bool parameters_note_scan(struct meta *meta, j_decompress_ptr d)
{
    struct jpeg_scan scan = { .count = (uint8_t)d->comps_in_scan, .to = 63 };
    for (int i = 0; i < d->comps_in_scan; i++)
        scan.component[i] = (uint8_t)d->cur_comp_info[i]->component_index;
    if (d->progressive_mode) {
        scan.from = (uint8_t)d->Ss;
        scan.to = (uint8_t)d->Se;
        scan.high = (uint8_t)d->Ah;
        scan.low = (uint8_t)d->Al;
    }
    return bytes_append(&parameters_of(meta)->scans, &scan, sizeof scan);
}

bool parameters_note_coded(struct jpeg_parameters *p)
{
    bool noted = true;
    p->scans.size = 0;
    for (unsigned i = 0; noted && i < p->coded->scans; i++) {
        const struct sequential_scan *from = &p->coded->scan[i];
        struct jpeg_scan scan = { .count = (uint8_t)from->coding.components,
                                  .to = 63 };
        memcpy(scan.component, from->component, sizeof scan.component);
        noted = bytes_append(&p->scans, &scan, sizeof scan);
    }
    parameters_forget_coded(p);
    return noted;
}

/* The table of a component is the one that was defined when its first scan
 * began (T.81, B.2.4.1); a component without scans needs none. Tables keep
 * their numbers, unless one number was used for two of them. */
void parameters_note_tables(struct meta *meta, j_decompress_ptr d,
                            unsigned components)
{
    static const JQUANT_TBL none = { { 0 }, FALSE };
    struct jpeg_parameters *p = parameters_of(meta);
    bool used[NUM_QUANT_TBLS] = { false };
    for (unsigned i = 0; i < components && i < COMPONENTS; i++) {
        const jpeg_component_info *info = &d->comp_info[i];
        const JQUANT_TBL *table = info->quant_table;
        int n = info->quant_tbl_no % NUM_QUANT_TBLS;
        const size_t size = sizeof p->step[n];
        if (!table && info->quant_tbl_no < NUM_QUANT_TBLS)
            table = d->quant_tbl_ptrs[info->quant_tbl_no];
        if (!table)
            table = &none;
        while (used[n] && memcmp(p->step[n], table->quantval, size) != 0)
            n = (n + 1) % NUM_QUANT_TBLS;
        used[n] = true;
        memcpy(p->step[n], table->quantval, size);
        p->component[i].quantization = (uint8_t)n;
    }
}

/* Three components of which the last two are alike have a usual name. */
void parameters_describe(struct meta *meta, j_decompress_ptr d)
{
    static const struct {
        int across, down;
        const char *name;
    } names[] = { { 1, 1, "4:4:4" }, { 2, 1, "4:2:2" }, { 2, 2, "4:2:0" },
                  { 1, 2, "4:4:0" }, { 4, 1, "4:1:1" }, { 4, 2, "4:1:0" } };
    const struct jpeg_parameters *p = parameters_of(meta);
    const jpeg_component_info *c = d->comp_info;
    struct coding_note *note = &meta->coding;
    const size_t size = sizeof note->subsampling;
    size_t n = 0;
    note->restart = p->restart;
    note->coding = !p->arithmetic      ? meta->progressive ? "progressive"
                                         : p->extended     ? "extended"
                                                           : "baseline"
                   : meta->progressive ? "arithmetic progressive"
                                       : "arithmetic";
    for (int i = 0;
         d->num_components > 1 && i < d->num_components && i < COMPONENTS; i++)
        n += (size_t)snprintf(note->subsampling + n, size - n, "%s%dx%d",
                              i ? "," : "", c[i].h_samp_factor,
                              c[i].v_samp_factor);
    for (size_t i = 0;
         d->num_components == 3 && i < sizeof names / sizeof *names; i++)
        if (c[1].h_samp_factor == c[2].h_samp_factor &&
            c[1].v_samp_factor == c[2].v_samp_factor &&
            c[0].h_samp_factor == names[i].across * c[1].h_samp_factor &&
            c[0].v_samp_factor == names[i].down * c[1].v_samp_factor)
            snprintf(note->subsampling, size, "%s", names[i].name);
}

/* ---- Writing ------------------------------------------------------------- */

/* How many low bits of each coefficient, row by row, are still missing after
 * some scans. */
struct missing_bits {
    uint8_t low[COMPONENTS][DCTSIZE2];
};
enum { NOTHING = UINT8_MAX, BITS_MAX = 10 };

/* Returns whether a scan may follow in the file of img, and counts its bits: in
 * a progressive one as T.81, G.1.1.1 has it; else each component is in one
 * scan, with all bits. */
static bool follows(struct missing_bits *missing, const struct jpeg_scan *scan,
                    const struct image *img)
{
    if (img->meta->progressive &&
        (scan->from == 0 ? scan->to != 0 : scan->count != 1))
        return false;
    if (scan->count == 0 || scan->to >= DCTSIZE2 || scan->low > BITS_MAX ||
        scan->high > BITS_MAX)
        return false;
    for (unsigned i = 0; i < scan->count; i++) {
        if (scan->component[i] >= img->nplanes ||
            (i && scan->component[i] <= scan->component[i - 1]))
            return false;
        uint8_t *low = missing->low[scan->component[i]];
        if (scan->from && low[0] == NOTHING)
            return false;
        for (unsigned k = scan->from; k <= scan->to; k++) {
            uint8_t *bits = &low[entropy_natural[k]];
            if (*bits == NOTHING
                    ? scan->high != 0
                    : scan->high != *bits || scan->low != *bits - 1)
                return false;
            *bits = scan->low;
        }
    }
    return true;
}

/* Whether img can have the scans of its file; those of a damaged one may be in
 * disorder. They give every coefficient to its last bit; or as those of an
 * unfinished progressive file, they give all bits that its own coefficients
 * have, also where these are after the turn. So viewers smooth it as before. */
static bool can_keep_scans(const struct jpeg_scan *scan, size_t count,
                           const struct image *img)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    const bool transposes = xform_transposes(img->turned);
    bool whole = true,
         own = img->meta->progressive && img->cell == CELL_DCT && !p->realigned;
    struct missing_bits missing;
    memset(&missing, NOTHING, sizeof missing);
    for (size_t i = 0; i < count; i++)
        if (!follows(&missing, &scan[i], img))
            return false;
    for (unsigned i = 0; i < img->nplanes; i++) {
        const uint8_t *low = missing.low[i];
        own = own && low[0] != NOTHING;
        for (unsigned k = 0; k < DCTSIZE2; k++) {
            whole = whole && low[k] == 0;
            own = own && (!transposes || low[k] == low[entropy_exchange(k)]);
        }
    }
    /* A damaged scan can give libjpeg coefficients behind its last one, without
     * a warning. */
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; !whole && own && y < img->plane[i].height; y++) {
            const int16_t *at = (const int16_t *)plane_row(&img->plane[i], y);
            for (size_t k = 0; k < (size_t)img->plane[i].width * DCTSIZE2;
                 k++) {
                const uint8_t bits = missing.low[i][k % DCTSIZE2];
                own = own && (at[k] == 0 ||
                              (bits != NOTHING && at[k] % (1 << bits) == 0));
            }
        }
    return whole || own;
}

/* The sampling factors and steps are exchanged with the axes. The scans are
 * those of the file; or where these cannot be kept, those that are usual, or if
 * an MCU of all components had too many blocks, one scan for each component,
 * with all of its coefficients. */
void parameters_set(j_compress_ptr c, const struct image *img,
                    const struct save_opts *opts)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    const struct jpeg_scan *scan = (const struct jpeg_scan *)p->scans.data;
    size_t count = p->scans.size / sizeof *scan;
    const bool exchanged = xform_transposes(img->turned),
               anew = opts->quality && img->cell != CELL_DCT;
    int blocks = 0;
    for (int i = 0; i < c->num_components; i++) {
        jpeg_component_info *info = &c->comp_info[i];
        const int n = p->component[i].quantization;
        JQUANT_TBL **table = &c->quant_tbl_ptrs[n];
        info->component_id = p->component[i].id;
        info->h_samp_factor =
            exchanged ? p->component[i].down : p->component[i].across;
        info->v_samp_factor =
            exchanged ? p->component[i].across : p->component[i].down;
        blocks += info->h_samp_factor * info->v_samp_factor;
        if (anew)
            continue;
        if (!*table)
            *table = jpeg_alloc_quant_table((j_common_ptr)c);
        info->quant_tbl_no = n;
        for (unsigned k = 0; k < DCTSIZE2; k++)
            (*table)->quantval[k] =
                p->step[n][exchanged ? entropy_exchange(k) : k];
    }
    if (anew)
        jpeg_set_quality(c, opts->quality, TRUE);
    c->arith_code = p->arithmetic;
    c->optimize_coding = !c->arith_code;
    c->restart_interval =
        opts->no_restart
            ? 0
            : sequential_restart(
                  p->restart, p->columns,
                  mcu_columns(c->comp_info, c->num_components, c->image_width));
    const bool keep = can_keep_scans(scan, count, img);
    if (!keep && blocks <= C_MAX_BLOCKS_IN_MCU) {
        if (img->meta->progressive)
            jpeg_simple_progression(c);
        return;
    }
    if (!keep)
        count = (size_t)c->num_components;
    jpeg_scan_info *list = c->mem->alloc_small((j_common_ptr)c, JPOOL_PERMANENT,
                                               count * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        list[i] = (jpeg_scan_info){ 1, { (int)i }, 0, DCTSIZE2 - 1, 0, 0 };
        if (!keep)
            continue;
        list[i] = (jpeg_scan_info){ scan[i].count, { 0 },        scan[i].from,
                                    scan[i].to,    scan[i].high, scan[i].low };
        for (unsigned k = 0; k < scan[i].count; k++)
            list[i].component_index[k] = scan[i].component[k];
    }
    c->scan_info = list;
    c->num_scans = (int)count;
}
