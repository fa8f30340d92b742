/* phantom.c - makes projections of the three-dimensional Shepp-Logan phantom, as a file .rct: phantom VIEWS WIDTH HEIGHT FILE.rct
 *
 * Integrals along rays are exact. The source goes round in a circle, SOURCE_MM from the axis, with the detector DETECTOR_MM from the source.
 * The detector has 384.4 mm x 295.7 mm, as 1248 x 960 pixels of 0.308 mm do.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "phantom.h"

static const double SOURCE_MM = 785, DETECTOR_MM = 1200, WIDTH_MM = 1248 * 0.308, PI = 3.141592653589793;

/* The phantom's density, integrated from the source along the unit direction. */
static double integral(const double *source, const double *direction)
{
    double sum = 0;
    for (unsigned i = 0; i < PHANTOM_PARTS; i++) {
        const struct ellipsoid *e = &phantom[i];
        double o[3], d[3];
        phantom_inside(e, source, 1, o);
        phantom_inside(e, direction, 0, d);
        double a = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], b = o[0] * d[0] + o[1] * d[1] + o[2] * d[2],
               c = o[0] * o[0] + o[1] * o[1] + o[2] * o[2] - 1, root = b * b - a * c;
        if (root > 0)
            sum += e->density * 2 * sqrt(root) / a;
    }
    return sum;
}

static void view(double angle, int width, int height, double matrix[12], float *image)
{
    const double pixel = WIDTH_MM / width, k = DETECTOR_MM / pixel, s = sin(angle), c = cos(angle);
    const double uc = 0.5 * (width - 1), vc = 0.5 * (height - 1);
    const double rows[3][4] = { { (-k * s - uc * c) / SOURCE_MM, (k * c - uc * s) / SOURCE_MM, 0, uc },
                                { -vc * c / SOURCE_MM, -vc * s / SOURCE_MM, k / SOURCE_MM, vc },
                                { -c / SOURCE_MM, -s / SOURCE_MM, 0, 1 } };
    const double source[3] = { SOURCE_MM * c, SOURCE_MM * s, 0 };
    for (int i = 0; i < 12; i++)
        matrix[i] = rows[i % 3][i / 3];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double u = (x - uc) * pixel, v = (y - vc) * pixel, length = sqrt(DETECTOR_MM * DETECTOR_MM + u * u + v * v);
            double direction[3] = { (-DETECTOR_MM * c - u * s) / length, (-DETECTOR_MM * s + u * c) / length, v / length };
            image[(size_t)y * (size_t)width + (size_t)x] = (float)integral(source, direction);
        }
}

int main(int argc, char **argv)
{
    int views = argc == 5 ? atoi(argv[1]) : 0, width = argc == 5 ? atoi(argv[2]) : 0, height = argc == 5 ? atoi(argv[3]) : 0;
    if (views < 1 || views > 10000 || width < 4 || height < 4 || width > 4096 || height > 4096) {
        fprintf(stderr, "usage: phantom VIEWS WIDTH HEIGHT FILE.rct   (1 to 10000 views, 4 to 4096 pixels a side)\n");
        return 2;
    }
    const uint32_t header[3] = { (uint32_t)width, (uint32_t)height, (uint32_t)views };
    const float hu[2] = { 2000, 100 };
    size_t pixels = (size_t)width * (size_t)height;
    float *image = malloc(pixels * sizeof *image);
    FILE *file = fopen(argv[4], "wb");
    if (!image || !file) {
        perror(argv[4]);
        return 1;
    }
    fwrite(header, sizeof header, 1, file);
    fwrite(hu, sizeof hu, 1, file);
    for (int i = 0; i < views; i++) {
        double matrix[12];
        view(2 * PI * i / views, width, height, matrix, image);
        fwrite(matrix, sizeof matrix, 1, file);
        fwrite(image, sizeof *image, pixels, file);
    }
    int bad = ferror(file);
    if (fclose(file) != 0 || bad) {
        perror(argv[4]);
        return 1;
    }
    free(image);
    return 0;
}
