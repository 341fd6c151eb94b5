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

static int grow_memory(void)
{
    owned_memory char *more = realloc(malloc(ROOM), 8 * (size_t)ROOM);
    const int status = more ? 0 : -1;
    return status;
}

static int make_unnamed(void)
{
    return open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int name_unnamed(void)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", make_unnamed());
    unlink("named");
    return linkat(AT_FDCWD, link, AT_FDCWD, "named", AT_SYMLINK_FOLLOW);
}

static int name_twice(void)
{
    unlink("twice");
    return link("out.png", "twice");
}

static int set_affinity(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set)
               ? -1
               : sched_setaffinity(0, sizeof set, &set);
}

/* Does the call of this number and says what it is, and of whom. Returns 0 or
 * more; or -1, with errno. */
static int call(int number, const char **name)
{
    enum { FIRST = __COUNTER__ + 1 };
    struct winsize window;
    struct rusage usage;
    struct statx stat;
    cpu_set_t set;
    char some[8];
    void *at;
    switch (number) {
#define CALL(words, ...)                                                       \
    case __COUNTER__ - FIRST:                                                  \
        *name = words;                                                         \
        return (__VA_ARGS__)
        CALL("sched_getaffinity, of thread_pool.c",
             sched_getaffinity(0, sizeof set, &set));
        CALL("sched_setaffinity, of thread_pool.c", set_affinity());
        CALL("pthread_create, of ordered_workers.c", start_thread());
        CALL("sched_setaffinity, with threads, of thread_pool.c",
             start_thread() ? -1 : set_affinity());
        CALL("mmap of an input, of bytes.c",
             (at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, input, 0)) ==
                     MAP_FAILED
                 ? -1
                 : munmap(at, 1));
        CALL("madvise, of page_cache.c", madvise(pages, ROOM, MADV_HUGEPAGE));
        CALL("madvise, of bytes.c", madvise(pages, ROOM, MADV_DONTNEED));
        CALL("mremap, of the C library", grow_memory());
        CALL("posix_fadvise, of files.c",
             (errno = posix_fadvise(input, 0, 0, POSIX_FADV_WILLNEED)) ? -1
                                                                       : 0);
        CALL("O_TMPFILE, of scratch_file.c, file_write.c", make_unnamed());
        CALL("linkat from /proc, of temporary.c", name_unnamed());
        CALL("fallocate, of scratch_file.c", fallocate(output, 0, 0, 1 << 16));
        CALL("flock, of manifest.c", flock(output, LOCK_EX | LOCK_NB));
        CALL("fcntl F_DUPFD_CLOEXEC, of temporary.c, file_write.c",
             fcntl(output, F_DUPFD_CLOEXEC, 0));
        CALL("linkat, of file_write.c", name_twice());
        CALL("renameat2, of file_write.c", unlink("there"),
             name_twice() ? -1
                          : renameat2(AT_FDCWD, "twice", AT_FDCWD, "there",
                                      RENAME_NOREPLACE));
        CALL("statx, of the C library",
             statx(AT_FDCWD, "out.png", 0, STATX_BASIC_STATS, &stat));
        CALL("fchmod, of attributes.c", fchmod(output, 0640));
        CALL("fchown, of attributes.c", fchown(output, (uid_t)-1, getgid()));
        CALL("futimens, of file_write.c", futimens(output, NULL));
        CALL("fgetxattr, of attributes.c",
             (int)fgetxattr(output, "user.none", some, sizeof some));
        CALL("flistxattr, of attributes.c", (int)flistxattr(output, NULL, 0));
        CALL("fsetxattr, of attributes.c",
             fsetxattr(output, "user.some", "x", 1, 0));
        CALL("fremovexattr, of attributes.c",
             fremovexattr(output, "user.some"));
        CALL("fsync, of file_write.c", fsync(output));
        CALL("fdatasync, of manifest.c", fdatasync(output));
        CALL("ioctl TIOCGWINSZ, of progress.c",
             ioctl(STDERR_FILENO, TIOCGWINSZ, &window));
        CALL("getrusage, of scheduler.c", getrusage(RUSAGE_THREAD, &usage));
        CALL("getrandom, of temporary.c", (int)getrandom(some, sizeof some, 0));
        CALL("prctl PR_SET_NAME, of the driver of a GPU",
             prctl(PR_SET_NAME, "name"));
#undef CALL
    }
    abort();
}
enum { CALLS = 30 };

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
        const int why = call(i, &(const char *){ NULL }) < 0 ? errno : 0;
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
              "call %d ended the process", i);
    close(fd[0]);
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status %#x",
          (unsigned)status);
}

static void compare(bool device)
{
    int outside[CALLS], inside[CALLS];
    find(outside, SANDBOX_OFF, device);
    find(inside, SANDBOX_ON, device);
    for (int i = 0; i < CALLS; i++) {
        const char *name = NULL;
        (void)call(i, &name);
        CHECK(inside[i] == outside[i], "%s: %s, outside %s", name,
              strerror(inside[i]), strerror(outside[i]));
    }
}

TEST(of_pictures)
{
    compare(false);
}

TEST(with_a_driver)
{
    compare(true);
}
