/* The help of all commands but bench. */
#include "cli/options/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/options/option_table.h"

static const char exit_status[] =
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no device";

/* Fits a screen of 24 rows with the prompt behind it. */
static void help_common(void)
{
    puts("gimgxf OP[,OP...] [options] INPUT OUTPUT           turn a picture\n"
         "gimgxf OP[,OP...] [options] -d DIR | -i INPUT...   turn many\n"
         "gimgxf info | check | relate | serve | manifest | bench   each has a "
         "--help\n"
         "OP: rotate90 (clockwise)  rotate180  rotate270  fliph (mirror)  "
         "flipv\n"
         "    transpose  transverse  upright (as the orientation tag asks)  "
         "copy\n"
         "Formats: png jpeg bmp tga hdr pnm pam pfm npy npz; - is stdin or "
         "stdout");
    parser_help(&option_table, COMMON);
    printf("%s. More: man gimgxf\n", exit_status);
}

static void help_all(void)
{
    puts("gimgxf OP[,OP...] [options] INPUT OUTPUT   turn a picture\n"
         "gimgxf OP[,OP...] [options] -d DIR | -o NAME | -i INPUT...   turn "
         "many\n"
         "gimgxf serve [options] -                   turn as jobs on stdin "
         "say\n"
         "gimgxf info [options] FILE...              describe pictures\n"
         "gimgxf check [options] FILE...             say which files are "
         "damaged\n"
         "gimgxf relate A B                          find the turn between "
         "pictures\n"
         "gimgxf manifest merge|check FILE...        use what batches "
         "recorded\n"
         "gimgxf bench [options]                     measure (these six "
         "have a --help)\n"
         "OP: rotate90 (cw)  rotate180  rotate270 (ccw)  transpose\n"
         "    fliph (flop, hflip, mirror)  flipv (flip, vflip)  transverse\n"
         "    upright (auto-orient)  copy (identity)\n"
         "INPUT and OUTPUT may be - for stdin and stdout. Formats:\n"
         "png jpeg bmp tga hdr pnm (pbm pgm ppm) pam pfm npy npz\n"
         "What is written:");
    parser_help(&option_table, ABOUT_SHAPE);
    puts("Each picture:");
    parser_help(&option_table, ABOUT_JOB | ABOUT_DRY_RUN);
    puts("Many pictures:");
    parser_help(&option_table, ABOUT_LIST);
    puts("The run:");
    parser_help(&option_table, ABOUT_RUN);
    printf("%s. More: man gimgxf\n", exit_status);
}

static void help_serve(void)
{
    puts("gimgxf serve [options] -   turn as jobs on standard input say\n"
         "\n"
         "A job is one JSON object in a line:\n"
         "    {\"id\": 7, \"op\": \"rotate90\", \"input\": \"a.png\", "
         "\"output\": \"b.jpg\",\n"
         "     \"options\": {\"quality\": 90, \"strip\": true}}\n"
         "Its answer is one, too, with \"status\": \"done\", \"skipped\" or "
         "\"failed\".\n"
         "\n"
         "A job may have these options; given here, they hold for all jobs:");
    parser_help(&option_table, ABOUT_SHAPE | ABOUT_JOB);
    puts("\nThese are for all jobs together:");
    parser_help(&option_table, FOR_SERVE);
    puts("\nExit status: 0 all were done, 1 some failed, 2 wrong usage, 3 no "
         "such device.\n"
         "More: man gimgxf-serve");
}

static void help_info(void)
{
    puts(
        "gimgxf info [options] FILE...   describe pictures by their headers\n");
    parser_help(&option_table, FOR_INFO);
    puts(
        "\nExit status: 0 all were described, 1 some failed or none was found, "
        "2 wrong\nusage. More: man gimgxf-info");
}

static void help_check(void)
{
    puts("gimgxf check [options] FILE...   decode pictures, and say which are "
         "damaged;\n                                 -v names the others, too\n");
    parser_help(&option_table, FOR_CHECK);
    puts("\nExit status: 0 all are sound, 1 some are not or were not checked, "
         "or none was\nfound, 2 wrong usage.\nMore: man gimgxf-check");
}

static void help_relate(void)
{
    puts("gimgxf relate A B   say which turn makes picture A picture B, or how "
         "far they are\n                    apart\n");
    parser_help(&option_table, FOR_RELATE);
    puts("\nExit status: 0 a turn makes A B, or nearly, 1 none does or one "
         "cannot be read,\n2 wrong usage. More: man gimgxf-relate");
}

static void help_manifest(void)
{
    puts("gimgxf manifest merge MANIFEST...   join those of several shares\n"
         "gimgxf manifest check MANIFEST...   compare them with the files\n");
    parser_help(&option_table, FOR_MANIFEST);
    puts("\nExit status: 0 all is well, 1 a file failed or is lost, 2 wrong "
         "usage.\nMore: man gimgxf-batch");
}

void help_print(const char *name)
{
    if (strcmp(name, "serve") == 0)
        help_serve();
    else if (strcmp(name, "info") == 0)
        help_info();
    else if (strcmp(name, "check") == 0)
        help_check();
    else if (strcmp(name, "relate") == 0)
        help_relate();
    else if (strcmp(name, "manifest") == 0)
        help_manifest();
    else if (strcmp(name, "all") == 0)
        help_all();
    else
        help_common();
}
