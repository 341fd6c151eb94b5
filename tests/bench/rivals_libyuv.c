/* What libyuv has for the eight turns: rotations of planes of bytes and of 16
 * bits, and of pixels of 4 bytes; mirrors of cells of 1, 2 and 4 bytes. */
#include "tests/bench/rivals.h"

#include <libyuv.h>

#define TEXT(number)    TEXT_OF(number)
#define TEXT_OF(number) #number

static bool rotate(const struct plane *dst, const struct plane *src,
                   enum cell cell, enum RotationMode mode)
{
    int w = (int)src->width, h = (int)src->height;
    if (cell == CELL_U8)
        return RotatePlane(src->data, (int)src->stride, dst->data,
                           (int)dst->stride, w, h, mode) == 0;
    if (cell == CELL_U16)
        return RotatePlane_16((uint16_t *)src->data, (int)src->stride / 2,
                              (uint16_t *)dst->data, (int)dst->stride / 2, w, h,
                              mode) == 0;
    return ARGBRotate(src->data, (int)src->stride, dst->data, (int)dst->stride,
                      w, h, mode) == 0;
}

static bool mirror(const struct plane *dst, const struct plane *src,
                   enum cell cell)
{
    int w = (int)src->width, h = (int)src->height;
    if (cell == CELL_U8)
        MirrorPlane(src->data, (int)src->stride, dst->data, (int)dst->stride, w,
                    h);
    else if (cell == CELL_U16)
        MirrorUVPlane(src->data, (int)src->stride, dst->data, (int)dst->stride,
                      w, h);
    else
        ARGBMirror(src->data, (int)src->stride, dst->data, (int)dst->stride, w,
                   h);
    return true;
}

static bool turn(const struct plane *dst, const struct plane *src,
                 enum cell cell, enum xform t)
{
    int w = (int)src->width, h = (int)src->height;
    if (t == XFORM_MIRROR_X)
        return mirror(dst, src, cell);
    if (t == XFORM_MIRROR_Y) /* a height below zero: from the bottom up */
        CopyPlane(src->data, (int)src->stride, dst->data, (int)dst->stride,
                  w * (int)cell_size(cell), -h);
    else if (t == XFORM_TRANSPOSE && cell == CELL_U8)
        TransposePlane(src->data, (int)src->stride, dst->data, (int)dst->stride,
                       w, h);
    else if (t == XFORM_TRANSPOSE || t == XFORM_TRANSVERSE)
        return false;
    else
        return rotate(dst, src, cell,
                      t == XFORM_ROTATE_90    ? kRotate90
                      : t == XFORM_ROTATE_180 ? kRotate180
                                              : kRotate270);
    return true;
}

const struct rival rival_libyuv = { "libyuv", TEXT(LIBYUV_VERSION), turn };
