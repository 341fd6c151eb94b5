/* The checksum of a file. */
#include "cli/files/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "codecs/deflate/flate.h"

bool checksum_file(struct root *root, const char *name, uint64_t *size,
                   uint32_t *crc)
{
    enum { STEP = 1 << 18 };
    struct err unheard;
    ssize_t n = -1;
    uint8_t *buffer = malloc(STEP);
    int fd = resolve_open(root, name, O_RDONLY | O_NONBLOCK, &unheard);
    *size = 0;
    *crc = 0;
    if (buffer && fd >= 0)
        while ((n = read(fd, buffer, STEP)) > 0 || (n < 0 && errno == EINTR))
            if (n > 0) {
                *crc = flates[0]->crc32(*crc, buffer, (size_t)n);
                *size += (uint64_t)n;
            }
    if (fd >= 0)
        close(fd);
    free(buffer);
    return n == 0;
}
