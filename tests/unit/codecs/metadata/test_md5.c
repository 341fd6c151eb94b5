/* MD5 passes the test suite of RFC 1321, A.5. */
#include "codecs/metadata/md5.h"

#include <string.h>

#include "tests/support/test.h"

static const struct {
    const char *text, *digest;
} suite[] = {
    { "", "d41d8cd98f00b204e9800998ecf8427e" },
    { "a", "0cc175b9c0f1b6a831c399e269772661" },
    { "abc", "900150983cd24fb0d6963f7d28e17f72" },
    { "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
    { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
    { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      "d174ab98d277d9f5a5611c2c9f419d9f" },
    { "123456789012345678901234567890123456789012345678901234567890123456789"
      "01234567890",
      "57edf4a22be3c955ac49da2e2107b67a" },
};

TEST(suite_of_the_rfc)
{
    for (size_t i = 0; i < sizeof suite / sizeof *suite; i++) {
        uint8_t digest[MD5_SIZE];
        char text[2 * MD5_SIZE + 1];
        md5(digest, (const uint8_t *)suite[i].text,
                   strlen(suite[i].text));
        for (unsigned k = 0; k < MD5_SIZE; k++)
            snprintf(text + 2 * k, 3, "%02x", (unsigned)digest[k]);
        CHECK(!strcmp(text, suite[i].digest), "%s of \"%s\"", text,
              suite[i].text);
    }
}
