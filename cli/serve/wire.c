/* What the two processes of serve share. */
#include "cli/serve/wire.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

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

/* Leaves out the first `sent` bytes. */
static void advance(struct iovec *part, size_t sent)
{
    size_t n = sent < part[0].iov_len ? sent : part[0].iov_len;
    part[0].iov_base = (char *)part[0].iov_base + n;
    part[0].iov_len -= n;
    if (sent > n) /* there may be no second part */
        part[1].iov_base = (char *)part[1].iov_base + (sent - n);
    part[1].iov_len -= sent - n;
}

bool wire_send(int fd, const void *head, size_t head_size, const void *text,
                size_t size)
{
    struct iovec part[2] = { { (void *)head, head_size },
                             { (void *)text, size } };
    struct msghdr message = { .msg_iov = part, .msg_iovlen = 2 };
    while (part[0].iov_len + part[1].iov_len) {
        ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            advance(part, (size_t)n);
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
