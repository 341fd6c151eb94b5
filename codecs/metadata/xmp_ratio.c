/* Numbers of XMP that are shares of a picture's width or height. */
#include "codecs/metadata/xmp_ratio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 17 digits tell any two doubles apart; 6 tell any two pixels apart. */
enum { DECIMALS_MAX = 17, DECIMALS_OF_POWER = 9, DECIMALS_SCALED = 6 };

bool xmp_ratio_read(const char **text, char end, struct xmp_ratio *ratio)
{
    const char *at = *text;
    char *behind;
    ratio->value = strtod(at, &behind);
    size_t length = strcspn(at, ".,");
    const char *point = at + length;
    ratio->decimals = 0;
    if (behind == at || !(fabs(ratio->value) < 1e6))
        return false;
    if (*point == '.' && point < behind)
        ratio->decimals = (int)strspn(point + 1, "0123456789");
    if (memchr(at, 'e', (size_t)(behind - at)) ||
        memchr(at, 'E', (size_t)(behind - at)))
        ratio->decimals = DECIMALS_OF_POWER;
    if (ratio->decimals > DECIMALS_MAX)
        ratio->decimals = DECIMALS_MAX;
    behind += strspn(behind, " \t\r\n");
    *text = behind + 1;
    return *behind == end;
}

bool xmp_ratio_copy(char *to, size_t room, const uint8_t *text,
                    struct xml_span value)
{
    if (value.size >= room || memchr(text + value.at, 0, value.size))
        return false;
    memcpy(to, text + value.at, value.size);
    to[value.size] = '\0';
    return true;
}

bool xmp_ratio_of(const uint8_t *text, struct xml_span value,
                  struct xmp_ratio *ratio)
{
    char copy[XMP_RATIO_TEXT];
    const char *at = copy;
    return xmp_ratio_copy(copy, sizeof copy, text, value) &&
           xmp_ratio_read(&at, '\0', ratio);
}

struct xmp_ratio xmp_ratio_scaled(struct xmp_ratio ratio, double by)
{
    if (by == 1)
        return ratio;
    ratio.value *= by;
    if (ratio.decimals < DECIMALS_SCALED)
        ratio.decimals = DECIMALS_SCALED;
    return ratio;
}

struct xmp_ratio xmp_ratio_mirrored(struct xmp_ratio from,
                                    struct xmp_ratio length)
{
    struct xmp_ratio ratio = { 1 - from.value - length.value, from.decimals };
    if (length.decimals > from.decimals)
        ratio.decimals = length.decimals;
    return ratio;
}

void xmp_ratio_print(char text[XMP_RATIO_TEXT], struct xmp_ratio ratio)
{
    double value = ratio.value;
    if (fabs(value) < 0.5 * pow(10, -ratio.decimals))
        value = 0; /* never "-0.00" */
    snprintf(text, XMP_RATIO_TEXT, "%.*f", ratio.decimals, value);
}
