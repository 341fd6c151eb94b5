/* How far a batch is. */
#include "cli/batch/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/job/stages.h"
#include "cli/report/report.h"
#include "cli/schedule/device_scans.h"
#include "codecs/base/clock.h"

static const double redraw = 0.1; /* seconds */

void progress_begin(struct batch_progress *progress, size_t all,
                    const struct options *opts)
{
    const char *term = getenv("TERM");
    *progress = (struct batch_progress){
        .all = all,
        .begin = now(),
        .shown = !opts->quiet && isatty(STDERR_FILENO) && term &&
                 strcmp(term, "dumb") != 0,
    };
}

void progress_count(struct batch_progress *progress,
                    const struct result *result, bool failed)
{
    size_t *const edge = result->how == HOW_REENCODED       ? &progress->anew
                         : result->how == HOW_LUMA_LOSSLESS ? &progress->color
                                                            : &progress->left;
    for (int i = 0; i < STAGES; i++)
        progress->seconds[i] += result->seconds[i];
    progress->waited += result->waited;
    progress->worked[result->worker] = true;
    if (failed) {
        progress->failed++;
    } else if (result->skipped) {
        progress->skipped++;
    } else {
        progress->done++;
        progress->jpegs += result->to && result->to->has_quality;
        progress->replaced += result->replaced;
        progress->device[result->device_use]++;
        /* A process that died after it had written told nothing of how. */
        if (result->edge_warning)
            ++*edge;
        else if (result->to)
            progress->how[result->how]++;
        progress->bytes_in += result->bytes_in;
        progress->bytes_out += result->bytes_out;
    }
}

/* Writes "1.2 GB", with 1000 bytes to a kB, and returns it. */
static const char *bytes_text(uint64_t bytes, char text[16])
{
    static const char *const unit[] = { "bytes", "kB", "MB", "GB", "TB", "PB" };
    double n = (double)bytes;
    unsigned i = 0;
    for (; n >= 999.5 && i < 5; i++)
        n /= 1000;
    snprintf(text, 16, n < 9.95 && i ? "%.1f %s" : "%.0f %s", n, unit[i]);
    return text;
}

/* Writes "0:42" or "1:02:03", and returns it. */
static const char *time_text(double seconds, char text[32])
{
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s < 3600)
        snprintf(text, 32, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(text, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    return text;
}

/* The time left follows from the files that were done or failed, since skipped
 * ones take no time. Fields that the terminal has no room for are left out: the
 * more important ones come first. */
void progress_draw(struct batch_progress *progress)
{
    char gone_text[64], failed[32] = "", left[40] = "", part[16], rate[32];
    char time[32], bytes[16];
    double t = now(), spent = t - progress->begin;
    size_t worked = progress->done + progress->failed;
    size_t gone = worked + progress->skipped;
    if (!progress->shown || !progress->all || t - progress->drawn < redraw)
        return;
    progress->drawn = t;
    progress->visible = true;
    snprintf(gone_text, sizeof gone_text, "%zu of %zu", gone, progress->all);
    if (progress->failed)
        snprintf(failed, sizeof failed, ", %zu failed", progress->failed);
    const double each = worked ? spent / (double)worked : 0;
    if (worked)
        snprintf(left, sizeof left, ", ETA %s",
                 time_text(each * (double)(progress->all - gone), time));
    snprintf(part, sizeof part, ", %.0f %%",
             100.0 * (double)gone / (double)progress->all);
    const double second = spent > 0 ? (double)progress->bytes_in / spent : 0;
    snprintf(rate, sizeof rate, ", %s/s", bytes_text((uint64_t)second, bytes));
    const char *const fields[] = { gone_text, failed, left, part, rate };
    struct winsize size = { .ws_col = 0 };
    (void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    size_t room = (size.ws_col ? size.ws_col : 80u) - 1;
    fputs("\r\033[K", stderr);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i]) <= room) {
            room -= strlen(fields[i]);
            fputs(fields[i], stderr);
        }
    fflush(stderr);
}

void progress_clear(struct batch_progress *progress)
{
    if (!progress->visible)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr); /* what follows may go to stdout, to the same terminal */
    progress->visible = false;
}

/* Prints ", 3 NAME", unless there are none; with `lead` for the comma. */
static const char *put_kind(const char *lead, size_t n, const char *name)
{
    if (n == 0)
        return lead;
    fprintf(stderr, "%s%zu %s", lead, n, name);
    return ", ";
}

/* Says of how many files a single job would have warned, and what to do. */
static void put_loss(const struct batch_progress *progress, bool upright)
{
    const size_t lost = progress->anew + progress->color;
    if (lost)
        fprintf(stderr,
                "gimgxf: warning: %zu lost some quality, since %s no whole "
                "number of blocks; --lossless refuses, --edge trim%s turns "
                "without loss\n",
                lost, lost > 1 ? "their sizes are" : "its size is",
                upright ? "" : " or tag");
    if (progress->left)
        fprintf(stderr,
                "gimgxf: warning: %zu kept %s, since the turn would lose "
                "samples%s\n",
                progress->left,
                progress->left > 1 ? "their pixels and orientation tags"
                                   : "its pixels and orientation tag",
                upright ? "" : "; upright turns them, with loss");
}

size_t progress_left(const struct batch_progress *progress)
{
    return progress->all - progress->done - progress->skipped -
           progress->failed;
}

static void put_stages(const struct batch_progress *progress)
{
    const char *lead = "gimgxf:";
    unsigned workers = 0;
    for (unsigned i = 1; i <= WORKERS_MAX; i++)
        workers += progress->worked[i];
    for (int i = 0; i < STAGES; i++) {
        fprintf(stderr, "%s %s %.2f s", lead, job_stage_name[i],
                progress->seconds[i]);
        lead = ",";
    }
    if (progress->waited >= 0.005)
        fprintf(stderr, ", waited for memory %.2f s", progress->waited);
    fprintf(stderr, ", %u worker%s together\n", workers,
            workers == 1 ? "" : "s");
}

/* What a device did, and why the CPU did the rest. */
static void put_device(const struct batch_progress *progress)
{
    static const char *const names[DEVICE_USES] = {
        [DEVICE_UNSUITED] = "of other formats or codings",
        [DEVICE_PROGRESSIVE] = "progressive",
        [DEVICE_SAMPLES] = "encoded anew",
        [DEVICE_NOT_READY] = "before the GPU was ready",
        [DEVICE_TOO_LARGE] = "too large for a batch",
        [DEVICE_REFUSED] = "refused by the GPU",
    };
    size_t turned = progress->device[DEVICE_TURNED];
    if (turned == 0)
        return;
    fprintf(stderr, "gimgxf: %zu turned on the GPU", turned);
    const char *lead = "; on the CPU ";
    for (int i = 0; i < DEVICE_USES; i++)
        if (names[i] && progress->device[i]) {
            fprintf(stderr, "%s%zu %s", lead, progress->device[i], names[i]);
            lead = ", ";
        }
    putc('\n', stderr);
}

void progress_summary(struct batch_progress *progress,
                      const struct options *opts,
                      const struct scan_estimate *estimate, unsigned n)
{
    static const char *const kinds[SCAN_KINDS] = { "JPEG", "PNG", "PNG",
                                                   "NPY" };
    const size_t not_begun = progress_left(progress);
    char in[16], out[16];
    progress_clear(progress);
    fprintf(stderr, "gimgxf: %zu of %zu done", progress->done, progress->all);
    put_kind(", ", progress->skipped, "skipped");
    put_kind(", ", progress->failed, "failed");
    const char *lead = ": ";
    for (int i = 0; i < HOWS; i++) /* what such a JPEG has lost, not kept */
        lead = i == HOW_LUMA_LOSSLESS
                   ? put_kind(lead, progress->how[i] + progress->color,
                              "with color compressed again")
                   : put_kind(lead, progress->how[i], job_how_name[i]);
    lead = put_kind(lead, progress->anew, "re-encoded with loss");
    put_kind(lead, progress->left, "left by the tag");
    if (progress->replaced && !opts->forced)
        fprintf(stderr, "; %zu replaced a file that existed",
                progress->replaced);
    if (not_begun)
        fprintf(stderr, "; ended early, %zu not begun", not_begun);
    fprintf(stderr, "\ngimgxf: %s in, %s out, %.2f s\n",
            bytes_text(progress->bytes_in, in),
            bytes_text(progress->bytes_out, out), now() - progress->begin);
    put_loss(progress, opts->upright);
    const char *unused = job_plan_jpeg_option(opts, NULL);
    if (unused && progress->done && !progress->jpegs)
        fprintf(stderr,
                "gimgxf: warning: --%s changes nothing: no JPEG was written\n",
                unused);
    if (opts->verbose) {
        put_device(progress);
        put_stages(progress);
    }
    for (; n; n--, estimate++)
        fprintf(stderr,
                "gimgxf: --backend auto: about %.0f %s files would take the "
                "processors %.2f s, and a GPU %.2f s\n",
                estimate->pictures, kinds[estimate->kind],
                estimate->by_processors, estimate->by_device);
}

void progress_plan(size_t planned, size_t all)
{
    fprintf(stderr, "gimgxf: %zu of %zu would be done", planned, all);
    put_kind(", ", all - planned, "left alone");
    putc('\n', stderr);
}

/* ---- An early end -------------------------------------------------------- */

void progress_report_ending(enum ending ending,
                            const struct batch_progress *progress,
                            const struct options *opts)
{
    size_t left = progress_left(progress);
    const bool goes_on =
        !opts->stack && (opts->manifest || !opts->in_place || opts->upright);
    struct err text, next;
    if (ending == ENDING_PIPE)
        return;
    /* What to type so that only the other files are done. */
    if (opts->stack)
        fail(&next, "the same call begins again");
    else if (opts->manifest)
        fail(&next, "the same call with --resume %s goes on", opts->manifest);
    else if (!opts->in_place)
        fail(&next, "the same call with --update goes on");
    else if (opts->upright)
        fail(&next, "the same call goes on");
    else
        fail(&next, "no manifest says which files are done, so the same call "
                    "would turn those once more; next time use --manifest");
    if (ending == ENDING_FULL)
        fail(&text,
             "the disk is full: %zu of %zu done, %zu left; make room, and "
             "%s",
             progress->done, progress->all, left + progress->failed, next.text);
    else if (ending == ENDING_FAILURES)
        fail(&text, "%zu failed, so %s ends the batch; %zu left; %s%s",
             progress->failed, opts->stack ? "--stack" : "--fail-after", left,
             next.text, goes_on ? ", and tries those again" : "");
    else
        fail(&text, "%zu left; %s", left, next.text);
    if (!opts->quiet || ending == ENDING_FULL)
        report_error(NULL, text.text);
}
