/* Numbers for x and for y that lead a block. */
#include "codecs/metadata/axes.h"

#include <string.h>

void axes_exchange_bytes(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

/* PNG's sCAL: a unit, the width of a pixel in decimal, a zero, its height. */
static void exchange_scale(struct bytes *data)
{
    uint8_t text[128];
    if (data->size < 2 || data->size > sizeof text)
        return;
    uint8_t *x = data->data + 1;
    uint8_t *zero = memchr(x, 0, data->size - 1);
    if (!zero)
        return;
    size_t nx = (size_t)(zero - x), ny = data->size - nx - 2;
    memcpy(text, zero + 1, ny);
    text[ny] = 0;
    memcpy(text + ny + 1, x, nx);
    memcpy(x, text, nx + ny + 1);
}

void axes_exchange(struct bytes *body, enum block_kind kind)
{
    if (kind == BLOCK_SCALE)
        exchange_scale(body);
    if ((kind == BLOCK_AXES || kind == BLOCK_CANVAS) && body->size >= 8)
        axes_exchange_bytes(body->data, body->data + 4, 4);
    if (kind == BLOCK_CANVAS && body->size == 16)
        axes_exchange_bytes(body->data + 8, body->data + 12, 4);
}
