/* The orientation tags of a file: which of them counts, and whether they agree.
 */
#include "codecs/image/orientation.h"

#include <stddef.h>

const char *orientation_place(enum tag_place place)
{
    static const char *const names[] = {
        [TAG_TRANSFORMS] = "irot and imir",
        [TAG_CODESTREAM] = "the image header",
        [TAG_IFD] = "the first IFD",
        [TAG_EXIF] = "EXIF",
        [TAG_XMP] = "XMP",
        [TAG_ORNT] = "orNT",
        [TAG_HEADER] = "header",
        [TAG_MORE_EXIF] = "a second EXIF block",
    };
    return place ? names[place] : NULL;
}

void orientation_note(struct orientation *o, enum tag_place place,
                      unsigned value)
{
    if (!value)
        return;
    if (place != TAG_MORE_EXIF && (!o->value || place < o->place)) {
        unsigned was = o->value;
        enum tag_place was_place = o->place;
        o->value = value;
        o->place = place;
        value = was;
        place = was_place;
    }
    /* One that never counts differs from 1, where no other one is there. */
    unsigned counts = o->value ? o->value : 1;
    if (o->other == counts)
        o->other = 0;
    if (value && value != counts && !o->other) {
        o->other = value;
        o->other_place = place;
    }
}
