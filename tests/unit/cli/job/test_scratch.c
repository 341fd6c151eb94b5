/* A picture that is decoded again, as when a device has refused it, leaves no
 * file behind of the first time. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/job/stages.h"
#include "cli/options/options.h"
#include "tests/support/test.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

TEST(files_of_the_first_time_are_closed)
{
    struct options opts;
    char *words[] = { (char[]){ "gimgxf" }, (char[]){ "rotate90" },
                      (char[]){ "in.ppm" }, (char[]){ "out.ppm" } };
    struct err err = { .text = "" };
    must(command_line_parse(&opts, 4, words, &err) == 0);
    const struct job job = { .input = "in.ppm",
                             .output = "out.ppm",
                             .opts = &opts };
    const struct codec *pnm = codec_by_name("ppm");
    struct result result = { .from = pnm, .to = pnm };
    const int output = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct job_state state = {
        .job = &job,
        .opts = &opts,
        .result = &result,
        .scratch.place = { .mapped = 9 },
        .scratch.early = { .made = true, .fd = output, .size = 9 },
    };
    struct limits limits = opts.limits;
    must(is_open(output));
    job_offer_scratch(&state, &limits);
    CHECK(limits.scratch, "it may go through a file");
    CHECK(!is_open(output), "it is open");
    CHECK(state.scratch.place.mapped == 0, "a new one");
    CHECK(!state.scratch.early.made && state.scratch.early.size == 0,
          "a new one");
}
