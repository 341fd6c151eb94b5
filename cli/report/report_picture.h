/* Prints what a picture is: gimgxf info. */
#ifndef CLI_REPORT_REPORT_PICTURE_H
#define CLI_REPORT_REPORT_PICTURE_H

#include "cli/job/job.h"

/* Prints on standard output what a picture is: in words, or as the options ask
 * in JSON. `err` says why that is not known, or is NULL. */
void report_picture(const char *file, const struct options *opts,
                    const struct description *description,
                    const struct err *err);

#endif
