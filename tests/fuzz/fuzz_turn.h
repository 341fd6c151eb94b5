/* Turning a whole file within its format, as struct codec.turn does, for the
 * targets of such formats. */
#ifndef TESTS_FUZZ_FUZZ_TURN_H
#define TESTS_FUZZ_FUZZ_TURN_H

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"

static struct warnings warnings;
static const struct turner turner = { .turn = turn_cells, .tile = 4096 };
static const struct save_opts save = {
    .orientation = 1, .suffix = "", .turner = &turner, .warnings = &warnings
};

static struct load_opts load_opts(uint64_t pixels, bool tolerant)
{
    warnings.count = 0;
    return (struct load_opts){
        .limits = { .pixels = pixels, .bytes = 64 << 20 },
        .mem = mem_plain,
        .tolerant = tolerant,
        .portable = true,
        .turner = &turner,
        .save = &save,
        .warnings = &warnings,
    };
}

/* Returns whether it can be turned; else `made` is empty. What nothing changes
 * in is copied. */
static bool turn_file(const struct codec *codec, struct bytes *made,
                      struct bytes file, enum xform t,
                      const struct load_opts *load)
{
    struct image img = { 0 };
    struct err err = { .text = "" };
    *made = (struct bytes){ 0 };
    if (codec->turn(made, &img, file, t, load, &err) == 0) {
        must(made->size || bytes_append(made, file.data, file.size));
        must(load->tolerant || codec->check(*made, NULL, NULL, &err) == 0);
        return true;
    }
    must(*err.text);
    bytes_free(made);
    return false;
}

#endif
