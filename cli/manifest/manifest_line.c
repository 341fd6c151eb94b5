/* Reads a line of a manifest. */
#include "cli/manifest/manifest_line.h"

#include <stdlib.h>
#include <string.h>

#include "cli/manifest/timestamp.h"

/* Reads a member that is a string, if there is one; else NULL. */
static int take_string(const struct json_value *root, const char *key,
                       const char **string, struct err *err)
{
    const struct json_value *value = json_find(root, key);
    *string = json_get_string(value);
    return !value || *string ? 0 : fail(err, "%s is not a string", key);
}

static int need_string(const struct json_value *root, const char *key,
                       const char **string, struct err *err)
{
    if (take_string(root, key, string, err))
        return -1;
    return *string ? 0 : fail(err, "%s is missing", key);
}

static int need_uint(const struct json_value *root, const char *key,
                     uint64_t *number, struct err *err)
{
    return json_get_uint(json_find(root, key), number)
               ? 0
               : fail(err, "%s is not a number of bytes", key);
}

static int need_time(const struct json_value *root, const char *key,
                     struct timespec *time, struct err *err)
{
    const char *text;
    if (need_string(root, key, &text, err))
        return -1;
    return timestamp_read(text, time) ? 0 : fail(err, "%s is not a time", key);
}

static int take_crc(const struct json_value *root, struct facts *facts,
                    struct err *err)
{
    const char *text;
    if (take_string(root, "crc32", &text, err))
        return -1;
    facts->summed = text != NULL;
    if (!text)
        return 0;
    if (strlen(text) != 8 || strspn(text, "0123456789abcdef") != 8)
        return fail(err, "crc32 is not 8 hexadecimal digits");
    facts->crc = (uint32_t)strtoul(text, NULL, 16);
    return 0;
}

/* Reads "DEVICE:INODE", if it is there. */
static int take_identity(const struct json_value *root, const char *key,
                         struct inode_id *id, struct err *err)
{
    const char *text;
    if (take_string(root, key, &text, err))
        return -1;
    if (!text)
        return 0;
    size_t n = strspn(text, "0123456789");
    size_t m = text[n] == ':' ? strspn(text + n + 1, "0123456789") : 0;
    if (n == 0 || n > 20 || m == 0 || m > 20 || text[n + 1 + m])
        return fail(err, "%s is not DEVICE:INODE", key);
    id->device = strtoull(text, NULL, 10);
    id->inode = strtoull(text + n + 1, NULL, 10);
    id->known = true;
    return 0;
}

static int take_directory(const struct json_value *root, struct record *r,
                          struct err *err)
{
    if (take_string(root, "directory", &r->directory, err))
        return -1;
    if (r->directory && *r->directory != '/')
        return fail(err, "directory is not an absolute name");
    r->facts.placed = r->directory || (*r->input == '/' && *r->output == '/');
    return 0;
}

static int need_status(const struct json_value *root,
                       enum manifest_status *status, struct err *err)
{
    const char *name;
    if (need_string(root, "status", &name, err))
        return -1;
    for (int i = 0; i <= STATUS_DONE; i++)
        if (strcmp(name, manifest_status_name[i]) == 0) {
            *status = (enum manifest_status)i;
            return 0;
        }
    return fail(err, "the status '%s' is unknown", name);
}

/* A file that was passed over has no output. */
static int take_names(const struct json_value *root, struct record *r,
                      struct err *err)
{
    if (need_string(root, "input", &r->input, err))
        return -1;
    r->output = r->input;
    r->op = "";
    if (r->facts.status == STATUS_PASSED_OVER)
        return 0;
    return need_string(root, "output", &r->output, err) ||
                   need_string(root, "op", &r->op, err)
               ? -1
               : 0;
}

/* Sizes and times matter only if an output was written. Lines of older versions
 * do not have all of them. */
int manifest_line_read(const struct json_value *root, struct record *r,
                       struct err *err)
{
    struct facts *t = &r->facts;
    if (root->kind != JSON_OBJECT)
        return fail(err, "not an object");
    if (need_status(root, &t->status, err) || take_names(root, r, err) ||
        take_directory(root, r, err) ||
        take_string(root, "options", &r->options, err) ||
        take_string(root, "error", &r->error, err) ||
        need_time(root, "time", &t->time, err))
        return -1;
    if (t->status < STATUS_READY)
        return 0;
    if (need_uint(root, "size", &t->size, err) ||
        need_time(root, "mtime", &t->mtime, err) ||
        need_uint(root, "written", &t->written, err) ||
        take_identity(root, "inode", &t->file, err) ||
        take_identity(root, "written_inode", &t->made, err) ||
        (t->made.known && need_time(root, "written_mtime", &t->made_time, err)))
        return -1;
    return take_crc(root, t, err);
}
