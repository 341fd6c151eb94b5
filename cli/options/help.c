/* The help of all commands but bench. */
#include "cli/options/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/options/option_table.h"

static void help_turn(void)
{
    fputs("gimgxf OP[,OP...] [options] INPUT OUTPUT   turn a picture\n"
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
          "png jpeg bmp tga hdr pnm (pbm pgm ppm) pam pfm npy npz\n",
          stdout);
    parser_help(&option_table, ABOUT_ALL);
    puts("Exit status: 0 done, 1 failed, 2 wrong usage, 3 no device. "
         "More: man gimgxf");
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
         "damaged\n");
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
    else
        help_turn();
}
