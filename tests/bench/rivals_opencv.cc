/* What OpenCV has for the eight turns. */
#include "tests/bench/rivals.h"

#include <opencv2/core.hpp>

static cv::Mat mat_of(const struct plane *plane, enum cell cell)
{
    static const int types[] = { CV_8UC1, CV_16UC1, CV_32FC1 };
    return cv::Mat((int)plane->height, (int)plane->width, types[cell],
                   plane->data, plane->stride);
}

static bool turn(const struct plane *dst, const struct plane *src,
                 enum cell cell, enum xform t)
{
    cv::Mat to = mat_of(dst, cell), from = mat_of(src, cell);
    cv::setNumThreads(1);
    if (t == XFORM_MIRROR_X)
        cv::flip(from, to, 1);
    else if (t == XFORM_MIRROR_Y)
        cv::flip(from, to, 0);
    else if (t == XFORM_ROTATE_180)
        cv::rotate(from, to, cv::ROTATE_180);
    else if (t == XFORM_ROTATE_90)
        cv::rotate(from, to, cv::ROTATE_90_CLOCKWISE);
    else if (t == XFORM_ROTATE_270)
        cv::rotate(from, to, cv::ROTATE_90_COUNTERCLOCKWISE);
    else
        cv::transpose(from, to);
    if (t == XFORM_TRANSVERSE)
        cv::flip(to, to, -1);
    return to.data == dst->data;
}

const struct rival rival_opencv = { "OpenCV", CV_VERSION, turn };
