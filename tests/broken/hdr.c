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

/* Each returns what a system call does: -1 and errno if it is refused. */

static int read_file(const char *name)
{
    return open(name, O_RDONLY);
}

static int write_file(const char *name)
{
    return open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

static int list_directory(const char *name)
{
    return open(name, O_RDONLY | O_DIRECTORY);
}

static int run_program(const char *name)
{
    return execl("/bin/touch", "touch", name, (char *)NULL);
}

static int fork_process(const char *name)
{
    pid_t pid = fork();
    if (pid == 0) {
        write_file(name);
        _exit(0);
    }
    return waitpid(pid, NULL, 0) < 0 ? -1 : 0;
}

static int open_socket(const char *unused)
{
    (void)unused;
    return socket(AF_INET, SOCK_STREAM, 0);
}

static int connect_locally(const char *name)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(to.sun_path, name, sizeof to.sun_path - 1);
    return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof to);
}

static int change_mode(const char *name)
{
    return chmod(name, 0777);
}

/* Of a file that is open, as one that can be read. */
static int change_open_mode(const char *name)
{
    int fd = open(name, O_RDONLY);
    return fd < 0 ? -1 : fchmod(fd, 0777);
}

static int make_code(const char *unused)
{
    (void)unused;
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(code, 4096, PROT_READ | PROT_EXEC);
}

static int send_signal(const char *process)
{
    return kill((pid_t)atoi(process), SIGTERM);
}

/* Each ends the process as a fault, the kernel without memory, or a library
 * might. */

static int crash(const char *unused)
{
    volatile uintptr_t nowhere = 1; /* not 0, which sanitizers look for */
    (void)unused;
    return *(volatile char *)nowhere;
}

static int be_killed(const char *unused)
{
    (void)unused;
    return kill(getpid(), SIGKILL);
}

static int leave(const char *status)
{
    _exit(atoi(status));
}

/* Writes beyond an array in this frame. */
static int smash_stack(const char *bytes)
{
    volatile char array[16];
    volatile char *to = array;
    for (int i = 0; i < atoi(bytes); i++)
        to[i] = 'x';
    return array[0] - 'x';
}

static const struct attack {
    const char *word;
    int (*run)(const char *argument);
} attacks[] = {
    { "read", read_file },
    { "write", write_file },
    { "list", list_directory },
    { "run", run_program },
    { "fork", fork_process },
    { "socket", open_socket },
    { "connect", connect_locally },
    { "chmod", change_mode },
    { "fchmod", change_open_mode },
    { "code", make_code },
    { "signal", send_signal },
    { "stack", smash_stack },
    { "crash", crash },
    { "killed", be_killed },
    { "exit", leave },
};

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
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
        if (strcmp(attacks[i].word, word) == 0)
            return attacks[i].run(argument) < 0 ? fail_system(err, "refused")
                                                : fail(err, "it worked");
    return fail(err, "no such attack");
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
