/* Setters of options: one for each type of field, and one for each option whose
 * value has a form of its own. All are a parser_setter (parser.h). The texts
 * that they keep are those of the command line. */
#ifndef CLI_OPTIONS_SETTERS_H
#define CLI_OPTIONS_SETTERS_H

#include "cli/options/parser.h"

parser_setter setters_true, setters_false; /* a bool */
parser_setter setters_constant; /* an int or an enum, to option->least */
parser_setter setters_number;   /* an int from option->least to option->most */
parser_setter setters_seconds;  /* a double */
parser_setter setters_amount;   /* a uint64_t; K is option->least, M its square,
                                   G its cube */
parser_setter setters_choice;   /* an int or an enum, by option->choices */
parser_setter setters_text;     /* a const char * */
parser_setter setters_name;     /* the same, not empty */
parser_setter setters_file;     /* the same, and not "-" */
parser_setter setters_suffix;   /* the same, without a slash */
parser_setter setters_format;   /* the same, the name of a format */
parser_setter setters_backend;  /* the same, by option->choices */
parser_setter setters_devices;  /* a struct device_list: "0,1" or "all" */
parser_setter setters_glob;     /* a struct globs: adds a pattern */
parser_setter setters_layout;   /* an enum layout */

/* These set two fields, so they take the whole struct options. */
parser_setter setters_strip;      /* "gps,icc" */
parser_setter setters_background; /* a color of CSS: a name, #RRGGBB or #RGB */
parser_setter setters_shard;      /* "3/8" */

#endif
