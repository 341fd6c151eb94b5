/* The markers of a JPEG file and the segments behind them. */
#include "codecs/jpeg/entropy/marker.h"

#include <string.h>

#include "codecs/base/byte_order.h"

const uint8_t *marker_first(struct bytes file)
{
    bool begins =
        file.size >= 4 && file.data[0] == 0xff && file.data[1] == MARKER_SOI;
    return begins ? file.data + 2 : NULL;
}

bool marker_read(struct marker *m, const uint8_t *p, const uint8_t *end)
{
    *m = (struct marker){ .at = p };
    if (end - p < 2 || *p != 0xff)
        return false;
    while (end - p > 2 && p[1] == 0xff)
        p++;
    m->at = p;
    m->code = p[1];
    m->data = p + 4;
    /* TEM, RSTn, SOI and EOI have no length (T.81, B.1.1.3), and 0xff 0 is not
     * a marker; libjpeg skips some of these. If what follows were taken for a
     * length, other headers would be seen than those that libjpeg sees. */
    if (m->code <= MARKER_TEM ||
        (m->code >= MARKER_RST0 && m->code <= MARKER_EOI) || end - p < 4)
        return false;
    const size_t length = read_be16(p + 2);
    if (length < 2 || length > (size_t)(end - p) - 2)
        return false;
    m->size = length - 2;
    m->behind = m->data + m->size;
    return true;
}

const uint8_t *marker_find(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (p = memchr(p, 0xff, (size_t)(end - p)))) {
        const uint8_t *fill = p;
        while (end - p > 1 && p[1] == 0xff)
            p++;
        if (end - p < 2 || (p[1] == 0 && p > fill))
            return NULL;
        if (p[1] != 0 && (p[1] < MARKER_RST0 || p[1] >= MARKER_RST0 + 8))
            return fill;
        p += 2;
    }
    return NULL;
}

bool marker_is_frame(unsigned code)
{
    return code >= MARKER_SOF0 && code <= MARKER_SOF15 && code != MARKER_DHT &&
           code != MARKER_JPG && code != MARKER_DAC;
}

bool marker_is_metadata(unsigned code)
{
    return code == MARKER_COM || code >> 4 == MARKER_APP0 >> 4;
}

bool marker_put(struct bytes *file, unsigned code, const void *data,
                size_t size)
{
    uint8_t head[4] = { 0xff, (uint8_t)code };
    write_be16(head + 2, (unsigned)size + 2);
    return bytes_append(file, head, sizeof head) &&
           bytes_append(file, data, size);
}
