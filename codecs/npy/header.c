/* The header of NPY: a Python dictionary of three keys. */
#include "codecs/npy/header.h"

#include <stdio.h>
#include <string.h>

#include "codecs/base/byte_order.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, ALIGNED = 64 };

/* ---- Reading --------------------------------------------------------------*/

struct header_parser {
    const char *at, *end;
    struct npy_header *header;
    unsigned seen; /* a bit for each key */
};

static void skip_blanks(struct header_parser *p)
{
    while (p->at < p->end &&
           (*p->at == ' ' || *p->at == '\n' || *p->at == '\t'))
        p->at++;
}

static bool take(struct header_parser *p, char c)
{
    skip_blanks(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_string(struct header_parser *p, char *text, size_t room)
{
    size_t n = 0;
    skip_blanks(p);
    if (p->at == p->end || (*p->at != '\'' && *p->at != '"'))
        return false;
    char quote = *p->at++;
    while (p->at < p->end && *p->at != quote) {
        if (n + 1 == room || *p->at == '\0')
            return false;
        text[n++] = *p->at++;
    }
    text[n] = '\0';
    return take(p, quote);
}

static bool take_word(struct header_parser *p, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool take_number(struct header_parser *p, uint64_t *number)
{
    skip_blanks(p);
    const char *begin = p->at;
    *number = 0;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') {
        *number = 10 * *number + (uint64_t)(*p->at++ - '0');
        if (*number > INT64_MAX / 10)
            return false;
    }
    return p->at > begin;
}

/* Reads "(3, 480, 640)". A single element has a comma behind it, and Python 2
 * may have written an L behind each. */
static bool take_shape(struct header_parser *p)
{
    struct npy_header *header = p->header;
    uint64_t n;
    if (!take(p, '('))
        return false;
    while (!take(p, ')')) {
        if (!take_number(p, &n))
            return false;
        if (header->naxes < LAYOUT_AXES)
            header->shape[header->naxes] = n;
        header->naxes++;
        if (p->at < p->end && *p->at == 'L')
            p->at++;
        if (!take(p, ',') && (p->at == p->end || *p->at != ')'))
            return false;
    }
    return true;
}

/* Skips a list of fields, in which there are lists, tuples and strings, and
 * keeps its beginning for messages. */
static bool take_fields(struct header_parser *p)
{
    const char *begin = p->at;
    size_t depth = 0;
    do {
        if (p->at == p->end)
            return false;
        char c = *p->at++;
        if (c == '\'' || c == '"')
            while (p->at < p->end && *p->at++ != c)
                continue;
        depth += c == '[' || c == '(';
        depth -= c == ']' || c == ')';
    } while (depth);
    snprintf(p->header->descr, NPY_DESCR, "%.*s", (int)(p->at - begin), begin);
    return true;
}

static bool take_dictionary(struct header_parser *p)
{
    struct npy_header *header = p->header;
    char key[16];
    if (!take(p, '{'))
        return false;
    while (!take(p, '}')) {
        bool good = take_string(p, key, sizeof key) && take(p, ':');
        skip_blanks(p);
        if (good && strcmp(key, "descr") == 0) {
            p->seen |= 1;
            header->plain = p->at == p->end || *p->at != '[';
            good = header->plain ? take_string(p, header->descr, NPY_DESCR)
                                 : take_fields(p);
        } else if (good && strcmp(key, "fortran_order") == 0) {
            p->seen |= 2;
            header->fortran = take_word(p, "True");
            good = header->fortran || take_word(p, "False");
        } else {
            p->seen |= 4;
            good = good && strcmp(key, "shape") == 0 && header->naxes == 0 &&
                   take_shape(p);
        }
        if (!good || (!take(p, ',') && (p->at == p->end || *p->at != '}')))
            return false;
    }
    skip_blanks(p);
    return p->seen == 7 && p->at == p->end;
}

bool npy_is(const uint8_t *head, size_t size)
{
    return size >= 10 && memcmp(head, magic, MAGIC) == 0;
}

/* The length of the dictionary has 2 bytes in version 1, and 4 in versions 2
 * and 3. */
int npy_read_header(struct npy_header *header, struct bytes file,
                    struct err *err)
{
    const uint8_t *bytes = file.data;
    unsigned version = bytes[MAGIC], wide = version == 1 ? 2 : 4;
    *header = (struct npy_header){ 0 };
    if (version < 1 || version > 3)
        return fail(err, "version %u of NPY is unknown; 1 to 3 can be read",
                    version);
    size_t lead = MAGIC + 2 + wide;
    if (file.size < lead)
        return fail(err, "the file is cut short");
    uint32_t length = read_uint(bytes + MAGIC + 2, wide, false);
    if (length > file.size - lead)
        return fail(err, "the file is cut short");
    struct header_parser p = { .at = (const char *)bytes + lead,
                               .header = header };
    p.end = p.at + length;
    header->size = lead + length;
    if (take_dictionary(&p))
        return 0;
    return fail(err, "its header is malformed");
}

/* ---- What a cell is -------------------------------------------------------*/

int npy_suits(const struct npy_header *header, size_t *cell, struct err *err)
{
    /* The number behind these kinds counts bytes, but for U characters of 4
     * bytes. Times have 8 bytes, and their unit in brackets. */
    static const char counted[] = "biufcSUVa";
    static const char times[] = "mM";
    const char *at = header->descr;
    struct header_parser p = { .at = at + (*at && strchr("<>=|", *at)) + 0 };
    uint64_t n = 0;
    char kind = *p.at;
    p.end = p.at + strlen(p.at);
    if (!header->plain)
        return fail(err,
                    "cells with fields, %s, cannot be turned; save each "
                    "field as an array of its own",
                    header->descr);
    if (kind == 'O')
        return fail(err, "an array of Python objects cannot be turned; save it "
                         "with a dtype of numbers");
    if (kind && p.at++ && take_number(&p, &n) && n > 0 && n <= 1 << 20 &&
        ((strchr(counted, kind) && p.at == p.end) ||
         (strchr(times, kind) && n == 8))) {
        *cell = kind == 'U' ? 4 * (size_t)n : (size_t)n;
        return layout_check(header->shape, header->naxes, err);
    }
    return fail(err, "cells of the unknown type '%s' cannot be turned",
                header->descr);
}

void npy_note(struct array_note *note, const struct npy_header *header,
              enum layout asked)
{
    struct err ignored;
    size_t cell;
    snprintf(note->type, sizeof note->type, "%s", header->descr);
    memcpy(note->shape, header->shape, sizeof note->shape);
    note->naxes = header->naxes;
    note->fortran = header->fortran;
    if (npy_suits(header, &cell, &ignored) ||
        layout_choose(&note->layout, asked, header->shape, header->naxes,
                      &ignored))
        note->layout = LAYOUT_AUTO;
}

/* ---- Writing --------------------------------------------------------------*/

int npy_write_header(struct bytes *file, const struct npy_header *header,
                     struct err *err)
{
    char text[NPY_DESCR + 384], shape[256];
    layout_print_shape(shape, sizeof shape, header->shape, header->naxes);
    int n = snprintf(text, sizeof text - ALIGNED,
                     "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                     header->descr, header->fortran ? "True" : "False", shape);
    while ((MAGIC + 4 + n + 1) % ALIGNED)
        text[n++] = ' ';
    text[n++] = '\n';
    uint8_t lead[4] = { 1, 0 };
    write_le16(lead + 2, (unsigned)n);
    if (!bytes_append(file, magic, MAGIC) || !bytes_append(file, lead, 4) ||
        !bytes_append(file, text, (size_t)n))
        return fail_memory(err, "no memory for the file");
    return 0;
}
