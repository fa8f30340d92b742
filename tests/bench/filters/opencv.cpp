// opencv.cpp - the filters that OpenCV has, on one thread. cornerHarris is of the same family and on another scale: its
// sums are of Sobel's gradient, mirrored at the edge. It has no unsharp mask as a call: there it is a blur and two sums.
#include <cstring>
#include <opencv2/imgproc.hpp>

#include "contender.h"

using namespace cv;

static Mat view(const void *data, size_t h, size_t w, int type) { return Mat((int)h, (int)w, type, const_cast<void *>(data)); }

static int harris(const void *in, size_t h, size_t w, void *out)
{
    static Mat response;
    (void)out;
    cornerHarris(view(in, h, w, CV_32F), response, 3, 3, HARRIS_K);
    return 0;
}

static int unsharp(const void *in, size_t h, size_t w, void *out)
{
    static Mat blurred, sharp, far;
    const Mat taps = (Mat_<float>(1, 5) << 1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f);
    for (size_t c = 0; c < 3; c++) {
        const Mat plane = view((const float *)in + c * h * w, h, w, CV_32F);
        Mat to = view((float *)out + c * (h - 4) * (w - 4), h - 4, w - 4, CV_32F);
        const Mat inner = plane(Rect(2, 2, (int)w - 4, (int)h - 4));
        sepFilter2D(inner, blurred, CV_32F, taps, taps);    // sees the pixels around `inner`
        addWeighted(inner, 1 + UNSHARP_WEIGHT, blurred, -UNSHARP_WEIGHT, 0, to);
        absdiff(inner, blurred, sharp);
        compare(sharp, UNSHARP_THRESHOLD, far, CMP_LT);
        inner.copyTo(to, far);
    }
    return 0;
}

static int bilateral(const void *in, size_t h, size_t w, void *out)
{
    Mat to = view(out, h, w, CV_32F);
    bilateralFilter(view(in, h, w, CV_32F), to, 5, BILATERAL_RANGE, BILATERAL_SPACE);
    return 0;
}

static int sobel(const void *in, size_t h, size_t w, void *out)
{
    static Mat blurred, dx, dy, fx, fy, length;
    Mat to = view(out, h, w, CV_8U);
    GaussianBlur(view(in, h, w, CV_8U), blurred, Size(5, 5), 0);
    Sobel(blurred, dx, CV_16S, 1, 0);
    Sobel(blurred, dy, CV_16S, 0, 1);
    dx.convertTo(fx, CV_32F);
    dy.convertTo(fy, CV_32F);
    magnitude(fx, fy, length);
    length.convertTo(to, CV_8U);
    return 0;
}

static int canny(const void *in, size_t h, size_t w, void *out)
{
    Mat to = view(out, h, w, CV_8U);
    Canny(view(in, h, w, CV_8U), to, CANNY_LOW, CANNY_HIGH, 3, true);
    return 0;
}

extern "C" const struct contender *contenders(const char *filter)
{
    static const struct {
        const char *filter;
        struct contender list[2];
    } all[] = { { "harris", { { "OpenCV (other scale)", harris }, { NULL, NULL } } },
                { "unsharp", { { "OpenCV", unsharp }, { NULL, NULL } } },
                { "bilateral", { { "OpenCV", bilateral }, { NULL, NULL } } },
                { "sobel", { { "OpenCV", sobel }, { NULL, NULL } } },
                { "canny", { { "OpenCV", canny }, { NULL, NULL } } } };
    setNumThreads(1);
    for (const auto &one : all)
        if (strcmp(one.filter, filter) == 0)
            return one.list;
    return all[0].list + 1;
}
