/* What a job takes is counted, down to the last byte, whatever library takes
 * it: once it is done nothing is left but the output. And a job that may not
 * take so much fails at any block, and says why; and what a job decodes again
 * leaves no file behind. */
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "cli/job/stages.h"
#include "cli/options/options.h"
#include "cuda/backend.h"
#include "tests/support/test.h"

/* A job from the words after the program's name. */
struct ready {
    struct options opts;
    struct job job;
};

static char file[256];

static void make_ready(struct ready *ready, const char *input,
                       const char *options)
{
    static char words[512];
    char *word[32] = { (char[]){ "gimgxf" } }, *save = NULL;
    int n = 1;
    struct err err = { .text = "" };
    const struct lane_opts one = { .workers = 0 };
    snprintf(words, sizeof words, "rotate90 %s %s out%s", options, input,
             strrchr(input, '.'));
    for (char *w = strtok_r(words, " ", &save); w;
         w = strtok_r(NULL, " ", &save))
        word[n++] = w;
    if (command_line_parse(&ready->opts, n, word, &err))
        CHECK(false, "%s: %s", words, err.text);
    snprintf(file, sizeof file, "%s", input);
    ready->job =
        (struct job){ .input = file,
                      .output = "out",
                      .opts = &ready->opts,
                      .format = ready->opts.format_name
                                    ? codec_by_name(ready->opts.format_name)
                                    : NULL,
                      .format_name = "",
                      .tools.backend = &backend_cpu };
    must(backend_cpu.open(&ready->job.tools.lane, &one, &err) == 0);
}

static long long size_of(const struct bytes *bytes)
{
    return (long long)malloc_usable_size(bytes->data);
}

/* Does a job but for the writing, with so many bytes left of what it may take;
 * -1: all. Returns the output, empty if it fails, and checks what is left. */
static struct bytes run(const struct ready *ready, long long left,
                        const char *name)
{
    struct result result;
    struct err err = { .text = "" };
    struct job_state *state = job_read(&ready->job, &result, &err);
    must(state);
    if (left >= 0)
        atomic_fetch_add(&state->account.taken,
                         (long long)account_memory_of(result.bytes_in) - left);
    const long long before = atomic_load(&state->account.taken),
                    input = size_of(&state->input.file);
    const bool done =
        job_begin(state, &err) == 0 && job_finish(state, &err) == 0;
    if (!done && left >= 0)
        CHECK(strstr(err.text, "it takes more memory than"), "%s, %lld: %s",
              name, left, err.text);
    else
        CHECK(done, "%s, %lld: %s", name, left, err.text);
    image_free(&state->img);
    struct bytes output = { 0 };
    if (done) {
        const long long more = atomic_load(&state->account.taken) - before,
                        output_has = size_of(&state->output.file),
                        freed = input - size_of(&state->input.file);
        CHECK(more == output_has - freed, "%s: %lld bytes are still counted",
              name, more - output_has + freed);
        must(bytes_append(&output, state->output.file.data,
                          state->output.file.size));
    }
    job_end(state);
    return output;
}

static const struct {
    const char *input, *options;
} cases[] = {
    { "samples/f-rgb.png", "" },
    { "samples/f-rgb.png", "--png-level 9" },
    { "samples/f-rgb.png", "--png-level 1" },
    { "samples/f-rgb.png", "--format jpg" },
    { "samples/f-rgb.png", "--format pfm --depth float" },
    { "samples/f-rgb.png", "--format bmp" },
    { "samples/f-palette.png", "" },
    { "samples/f-palette.png", "--format tga" },
    { "samples/f-gray16.png", "" },
    { "samples/f-gray16.png", "--format npy" },
    { "samples/f.jpg", "" },
    { "samples/f.jpg", "--optimize" },
    { "samples/f.jpg", "--verify" },
    { "samples/f.jpg", "--format png" },
    { "samples/f-sideways.jpg", "" },
    { "samples/f-sideways.jpg", "--tag-only" },
    { "samples/f.ppm", "" },
    { "samples/f.ppm", "--format jpg --quality 90" },
    { "samples/f.npy", "" },
    { "samples/f.hdr", "" },
    { "samples/f.tga", "" },
    { "samples/f.bmp", "--format hdr" },
};

/* Nothing is left but the output; a job that may not take more says so. Samples
 * are beyond what may be left, so none may be enough. */
TEST(memory)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ready ready;
        char name[128];
        snprintf(name, sizeof name, "%s %s", cases[i].input, cases[i].options);
        make_ready(&ready, cases[i].input, cases[i].options);
        owned_bytes want = run(&ready, -1, name), got = { 0 };
        CHECK(want.size > 0, "%s", name);
        bool failed = false;
        for (long long left = 0; got.size == 0 && left < 1 << 26;
             left += left / 8 + 64) {
            got = run(&ready, left, name);
            failed = failed || got.size == 0;
        }
        CHECK(failed, "%s: it takes something", name);
        CHECK(got.size == want.size && !memcmp(got.data, want.data, got.size),
              "%s: the same in the end", name);
        backend_cpu.close(ready.job.tools.lane);
    }
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* A picture that is decoded again, as when a device has refused it, leaves no
 * file behind of the first time. */
TEST(files_of_the_first_time_are_closed)
{
    struct ready ready;
    make_ready(&ready, "in.ppm", "");
    const struct codec *pnm = codec_by_name("ppm");
    struct result result = { .from = pnm, .to = pnm };
    const int output = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct job_state state = {
        .job = &ready.job,
        .opts = &ready.opts,
        .result = &result,
        .scratch.early = { .mapped = 9, .made = true, .fd = output, .size = 9 },
    };
    struct limits limits = ready.opts.limits;
    must(is_open(output));
    job_offer_scratch(&state, &limits);
    CHECK(limits.scratch, "it may go through a file");
    CHECK(!is_open(output), "it is open");
    CHECK(state.scratch.early.mapped == 0, "a new one");
    CHECK(!state.scratch.early.made && state.scratch.early.size == 0,
          "a new one");
    backend_cpu.close(ready.job.tools.lane);
}
