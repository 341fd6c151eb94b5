/* Headers that are text. */
#include "codecs/simple/netpbm.h"

#include <string.h>

static const char comment[] = "comment";

bool netpbm_is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool take_comment(struct netpbm_reader *scan)
{
    const uint8_t *begin = ++scan->at;
    while (scan->at < scan->end && *scan->at != '\n' && *scan->at != '\r')
        scan->at++;
    return !scan->meta ||
           meta_add(scan->meta, comment, 0, begin, (size_t)(scan->at - begin));
}

bool netpbm_blanks(struct netpbm_reader *scan)
{
    while (scan->at < scan->end) {
        if (*scan->at == '#') {
            if (!take_comment(scan))
                return false;
        } else if (netpbm_is_blank(*scan->at)) {
            scan->at++;
        } else {
            break;
        }
    }
    return true;
}

bool netpbm_number(struct netpbm_reader *scan, uint32_t *number)
{
    uint64_t n = 0;
    if (!netpbm_blanks(scan))
        return false;
    const uint8_t *begin = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
        n = 10 * n + *scan->at++ - '0';
        if (n > INT32_MAX)
            return false;
    }
    *number = (uint32_t)n;
    return scan->at > begin;
}

bool netpbm_word(struct netpbm_reader *scan, char *word, size_t room)
{
    size_t n = 0;
    if (!netpbm_blanks(scan))
        return false;
    while (scan->at < scan->end && !netpbm_is_blank(*scan->at)) {
        if (n + 1 == room || *scan->at == '\0')
            return false;
        word[n++] = (char)*scan->at++;
    }
    word[n] = '\0';
    return n > 0;
}

bool netpbm_one_blank(struct netpbm_reader *scan)
{
    if (scan->at < scan->end && *scan->at == '#' && !take_comment(scan))
        return false;
    return scan->at < scan->end && netpbm_is_blank(*scan->at++);
}

static int finish(struct netpbm_reader *scan, const struct load_opts *opts,
                  struct err *err)
{
    scan->meta = NULL; /* what looks like a comment here is none */
    while (scan->at < scan->end && netpbm_is_blank(*scan->at))
        scan->at++;
    if (scan->at == scan->end)
        return 0;
    if (!opts->tolerant)
        return fail(err,
                    "%zu bytes after the picture; only files of one "
                    "picture can be turned",
                    netpbm_left(scan));
    warn(opts->warnings, "%zu bytes after the picture are not kept",
         netpbm_left(scan));
    return 0;
}

int netpbm_has(const struct netpbm_reader *scan, uint64_t need,
               const struct load_opts *opts, struct err *err)
{
    if (netpbm_left(scan) >= need)
        return 0;
    if (!opts->tolerant)
        return fail(err, "the image data is cut short: %zu bytes of %llu",
                    netpbm_left(scan), (unsigned long long)need);
    warn(opts->warnings, "cut short, read as far as it goes");
    return 0;
}

void netpbm_take(struct netpbm_reader *scan, void *to, size_t size)
{
    size_t n = netpbm_left(scan) < size ? netpbm_left(scan) : size;
    memcpy(to, scan->at, n);
    memset((uint8_t *)to + n, 0, size - n);
    scan->at += n;
}

static bool is_comment(const struct metadata_block *block)
{
    return strcmp(block->name, comment) == 0;
}

/* A comment ends at a newline or a carriage return, so each line of a text is
 * one. */
static bool put_lines(struct bytes *file, struct bytes text)
{
    for (size_t at = 0, n; at < text.size; at += n + 1) {
        const uint8_t *line = text.data + at;
        for (n = 0; at + n < text.size && line[n] != '\n'; n++)
            if (line[n] == '\r')
                break;
        if (n > 0 &&
            (!bytes_append(file, "# ", 2) || !bytes_append(file, line, n) ||
             !bytes_append(file, "\n", 1)))
            return false;
    }
    return true;
}

bool netpbm_put_comments(struct bytes *file, const struct meta *meta, bool own)
{
    if (!own)
        return put_lines(file, meta->comment);
    for (size_t i = 0; i < meta->nblocks; i++)
        if (is_comment(&meta->block[i]) &&
            (!bytes_append(file, "#", 1) ||
             !bytes_append(file, meta->block[i].data, meta->block[i].size) ||
             !bytes_append(file, "\n", 1)))
            return false;
    return true;
}

static int portable_comment(struct meta *meta, struct err *err)
{
    bool first = true;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        size_t skip = block->size > 0 && block->data[0] == ' ';
        if (!is_comment(block))
            continue;
        block->portable = true;
        if ((!first && !bytes_append(&meta->comment, "\n", 1)) ||
            !bytes_append(&meta->comment, block->data + skip,
                          block->size - skip))
            return fail_memory(err, "no memory for the comments");
        first = false;
    }
    return meta_comment_utf8(meta, err);
}

struct netpbm_reader netpbm_begin(const struct reader *reader)
{
    struct bytes file = reader->file;
    return (struct netpbm_reader){ file.data + reader->at,
                                   file.data + file.size, reader->img.meta };
}

int netpbm_end(struct netpbm_reader *scan, const struct reader *reader,
               struct err *err)
{
    if (finish(scan, reader->opts, err))
        return -1;
    return reader->opts->portable ? portable_comment(reader->img.meta, err) : 0;
}

int netpbm_check(struct bytes file, const struct image *img,
                 const struct codec *codec,
                 int (*read)(struct image *is, struct netpbm_reader *scan,
                             uint64_t *need, struct err *err),
                 struct err *err)
{
    struct image is = { .meta = meta_new(codec) };
    struct netpbm_reader scan = { .at = file.data,
                                  .end = file.data + file.size };
    uint64_t need;
    if (!is.meta)
        return fail_memory(err, "no memory to look at it");
    int status = codec->probe(file.data, file.size)
                     ? read(&is, &scan, &need, err)
                     : fail(err, "it does not begin as it should");
    if (status == 0 && (is.width != img->width || is.height != img->height ||
                        is.maxval != img->maxval))
        status = fail(err, "its header is of another picture");
    if (status == 0 && netpbm_left(&scan) != need)
        status = fail(err, "%zu bytes of samples, where there have to be %llu",
                      netpbm_left(&scan), (unsigned long long)need);
    image_free(&is);
    return status;
}
