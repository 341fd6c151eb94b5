/* SHA-256 of what NIST publishes (FIPS 180-4, examples), in pieces of any size.
 */
#include "codecs/base/sha256.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

static const struct {
    const char *text;
    unsigned times;
    const char *digest;
} known[] = {
    { "", 1,
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { "abc", 1,
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    { "a", 1000000,
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
};

static void print(char text[2 * SHA256_SIZE + 1], struct sha256 *sum)
{
    uint8_t digest[SHA256_SIZE];
    sha256_end(sum, digest);
    for (unsigned i = 0; i < SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
}

TEST(known)
{
    char text[2 * SHA256_SIZE + 1];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct sha256 sum;
        sha256_begin(&sum);
        for (unsigned n = 0; n < known[i].times; n++)
            sha256_add(&sum, known[i].text, strlen(known[i].text));
        print(text, &sum);
        CHECK(strcmp(text, known[i].digest) == 0, "%.8s: %s", known[i].text,
              text);
    }
}

/* However it is cut, the sum of 200 bytes is one. */
TEST(pieces)
{
    uint8_t data[200];
    char whole[2 * SHA256_SIZE + 1], text[2 * SHA256_SIZE + 1];
    struct sha256 sum;
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    sha256_begin(&sum);
    sha256_add(&sum, data, sizeof data);
    print(whole, &sum);
    for (size_t cut = 0; cut <= sizeof data; cut++) {
        sha256_begin(&sum);
        sha256_add(&sum, data, cut);
        sha256_add(&sum, data + cut, sizeof data - cut);
        print(text, &sum);
        CHECK(strcmp(text, whole) == 0, "cut at %zu: %s", cut, text);
    }
}
