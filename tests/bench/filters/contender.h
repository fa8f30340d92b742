/* contender.h - what the filter bench calls: the same filters by dfc, by a hand in C, by Halide and by OpenCV. Each of
 * them is a shared object with one function, contenders(), so that whatever is not installed is simply not there.
 *
 * Filters:  pictures are rows of pixels without gaps. Each filter is given by input, output and definition.
 *           harris: f32[h, w] to f32[h - 4, w - 4], by PolyMage's definition, no border.
 *           unsharp: f32[3, h, w] to f32[3, h - 4, w - 4], by PolyMage's definition, planes apart, no border.
 *           bilateral: f32[h, w] to f32[h, w], a window of 5 pixels across, mirrored, as cv::bilateralFilter.
 *           sobel: u8[h, w] to u8[h, w], Gauss 5 x 5 and the length of Sobel's gradient, mirrored.
 *           canny: u8[h, w] to u8[h, w], of a blurred picture, as cv::Canny with aperture 3 and L2.
 *           camera: u16[h, w] to u8[h - 12, w - 12, 3], the twelve stages of examples/filters/camera.df, no border.
 * Threads:  run() works on the calling thread alone.
 */
#ifndef CONTENDER_H
#define CONTENDER_H

#include <stddef.h>

#define HARRIS_K 0.04f
#define UNSHARP_WEIGHT 3.0f
#define UNSHARP_THRESHOLD 0.001f
#define CANNY_LOW 40
#define CANNY_HIGH 90
#define BILATERAL_SPACE 2.0f            /* sigmas: in pixels, */
#define BILATERAL_RANGE 0.1f            /* and in brightness, where 1 is white */

struct contender {
    const char *name;                   /* NULL: after the last */
    /* Filters `in`, of h x w pixels, into `out`. Not 0: it said why on stderr. */
    int (*run)(const void *in, size_t h, size_t w, void *out);
};

#ifdef __cplusplus
extern "C"
#endif
/* Those that there are for a filter. Called once. */
const struct contender *contenders(const char *filter);

#endif
