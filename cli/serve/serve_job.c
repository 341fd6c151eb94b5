/* Reads a job of serve. It is one JSON object,
 *
 *     {"id": 7, "op": "rotate90", "input": "a.png", "output": "b.png",
 *      "options": {"quality": 90, "strip": true}}
 *
 * whose options are those of the command line. It becomes the words of a
 * command line, which are then parsed as usual. */
#include "cli/serve/serve.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/option_table.h"
#include "cli/options/options.h"
#include "codecs/base/bytes.h"

/* ---- The root ------------------------------------------------------------ */

int serve_root_open(struct serve_root *root, const char *name, struct err *err)
{
    *root = (struct serve_root){ .path = realpath(name, NULL) };
    if (!root->path)
        return fail(err, "%s", strerror(errno));
    if (root_open(&root->root, name, false, err) == 0 &&
        atomic_load(&root->root.fd) >= 0)
        return 0;
    serve_root_close(root);
    return -1;
}

void serve_root_close(struct serve_root *root)
{
    root_close(&root->root);
    free(root->path);
    root->path = NULL;
}

/* What follows a directory in a name, or NULL. */
static const char *behind(const char *name, const char *directory)
{
    size_t n = strlen(directory);
    while (n && directory[n - 1] == '/')
        n--;
    if (strncmp(name, directory, n) != 0 || name[n] != '/')
        return NULL;
    name += n + strspn(name + n, "/");
    return *name ? name : ".";
}

/* Returns a name relative to the root: without the name or the path of the root
 * if it begins with either, else as it is. */
static const char *below(const struct serve_root *root, const char *name)
{
    const char *rest = NULL;
    if (*name != '/')
        return name;
    if (*root->root.name == '/')
        rest = behind(name, root->root.name);
    if (!rest)
        rest = behind(name, root->path);
    return rest ? rest : name;
}

/* ---- A job ----------------------------------------------------------------
 */

static int add_word(struct serve_job *job, struct err *err, const char *format,
                    const char *a, const char *b)
{
    char *word;
    if (job->words == SERVE_WORDS_MAX)
        return fail(err, "a job has at most %d options",
                    (int)SERVE_OPTIONS_MAX);
    if (asprintf(&word, format, a, b) < 0)
        return fail(err, "no memory for a job");
    job->word[job->words++] = word;
    return 0;
}

/* 80.0, as some write a number of any kind, is 80. */
static int add_number(struct serve_job *job, const struct json_value *value,
                      struct err *err)
{
    char whole[32];
    double n;
    if (!json_get_number(value, &n) || n != floor(n) || fabs(n) > 1e15)
        return add_word(job, err, "--%s=%s", value->key, value->string);
    snprintf(whole, sizeof whole, "%.0f", n);
    return add_word(job, err, "--%s=%s", value->key, whole);
}

/* {"quality": 90, "strip": true, "depth": "8"} */
static int add_option(struct serve_job *job, const struct options *base,
                      const struct json_value *value, struct err *err)
{
    switch (value->kind) {
    case JSON_TRUE:
        return add_word(job, err, "--%s", value->key, NULL);
    case JSON_FALSE:
    case JSON_NULL:
        if (!option_table_given(base, value->key))
            return 0;
        return fail(err,
                    "option \"%s\" was given to all jobs, and a single job "
                    "cannot undo it",
                    value->key);
    case JSON_STRING:
        return add_word(job, err, "--%s=%s", value->key, value->string);
    case JSON_NUMBER:
        return add_number(job, value, err);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return fail(err, "option \"%s\" must be a string, a number, true or false",
                value->key);
}

static int add_options(struct serve_job *job, const struct options *base,
                       const struct json_value *options, struct err *err)
{
    if (options && options->kind != JSON_OBJECT)
        return fail(err, "\"options\" must be an object");
    for (const struct json_value *value = json_first(options); value;
         value = json_next(options, value))
        if (add_option(job, base, value, err))
            return -1;
    return 0;
}

static int add_member(struct serve_job *job, const char *name, struct err *err)
{
    const struct json_value *member = json_find(json_root(&job->json), name);
    const char *value = json_get_string(member);
    if (member && !value)
        return fail(err, "\"%s\" must be a string", name);
    if (!value || !*value)
        return fail(err, "the member \"%s\" is missing", name);
    if (strcmp(value, "-") == 0)
        return fail(err,
                    "\"%s\" of a job is a file; standard input and output "
                    "are for jobs and answers",
                    name);
    return add_word(job, err, "%s", value, NULL);
}

/* Refuses members that a job does not have, such as misspelled ones. */
static int check_members(const struct json_value *root, struct err *err)
{
    static const char *const known[] = { "id", "op", "input", "output",
                                         "options" };
    if (root->kind != JSON_OBJECT)
        return fail(err, "the job is not a JSON object");
    for (const struct json_value *value = json_first(root); value;
         value = json_next(root, value)) {
        size_t i = 0;
        while (i < 5 && strcmp(value->key, known[i]) != 0)
            i++;
        if (i == 5)
            return fail(err,
                        "unknown member \"%s\"; expected id, op, input, output "
                        "or options",
                        value->key);
    }
    return 0;
}

static int make_words(struct serve_job *job, const struct options *base,
                      const struct json_value *root, struct err *err)
{
    return add_word(job, err, "gimgxf", NULL, NULL) ||
                   add_options(job, base, json_find(root, "options"), err) ||
                   add_word(job, err, "--", NULL, NULL) ||
                   add_member(job, "op", err) ||
                   add_member(job, "input", err) ||
                   add_member(job, "output", err)
               ? -1
               : 0;
}

static void take_names(struct serve_job *serve, struct serve_root *root)
{
    struct job *job = &serve->job;
    job->opts = &serve->opts;
    job->input = serve->opts.file[0];
    job->output = serve->opts.file[1];
    job->served = true;
    if (!root)
        return;
    job->input = below(root, job->input);
    job->output = below(root, job->output);
    job->input_root = job->output_root = &root->root;
}

int serve_job_read(struct serve_job *job, const char *text, size_t size,
                   const struct options *base, struct serve_root *root,
                   struct err *err)
{
    struct err why;
    if (strspn(text, " \t\r\n") >= size)
        return fail(err, "the line is blank; expected a JSON object");
    int status = json_read(&job->json, text, size, &why);
    const struct json_value *all = json_root(&job->json);
    /* The answer has the id and the names even if the job is refused. */
    job->id = json_find(all, "id");
    job->input = json_get_string(json_find(all, "input"));
    job->output = json_get_string(json_find(all, "output"));
    /* An answer is UTF-8, as JSON is. (Names may be any bytes: json.h.) */
    for (size_t i = 0, n; job->id && i < job->id->raw_size; i += n) {
        n = utf8_length(job->id->raw + i);
        if (n == 0) {
            job->id = NULL;
            return fail(err, "its id is not UTF-8");
        }
    }
    if (status)
        return fail(err, "the job is %s: %s", all ? "refused" : "not JSON",
                    why.text);
    if (check_members(all, err) || make_words(job, base, all, err) ||
        command_line_parse_job(&job->opts, base, job->words, job->word, err))
        return -1;
    take_names(job, root);
    return job_choose_format(&job->job, err);
}

void serve_job_free(struct serve_job *job)
{
    for (int i = 0; i < job->words; i++)
        free(job->word[i]);
    job->words = 0;
    json_free(&job->json);
}
