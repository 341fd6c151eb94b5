/* How libjpeg writes to memory, and what it says. */
#include "codecs/jpeg/library.h"

#include <jerror.h>

enum { ROOM = 1 << 16 }; /* the least that is reserved when the file is full */

/* libjpeg's own jpeg_mem_dest() leaves a pointer to freed memory when memory
 * runs out. */
static void on_begin(j_compress_ptr c)
{
    struct library_target *target = (struct library_target *)c->dest;
    struct bytes *file = target->file;
    size_t size = file->size;
    if (!bytes_reserve(file, ROOM)) {
        c->err->msg_code = JERR_OUT_OF_MEMORY;
        c->err->msg_parm.i[0] = 0;
        c->err->error_exit((j_common_ptr)c);
    }
    target->to.next_output_byte = file->data + size;
    target->to.free_in_buffer = file->capacity - size;
    file->size = file->capacity;
}

static boolean on_full(j_compress_ptr c)
{
    on_begin(c);
    return TRUE;
}

static void on_end(j_compress_ptr c)
{
    struct library_target *target = (struct library_target *)c->dest;
    target->file->size -= target->to.free_in_buffer;
}

void library_set_target(struct library_target *target, j_compress_ptr c,
                        struct bytes *file)
{
    *target = (struct library_target){
        { .init_destination = on_begin,
          .empty_output_buffer = on_full,
          .term_destination = on_end },
        file,
    };
    c->dest = &target->to;
}

void library_describe_error(j_common_ptr cinfo, struct err *err)
{
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    if (cinfo->err->msg_code == JERR_OUT_OF_MEMORY)
        fail_memory(err, "%s", text);
    else
        fail(err, "%s", text);
}

#if JPEG_LIB_VERSION >= 80
void library_size(j_compress_ptr c)
{
    c->jpeg_width = c->image_width;
    c->jpeg_height = c->image_height;
    c->min_DCT_h_scaled_size = c->min_DCT_v_scaled_size = DCTSIZE;
}
#else
void library_size(j_compress_ptr c)
{
    (void)c;
}
#endif
