/* The command line. In comes argv; out goes a struct options that the commands
 * read, or a message that says what is wrong and what to write instead.
 *
 *   command_line   reads argv, and checks what was given together
 *   option_table   all options: name, help, the field, the setter; and --help
 *   parser         the loop that reads a table; bench has a table of its own
 *   setters        texts to numbers, names, colors
 *   hint           what was probably meant
 *
 * The room opens no picture and starts nothing; it only looks whether names
 * that were given are files or directories. */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include "cli/options/parser.h"
#include "codecs/codec.h"

enum { OPTIONS_DEVICES = 16, OPTIONS_GLOBS = 32 };

enum command {
    COMMAND_TURN,  /* file[0] to file[1] */
    COMMAND_BATCH, /* all of file[], and of a list */
    COMMAND_INFO,
    COMMAND_CHECK,
    COMMAND_RELATE,
    COMMAND_SERVE,
    COMMAND_HELP, /* of the command in file[0], if there is one */
    COMMAND_VERSION,
};

/* Patterns of names, as --include and --exclude take them. */
struct globs {
    const char *glob[OPTIONS_GLOBS];
    unsigned count;
};

/* GPUs, as --device names them. */
struct device_list {
    int number[OPTIONS_DEVICES];
    unsigned count;   /* 0: none was named; or LANE_ALL_DEVICES */
    const char *text; /* as given; NULL: not given */
};

enum sandbox_choice { SANDBOX_ON, SANDBOX_OFF };

struct options {
    enum command command;
    enum xform op;
    const char *op_name;     /* canonical: "rotate90", "upright" */
    bool upright;            /* that is all: the pixels as they are shown */
    const char *const *file; /* what is left: names of files */
    int nfiles;

    const char *format_name; /* --format; NULL: by the suffix of the output */
    bool no_clobber;         /* the last of --no-clobber and --force */
    bool forced;             /* that is --force, and was given */
    bool preserve;
    bool ignore_orientation;
    enum strip strip;
    unsigned drop; /* DROP_..., or-ed */
    int quality;   /* 0: the codec's own */
    int effort;    /* 0: the codec's own; else 1 + the level */
    bool optimize;
    bool no_restart;
    enum edge edge;
    bool lossless; /* and then `edge` is EDGE_FAIL */
    bool tag_only;
    bool all;    /* turn pictures that are not shown with the first one, too */
    bool pixels; /* fail where the samples would not be moved */
    bool verify;
    unsigned depth; /* 0: as it is */
    enum layout layout;
    bool background;
    uint8_t over[3];
    bool tolerant;
    struct limits limits;
    double max_seconds;  /* for a file; 0: as many as it takes */
    const char *backend; /* "auto", "cpu", "cuda" */
    struct device_list devices;
    uint64_t vram; /* 0: what is best */
    unsigned threads;
    enum sandbox_choice sandbox;
    bool quiet, verbose, json;

    /* Which files a batch takes, and what it calls what it writes. */
    bool recursive;
    const char *files_from; /* a list of names, "-" for standard input */
    bool nul;               /* NUL ends a name there, and a job of serve */
    const char *root;       /* of the files of serve, or NULL */
    struct globs include, exclude;
    const char *directory; /* outputs go below it; NULL: none was named */
    const char *output;    /* the template of their names, or NULL */
    bool in_place;
    const char *stack;        /* all outputs go into this array; or NULL */
    enum layout stack_layout; /* of it, as asked for; `layout` is that of one
                                 picture */
    const char *backup;       /* the suffix that the old file gets, or NULL */
    bool update, dry_run;
    bool isolate;                  /* the jobs have a process of their own */
    unsigned fail_after;           /* end after so many failures; 0: never */
    const char *manifest, *resume; /* or NULL; what is resumed is the manifest
                                      unless another one is named */
    unsigned shard, shards;        /* this one, from 1, of how many; 0: all */

    uint64_t given; /* a bit for each option that was: option_table_given() */
    /* The options that bear on what is written, as "--edge=trim --strip": two
     * runs with the same write the same. */
    char shape[256];
};

/* ---- The command line (command_line.c) ---- */

/* Reads the command line, which must outlive the options. Not for two threads
 * at a time. Returns 0; on failure -1, with the message in `err`, and nothing
 * must be done but to print it. */
int command_line_parse(struct options *opts, int argc, char **argv,
                       struct err *err);

/* Reads the words of one job, "OP --option=VALUE... INPUT OUTPUT", into a copy
 * of `base`, the options of the whole program. Refuses options that are not
 * about one picture. Otherwise as command_line_parse(). */
int command_line_parse_job(struct options *opts, const struct options *base,
                           int argc, char **argv, struct err *err);

/* ---- The table of all options but those of bench (option_table.c) ---- */

/* What an option is about, and which commands take it. */
enum option_group {
    ABOUT_SHAPE = 1, /* what is written; part of options.shape */
    ABOUT_JOB = 2,   /* one picture, but not what is written */
    ABOUT_RUN = 4,   /* the whole run; any command takes it */
    ABOUT_LIST = 8,  /* which files a batch takes, and where it writes */
    FOR_INFO = 16,
    FOR_SERVE = 64,      /* for all jobs together */
    ABOUT_DRY_RUN = 128, /* one picture and a batch alike */
    FOR_RELATE = 256,
    FOR_CHECK = 512,
    ONLY_SERVE = 32,
    COMMON = 1024, /* in the help that fits a screen */
    ABOUT_ALL =
        ABOUT_SHAPE | ABOUT_JOB | ABOUT_RUN | ABOUT_LIST | ABOUT_DRY_RUN,
};

/* Sets fields of struct options. */
extern const struct parser_table option_table;

enum { OPTION_THREADS_MAX = 1024 }; /* more than any machine has processors */

/* Returns whether this long option was on the command line. */
bool option_table_given(const struct options *opts, const char *name);

/* Prints the help of the command that is called `name` on stdout; of "all",
 * that of turns with all options by heading; of any other name, with the common
 * ones. */
void option_table_help(const char *name);

#endif
