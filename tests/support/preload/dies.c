/* Loaded before the program (LD_PRELOAD), for tests of what happens when it
 * dies: at a file with one of these words in its first bytes,
 *
 *     dies-by-11    the process gets signal 11 as it reads the file, in the
 *                   thread that does
 *     dies-once     it gets signal 9, unless there is no file called `once`,
 *                   which is removed
 *     reads-slowly  it appends a byte to a file called `reading`, and waits
 *                   until there is a file called `go`
 *
 * and at an output whose name begins with one of these,
 *
 *     dies-before-  it gets signal 9 before the output has that name
 *     dies-after-   it gets signal 9 after that
 *
 * both only if there is a file called `once`, which is removed. A process that
 * is forked gets signal 9 at once while there is a file called `unready-1`,
 * `unready-2` or `unready-3`, of which one is removed. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void die_once(void)
{
    if (unlink("once") == 0)
        kill(getpid(), SIGKILL);
}

pid_t fork(void)
{
    pid_t (*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, "fork");
    pid_t child = next();
    if (child == 0 && (unlink("unready-1") == 0 || unlink("unready-2") == 0 ||
                       unlink("unready-3") == 0))
        kill(getpid(), SIGKILL);
    return child;
}

static void read_slowly(void)
{
    int fd = open("reading", O_WRONLY | O_CREAT | O_APPEND, 0666);
    ssize_t n = write(fd, "x", 1);
    close(fd);
    for (int i = 0; n == 1 && i < 3000 && access("go", F_OK); i++)
        usleep(10000);
}

static int has(const void *data, ssize_t size, const char *word)
{
    return size > 0 && memmem(data, (size_t)size, word, strlen(word)) != NULL;
}

ssize_t read(int fd, void *data, size_t size)
{
    ssize_t (*next)(int, void *, size_t);
    *(void **)&next = dlsym(RTLD_NEXT, "read");
    ssize_t n = next(fd, data, size);
    if (n > 4 && memcmp(data, "\x89PNG", 4) == 0) {
        if (has(data, n, "dies-by-11"))
            raise(SIGSEGV);
        if (has(data, n, "dies-once"))
            die_once();
        if (has(data, n, "reads-slowly"))
            read_slowly();
    }
    return n;
}

static int is(const char *path, const char *word)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, word, strlen(word)) == 0;
}

/* Calls one of the functions that give a file its name. */
#define NAMES(function, parameters, arguments)                                 \
    int function parameters                                                    \
    {                                                                          \
        int(*next) parameters;                                                 \
        *(void **)&next = dlsym(RTLD_NEXT, #function);                         \
        if (is(to, "dies-before-"))                                            \
            die_once();                                                        \
        int status = next arguments;                                           \
        if (is(to, "dies-after-"))                                             \
            die_once();                                                        \
        return status;                                                         \
    }
NAMES(rename, (const char *from, const char *to), (from, to))
NAMES(renameat, (int a, const char *from, int b, const char *to),
      (a, from, b, to))
NAMES(renameat2,
      (int a, const char *from, int b, const char *to, unsigned flags),
      (a, from, b, to, flags))
NAMES(linkat, (int a, const char *from, int b, const char *to, int flags),
      (a, from, b, to, flags))
