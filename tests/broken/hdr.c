/* In place of codecs/simple/hdr.c, in a program that is gimgxf otherwise: a
 * decoder that a picture has taken over. The picture is a line "#?BROKEN", a
 * word, which is one of those below, and a name or a number. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codecs/codec.h"

static int fork_process(const char *name)
{
    pid_t pid = fork();
    if (pid == 0) {
        open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        _exit(0);
    }
    return waitpid(pid, NULL, 0) < 0 ? -1 : 0;
}

static __attribute__((noinline)) int connect_locally(const char *name)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(to.sun_path, name, sizeof to.sun_path - 1);
    return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof to);
}

static int make_code(void)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(code, 4096, PROT_READ | PROT_EXEC);
}

/* Writes beyond an array in this frame. */
static __attribute__((noinline)) int smash_stack(int bytes)
{
    volatile char array[16];
    volatile char *to = array;
    for (int i = 0; i < bytes; i++)
        to[i] = 'x';
    return array[0] - 'x';
}

/* Returns what a system call does, -1 and errno if it is refused; or ends the
 * process as a fault, the kernel without memory, or a library might. */
static int attack(const char *word, const char *argument)
{
    volatile uintptr_t nowhere = 1; /* not 0, which sanitizers look for */
#define IS(name) (strcmp(word, name) == 0)
    if (IS("read"))
        return open(argument, O_RDONLY);
    if (IS("write"))
        return open(argument, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (IS("list"))
        return open(argument, O_RDONLY | O_DIRECTORY);
    if (IS("run"))
        return execl("/bin/touch", "touch", argument, (char *)NULL);
    if (IS("fork"))
        return fork_process(argument);
    if (IS("socket"))
        return socket(AF_INET, SOCK_STREAM, 0);
    if (IS("connect"))
        return connect_locally(argument);
    if (IS("chmod"))
        return chmod(argument, 0777);
    if (IS("fchmod")) /* of a file that is open, as one that can be read */
        return fchmod(open(argument, O_RDONLY), 0777);
    if (IS("code"))
        return make_code();
    if (IS("signal"))
        return kill((pid_t)atoi(argument), SIGTERM);
    if (IS("stack"))
        return smash_stack(atoi(argument));
    if (IS("crash"))
        return *(volatile char *)nowhere;
    if (IS("killed"))
        return kill(getpid(), SIGKILL);
    if (IS("exit"))
        _exit(atoi(argument));
    abort();
#undef IS
}

static bool probe(const uint8_t *head, size_t size)
{
    return size > 8 && memcmp(head, "#?BROKEN", 8) == 0;
}

static int open_picture(struct reader *reader, struct err *err)
{
    char line[4096] = "", word[16], argument[4000];
    size_t size = reader->file.size;
    memcpy(line, reader->file.data,
           size < sizeof line ? size : sizeof line - 1);
    if (sscanf(line, "#?BROKEN %15s %3999s", word, argument) != 2)
        return fail(err, "not an attack");
    return attack(word, argument) < 0 ? fail_system(err, "refused")
                                      : fail(err, "it worked");
}

static int refuse_decoding(struct reader *reader, struct err *err)
{
    (void)reader;
    return fail(err, "there are no pixels");
}

static int refuse_encoding(struct bytes *file, const struct image *img,
                           const struct save_opts *opts, struct err *err)
{
    (void)file, (void)img, (void)opts;
    return fail(err, "nothing is written");
}

static int refuse_checking(struct bytes file, const struct image *img,
                           const struct save_opts *opts, struct err *err)
{
    (void)file, (void)img, (void)opts;
    return fail(err, "nothing was written");
}

const struct codec codec_hdr = {
    .name = "hdr",
    .title = "HDR",
    .suffixes = (const char *const[]){ "hdr", NULL },
    .probe = probe,
    .open = open_picture,
    .decode = refuse_decoding,
    .encode = refuse_encoding,
    .check = refuse_checking,
};
