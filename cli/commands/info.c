/* gimgxf info: describes pictures by what stands beside their pixels. */
#include "cli/commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/job/job.h"
#include "cli/json/json.h"
#include "cli/report/report.h"

/* ---- In words ------------------------------------------------------------ */

/* What a picture without metadata has beside its pixels. */
static const struct meta nothing = { .nblocks = 0 };

static const struct meta *meta_of(const struct image *img)
{
    return img->meta ? img->meta : &nothing;
}

/* A file with very many blocks or arrays is described by its first ones. */
static size_t listed(size_t count)
{
    return count < 1000 ? count : 1000;
}

/* Returns whether the tag exchanges the axes of the size as shown. */
static bool exchanges(const struct image *img)
{
    return img->orientation > 4;
}

/* Prints what is known of a file; of one whose arrays are not a picture to us
 * no more than its size. */
static void print_color(const char *file, const struct image *img,
                        const struct result *result)
{
    const struct meta *meta = meta_of(img);
    const struct coding_note *note = &meta->coding;
    const struct animation *a = &meta->animation;
    report_put_escaped(stdout, file);
    printf(": %s", result->from->title);
    if (img->nplanes || img->width)
        printf(", %u x %u", img->width, img->height);
    if (exchanges(img) && img->width != img->height)
        printf(" (shown as %u x %u)", img->height, img->width);
    if (img->nplanes)
        printf(", %s%s", image_color_name(img->color),
               img->alpha ? " with alpha" : "");
    if (img->nplanes && img->color == COLOR_OTHER)
        printf(" (%u)", img->nplanes);
    if (img->nplanes && img->cell == CELL_F32)
        printf(", 32-bit float");
    else if (img->nplanes && img->maxval)
        printf(", %u bit%s", image_bits(img), img->maxval > 1 ? "s" : "");
    if (meta->interlaced)
        printf(", interlaced");
    if (note->coding && *note->subsampling)
        printf(", %s", note->subsampling);
    if (note->coding)
        printf(", %s", note->coding);
    if (note->coding && note->restart)
        printf(", restart markers every %u MCU%s", note->restart,
               note->restart > 1 ? "s" : "");
    if (a->frames) {
        printf(", animated: %u frame%s, %.4g s in all", a->frames,
               a->frames > 1 ? "s" : "", a->seconds);
        if (a->shortest < a->longest)
            printf(" (%.4g to %.4g s each)", a->shortest, a->longest);
        if (a->plays)
            printf(", played %u time%s", a->plays, a->plays > 1 ? "s" : "");
        else
            printf(", played without end");
        if (a->apart)
            printf(", the default image is no frame");
    }
    if (img->orientation != 1)
        printf(", orientation %u (shown by %s), as %s says", img->orientation,
               xform_name(xform_from_exif(img->orientation)),
               orientation_place[meta->orientation.place]);
    if (meta->orientation.other)
        printf(", although %s says %u",
               orientation_place[meta->orientation.other_place],
               meta->orientation.other);
    putchar('\n');
}

/* Returns who obeys the orientation, and who does not, where readers differ
 * about it (gimgxf-formats(7), "Who obeys which"); NULL where they agree. */
static const char *differing_readers(const char *format,
                                     const struct orientation *o)
{
    static const struct {
        const char *format;
        enum tag_place place; /* of the tag that counts */
        const char *words;
    } cases[] = {
        { "tiff", TAG_IFD,
          "most readers; not tifffile, OpenSlide and libtiff's RGBA" },
        { "webp", TAG_EXIF, "Pillow, vips and exiftool; not browsers" },
        { "heic", TAG_EXIF,
          "Android, Immich and old macOS; not libheif and browsers" },
        { "avif", TAG_EXIF, "programs of Android; not browsers" },
    };
    if (o->place == TAG_TRANSFORMS && o->other && o->other_place == TAG_EXIF)
        return "irot and imir: libheif, Apple and browsers; EXIF: programs of "
               "Android";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (o->value > 1 && o->place == cases[i].place &&
            strcmp(format, cases[i].format) == 0)
            return cases[i].words;
    return NULL;
}

static const char *turn_name(unsigned t)
{
    return t == XFORM_NONE ? "upright" : xform_name((enum xform)t);
}

/* Prints a line for each way in which some of the turns would be done. */
static void print_turns(const enum how *turns)
{
    static const struct {
        enum how how;
        const char *words;
    } ways[] = { { HOW_LOSSLESS, "lossless" },
                 { HOW_ORIENTED, "lossless, by its orientation alone" },
                 { HOW_LUMA_LOSSLESS, "color compressed again" },
                 { HOW_REENCODED, "all compressed again" } };
    unsigned count[HOWS] = { 0 };
    for (unsigned t = 0; t < XFORM_COUNT; t++)
        count[turns[t]]++;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const bool every = count[ways[i].how] == XFORM_COUNT;
        if (count[ways[i].how] == 0)
            continue;
        printf("  %s:%s", ways[i].words, every ? " every turn" : "");
        for (unsigned t = 0; !every && t < XFORM_COUNT; t++)
            if (turns[t] == ways[i].how)
                printf(" %s", turn_name(t));
        putchar('\n');
    }
}

static void print_picture(const char *file,
                          const struct description *description)
{
    const struct meta *meta = meta_of(&description->img);
    print_color(file, &description->img, &description->result);
    const struct codec *codec = description->result.from;
    const char *readers = differing_readers(codec->name, &meta->orientation);
    if (readers)
        printf("  orientation obeyed by %s\n", readers);
    if (codec->lossy || codec->oriented || /* of others each is lossless */
        description->turns[XFORM_MIRROR_X] == HOW_REENCODED ||
        description->turns[XFORM_MIRROR_Y] == HOW_REENCODED)
        print_turns(description->turns);
    /* The names of the blocks, each once, with how often it is there. */
    const char *lead = "  metadata: ";
    for (size_t i = 0; i < listed(meta->nblocks); i++) {
        size_t count = 0, before = 0;
        for (size_t k = 0; k < meta->nblocks; k++)
            if (strcmp(meta->block[k].name, meta->block[i].name) == 0)
                *(k < i ? &before : &count) += 1;
        if (before || meta->block[i].kind == BLOCK_FRAME)
            continue;
        fputs(lead, stdout);
        report_put_escaped(stdout, meta->block[i].name);
        if (count > 1)
            printf(" (%zu times)", count);
        lead = ", ";
    }
    if (*lead == ',')
        putchar('\n');
    for (size_t i = 0; i < listed(meta->narrays); i++) {
        char shape[256];
        layout_print_shape(shape, sizeof shape, meta->array[i].shape,
                           meta->array[i].naxes);
        fputs("  array ", stdout);
        report_put_escaped(stdout, meta->array[i].name);
        printf("%sshape %s, type ", *meta->array[i].name ? ": " : "of ", shape);
        report_put_escaped(stdout, meta->array[i].type);
        if (meta->array[i].layout)
            printf(", layout %s", layout_name[meta->array[i].layout]);
        puts(meta->array[i].fortran ? ", Fortran order" : "");
    }
}

/* ---- In JSON ------------------------------------------------------------- */

static void json_arrays(struct json_writer *json, const struct meta *meta)
{
    json_open(json, "arrays", '[');
    for (size_t i = 0; i < listed(meta->narrays); i++) {
        const struct array_note *array = &meta->array[i];
        json_open(json, NULL, '{');
        json_string(json, "name", array->name);
        json_string(json, "type", array->type);
        json_open(json, "shape", '[');
        for (unsigned k = 0; k < array->naxes && k < LAYOUT_AXES; k++)
            json_number(json, NULL, (double)array->shape[k]);
        json_close(json, ']');
        json_string(json, "layout",
                    array->layout ? layout_name[array->layout] : NULL);
        json_bool(json, "fortran", array->fortran);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Adds what is beside the first picture, and how it would be turned. */
static void json_more(struct json_writer *json,
                      const struct description *description,
                      const struct meta *meta)
{
    const struct animation *a = &meta->animation;
    json_open(json, "metadata", '[');
    for (size_t i = 0; i < listed(meta->nblocks); i++) {
        if (meta->block[i].kind == BLOCK_FRAME)
            continue;
        json_open(json, NULL, '{');
        json_string(json, "name", meta->block[i].name);
        json_number(json, "bytes", (double)meta->block[i].size);
        json_close(json, '}');
    }
    json_close(json, ']');
    if (description->img.width) {
        json_open(json, "turns", '{');
        for (unsigned t = 0; t < XFORM_COUNT; t++)
            json_string(json, turn_name(t),
                        job_how_name[description->turns[t]]);
        json_close(json, '}');
    }
    if (a->frames) {
        json_open(json, "animation", '{');
        json_number(json, "frames", a->frames);
        json_number(json, "plays", a->plays);
        json_number(json, "seconds", a->seconds);
        json_number(json, "shortest", a->shortest);
        json_number(json, "longest", a->longest);
        json_bool(json, "default_is_frame", !a->apart);
        json_close(json, '}');
    }
    if (meta->narrays)
        json_arrays(json, meta);
}

static void json_picture(const char *file,
                         const struct description *description,
                         const struct err *err)
{
    struct json_writer json = { .out = stdout };
    const struct image *img = &description->img;
    const struct result *result = &description->result;
    const struct meta *meta = meta_of(img);
    const char *subsampling = meta->coding.subsampling;
    const struct orientation *tag = &meta->orientation;
    json_open(&json, NULL, '{');
    json_string(&json, "input", file);
    if (!err) {
        json_string(&json, "format", result->from->name);
        json_number(&json, "width", img->width);
        json_number(&json, "height", img->height);
        json_number(&json, "shown_width",
                    exchanges(img) ? img->height : img->width);
        json_number(&json, "shown_height",
                    exchanges(img) ? img->width : img->height);
        json_string(&json, "color",
                    result->from->oriented ? NULL /* it is not decoded */
                                           : image_color_name(img->color));
        json_bool(&json, "alpha", img->alpha);
        json_number(&json, "channels", img->nplanes);
        json_number(&json, "bits", image_bits(img));
        json_bool(&json, "float", img->cell == CELL_F32);
        json_number(&json, "maxval", img->maxval);
        json_number(&json, "orientation", img->orientation);
        json_string(&json, "orientation_from", orientation_place[tag->place]);
        if (tag->other) {
            json_open(&json, "orientation_other", '{');
            json_number(&json, "orientation", tag->other);
            json_string(&json, "from", orientation_place[tag->other_place]);
            json_close(&json, '}');
        }
        json_string(&json, "orientation_readers",
                    differing_readers(result->from->name, tag));
        json_bool(&json, "interlaced", meta->interlaced);
        json_bool(&json, "progressive", meta->progressive);
        json_string(&json, "coding", meta->coding.coding);
        json_string(&json, "subsampling", *subsampling ? subsampling : NULL);
        json_number(&json, "restart", meta->coding.restart);
        json_more(&json, description, meta);
        json_number(&json, "bytes", (double)result->bytes_in);
    }
    report_json_warnings(&json, &result->warnings, 0);
    json_string(&json, "error", err ? err->text : NULL);
    json_close(&json, '}');
    putchar('\n');
}

/* ---- Every file ---------------------------------------------------------- */

struct info_task {
    struct each_input input;
    struct description description;
    struct err err;
    int status;
};

struct describing {
    const struct options *opts;
    bool failed;
};

static bool describe(void *context, unsigned worker, void *task)
{
    const struct describing *all = context;
    (void)worker;
    struct info_task *d = task;
    d->status = job_describe(d->input.name, d->input.root, all->opts,
                             &d->description, &d->err);
    return true;
}

static void print(void *context, void *task)
{
    struct describing *all = context;
    struct info_task *d = task;
    all->failed = all->failed || d->status;
    report_warnings(d->input.name, all->opts, &d->description.result.warnings,
                    0);
    if (d->status)
        report_error(d->input.name, d->err.text);
    if (all->opts->json)
        json_picture(d->input.name, &d->description,
                     d->status ? &d->err : NULL);
    else if (!d->status)
        print_picture(d->input.name, &d->description);
    image_free(&d->description.img);
}

bool info_run(const struct options *opts)
{
    struct describing all = { .opts = opts };
    const struct ordered_workers_opts work = {
        .task_size = sizeof(struct info_task),
        .work = describe,
        .report = print,
        .context = &all,
    };
    return each_input(opts, work) && !all.failed;
}
