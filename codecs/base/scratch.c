/* A part of a scratch file. */
#include "codecs/base/scratch.h"

static int begin(void *context, uint64_t size, struct err *err)
{
    const struct scratch_part *part = context;
    return part->of->begin(part->of->context, part->from + size, err);
}

static int write_at(void *context, uint64_t at, const void *data, size_t size,
                    struct err *err)
{
    const struct scratch_part *part = context;
    return part->of->write(part->of->context, part->from + at, data, size, err);
}

static int read_at(void *context, uint64_t at, void *data, size_t size,
                   struct err *err)
{
    const struct scratch_part *part = context;
    return part->of->read(part->of->context, part->from + at, data, size, err);
}

struct scratch scratch_part_access(struct scratch_part *part)
{
    return (struct scratch){ .begin = begin,
                             .write = write_at,
                             .read = read_at,
                             .context = part,
                             .memory = part->of->memory };
}
