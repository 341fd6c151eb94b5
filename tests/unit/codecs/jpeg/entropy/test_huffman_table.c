/* The Huffman tables that we make: each symbol that occurs has a code, and the
 * codes are as short as the limit of 16 bits allows. */
#include "codecs/jpeg/entropy/huffman_table.h"

#include "tests/support/test.h"

static unsigned length_of(const struct huffman_encoder *encoder,
                          unsigned symbol)
{
    return (unsigned)(encoder->code[symbol] & 31) - (symbol & 15);
}

/* Returns the bits that all symbols take, checking the table. */
static uint64_t check_made(const uint64_t counts[256])
{
    struct huffman_spec spec;
    struct huffman_encoder encoder;
    uint64_t bits = 0;
    double used = 0;
    CHECK(huffman_spec_make(&spec, counts), "none made");
    huffman_encoder_make(&encoder, &spec);
    for (unsigned i = 0; i < 256; i++) {
        bool has = !(encoder.code[i] & HUFFMAN_NONE);
        CHECK(has == (counts[i] > 0), "symbol %u", i);
        bits += counts[i] * length_of(&encoder, i);
        used += has ? 1.0 / (1 << length_of(&encoder, i)) : 0;
        for (unsigned k = 0; k < i; k++)
            CHECK(!counts[i] || !counts[k] ||
                      (counts[i] > counts[k]) <=
                          (length_of(&encoder, i) <= length_of(&encoder, k)),
                  "%u and %u", i, k);
    }
    CHECK(used < 1, "the code of ones is taken");
    return bits;
}

TEST(one_symbol)
{
    uint64_t counts[256] = { [17] = 5 };
    CHECK(check_made(counts) == 5, "one bit each");
}

/* Without a limit the codes of these would have 30 bits. */
TEST(too_long)
{
    uint64_t counts[256] = { 0 }, a = 1, b = 1;
    for (unsigned i = 0; i < 30; i++) {
        counts[i * 3] = a;
        b += a;
        a = b - a;
    }
    check_made(counts);
}

TEST(all_symbols)
{
    uint64_t counts[256], random = 3;
    for (unsigned run = 0; run < 20; run++) {
        for (unsigned i = 0; i < 256; i++)
            counts[i] = 1 + test_random(&random) % (1u << run);
        check_made(counts);
    }
}

TEST(refused)
{
    uint64_t none[256] = { 0 }, many[256] = { UINT64_C(1) << 60, 5 };
    struct huffman_spec spec;
    CHECK(!huffman_spec_make(&spec, none), "no symbols");
    CHECK(!huffman_spec_make(&spec, many), "counts beyond libjpeg's");
}

/* Tables that cannot be decoded by (T.81, Annex C). */
TEST(no_tables)
{
    struct huffman_decoder decoder;
    struct huffman_spec spec = { .counts = { 1 }, .symbols = { 0 } };
    CHECK(huffman_decoder_make(&decoder, &spec, true), "one code");
    spec.counts[0] = 2; /* 0 and 1, which is the code of ones */
    CHECK(!huffman_decoder_make(&decoder, &spec, true), "code of ones");
    spec = (struct huffman_spec){ .counts = { 1, 3 } };
    CHECK(!huffman_decoder_make(&decoder, &spec, true), "too many codes");
    spec = (struct huffman_spec){ .counts = { [8] = 255, [9] = 255 } };
    CHECK(!huffman_decoder_make(&decoder, &spec, true), "too many symbols");
    spec = (struct huffman_spec){ .counts = { 0 } };
    CHECK(!huffman_decoder_make(&decoder, &spec, true), "no symbol");
    spec = (struct huffman_spec){ .counts = { 1 }, .symbols = { 12 } };
    CHECK(!huffman_decoder_make(&decoder, &spec, false), "DC of 12 bits");
    spec = (struct huffman_spec){ .counts = { 1 }, .symbols = { 11 } };
    CHECK(huffman_decoder_make(&decoder, &spec, false), "DC of 11 bits");
    CHECK(!huffman_decoder_make(&decoder, &spec, true), "AC of 11 bits");
    spec = (struct huffman_spec){ .counts = { 1 }, .symbols = { 0x10 } };
    CHECK(!huffman_decoder_make(&decoder, &spec, true), "a run of no value");
}
