/* The frames of an animation. */
#include "codecs/image/frames.h"

#include "codecs/base/account.h"
#include "codecs/base/memory.h"

struct frame_place frame_place_turn(struct frame_place place, enum xform t,
                                    uint32_t width, uint32_t height)
{
    if (xform_transposes(t))
        place =
            (struct frame_place){ place.y, place.x, place.height, place.width };
    if (t & XFORM_MIRROR_X)
        place.x = width - place.width - place.x;
    if (t & XFORM_MIRROR_Y)
        place.y = height - place.height - place.y;
    return place;
}

void frames_add(struct frames_size *size, const struct image *kind,
                uint32_t width, uint32_t height, unsigned of_pixel,
                uint64_t coded)
{
    const uint64_t pixels = (uint64_t)width * height,
                   cells = image_row_bytes(kind, width) * height +
                           image_row_bytes(kind, height) * width,
                   bytes = of_pixel * pixels + cells;
    size->frames++;
    if (__builtin_add_overflow(size->pixels, pixels, &size->pixels))
        size->pixels = UINT64_MAX;
    size->coded += coded;
    size->cells += cells;
    size->most = bytes > size->most ? bytes : size->most;
}

/* Frames are decoded, turned and encoded one after the other, which takes time
 * and no memory. Those that become more than so many times their bytes, as
 * hardly any do but flat ones, take work beyond what is usual: each byte is
 * looked at some times, and so is what pads rows, before the turn and after it.
 */
int frames_check_work(const struct frames_size *size,
                      const struct account *account, struct err *err)
{
    enum { FLAT_FROM = 500, LOOKS = 4 };
    const uint64_t bytes = size->cells / 2, usual = FLAT_FROM * size->coded;
    return bytes > usual
               ? account_check_work(account, LOOKS * (bytes - usual), err)
               : 0;
}

int frames_check(struct frames_size *size, const struct limits *limits,
                 struct thread_pool *pool, struct err *err)
{
    const uint64_t fit = size->most ? limits->bytes / size->most : UINT64_MAX;
    const unsigned threads = thread_pool_threads(pool);
    if (size->pixels > limits->pixels)
        return limit_refuse_frames(size->frames, size->pixels, limits, err);
    if (size->frames > 1 && frames_check_work(size, limits->account, err))
        return -1;
    size->at_once =
        fit < FRAMES_AT_ONCE ? (unsigned)fit + !fit : FRAMES_AT_ONCE;
    if (limits->reserve)
        limits->reserve(
            limits->context,
            size->most * (size->at_once < threads ? size->at_once : threads));
    return 0;
}

int frame_turn(struct image *frame, const struct turner *turner, enum xform t,
               struct err *err)
{
    struct image turned;
    if (t == XFORM_NONE)
        return 0;
    if (image_like(&turned, frame, t, mem_plain, err))
        return -1;
    if (turner->turn(turner->context, &turned, frame, t, err)) {
        image_free(&turned);
        return -1;
    }
    image_take_meta(&turned, frame);
    image_free(frame);
    *frame = turned;
    return 0;
}

/* ---- Making them ---------------------------------------------------------*/

struct made_frame {
    const struct frame_maker *maker;
    uint32_t i;
    struct bytes made;
    struct warnings warnings;
    struct err err;
    int status;
};

static void make_frame(void *context, size_t i)
{
    struct made_frame *f = (struct made_frame *)context + i;
    if (f->status == 0)
        f->status = account_check_time(f->maker->account, &f->err) ||
                    f->maker->make(f->maker->context, f->i, &f->made,
                                   &f->warnings, &f->err);
}

static int take_frame(struct made_frame *f, struct warnings *warnings,
                      struct err *err)
{
    for (unsigned i = 0; i < f->warnings.count && i < WARNINGS_MAX; i++)
        warn(warnings, "frame %u: %s", f->i + 1, f->warnings.list[i].text);
    return f->status
               ? fail_with(err, &f->err, "frame %u: %s", f->i + 1, f->err.text)
               : f->maker->take(f->maker->context, f->i, &f->made, err);
}

int frames_make(const struct frame_maker *maker, const struct frames_size *size,
                struct thread_pool *pool, struct warnings *warnings,
                struct err *err)
{
    struct made_frame *f = memory_alloc(size->at_once * sizeof *f);
    int status = f ? 0 : fail_memory(err, "no memory for the frames");
    for (uint32_t first = 0, n; status == 0 && first < size->frames;
         first += n) {
        for (n = 0; n < size->at_once && first + n < size->frames; n++) {
            f[n] = (struct made_frame){ .maker = maker, .i = first + n };
            if (maker->prepare && status == 0)
                status = maker->prepare(maker->context, first + n, &f[n].err);
            f[n].status = status;
        }
        thread_pool_run(pool, make_frame, f, n);
        status = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (status == 0)
                status = take_frame(&f[i], warnings, err);
            bytes_free(&f[i].made);
        }
    }
    memory_free(f);
    return status;
}
