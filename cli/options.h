/* The command line. One table of options is what the parser and --help read. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "codecs/codec.h"

enum { OPTIONS_DEVICES = 16 };

enum command { COMMAND_TURN, COMMAND_INFO, COMMAND_HELP, COMMAND_VERSION };

/* What to do with a JPEG that cannot be turned as it is coded. */

struct options {
    enum command command;
    enum xform op;
    const char *op_name;       /* canonical: "rotate90", "upright" */
    const char *const *file;   /* what is left: the input and the output */
    int nfiles;

    const struct codec *format; /* NULL: by the suffix of the output */
    const char *format_name;    /* the name or suffix that chose it, or "" */
    bool format_asked;          /* by --format */
    bool no_clobber, preserve;
    bool ignore_orientation;
    enum strip strip;
    int quality;                /* 0: the codec's own */
    int effort;                 /* 0: the codec's own; else 1 + the level */
    bool optimize;
    enum edge edge;
    unsigned depth;             /* 0: as it is */
    bool background;
    uint8_t over[3];
    bool tolerant;
    struct limits limits;
    const char *backend;        /* "auto", "cpu", "cuda" */
    int device[OPTIONS_DEVICES];
    unsigned ndevices;          /* 0: none was named; or LANE_ALL_DEVICES */
    uint64_t vram;              /* 0: what is best */
    unsigned threads;
    bool quiet, verbose, json;
};

/* Reads the command line, which must outlive the options. -1: it is not
 * understood, and nothing is to be done. */
int options_parse(struct options *opts, int argc, char **argv,
                  struct err *err);

/* Reads the value of --device: numbers, each once, or "all", which makes
 * *ndevices LANE_ALL_DEVICES. */
int options_devices(const char *value, int device[OPTIONS_DEVICES],
                    unsigned *ndevices, struct err *err);

/* Prints the help on stdout. */
void options_help(void);

/* The suffix of a file's name without its dot; "" if it has none. */
const char *options_suffix(const char *name);

#endif
