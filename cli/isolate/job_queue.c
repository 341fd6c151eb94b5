/* The jobs of a pool on their way. */
#include "cli/isolate/worker_pool.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/files/path.h"
#include "cli/files/signals.h"
#include "cli/select/file_identity.h"
#include "codecs/codec.h"

bool job_queue_init(struct job_queue *queue,
                    const struct worker_pool_opts *opts)
{
    *queue = (struct job_queue){
        .opts = opts,
        .window = 2 * opts->opts->threads + JOB_QUEUE_WINDOW,
    };
    queue->request = calloc(queue->window, sizeof *queue->request);
    queue->task = calloc(queue->window, opts->task_size);
    queue->end = malloc(sizeof *queue->end);
    return queue->request && queue->task && queue->end;
}

void job_queue_free(struct job_queue *queue)
{
    free(queue->request);
    free(queue->task);
    free(queue->end);
}

struct request *job_queue_at(const struct job_queue *queue, uint64_t i)
{
    return &queue->request[i % queue->window];
}

void *job_queue_task(const struct job_queue *queue, uint64_t i)
{
    return queue->task + i % queue->window * queue->opts->task_size;
}

/* ---- Jobs that share a file ---------------------------------------------- */

/* Nothing that was found before counts: jobs make directories and links may
 * change. Files that cannot be told apart count as one. */
static struct file_keys find_keys(const char *root, const char *name)
{
    char path[2 * PATH_MAX];
    struct file_keys keys = { .name = 1 };
    struct file_identities identities = { 0 };
    struct file_identity identity;
    struct err err;
    const bool below = root && *name != '/';
    snprintf(path, sizeof path, "%s%s%s", below ? root : "", below ? "/" : "",
             name);
    if (file_identity_find(&identities, path, &identity, &err) == 0) {
        keys.name = hash_pair(
            hash_bytes(identity.directory, strlen(identity.directory)),
            hash_bytes(identity.base, identity.nbase));
        if (identity.inode)
            keys.inode = hash_pair(identity.device, identity.inode);
    }
    file_identities_free(&identities);
    return keys;
}

static bool is_same(const struct file_keys *a, const struct file_keys *b)
{
    return (a->name && a->name == b->name) ||
           (a->inode && a->inode == b->inode);
}

static bool shares_file(const struct request *a, const struct request *b)
{
    return is_same(&a->output, &b->input) || is_same(&a->output, &b->output) ||
           is_same(&a->input, &b->output);
}

/* ---- Giving and taking --------------------------------------------------- */

void job_queue_give(struct job_queue *queue, const struct job *job,
                    const void *text, size_t size, const struct err *err)
{
    struct request *request = job_queue_at(queue, queue->given);
    *request = (struct request){ .job = *job, .text = { text, size } };
    if (!err && queue->opts->ordered) { /* it waits for earlier jobs */
        request->output = find_keys(queue->opts->root, job->output);
        request->input = strcmp(job->input, job->output) == 0
                             ? request->output
                             : find_keys(queue->opts->root, job->input);
        for (uint64_t i = queue->first; i < queue->given; i++)
            request->earlier +=
                job_queue_at(queue, i)->state != REQUEST_ENDED &&
                shares_file(job_queue_at(queue, i), request);
    }
    queue->given++;
    if (err)
        job_queue_fail(queue, request, err->text);
}

struct request *job_queue_next(struct job_queue *queue)
{
    for (uint64_t i = queue->first; i < queue->given; i++) {
        struct request *request = job_queue_at(queue, i);
        if (request->state == REQUEST_WAITS && !request->earlier)
            return request;
    }
    return NULL;
}

static void look_at_output(const struct job *job, struct stat *st)
{
    if (!resolve_stat(job->output_root, job->output, true, st))
        *st = (struct stat){ .st_nlink = 0 };
}

void job_queue_send(struct job_queue *queue, struct request *request)
{
    look_at_output(&request->job, &request->before);
    request->state = REQUEST_SENT;
    queue->sent++;
}

/* ---- The end of a job ---------------------------------------------------- */

/* Tells the client what has become of a job: queue.end. */
static void end_job(struct job_queue *queue, struct request *request)
{
    const unsigned window = queue->window;
    const uint64_t slot = (uint64_t)(request - queue->request);
    const uint64_t number =
        queue->first + (slot + window - queue->first % window) % window;
    queue->sent -= request->state == REQUEST_SENT;
    request->state = REQUEST_ENDED;
    queue->ended++;
    for (uint64_t i = number + 1; i < queue->given; i++) {
        struct request *later = job_queue_at(queue, i);
        later->earlier -= later->earlier && shares_file(request, later);
    }
    queue->opts->ended(queue->opts->context, job_queue_task(queue, number),
                       queue->end);
    queue->told = true;
}

void job_queue_fail(struct job_queue *queue, struct request *request,
                    const char *why)
{
    struct job_end *end = queue->end;
    *end = (struct job_end){ .status = -1 };
    end->status = fail(&end->err, "%s", why);
    end_job(queue, request);
}

static bool is_codec(const struct codec *codec)
{
    bool found = false;
    for (int i = 0; codecs[i]; i++)
        found = found || codecs[i] == codec;
    return found;
}

/* Returns whether this can have become of a job. Texts get an end. */
static bool is_sound(struct job_end *end)
{
    struct result *r = &end->result;
    const bool done = end->status == 0 && !r->skipped;
    end->err.text[sizeof end->err.text - 1] = '\0';
    for (unsigned i = 0; i < r->warnings.count && i < WARNINGS_MAX; i++)
        r->warnings.list[i].text[sizeof r->warnings.list[i].text - 1] = '\0';
    r->digests.input[DIGEST_TEXT - 1] = r->digests.output[DIGEST_TEXT - 1] =
        '\0';
    return (unsigned)r->skipped <= SKIPPED_DONE && (unsigned)r->how < HOWS &&
           (unsigned)r->turned < XFORM_COUNT &&
           (unsigned)r->device_use < DEVICE_USES &&
           (unsigned)r->last < STAGES && r->worker <= SIGNALS_CHILDREN_MAX &&
           (done ? is_codec(r->from) && is_codec(r->to) : true);
}

void job_queue_answer(struct job_queue *queue, struct request *request,
                      const void *end, size_t size)
{
    memcpy(queue->end, end, size);
    if (size == job_end_size(queue->end) && is_sound(queue->end))
        end_job(queue, request);
    else
        job_queue_fail(queue, request,
                       "its process did not say what became of it");
}

/* ---- The end of a process ------------------------------------------------ */

/* Returns whether another file than before stands where the output is to. */
static bool was_written(const struct request *request)
{
    const struct stat *before = &request->before;
    struct stat now;
    look_at_output(&request->job, &now);
    return now.st_nlink &&
           (now.st_dev != before->st_dev || now.st_ino != before->st_ino ||
            now.st_size != before->st_size ||
            memcmp(&now.st_mtim, &before->st_mtim, sizeof now.st_mtim) != 0 ||
            memcmp(&now.st_ctim, &before->st_ctim, sizeof now.st_ctim) != 0);
}

void job_queue_bury(struct job_queue *queue, struct request *request,
                    bool unread, int status)
{
    const bool written = was_written(request);
    char how[80];
    if (unread && !request->unread && !written) {
        request->unread = true;
        request->state = REQUEST_WAITS;
        queue->sent--;
        return;
    }
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "with status %d", WEXITSTATUS(status));
    *queue->end = (struct job_end){ .status = 0 };
    if (written)
        warn(&queue->end->result.warnings,
             "the process that did the job ended %s before it could answer; "
             "the output was written",
             how);
    else
        queue->end->status = fail(&queue->end->err,
                                  "the job ended its process %s; the output "
                                  "was not written",
                                  how);
    end_job(queue, request);
}
