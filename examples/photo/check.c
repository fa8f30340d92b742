/* check.c - checks photo's result by a second way: check IN.png OUT.png. Filters the whole picture at once by the
 * definitions, in double precision and by direct double loops over a two-dimensional mask, borders mirrored. (Luma's
 * weights are the 14-bit fractions that photo.df and OpenCV use for 0.299, 0.587, 0.114: another rounding of the grey
 * value would be amplified by Sobel.) Prints how many pixels differ and by how much at most; exit status 1 where one
 * differs by more than one grey level.
 */
#include <math.h>

#include "check.h"

static double convolve(const double *image, int width, int height, int x, int y, int reach, const double *mask)
{
    double sum = 0;
    for (int j = -reach; j <= reach; j++)
        for (int i = -reach; i <= reach; i++)
            sum += mask[(j + reach) * (2 * reach + 1) + i + reach] *
                   image[(long)reflect(y + j, height) * width + reflect(x + i, width)];
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: check IN.png OUT.png\n");
        return 2;
    }
    static const double across[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1}, along[9] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    static const double binomial[5] = {1, 4, 6, 4, 1};
    double gauss[25];
    int width, height, w, h;
    uint8_t *rgb = load(argv[1], PNG_FORMAT_RGB, &width, &height), *out = load(argv[2], PNG_FORMAT_GRAY, &w, &h);
    if (w != width || h != height) {
        printf("sizes differ: %d x %d in, %d x %d out\n", width, height, w, h);
        return 1;
    }
    for (int i = 0; i < 25; i++)
        gauss[i] = binomial[i / 5] * binomial[i % 5] / 256;
    double *grey = malloc(sizeof(double) * (size_t)width * (size_t)height),
           *blurred = malloc(sizeof(double) * (size_t)width * (size_t)height);
    if (!grey || !blurred)
        return 1;
    for (long i = 0; i < (long)width * height; i++)
        grey[i] = floor((4899.0 * rgb[3 * i] + 9617.0 * rgb[3 * i + 1] + 1868.0 * rgb[3 * i + 2]) / 16384 + 0.5);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            blurred[(long)y * width + x] = floor(convolve(grey, width, height, x, y, 2, gauss) + 0.5);
    long differ = 0;
    double most = 0;
    long wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double dx = convolve(blurred, width, height, x, y, 1, across),
                   dy = convolve(blurred, width, height, x, y, 1, along);
            double edge = fmin(255, floor(sqrt(dx * dx + dy * dy) + 0.5)), d = fabs(edge - out[(long)y * width + x]);
            differ += d > 0;
            wrong += d > 1;
            most = fmax(most, d);
        }
    printf("%d x %d: %ld pixels differ, by %.0f at most\n", width, height, differ, most);
    free(rgb);
    free(out);
    free(grey);
    free(blurred);
    return wrong > 0;
}
