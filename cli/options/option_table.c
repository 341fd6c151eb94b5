/* The table of options: what each is called, what it sets, and its help. */
#include "cli/options/options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct parser_choice edges[] = {
    { "reencode", EDGE_REENCODE }, { "trim", EDGE_TRIM }, { "tag", EDGE_TAG },
    { "fail", EDGE_FAIL },         { NULL, 0 },
};

static const struct parser_choice depths[] = {
    { "8", 8 }, { "16", 16 }, { "float", 32 }, { NULL, 0 }
};

/* 0 leaves the level to the codec, so all are one more than they are called. */
static const struct parser_choice png_levels[] = { { "0", 1 },
                                                   { "1", 2 },
                                                   { "2", 3 },
                                                   { "3", 4 },
                                                   { "4", 5 },
                                                   { "5", 6 },
                                                   { "6", 7 },
                                                   { "7", 8 },
                                                   { "8", 9 },
                                                   { "9", 10 },
                                                   { "fast", 1 + LEVEL_FAST },
                                                   { "default",
                                                     1 + LEVEL_DEFAULT },
                                                   { "small", 1 + LEVEL_SMALL },
                                                   { NULL, 0 } };

static const struct parser_choice backends[] = {
    { "auto", 0 }, { "cpu", 0 }, { "cuda", 0 }, { NULL, 0 }
};

static const struct parser_choice sandboxes[] = { { "on", SANDBOX_ON },
                                                  { "off", SANDBOX_OFF },
                                                  { NULL, 0 } };

static const struct parser_choice layouts[] = { { "auto", LAYOUT_AUTO },
                                                { "hwc", LAYOUT_HWC },
                                                { "chw", LAYOUT_CHW },
                                                { "nhw", LAYOUT_NHW },
                                                { "nhwc", LAYOUT_NHWC },
                                                { "nchw", LAYOUT_NCHW },
                                                { NULL, 0 } };

static const struct parser_choice strips[] = {
    { "all", STRIP_ALL }, { "metadata", STRIP_METADATA },
    { "gps", DROP_GPS },  { "thumbnail", DROP_THUMBNAIL },
    { "xmp", DROP_XMP },  { "exif", DROP_EXIF },
    { "icc", DROP_ICC },  { NULL, 0 }
};

/* A setter and the field that it sets; the field is all options where a setter
 * sets two of them. */
#define SET(setter, member)                                                    \
    .set = setters_##setter, .offset = offsetof(struct options, member)
#define SET_ALL(setter) .set = setters_##setter, .offset = 0

static const struct parser_option options[] = {
    { 0, "format", "NAME", ABOUT_SHAPE | COMMON,
      "write this format, whatever OUTPUT is called",
      SET(format, format_name) },
    { 'n', "no-clobber", NULL, ABOUT_JOB | COMMON,
      "leave an OUTPUT that exists alone", SET(true, no_clobber) },
    { 'f', "force", NULL, ABOUT_JOB | COMMON,
      "replace an OUTPUT that exists, and do not ask", SET(true, no_clobber),
      .least = 1 },
    { 'p', "preserve", NULL, ABOUT_JOB,
      "give OUTPUT mode, owner and times of INPUT", SET(true, preserve) },
    { 0, "ignore-orientation", NULL, ABOUT_SHAPE,
      "turn the pixels as stored, leave the tag",
      SET(true, ignore_orientation) },
    { 0, "tag-only", NULL, ABOUT_SHAPE,
      "set the orientation tag, move no pixel", SET(true, tag_only) },
    { 0, "all", NULL, ABOUT_SHAPE, "turn every picture of a HEIF file",
      SET(true, all) },
    { 0, "pixels", NULL, ABOUT_SHAPE,
      "move the pixels, never only set how they are shown", SET(true, pixels) },
    { 0, "strip", "[=LIST]", ABOUT_SHAPE | COMMON,
      "drop metadata, all, gps, thumbnail, xmp, exif, icc", SET_ALL(strip),
      .choices = strips },
    { 0, "edge", "WAY", ABOUT_SHAPE,
      "if a JPEG has odd sizes: reencode, trim, tag, fail", SET(choice, edge),
      .choices = edges },
    { 0, "lossless", NULL, ABOUT_SHAPE | COMMON,
      "fail rather than lose samples; as --edge fail", SET(true, lossless) },
    { 0, "quality", "N", ABOUT_SHAPE | COMMON, "encode a JPEG anew, 1 to 100",
      SET(number, quality), .least = 1, .most = 100 },
    { 0, "optimize", NULL, ABOUT_SHAPE, "make a JPEG as small as it gets",
      SET(true, optimize) },
    { 0, "no-restart", NULL, ABOUT_SHAPE,
      "write a JPEG without restart markers", SET(true, no_restart) },
    { 0, "png-level", "LEVEL", ABOUT_SHAPE | COMMON,
      "fast, default or small; or 0 to 9", SET(choice, effort),
      .choices = png_levels },
    { 0, "depth", "N", ABOUT_SHAPE, "make samples 8, 16 or float",
      SET(choice, depth), .choices = depths },
    { 0, "layout", "AXES", ABOUT_SHAPE | FOR_INFO | FOR_CHECK | FOR_RELATE,
      "of arrays: hwc, chw, nhw, nhwc, nchw or auto", SET(choice, layout),
      .choices = layouts },
    { 0, "background", "COLOR", ABOUT_SHAPE,
      "below transparency: a CSS name, #RRGGBB or #RGB", SET_ALL(background) },
    { 0, "tolerant", NULL, ABOUT_SHAPE | FOR_INFO,
      "take what can be read of a damaged file", SET(true, tolerant) },
    { 'd', "directory", "DIR", ABOUT_LIST | COMMON,
      "write all outputs below DIR", SET(text, directory), .least = TEXT_NAME },
    { 'o', "output", "NAME", ABOUT_LIST,
      "output name, of {dir} {stem} {ext} {op}", SET(text, output),
      .least = TEXT_NAME },
    { 0, "stack", "FILE", ABOUT_LIST, "write all pictures into one NPY array",
      SET(text, stack), .least = TEXT_FILE },
    { 'i', "in-place", NULL, ABOUT_LIST | COMMON, "replace each INPUT",
      SET(true, in_place) },
    { 0, "backup", "SUFFIX", ABOUT_LIST,
      "with -i: keep the old file as its name and SUFFIX", SET(text, backup),
      .least = TEXT_SUFFIX },
    { 'r', "recursive", NULL, ABOUT_LIST | COMMON | FOR_INFO | FOR_CHECK,
      "take the pictures in directories too", SET(true, recursive) },
    { 0, "files-from", "FILE", ABOUT_LIST | FOR_INFO | FOR_CHECK,
      "take the INPUTs that FILE, or -, lists", SET(text, files_from) },
    { '0', "null", NULL, ABOUT_LIST | FOR_INFO | FOR_CHECK | FOR_SERVE,
      "NUL, not a newline, ends a listed name or a job", SET(true, nul) },
    { 0, "include", "GLOB", ABOUT_LIST | FOR_INFO | FOR_CHECK,
      "take only names like this; may be repeated", SET(glob, include) },
    { 0, "exclude", "GLOB", ABOUT_LIST | FOR_INFO | FOR_CHECK,
      "take no names like this; may be repeated", SET(glob, exclude) },
    { 'u', "update", NULL, ABOUT_LIST, "leave an output alone that is newer",
      SET(true, update) },
    { 0, "dry-run", NULL, ABOUT_DRY_RUN | COMMON, "print what would be done",
      SET(true, dry_run) },
    { 0, "fail-after", "N", ABOUT_LIST, "end when N files have failed",
      SET(number, fail_after), .least = 1, .most = INT_MAX },
    { 0, "isolate", NULL, ABOUT_LIST | FOR_SERVE,
      "have a file that ends its process fail alone", SET(true, isolate) },
    { 0, "manifest", "FILE", ABOUT_LIST,
      "record in FILE what became of each file", SET(text, manifest),
      .least = TEXT_FILE },
    { 0, "resume", "FILE", ABOUT_LIST,
      "skip what this manifest has as done, go on", SET(text, resume),
      .least = TEXT_FILE },
    { 0, "shard", "K/N", ABOUT_LIST, "take the K-th of N shares of the files",
      SET_ALL(shard) },
    { 0, "verify", NULL, ABOUT_JOB,
      "decode what was made, and compare it with INPUT", SET(true, verify) },
    { 0, "max-pixels", "N", ABOUT_JOB | FOR_CHECK | FOR_RELATE,
      "refuse larger pictures; 500M if not given", SET(amount, limits.pixels),
      .least = 1000 },
    { 0, "max-memory", "N", ABOUT_RUN | FOR_SERVE | FOR_CHECK | FOR_RELATE,
      "memory for pictures; a quarter of all memory", SET(amount, limits.bytes),
      .least = 1024 },
    { 0, "max-seconds", "N", ABOUT_JOB | FOR_CHECK | FOR_RELATE,
      "give a file up after so many seconds", SET(seconds, max_seconds) },
    { 0, "root", "DIR", ONLY_SERVE | FOR_SERVE,
      "serve: refuse files that are not below DIR", SET(text, root),
      .least = TEXT_NAME },
    { 0, "backend", "NAME", ABOUT_RUN | FOR_SERVE, "auto, cpu or cuda",
      SET(backend, backend), .choices = backends },
    { 0, "device", "LIST", ABOUT_RUN | FOR_SERVE,
      "the GPUs to use: 0; 0,1; all", SET(devices, devices) },
    { 0, "max-vram", "N", ABOUT_RUN | FOR_SERVE,
      "GPU memory to use; larger pictures go in pieces", SET(amount, vram),
      .least = 1024 },
    { 'j', "threads", "N",
      ABOUT_RUN | COMMON | FOR_INFO | FOR_CHECK | FOR_SERVE,
      "keep N processors busy; all if not given", SET(number, threads),
      .least = 1, .most = OPTION_THREADS_MAX },
    { 0, "sandbox", "WAY",
      ABOUT_RUN | FOR_INFO | FOR_CHECK | FOR_SERVE | FOR_RELATE,
      "on or off: keep to the files and calls it needs", SET(choice, sandbox),
      .choices = sandboxes },
    { 'q', "quiet", NULL,
      ABOUT_RUN | COMMON | FOR_INFO | FOR_CHECK | FOR_RELATE,
      "print no warnings", SET(true, quiet) },
    { 'v', "verbose", NULL,
      ABOUT_RUN | COMMON | FOR_INFO | FOR_CHECK | FOR_RELATE,
      "print what was done, how, and how long it took", SET(true, verbose) },
    { 0, "json", NULL, ABOUT_RUN | FOR_INFO | FOR_CHECK | FOR_RELATE,
      "print JSON on stdout", SET(true, json) },
    { 'h', "help", NULL,
      ABOUT_RUN | COMMON | FOR_INFO | FOR_CHECK | FOR_SERVE | FOR_RELATE,
      "print this help; --help all has every option", SET(constant, command),
      .least = COMMAND_HELP },
    { 0, "version", NULL,
      ABOUT_RUN | COMMON | FOR_INFO | FOR_CHECK | FOR_SERVE | FOR_RELATE,
      "print the version and what it is built with", SET(constant, command),
      .least = COMMAND_VERSION },
};

enum { OPTIONS = sizeof options / sizeof *options };
_Static_assert(OPTIONS <= (int)PARSER_OPTIONS, "struct parser_result has room");

const struct parser_table option_table = {
    .option = options,
    .count = OPTIONS,
    .allowed = ABOUT_ALL,
};

bool option_table_given(const struct options *opts, const char *name)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (strcmp(options[i].name, name) == 0)
            return opts->given >> i & 1;
    return false;
}

/* ---- Help ---------------------------------------------------------------- */

#define EXIT_STATUS                                                            \
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no device. More: man "    \
    "gimgxf"

/* What is printed for a command, and then the options of these groups; the one
 * without a name fits a screen of 24 rows with the prompt behind it. */
static const struct help {
    const char *command, *text;
    unsigned groups;
} helps[] = {
    { "",
      "gimgxf OP[,OP...] [options] INPUT OUTPUT           turn a picture\n"
      "gimgxf OP[,OP...] [options] -d DIR | -i INPUT...   turn many\n"
      "gimgxf info | check | relate | serve | bench   each has a "
      "--help\n"
      "OP: rotate90 (clockwise)  rotate180  rotate270  fliph (mirror)  "
      "flipv\n"
      "    transpose  transverse  upright (as the orientation tag asks)  "
      "copy\n"
      "Formats: png jpeg tiff webp gif bmp tga qoi hdr pnm pam pfm npy npz; - "
      "is stdio",
      COMMON },
    { "", EXIT_STATUS, 0 },
    { "all",
      "gimgxf OP[,OP...] [options] INPUT OUTPUT   turn a picture\n"
      "gimgxf OP[,OP...] [options] -d DIR | -o NAME | -i INPUT...   turn "
      "many\n"
      "gimgxf serve [options] -                   turn as jobs on stdin "
      "say\n"
      "gimgxf info [options] FILE...              describe pictures\n"
      "gimgxf check [options] FILE...             say which files are "
      "damaged\n"
      "gimgxf relate A B                          find the turn between "
      "pictures\n"
      "gimgxf bench [options]                     measure (these five "
      "have a --help)\n"
      "OP: rotate90 (cw)  rotate180  rotate270 (ccw)  transpose\n"
      "    fliph (flop, hflip, mirror)  flipv (flip, vflip)  transverse\n"
      "    upright (auto-orient)  copy (identity)\n"
      "INPUT and OUTPUT may be - for stdin and stdout. Formats:\n"
      "png jpeg tiff webp gif bmp tga qoi hdr pnm (pbm pgm ppm) pam pfm npy "
      "npz\n"
      "and heic avif jxl raw, which are turned as they are coded.\n"
      "What is written:",
      ABOUT_SHAPE },
    { "all", "Each picture:", ABOUT_JOB | ABOUT_DRY_RUN },
    { "all", "Many pictures:", ABOUT_LIST },
    { "all", "The run:", ABOUT_RUN | ONLY_SERVE },
    { "all", EXIT_STATUS, 0 },
    { "serve",
      "gimgxf serve [options] -   turn as jobs on standard input say\n"
      "\n"
      "A job is one JSON object in a line:\n"
      "    {\"id\": 7, \"op\": \"rotate90\", \"input\": \"a.png\", "
      "\"output\": \"b.jpg\",\n"
      "     \"options\": {\"quality\": 90, \"strip\": true}}\n"
      "Its answer is one, too, with \"status\": \"done\", \"skipped\" or "
      "\"failed\".\n"
      "\n"
      "A job may have these options; given here, they hold for all jobs:",
      ABOUT_SHAPE | ABOUT_JOB },
    { "serve", "\nThese are for all jobs together:", FOR_SERVE },
    { "serve",
      "\nExit status: 0 all were done, 1 some failed, 2 wrong usage, 3 no "
      "such device.\n"
      "More: man gimgxf-serve",
      0 },
    { "info",
      "gimgxf info [options] FILE...   describe pictures by their headers\n",
      FOR_INFO },
    { "info",
      "\nExit status: 0 all were described, 1 some failed or none was found, "
      "2 wrong\nusage. More: man gimgxf-info",
      0 },
    { "check",
      "gimgxf check [options] FILE...   decode pictures, and say which are "
      "damaged;\n                                 -v names the others, "
      "too\n",
      FOR_CHECK },
    { "check",
      "\nExit status: 0 all are sound, 1 some are not or were not checked, "
      "or none was\nfound, 2 wrong usage.\nMore: man gimgxf-check",
      0 },
    { "relate",
      "gimgxf relate A B   say which turn makes picture A picture B, or how "
      "far they are\n                    apart\n",
      FOR_RELATE },
    { "relate",
      "\nExit status: 0 a turn makes A B, or nearly, 1 none does or one "
      "cannot be read,\n2 wrong usage. More: man gimgxf-relate",
      0 },
};

void option_table_help(const char *name)
{
    bool known = false;
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        known = known || strcmp(helps[i].command, name) == 0;
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        if (strcmp(helps[i].command, known ? name : "") == 0) {
            puts(helps[i].text);
            parser_help(&option_table, helps[i].groups);
        }
}
