/* Batches of coded JPEG scans. */
#include "cli/bench/jpeg_batch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/bench/jpeg_picture.h"

enum {
    BATCH = 32 << 20, /* bytes of a batch, about, */
    COUNT_MOST = 256, /* and the most pictures */
};

/* ---- Pictures ------------------------------------------------------------ */

int jpeg_turn(struct bytes *made, struct bytes file, enum xform turn,
              struct err *err)
{
    struct sequential from = { 0 }, to;
    size_t end;
    int status =
        sequential_read(&from, file, xform_transposes(turn), NULL, &end, err);
    if (status == 0) {
        sequential_turn(&to, &from, turn);
        status = sequential_write(made, &to, &from, false, NULL, err);
    }
    sequential_free(&from);
    return status;
}

static int make_source(struct jpeg_source *s, struct suite_shape shape,
                       enum xform turn, uint32_t number, struct err *err)
{
    size_t end;
    if (jpeg_picture_make(&s->file, shape, number, err) ||
        sequential_find(&s->from, s->file, &end, err) ||
        jpeg_turn(&s->made, s->file, turn, err))
        return -1;
    sequential_turn(&s->to, &s->from, turn);
    return 0;
}

static size_t aligned(size_t size)
{
    return (size + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT * SCAN_ALIGNMENT;
}

static struct bytes data_of(const struct jpeg_source *source)
{
    return source->from.scan[0].data;
}

int jpeg_pictures_make(struct jpeg_pictures *pictures, struct suite_shape shape,
                       enum xform turn, struct err *err)
{
    size_t all = 0;
    *pictures = (struct jpeg_pictures){ .turn = turn };
    for (uint32_t i = 0; i < JPEG_SOURCES; i++) {
        if (make_source(&pictures->source[i], shape, turn, i, err))
            return -1;
        all += aligned(data_of(&pictures->source[i]).size);
    }
    const size_t count = BATCH / (all / JPEG_SOURCES) + 1;
    pictures->count = count < COUNT_MOST ? (unsigned)count : COUNT_MOST;
    for (unsigned i = 0; i < pictures->count; i++)
        pictures->bytes +=
            aligned(data_of(jpeg_pictures_get(pictures, i)).size);
    return 0;
}

void jpeg_pictures_free(struct jpeg_pictures *pictures)
{
    for (unsigned i = 0; i < JPEG_SOURCES; i++) {
        bytes_free(&pictures->source[i].file);
        bytes_free(&pictures->source[i].made);
        sequential_free(&pictures->source[i].from);
    }
}

/* ---- Streams ------------------------------------------------------------- */

int jpeg_stream_open(struct jpeg_stream *stream,
                     const struct jpeg_pictures *pictures,
                     const struct scan_engine_type *type, int device,
                     double *seconds, struct err *err)
{
    const struct scan_engine_opts opts = { .device = device,
                                           .input = pictures->bytes,
                                           .seconds = seconds };
    size_t room, at = 0;
    *stream = (struct jpeg_stream){ .pictures = pictures, .type = type };
    stream->job = calloc(pictures->count, sizeof *stream->job);
    stream->to = calloc(pictures->count, sizeof *stream->to);
    if (!stream->job || !stream->to)
        return fail(err, "no memory for a batch");
    if (type->open(&stream->engine, &opts, err))
        return -1;
    uint8_t *input = type->input(stream->engine, &room);
    for (unsigned i = 0; i < pictures->count; i++) {
        const struct jpeg_source *source = jpeg_pictures_get(pictures, i);
        const struct bytes data = data_of(source);
        stream->to[i] = source->to.scan[0].coding;
        stream->job[i] =
            (struct scan_job){ .from = &source->from.scan[0].coding,
                               .to = &stream->to[i],
                               .turn = pictures->turn,
                               .at = at,
                               .size = data.size };
        memcpy(input + at, data.data, data.size);
        at += aligned(data.size);
    }
    return 0;
}

void jpeg_stream_close(struct jpeg_stream *stream)
{
    if (stream->engine)
        stream->type->close(stream->engine);
    free(stream->job);
    free(stream->to);
}

void jpeg_stream_run(struct jpeg_stream *stream)
{
    for (unsigned r = 0; r < stream->rounds && !stream->failed; r++)
        stream->failed =
            stream->type->run(stream->engine, stream->job,
                              stream->pictures->count, &stream->err) != 0;
}

/* What a processor makes ends with the data of the scan and EOI. */
static bool is_right(const struct jpeg_stream *stream, unsigned i)
{
    const struct bytes made = jpeg_pictures_get(stream->pictures, i)->made;
    const struct scan_job *job = &stream->job[i];
    const size_t end = made.size - 2;
    return job->result == SCAN_TURNED && job->out_size <= end &&
           memcmp(made.data + end - job->out_size,
                  stream->type->output(stream->engine) + job->out,
                  job->out_size) == 0;
}

unsigned jpeg_stream_wrong(const struct jpeg_stream *stream)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < stream->pictures->count; i++)
        wrong += !is_right(stream, i);
    return wrong;
}
