/* An encoder of libjpeg for one part of a picture. */
#include "codecs/jpeg/codec_thread.h"

#include <jerror.h>

enum { ROOM = 1 << 16 }; /* the least that is reserved when the file is full */

/* ---- The destination --------------------------------------------------- */

/* libjpeg's own jpeg_mem_dest() leaves a pointer to freed memory when memory
 * runs out. */
static void on_begin(j_compress_ptr c)
{
    struct codec_target *target = (struct codec_target *)c->dest;
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
    struct codec_target *target = (struct codec_target *)c->dest;
    target->file->size -= target->to.free_in_buffer;
}

void codec_thread_set_target(struct codec_target *target, j_compress_ptr c,
                             struct bytes *file)
{
    *target = (struct codec_target){
        { .init_destination = on_begin,
          .empty_output_buffer = on_full,
          .term_destination = on_end },
        file,
    };
    c->dest = &target->to;
}

void codec_thread_describe_error(j_common_ptr cinfo, struct err *err)
{
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    if (cinfo->err->msg_code == JERR_OUT_OF_MEMORY)
        fail_memory(err, "%s", text);
    else
        fail(err, "%s", text);
}

/* ---- A worker ---------------------------------------------------------- */

static void on_error(j_common_ptr cinfo)
{
    struct codec_thread *w = cinfo->client_data;
    codec_thread_describe_error(cinfo, &w->why);
    longjmp(w->out, 1);
}

static void on_message(j_common_ptr cinfo, int level)
{
    (void)cinfo, (void)level;
}

static void copy_huffman(j_compress_ptr c, JHUFF_TBL **to,
                         JHUFF_TBL *const *from)
{
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        if (!from[i])
            continue;
        if (!to[i])
            to[i] = jpeg_alloc_huff_table((j_common_ptr)c);
        *to[i] = *from[i];
        to[i]->sent_table = FALSE;
    }
}

static void copy_settings(j_compress_ptr c,
                          const struct jpeg_compress_struct *from)
{
    c->image_width = from->image_width;
    c->image_height = from->image_height;
    c->input_components = from->input_components;
    c->in_color_space = from->in_color_space;
    jpeg_set_defaults(c);
    jpeg_set_colorspace(c, from->jpeg_color_space);
    for (int i = 0; i < NUM_QUANT_TBLS; i++) {
        if (!from->quant_tbl_ptrs[i])
            continue;
        if (!c->quant_tbl_ptrs[i])
            c->quant_tbl_ptrs[i] = jpeg_alloc_quant_table((j_common_ptr)c);
        *c->quant_tbl_ptrs[i] = *from->quant_tbl_ptrs[i];
    }
    copy_huffman(c, c->dc_huff_tbl_ptrs, from->dc_huff_tbl_ptrs);
    copy_huffman(c, c->ac_huff_tbl_ptrs, from->ac_huff_tbl_ptrs);
    for (int i = 0; i < c->num_components; i++) {
        jpeg_component_info *to = &c->comp_info[i];
        const jpeg_component_info *info = &from->comp_info[i];
        to->component_id = info->component_id;
        to->h_samp_factor = info->h_samp_factor;
        to->v_samp_factor = info->v_samp_factor;
        to->quant_tbl_no = info->quant_tbl_no;
        to->dc_tbl_no = info->dc_tbl_no;
        to->ac_tbl_no = info->ac_tbl_no;
    }
    /* A component by itself is coded block by block (T.81, A.2.2). */
    if (c->num_components == 1)
        c->comp_info->h_samp_factor = c->comp_info->v_samp_factor = 1;
    c->optimize_coding = from->optimize_coding;
    c->restart_interval = from->restart_interval;
    c->write_JFIF_header = FALSE;
    c->write_Adobe_marker = FALSE;
}

bool codec_thread_run(struct codec_thread *w,
                      const struct jpeg_compress_struct *from,
                      struct bytes *file, bool (*work)(void *context),
                      void *context)
{
    w->done = false;
    w->why = (struct err){ .text = "" };
    w->c.err = jpeg_std_error(&w->mgr);
    w->mgr.error_exit = on_error;
    w->mgr.emit_message = on_message;
    w->c.client_data = w;
    if (setjmp(w->out) == 0) {
        jpeg_create_compress(&w->c);
        codec_thread_set_target(&w->target, &w->c, file);
        copy_settings(&w->c, from);
        w->done = work(context);
    }
    jpeg_destroy_compress(&w->c);
    return w->done;
}

#if JPEG_LIB_VERSION >= 80
void codec_thread_size(j_compress_ptr c)
{
    c->jpeg_width = c->image_width;
    c->jpeg_height = c->image_height;
    c->min_DCT_h_scaled_size = c->min_DCT_v_scaled_size = DCTSIZE;
}
#else
void codec_thread_size(j_compress_ptr c)
{
    (void)c;
}
#endif
