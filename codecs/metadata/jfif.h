/* The blocks of a JPEG that give its density and a thumbnail: JFIF, and its
 * extension (ITU-T T.871, 10). Their bodies follow "JFIF\0" and "JFXX\0". */
#ifndef CODECS_METADATA_JFIF_H
#define CODECS_METADATA_JFIF_H

#include "codecs/codec.h"

/* Exchanges the densities and turns the thumbnail, after opts->strip and
 * opts->drop have left out what they name. Fails only without memory. */
int jfif_turn(struct bytes *body, const struct image *img,
              const struct save_opts *opts, struct err *err);

/* Turns the thumbnail. If that cannot be done, or it would be longer than
 * `room` afterwards, it clears *kept, with a warning. Fails only without
 * memory. */
int jfif_turn_extension(struct bytes *body, size_t room,
                        const struct image *img, const struct save_opts *opts,
                        bool *kept, struct err *err);

#endif
