/* What the two processes of serve share. */
#include "cli/serve/wire.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

static size_t table_size(size_t slots)
{
    return sizeof(struct serve_table) + slots * sizeof(struct job_note);
}

struct serve_table *wire_table_make(size_t slots)
{
    void *table = mmap(NULL, table_size(slots), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return table == MAP_FAILED ? NULL : table;
}

void wire_table_free(struct serve_table *table, size_t slots)
{
    if (table)
        munmap(table, table_size(slots));
}

bool wire_send(int fd, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool wire_receive(int fd, void *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        ssize_t n = recv(fd, (char *)data + at, size - at, MSG_WAITALL);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}
