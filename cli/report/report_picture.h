/* Prints what a picture is: gimgxf info. */
#ifndef CLI_REPORT_REPORT_PICTURE_H
#define CLI_REPORT_REPORT_PICTURE_H

#include "cli/job/job.h"

/* Prints the names of the columns of CSV, before all pictures. */
void report_picture_csv_head(void);

/* Prints on standard output what a picture is: in words, or as the options ask
 * in JSON or as a line of CSV. `err` says why that is not known, or is NULL. */
void report_picture(const char *file, const struct options *opts,
                    const struct description *description,
                    const struct err *err);

#endif
