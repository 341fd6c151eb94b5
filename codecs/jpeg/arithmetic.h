/* What is computed where a picture is encoded again, in integers alone, so that
 * every processor gives the same results: valid C and C++, which GPU code
 * shares.
 *
 * 1. The blocks of each component become samples: of coefficients times their
 *    steps, dct_inverse_pass() of each column with DCT_FIRST_PASS, then of each
 *    row with DCT_INVERSE_LAST_PASS, then dct_sample().
 * 2. A component gets full resolution along an axis that does not end with a
 *    whole sample of it, as chroma.h chooses: first along rows, then along
 *    columns, every sample is chroma_mix() of those at chroma_at() and
 *    chroma_next().
 * 3. The planes of samples are turned.
 * 4. They become blocks: of samples less DCT_MIDDLE, dct_forward_pass() of each
 *    row with DCT_FIRST_PASS, then of each column with DCT_FORWARD_LAST_PASS.
 *    Beyond its last column and row a plane repeats these, up to whole blocks.
 * 5. Coefficients are rounded to steps: requantize.h, dct_quantize(). */
#ifndef CODECS_DCT_INLINE_H
#define CODECS_DCT_INLINE_H

#include "codecs/jpeg/dct_pass.h"

/* An axis of a component: `count` samples, `factor` of them for each `most`
 * pixels. `smooth`: libjpeg smooths it to show it; then factor is most or half
 * of it. */
struct chroma_axis {
    uint32_t count, factor, most;
    int smooth;
};

/* Returns the position of the sample that pixel `i` is made of. It is not above
 * `i`, so that a row can be filled in place from its end. */
DCT_INLINE uint32_t chroma_at(const struct chroma_axis *axis, uint32_t i)
{
    const uint32_t at = (uint32_t)((uint64_t)i * axis->factor / axis->most);
    return at < axis->count ? at : axis->count - 1;
}

/* Returns that of its neighbor, to which it is nearer than to the other one. */
DCT_INLINE uint32_t chroma_next(const struct chroma_axis *axis, uint32_t i)
{
    const uint32_t at = chroma_at(axis, i);
    if (!axis->smooth)
        return at;
    if (i % 2)
        return at + 1 < axis->count ? at + 1 : at;
    return at ? at - 1 : at;
}

/* Returns 3/4 of the one and 1/4 of the other. */
DCT_INLINE uint8_t chroma_mix(unsigned at, unsigned next, uint32_t i)
{
    return (uint8_t)((3 * at + next + 1 + i % 2) / 4);
}

#endif
