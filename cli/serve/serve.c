/* gimgxf serve: a pool of worker processes (cli/isolate/worker_pool.h), jobs
 * one way and answers the other. What comes is read, and what is answered is
 * written, as soon as poll() says that neither has to be waited for.
 *
 * This process owns standard input and the answers, which go to a descriptor of
 * their own; /dev/null takes the place of standard output, so that nothing else
 * is written among them. Neither standard input nor the answers are open in the
 * workers; the directory of --root is.
 *
 * It reads each job, to know its files and to answer it whatever becomes of it;
 * the worker reads it again, with its options. It ends when there are no more
 * jobs and all are answered; or by the first SIGTERM, SIGINT or SIGHUP, or when
 * nobody takes its answers. Then it reads no more jobs, and when those are
 * answered that had begun, it ends by the signal. The second one ends it at
 * once, as does any other signal. */
#include "cli/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/files/signals.h"
#include "cli/isolate/worker_pool.h"
#include "cli/json/json.h"
#include "cli/options/options.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"
#include "cuda/backend_choose.h"

enum {
    JOBS_AT_ONCE = 8,
    UNSENT_MAX = 1 << 16, /* bytes of answers that wait for their reader */
    WRITE_MAX = 4096,     /* a pipe that poll() calls writable takes these */
};

/* ---- The root ------------------------------------------------------------ */

/* The directory that the names of jobs are confined to: --root. */
struct serve_root {
    struct root root;
    char *path; /* its name, absolute and without links */
};

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
 *
 * It is one JSON object,
 *
 *     {"id": 7, "op": "rotate90", "input": "a.png", "output": "b.png",
 *      "options": {"quality": 90, "strip": true}}
 *
 * whose options are those of the command line. It becomes the words of a
 * command line, which are then parsed as usual. */

enum { OPTIONS_MAX = 32, WORDS_MAX = OPTIONS_MAX + 5 };

/* {0} at first. */
struct serve_job {
    struct json_text json;       /* the job as it was written, */
    const struct json_value *id; /* its member of this name, or NULL */
    char *word[WORDS_MAX];       /* and as words of a command line */
    int words;
    const char *input, *output; /* as the user gave them, or NULL */
    struct options opts;
    struct job job;
};

static int add_word(struct serve_job *job, struct err *err, const char *format,
                    const char *a, const char *b)
{
    char *word;
    if (job->words == WORDS_MAX)
        return fail(err, "a job has at most %d options", (int)OPTIONS_MAX);
    if (asprintf(&word, format, a, b) < 0)
        return fail(err, "no memory for a job");
    job->word[job->words++] = word;
    return 0;
}

/* {"quality": 90, "strip": true, "depth": "8"} */
static int add_option(struct serve_job *job, const struct options *base,
                      const struct json_value *value, struct err *err)
{
    char whole[32];
    double n;
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
        /* 80.0, as some write a number of any kind, is 80. */
        if (!json_get_number(value, &n) || n != floor(n) || fabs(n) > 1e15)
            return add_word(job, err, "--%s=%s", value->key, value->string);
        snprintf(whole, sizeof whole, "%.0f", n);
        return add_word(job, err, "--%s=%s", value->key, whole);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return fail(err, "option \"%s\" must be a string, a number, true or false",
                value->key);
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
    const struct json_value *options = json_find(root, "options");
    if (add_word(job, err, "gimgxf", NULL, NULL))
        return -1;
    if (options && options->kind != JSON_OBJECT)
        return fail(err, "\"options\" must be an object");
    for (const struct json_value *value = json_first(options); value;
         value = json_next(options, value))
        if (add_option(job, base, value, err))
            return -1;
    return add_word(job, err, "--", NULL, NULL) || add_member(job, "op", err) ||
                   add_member(job, "input", err) ||
                   add_member(job, "output", err)
               ? -1
               : 0;
}

/* Reads a job from text, which must live as long as the job. Returns 0, or -1
 * with the reason; then `job->job` has the members that were understood, for
 * the answer. */
static int read_job(struct serve_job *job, const char *text, size_t size,
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
    const char *const *file = job->opts.file;
    job->job = (struct job){
        .opts = &job->opts,
        .input = root ? below(root, file[0]) : file[0],
        .output = root ? below(root, file[1]) : file[1],
        .input_root = root ? &root->root : NULL,
        .output_root = root ? &root->root : NULL,
        .served = true,
    };
    return job_choose_format(&job->job, err);
}

static void free_job(struct serve_job *job)
{
    for (int i = 0; i < job->words; i++)
        free(job->word[i]);
    job->words = 0;
    json_free(&job->json);
}

/* ---- The server ---------------------------------------------------------- */

/* A job in this process. */
struct served_job {
    struct bytes text, answer;
    struct serve_job asked;
};

struct server {
    const struct options *opts;
    const struct backend *backend;
    struct serve_root *root; /* of the files of jobs, or NULL */
    struct worker_pool *pool;
    struct line_reader lines;
    struct answers {
        int fd;
        struct bytes out; /* on their way */
        int error;        /* why they could not be written: an errno, or 0 */
    } answers;
    bool ended;  /* there are no more jobs */
    bool failed; /* some job has, or they could not be read */
};

/* ---- A worker process ---------------------------------------------------- */

struct served_task {
    const struct server *server;
    struct scheduled_job scheduled;
    struct serve_job asked;
};

static struct scheduled_job *begin(void *context, const char *text, size_t size)
{
    struct served_task *task = context;
    struct scheduled_job *s = &task->scheduled;
    free_job(&task->asked);
    *task = (struct served_task){ .server = task->server };
    s->status = read_job(&task->asked, text, size, task->server->opts,
                         task->server->root, &s->err);
    s->job = task->asked.job;
    return s;
}

static enum outcome work(void *context, const struct worker_start *start)
{
    struct server *server = context;
    static struct served_task task; /* of this process */
    const struct worker_opts worker = {
        .opts = server->opts,
        .backend = server->backend,
        .jobs = SIZE_MAX,
        .begin = begin,
        .context = &task,
    };
    close(server->answers.fd);
    if (!file_put_null(STDIN_FILENO)) {
        report_error("/dev/null", strerror(errno));
        return OUTCOME_FAILED;
    }
    task.server = server;
    sandbox_enter_for_jobs(server->root ? server->root->path : NULL,
                           server->opts, server->backend != &backend_cpu);
    const enum outcome outcome = worker_run(&worker, start);
    free_job(&task.asked);
    return outcome;
}

/* ---- Answers ------------------------------------------------------------- */

static void drop(void *task)
{
    struct served_job *served = task;
    free_job(&served->asked);
    bytes_free(&served->text);
    bytes_free(&served->answer);
}

/* Writes the answer to a job, and frees what it held. Without memory there is
 * none: then the answers end. */
static void on_end(void *context, void *task, const struct job_end *end)
{
    struct server *server = context;
    struct served_job *served = task;
    struct job job = served->asked.job;
    char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    job.opts = job.opts ? job.opts : server->opts;
    job.tools.backend = server->backend;
    job.input = served->asked.input; /* as the user gave them */
    job.output = served->asked.output;
    if (out)
        report_answer(out, served->asked.id, &job, &end->result,
                      end->status ? &end->err : NULL);
    if (!out || fclose(out) || !bytes_append(&served->answer, data, size))
        server->answers.error = ENOMEM;
    free(data);
    free_job(&served->asked);
    bytes_free(&served->text);
    server->failed = server->failed || end->status;
}

/* Queues the answers whose turn it is; all of them if there will be no more. */
static void queue_answers(struct server *server)
{
    struct answers *answers = &server->answers;
    const bool all = worker_pool_is_over(server->pool);
    struct served_job *served;
    while ((all || answers->out.size <= UNSENT_MAX) &&
           (served = worker_pool_take(server->pool))) {
        const struct bytes answer = served->answer;
        if (!bytes_append(&answers->out, answer.data, answer.size))
            answers->error = ENOMEM;
        bytes_free(&served->answer);
    }
}

/* To be called when poll() says that the answers take some bytes. */
static void write_answers(struct answers *answers)
{
    struct bytes *out = &answers->out;
    ssize_t n = write(answers->fd, out->data,
                      out->size < WRITE_MAX ? out->size : WRITE_MAX);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
        answers->error = errno;
    if (answers->error)
        n = (ssize_t)out->size;
    if (n > 0) {
        out->size -= (size_t)n;
        memmove(out->data, out->data + n, out->size);
    }
}

/* ---- Jobs ---------------------------------------------------------------- */

static bool is_ending(const struct server *server)
{
    return signals_asked() || server->answers.error;
}

static bool reads(const struct server *server)
{
    return !server->ended && !is_ending(server) &&
           worker_pool_has_room(server->pool);
}

/* Reads jobs that are there, as far as there is room for them, but not so many
 * that the workers would wait for that, and gives them to the pool, which
 * answers what is none. Returns whether there may be more. */
static bool read_jobs(struct server *server)
{
    char *line = NULL;
    size_t size = 0;
    for (int i = 0; i < JOBS_AT_ONCE && reads(server); i++) {
        enum line got = line_reader_next(&server->lines, &line, &size);
        if (got == LINE_LATER)
            return false;
        server->ended = got == LINE_FAILED || got == LINE_NONE;
        if (got == LINE_FAILED)
            report_error(NULL, "standard input cannot be read");
        server->failed = server->failed || got == LINE_FAILED;
        if (server->ended)
            break;
        struct served_job *served = worker_pool_room(server->pool);
        struct err err;
        int status;
        if (got == LINE_TOO_LONG)
            status = fail(&err, "the job has more than %d bytes",
                          (int)JSON_SIZE_MAX);
        else if (!bytes_append(&served->text, line, size + 1))
            status = fail(&err, "no memory for a job");
        else
            status = read_job(&served->asked, (char *)served->text.data, size,
                              server->opts, server->root, &err);
        worker_pool_give(server->pool, &served->asked.job, served->text.data,
                         size, status ? &err : NULL);
    }
    return reads(server);
}

static void serve(struct server *server)
{
    struct answers *answers = &server->answers;
    while (!worker_pool_is_over(server->pool)) {
        queue_answers(server);
        const bool more = read_jobs(server);
        if (is_ending(server))
            worker_pool_stop(server->pool);
        else if (server->ended)
            worker_pool_finish(server->pool);
        struct pollfd fds[2] = {
            { .fd = reads(server) ? server->lines.fd : -1, .events = POLLIN },
            { .fd = server->answers.out.size ? server->answers.fd : -1,
              .events = POLLOUT },
        };
        worker_pool_step(server->pool, fds, 2, more ? 0 : -1);
        if (fds[1].revents)
            write_answers(&server->answers);
        if (fds[0].revents)
            server->lines.readable = true;
    }
    queue_answers(server);
    while (answers->out.size) {
        struct pollfd fd = { .fd = answers->fd, .events = POLLOUT };
        if (signals_poll(&fd, 1, signals_asked(), -1) > 0)
            write_answers(answers);
    }
}

/* ---- All of it ----------------------------------------------------------- */

static enum outcome run(struct server *server)
{
    const struct worker_pool_opts opts = {
        .opts = server->opts,
        .jobs = SIZE_MAX,
        .task_size = sizeof(struct served_job),
        .ordered = true,
        .root = server->root ? server->root->path : NULL,
        .ended = on_end,
        .dropped = drop,
        .work = work,
        .context = server,
    };
    enum outcome outcome = OUTCOME_FAILED;
    server->pool = worker_pool_open(&opts);
    if (server->pool) {
        serve(server);
        outcome = worker_pool_close(server->pool);
    } else {
        report_error(NULL, "no memory");
    }
    line_reader_free(&server->lines);
    bytes_free(&server->answers.out);
    return outcome == OUTCOME_DONE && server->failed ? OUTCOME_FAILED : outcome;
}

enum outcome serve_run(const struct options *opts, const char *backend)
{
    struct serve_root root;
    struct server server = {
        .opts = opts,
        .root = opts->root ? &root : NULL,
        .lines = { .fd = STDIN_FILENO,
                   .end = opts->nul ? '\0' : '\n',
                   .most = JSON_SIZE_MAX,
                   .polled = true },
    };
    struct err why, text;
    server.backend = backend_find(backend, &why);
    if (!server.backend)
        return scheduler_refuse(opts, backend, NULL, &why);
    if (opts->root) { /* which must exist */
        root = (struct serve_root){ .path = realpath(opts->root, NULL) };
        int status = root.path ? root_open(&root.root, opts->root,
                                           ROOT_LINKS_INSIDE, true, &why)
                               : fail(&why, "%s", strerror(errno));
        root.root.prefixed = false;
        if (status || atomic_load(&root.root.fd) < 0) {
            fail(&text, "--root: %s: %s", opts->root, why.text);
            report_error(NULL, text.text);
            if (root.path)
                root_close(&root.root);
            free(root.path);
            return OUTCOME_NOT_BEGUN;
        }
    }
    enum outcome outcome = OUTCOME_FAILED;
    server.answers.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (server.answers.fd < 0 || !file_put_null(STDOUT_FILENO))
        report_error("standard output", strerror(errno));
    else
        outcome = run(&server);
    if (opts->root) {
        root_close(&root.root);
        free(root.path);
    }
    if (server.answers.error == EPIPE)
        signals_end(SIGPIPE);
    if (signals_asked())
        signals_end(signals_asked());
    if (server.answers.error)
        report_error(NULL, "standard output cannot be written");
    return server.answers.error ? OUTCOME_FAILED : outcome;
}
