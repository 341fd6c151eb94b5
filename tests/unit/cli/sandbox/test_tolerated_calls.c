/* Calls that the program goes on without: none of them fails in the sandbox
 * that does not fail outside. A fallback that nobody notices would be taken for
 * what was asked for. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/sandbox/sandbox.h"
#include "tests/support/test.h"

static char place[64] = "/tmp/gimgxf-tolerated-XXXXXX";
enum { ROOM = 1 << 22 };
static void *pages; /* ROOM bytes */
static int input, output;

/* ---- What the program calls ---------------------------------------------- */

/* Each returns 0 or more; or -1, with errno. */

#define CALL(name, expression)                                                 \
    static int name(void)                                                      \
    {                                                                          \
        return (expression);                                                   \
    }
CALL(ask_for_huge_pages, madvise(pages, ROOM, MADV_HUGEPAGE))
CALL(give_back_pages, madvise(pages, ROOM, MADV_DONTNEED))
CALL(make_unnamed, open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600))
CALL(set_room_aside, fallocate(output, 0, 0, 1 << 16))
CALL(lock_output, flock(output, LOCK_EX | LOCK_NB))
CALL(duplicate, fcntl(output, F_DUPFD_CLOEXEC, 0))
CALL(give_mode, fchmod(output, 0640))
CALL(give_owner, fchown(output, (uid_t)-1, getgid()))
CALL(give_times, futimens(output, NULL))
CALL(list_attributes, flistxattr(output, NULL, 0) < 0 ? -1 : 0)
CALL(set_attribute, fsetxattr(output, "user.some", "x", 1, 0))
CALL(remove_attribute, set_attribute() ? -1 : fremovexattr(output, "user.some"))
CALL(sync_output, fsync(output))
CALL(sync_data, fdatasync(output))
CALL(name_thread, prctl(PR_SET_NAME, "name"))

static int get_affinity(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set);
}

static int set_affinity(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set)
               ? -1
               : sched_setaffinity(0, sizeof set, &set);
}

static void *nothing(void *unused)
{
    return unused;
}

static int start_thread(void)
{
    pthread_t thread;
    errno = pthread_create(&thread, NULL, nothing, NULL);
    return errno ? -1 : pthread_join(thread, NULL);
}

static int map_input(void)
{
    void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, input, 0);
    return at == MAP_FAILED ? -1 : munmap(at, 1);
}

static int grow_memory(void)
{
    char *more = realloc(malloc(ROOM), 8 * (size_t)ROOM);
    const int status = more ? 0 : -1;
    free(more);
    return status;
}

static int prefetch(void)
{
    errno = posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED);
    return errno ? -1 : 0;
}

static int name_unnamed(void)
{
    char link[64];
    const int fd = make_unnamed();
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    unlink("named");
    return linkat(AT_FDCWD, link, AT_FDCWD, "named", AT_SYMLINK_FOLLOW);
}

static int name_twice(void)
{
    unlink("twice");
    return link("out.png", "twice");
}

static int rename_if_absent(void)
{
    unlink("there");
    return name_twice() ? -1
                        : renameat2(AT_FDCWD, "twice", AT_FDCWD, "there",
                                    RENAME_NOREPLACE);
}

static int get_stat(void)
{
    struct statx stat;
    return statx(AT_FDCWD, "out.png", 0, STATX_BASIC_STATS, &stat);
}

static int get_attribute(void)
{
    char value[8];
    return fgetxattr(output, "user.none", value, sizeof value) < 0 ? -1 : 0;
}

static int ask_for_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
}

static int get_usage(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage);
}

static int get_chance(void)
{
    char some[8];
    return getrandom(some, sizeof some, 0) < 0 ? -1 : 0;
}

CALL(set_affinity_of_thread, start_thread() ? -1 : set_affinity())

static const struct call {
    const char *name, *caller;
    int (*call)(void);
} calls[] = {
    { "sched_getaffinity", "thread_pool.c", get_affinity },
    { "sched_setaffinity", "thread_pool.c", set_affinity },
    { "pthread_create", "thread_pool.c, ordered_workers.c", start_thread },
    { "sched_setaffinity, with threads", "thread_pool.c",
      set_affinity_of_thread },
    { "mmap of an input", "bytes.c", map_input },
    { "madvise MADV_HUGEPAGE", "page_cache.c", ask_for_huge_pages },
    { "madvise MADV_DONTNEED", "bytes.c", give_back_pages },
    { "mremap", "the C library", grow_memory },
    { "posix_fadvise WILLNEED", "files.c", prefetch },
    { "open O_TMPFILE", "scratch_file.c, file_write.c", make_unnamed },
    { "linkat from /proc", "temporary.c", name_unnamed },
    { "fallocate", "scratch_file.c", set_room_aside },
    { "flock", "manifest.c", lock_output },
    { "fcntl F_DUPFD_CLOEXEC", "temporary.c, file_write.c", duplicate },
    { "linkat", "file_write.c", name_twice },
    { "renameat2 RENAME_NOREPLACE", "file_write.c", rename_if_absent },
    { "statx", "the C library", get_stat },
    { "fchmod", "attributes.c", give_mode },
    { "fchown", "attributes.c", give_owner },
    { "futimens", "file_write.c", give_times },
    { "fgetxattr", "attributes.c", get_attribute },
    { "flistxattr", "attributes.c", list_attributes },
    { "fsetxattr", "attributes.c", set_attribute },
    { "fremovexattr", "attributes.c", remove_attribute },
    { "fsync", "file_write.c", sync_output },
    { "fdatasync", "manifest.c", sync_data },
    { "ioctl TIOCGWINSZ", "progress.c", ask_for_width },
    { "getrusage RUSAGE_THREAD", "scheduler.c", get_usage },
    { "getrandom", "temporary.c", get_chance },
    { "prctl PR_SET_NAME", "the driver of a GPU", name_thread },
};
enum { CALLS = COUNT(calls) };

/* ---- Inside and outside -------------------------------------------------- */

static int touch(const char *name)
{
    return open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

TEST_SET_UP()
{
    CHECK(mkdtemp(place) && chdir(place) == 0, "%s", strerror(errno));
    input = touch("in.png");
    output = touch("out.png");
    CHECK(input >= 0 && output >= 0 && write(input, "x", 1) == 1, "%s",
          strerror(errno));
    pages = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED, "%s", strerror(errno));
}

TEST_TEAR_DOWN()
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", place);
    CHECK(system(command) == 0, "%s is left", place);
}

/* Writes what becomes of each call in a process of its own: 0 or an errno. */
static void call_all(int fd, const struct options *opts, bool device)
{
    const struct job job = { .input = "in.png",
                             .output = "out.png",
                             .opts = opts };
    sandbox_enter_for_job(&job, device);
    for (int i = 0; i < CALLS; i++) {
        const int why = calls[i].call() < 0 ? errno : 0;
        if (write(fd, &why, sizeof why) != sizeof why)
            _exit(1);
    }
    _exit(0);
}

static void find(int why[CALLS], enum sandbox_choice choice, bool device)
{
    const struct options opts = { .sandbox = choice };
    int fd[2], status = 1;
    CHECK(pipe(fd) == 0, "%s", strerror(errno));
    const pid_t child = fork();
    if (child == 0)
        call_all(fd[1], &opts, device);
    close(fd[1]);
    memset(why, -1, CALLS * sizeof *why);
    for (int i = 0; i < CALLS; i++)
        CHECK(read(fd[0], &why[i], sizeof *why) == sizeof *why,
              "%s ended the process", calls[i].name);
    close(fd[0]);
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status %#x",
          (unsigned)status);
}

static void compare(bool device)
{
    int outside[CALLS], inside[CALLS];
    find(outside, SANDBOX_OFF, device);
    find(inside, SANDBOX_ON, device);
    for (int i = 0; i < CALLS; i++)
        CHECK(inside[i] == outside[i], "%s, of %s: %s, outside %s",
              calls[i].name, calls[i].caller, strerror(inside[i]),
              strerror(outside[i]));
}

TEST(of_pictures)
{
    compare(false);
}

TEST(with_a_driver)
{
    compare(true);
}
