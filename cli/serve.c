/* gimgxf serve: a job is one JSON object,
 *
 *     {"id": 7, "op": "rotate90", "input": "a.png", "output": "b.png",
 *      "options": {"quality": 90, "strip": true}}
 *
 * whose options are those of the command line. It is made into the words of one,
 * and these are read as always. */
#include "cli/serve.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/crew.h"
#include "cli/json_read.h"
#include "cli/lines.h"
#include "cli/report.h"
#include "cli/runner.h"
#include "cli/signals.h"

/* Answers come in order, so as many as this may wait for one that takes long. */
enum { WINDOW = 128, OPTIONS_OF_JOB = 32, WORDS = OPTIONS_OF_JOB + 5 };

struct task {
    char *text;            /* the job as it came, of this many bytes */
    size_t size;
    struct json_text json; /* what it says */
    char *word[WORDS];     /* what that is on a command line */
    int words;
    struct options opts;
    struct job job;
    struct result result;
    struct err err;
    int status;
    bool dropped; /* the end came before it was begun */
};

struct server {
    const struct options *opts;
    const struct backend *backend;
    struct runner *runner;
    struct crew *crew;
    struct lines jobs;
    atomic_size_t to_do;    /* jobs that were read and are not done */
    atomic_int unheard;     /* the errno of an answer that was not written */
    size_t failed;
    bool unread;            /* standard input could not be read */
};

static bool is_ending(void *context)
{
    struct server *server = context;
    return atomic_load(&server->unheard) || signals_asked();
}

/* ---- From JSON to words -------------------------------------------------- */

static int add_word(struct task *task, const char *format, const char *a,
                    const char *b)
{
    char *word;
    if (task->words == WORDS)
        return fail(&task->err, "a job has at most %d options",
                    (int)OPTIONS_OF_JOB);
    if (asprintf(&word, format, a, b) < 0)
        return fail(&task->err, "no memory for a job");
    task->word[task->words++] = word;
    return 0;
}

/* 80.0, as some write a number of any kind, is 80. */
static int add_number(struct task *task, const struct json_value *value)
{
    char whole[32];
    double n;
    if (!json_get_number(value, &n) || n != floor(n) || fabs(n) > 1e15)
        return add_word(task, "--%s=%s", value->key, value->string);
    snprintf(whole, sizeof whole, "%.0f", n);
    return add_word(task, "--%s=%s", value->key, whole);
}

/* {"quality": 90, "strip": true, "depth": "8"} */
static int add_option(const struct server *server, struct task *task,
                      const struct json_value *value)
{
    switch (value->kind) {
    case JSON_TRUE:
        return add_word(task, "--%s", value->key, NULL);
    case JSON_FALSE:
    case JSON_NULL:
        if (!options_given(server->opts, value->key))
            return 0;
        return fail(&task->err, "option \"%s\" was given to all jobs, and "
                                "cannot be taken back",
                    value->key);
    case JSON_STRING:
        return add_word(task, "--%s=%s", value->key, value->string);
    case JSON_NUMBER:
        return add_number(task, value);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return fail(&task->err, "option \"%s\" is neither text, number nor truth",
                value->key);
}

static int add_options(const struct server *server, struct task *task,
                       const struct json_value *options)
{
    if (options && options->kind != JSON_OBJECT)
        return fail(&task->err, "\"options\" is no object");
    for (const struct json_value *value = json_first(options); value;
         value = json_next(options, value))
        if (add_option(server, task, value))
            return -1;
    return 0;
}

static int add_member(struct task *task, const char *name)
{
    const struct json_value *root = json_root(&task->json);
    const struct json_value *member = json_find(root, name);
    const char *value = json_get_string(member);
    if (member && !value)
        return fail(&task->err, "\"%s\" is no text", name);
    if (!value || !*value)
        return fail(&task->err, "the job has no \"%s\"", name);
    if (strcmp(value, "-") == 0)
        return fail(&task->err, "\"%s\" of a job is a file; standard input and "
                                "output are for jobs and answers",
                    name);
    return add_word(task, "%s", value, NULL);
}

/* Nothing is taken for granted that is spelled wrong. */
static int check_members(struct task *task, const struct json_value *root)
{
    static const char *const known[] = { "id", "op", "input", "output",
                                         "options" };
    if (root->kind != JSON_OBJECT)
        return fail(&task->err, "a job is a JSON object");
    for (const struct json_value *value = json_first(root); value;
         value = json_next(root, value)) {
        size_t i = 0;
        while (i < 5 && strcmp(value->key, known[i]) != 0)
            i++;
        if (i == 5)
            return fail(&task->err, "a job has no \"%s\"", value->key);
    }
    return 0;
}

static int read_job(struct server *server, struct task *task)
{
    struct err why;
    if (json_read(&task->json, task->text, task->size, &why))
        return fail(&task->err, "the job is not JSON: %s", why.text);
    const struct json_value *root = json_root(&task->json);
    const struct json_value *id = json_find(root, "id");
    task->job.id = id ? id->raw : NULL;
    task->job.id_size = id ? id->raw_size : 0;
    if (check_members(task, root))
        return -1;
    if (add_word(task, "gimgxf", NULL, NULL) ||
        add_options(server, task, json_find(root, "options")) ||
        add_word(task, "--", NULL, NULL) || add_member(task, "op") ||
        add_member(task, "input") || add_member(task, "output"))
        return -1;
    if (options_parse_job(&task->opts, server->opts, task->words, task->word,
                          &task->err))
        return -1;
    task->job.opts = &task->opts;
    task->job.input = task->opts.file[0];
    task->job.output = task->opts.file[1];
    return job_choose_format(&task->job, &task->err);
}

static void free_task(struct task *task)
{
    for (int i = 0; i < task->words; i++)
        free(task->word[i]);
    json_free(&task->json);
    free(task->text);
}

/* ---- Doing and answering ------------------------------------------------- */

static void work(void *context, unsigned worker, void *argument)
{
    struct server *server = context;
    struct task *task = argument;
    task->dropped = is_ending(server);
    if (task->status == 0 && !task->dropped) {
        task->status =
            runner_do(server->runner, worker, &task->job,
                      atomic_load(&server->to_do), NULL, NULL, &task->result,
                      &task->err);
        crew_allow(server->crew, runner_wanted(server->runner));
    }
    atomic_fetch_sub(&server->to_do, 1);
}

static void tell(void *context, void *argument)
{
    struct server *server = context;
    struct task *task = argument;
    if (!task->dropped) {
        server->failed += task->status != 0;
        task->job.opts = task->job.opts ? task->job.opts : server->opts;
        task->job.backend = server->backend;
        report_answer(&task->job, &task->result,
                      task->status ? &task->err : NULL);
        if (fflush(stdout))
            atomic_store(&server->unheard, errno);
    }
    free_task(task);
}

static bool is_blank(const char *line, size_t size)
{
    return strspn(line, " \t\r\n") >= size;
}

/* Reads one job into the task: what it says, or why nobody can tell. False:
 * there are no more. */
static bool next_job(struct server *server, struct task *task)
{
    char *line;
    size_t size;
    enum line got;
    do
        got = lines_next(&server->jobs, &line, &size);
    while (got == LINE_READ && is_blank(line, size));
    if (got == LINE_NONE || got == LINE_FAILED) {
        server->unread = got == LINE_FAILED;
        return false;
    }
    if (got == LINE_TOO_LONG) {
        task->status = fail(&task->err, "the job has more than %d bytes",
                            (int)JSON_SIZE_MAX);
    } else if (!(task->text = malloc(size + 1))) {
        task->status = fail(&task->err, "no memory for a job");
    } else {
        memcpy(task->text, line, size + 1);
        task->size = size;
        task->status = read_job(server, task);
    }
    return true;
}

static void give_all(struct server *server, struct crew *crew)
{
    struct task *task;
    while ((task = crew_room(crew, is_ending)) && next_job(server, task)) {
        atomic_fetch_add(&server->to_do, 1);
        crew_give(crew);
    }
}

static enum outcome serve(struct server *server)
{
    unsigned workers = runner_workers(server->runner);
    struct crew_opts opts = {
        .workers = workers,
        .task_size = sizeof(struct task),
        .window = workers + WINDOW,
        .work = work,
        .tell = tell,
        .context = server,
    };
    struct crew *crew = crew_open(&opts);
    if (!crew) {
        report_error(NULL, "the workers cannot be started");
        return OUTCOME_FAILED;
    }
    crew_allow(crew, server->opts->threads);
    server->crew = crew;
    signals_ask();
    give_all(server, crew);
    if (server->unread)
        report_error(NULL, "standard input cannot be read");
    crew_close(crew);
    lines_free(&server->jobs);
    return server->unread || server->failed ? OUTCOME_FAILED : OUTCOME_DONE;
}

enum outcome serve_run(const struct options *opts,
                       const struct backend *backend)
{
    struct server server = {
        .opts = opts,
        .backend = backend,
        .jobs = { .fd = STDIN_FILENO,
                  .end = opts->nul ? '\0' : '\n',
                  .most = JSON_SIZE_MAX,
                  .wait = signals_wait },
    };
    struct err err;
    if (runner_open(&server.runner, opts, backend, SIZE_MAX, &err)) {
        struct err text;
        fail(&text, "--backend %s: %s", backend->name, err.text);
        report_error(NULL, text.text);
        return outcome_without_lane(backend);
    }
    enum outcome outcome = serve(&server);
    runner_close(server.runner);
    if (atomic_load(&server.unheard) == EPIPE)
        signals_end(SIGPIPE);
    if (signals_asked())
        signals_end(signals_asked());
    return outcome;
}
