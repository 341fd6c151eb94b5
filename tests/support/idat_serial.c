/* The kernels of cuda/png/ in plain loops. */
#include "tests/support/scan_serial.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/png/idat_code.h"
#include "cuda/png/idat_inflate.h"

/* What a block shares; what nothing has been written to is not 0. */
union idat_shared {
    struct inflate_shared inflate;
    struct adler_shared adler;
    struct undo_shared undo;
    struct move_shared move;
    struct filter_shared filter;
    struct lz77_shared lz77;
    struct code_shared code;
    struct emit_shared emit;
};

static void run(enum idat_kernel kernel, uint32_t block,
                const struct idat_params *p, union idat_shared *s)
{
#define CASE(name, call)                                                       \
    case name:                                                                 \
        call;                                                                  \
        break
    switch (kernel) {
        CASE(IDAT_INFLATE, idat_inflate(p, block, &s->inflate));
        CASE(IDAT_CHECK_ADLER, idat_check_adler(p, block, &s->adler));
        CASE(IDAT_UNDO, idat_undo(p, block, &s->undo));
        CASE(IDAT_MOVE, idat_move(p, block, &s->move));
        CASE(IDAT_TRY, idat_try_filter(p, block, &s->lz77));
        CASE(IDAT_CHOOSE, idat_choose_filter(p, block));
        CASE(IDAT_FILTER, idat_filter(p, block, &s->filter));
        CASE(IDAT_SUM, idat_sum_band(p, block, &s->adler));
        CASE(IDAT_MATCHES, idat_find_matches(p, block, &s->lz77));
        CASE(IDAT_CODES, idat_make_codes(p, block, &s->code));
        CASE(IDAT_PLACE, idat_place(p, block));
        CASE(IDAT_EMIT, idat_emit(p, block, &s->emit));
        CASE(IDAT_CHECK, idat_check_band(p, block, &s->inflate));
        CASE(IDAT_CHECK_ROWS, idat_check_rows(p, block));
    }
#undef CASE
}

void idat_serial_launch(unsigned kernel, uint32_t blocks, const void *params)
{
    union idat_shared *shared = malloc(sizeof *shared);
    if (!shared)
        abort();
    for (uint32_t i = 0; i < blocks; i++) {
        memset(shared, 0xa5, kernel == IDAT_MOVE ? 0 : sizeof *shared);
        run((enum idat_kernel)kernel, i, params, shared);
    }
    free(shared);
}
