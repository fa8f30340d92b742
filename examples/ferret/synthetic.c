/* synthetic.c - makes pictures of scenes, each of one of 100 families. A family says the colours and patterns of the ground, where the
 * horizon is, and which objects there are. Each picture of it has them at other places, in other sizes and another light. The number
 * of the family stands in the file's name, so one sees whether what is found is alike. Seeded: the same options give the same pixels.
 *     synthetic COUNT SIDE|LEAST-MOST SEED FOLDER
 */
#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FAMILIES = 100, MOST_THINGS = 5, MOST_SIDE = 4096 };
enum { PLAIN, STRIPES, CHECKS, SPOTS, CLOUDS, PATTERNS };
enum { DISC, BOX, TRIANGLE, RING, SHAPES };

struct surface {
    double colour[3], other[3];         /* the pattern changes between them */
    int pattern;
    double scale, turn, phase;          /* periods in a picture; radians */
};

struct thing {
    struct surface surface;
    int shape;
    double x, y, size, tall;            /* in parts of the picture's side */
};

struct scene {
    struct surface sky, ground;
    double horizon, slope, light, grain;
    struct thing things[MOST_THINGS];
    int n_things;
};

static uint64_t state;

static void seed(uint64_t a, uint64_t b) { state = (a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) + 0x165667b19e3779f9u; }

static double uniform(void)             /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double between(double low, double high) { return low + (high - low) * uniform(); }
static int one_of(int n) { return (int)(uniform() * n); }

static struct surface any_surface(void)
{
    struct surface s = { .pattern = one_of(PATTERNS), .scale = between(4, 14), .turn = between(0, 3.14159) };
    const double contrast = between(20, 70);
    for (int c = 0; c < 3; c++) {
        s.colour[c] = between(20, 235);
        s.other[c] = s.colour[c] + between(-1, 1) * contrast;
    }
    return s;
}

static struct scene family(int number)
{
    seed(977, (uint64_t)number);
    struct scene s = { .sky = any_surface(), .ground = any_surface(), .horizon = between(0.25, 0.75), .slope = between(-0.3, 0.3),
                       .light = 1, .grain = between(4, 12), .n_things = 2 + one_of(3) };
    s.sky.pattern = one_of(2) ? CLOUDS : s.sky.pattern;
    for (int i = 0; i < MOST_THINGS; i++)
        s.things[i] = (struct thing){ any_surface(), one_of(SHAPES), between(0.15, 0.85), between(0.2, 0.85), between(0.1, 0.24),
                                      between(0.6, 1.6) };
    return s;
}

static void vary_surface(struct surface *s)
{
    s->phase = between(0, 6.28);
    s->turn += between(-0.15, 0.15);
    s->scale *= between(0.85, 1.15);
    for (int c = 0; c < 3; c++) {
        const double d = between(-12, 12);
        s->colour[c] += d;
        s->other[c] += d;
    }
}

/* Another picture of the family. A fourth of them has one more thing in it. */
static struct scene vary(struct scene s)
{
    vary_surface(&s.sky);
    vary_surface(&s.ground);
    s.horizon += between(-0.07, 0.07);
    s.slope += between(-0.08, 0.08);
    s.light = between(0.88, 1.12);
    s.n_things += uniform() < 0.25;
    for (int i = 0; i < s.n_things; i++) {
        struct thing *t = &s.things[i];
        vary_surface(&t->surface);
        t->x += between(-0.09, 0.09);
        t->y += between(-0.09, 0.09);
        t->size *= between(0.8, 1.2);
    }
    return s;
}

static double noise_at(int64_t x, int64_t y)
{
    uint64_t z = (uint64_t)x * 0x9e3779b97f4a7c15u + (uint64_t)y * 0xc2b2ae3d27d4eb4fu;
    z = (z ^ z >> 31) * 0xbf58476d1ce4e5b9u;
    return (double)((z ^ z >> 29) >> 11) * 0x1p-53;
}

static double clouds(double x, double y)
{
    double sum = 0, part = 0.5;
    for (int octave = 0; octave < 3; octave++, part /= 2, x *= 2.1, y *= 2.1) {
        const double fx = floor(x), fy = floor(y), u = x - fx, v = y - fy;
        const int64_t i = (int64_t)fx, j = (int64_t)fy;
        sum += part * ((noise_at(i, j) * (1 - u) + noise_at(i + 1, j) * u) * (1 - v) +
                       (noise_at(i, j + 1) * (1 - u) + noise_at(i + 1, j + 1) * u) * v);
    }
    return sum / 0.875;
}

/* From 0 to 1: how much of the other colour there is at (x, y), in parts of the picture's side. */
static double pattern_at(const struct surface *s, double x, double y)
{
    const double c = cos(s->turn), d = sin(s->turn), u = (x * c + y * d) * s->scale + s->phase, v = (y * c - x * d) * s->scale;
    switch (s->pattern) {
    case STRIPES: return 0.5 + 0.5 * sin(6.28319 * u);
    case CHECKS: return (int64_t)(floor(u) + floor(v)) & 1 ? 1 : 0;
    case SPOTS: return hypot(u - floor(u) - 0.5, v - floor(v) - 0.5) < 0.3 ? 1 : 0;
    case CLOUDS: return clouds(u, v);
    default: return 0.3 * y;
    }
}

static int is_inside(const struct thing *t, double x, double y)
{
    const double u = (x - t->x) / t->size, v = (y - t->y) / t->size / t->tall, r = hypot(u, v);
    switch (t->shape) {
    case DISC: return r < 1;
    case BOX: return fabs(u) < 0.9 && fabs(v) < 0.9;
    case TRIANGLE: return v < 0.9 && v > 2 * fabs(u) - 0.9;
    default: return r < 1.1 && r > 0.6;
    }
}

static void paint(const struct scene *s, long width, long height, uint8_t *rgb)
{
    for (long j = 0; j < height; j++)
        for (long i = 0; i < width; i++) {
            const double x = ((double)i + 0.5) / (double)width, y = ((double)j + 0.5) / (double)height;
            const struct surface *at = y < s->horizon + s->slope * (x - 0.5) ? &s->sky : &s->ground;
            for (int k = 0; k < s->n_things; k++)
                at = is_inside(&s->things[k], x, y) ? &s->things[k].surface : at;
            const double p = pattern_at(at, x, y), grain = s->grain * (uniform() - 0.5);
            for (int c = 0; c < 3; c++) {
                const double v = (at->colour[c] * (1 - p) + at->other[c] * p) * s->light + grain;
                rgb[3 * (j * width + i) + c] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v + 0.5);
            }
        }
}

static int write_picture(const char *folder, long number, int of_family, long width, long height, const uint8_t *rgb)
{
    char path[4096];
    png_image image = { .version = PNG_IMAGE_VERSION, .width = (uint32_t)width, .height = (uint32_t)height,
                        .format = PNG_FORMAT_RGB, .flags = PNG_IMAGE_FLAG_FAST };
    snprintf(path, sizeof path, "%s/%05ld-f%02d.png", folder, number, of_family);
    return png_image_write_to_file(&image, path, 0, rgb, 0, NULL);
}

int main(int argc, char **argv)
{
    long count = argc == 5 ? atol(argv[1]) : 0, least = 0, most = 0;
    if (argc == 5 && sscanf(argv[2], "%ld-%ld", &least, &most) == 1)
        most = least;
    if (count < 1 || count > 99999 || least < 1 || most < least || most > MOST_SIDE) {
        fprintf(stderr, "usage: synthetic COUNT SIDE|LEAST-MOST SEED FOLDER   (1 to 99999 pictures, 1 to %d pixels a side)\n", MOST_SIDE);
        return 2;
    }
    uint8_t *rgb = malloc(3 * (size_t)(most * most));
    if (!rgb || (mkdir(argv[4], 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "synthetic: cannot make '%s': %s\n", argv[4], strerror(errno));
        return 1;
    }
    int good = 1;
    for (long i = 0; good && i < count; i++) {
        const int of_family = (int)(i % FAMILIES);
        const struct scene kind = family(of_family);
        seed(strtoull(argv[3], NULL, 10), (uint64_t)i);
        const struct scene scene = vary(kind);
        const long width = least + one_of((int)(most - least + 1)), height = least + one_of((int)(most - least + 1));
        paint(&scene, width, height, rgb);
        good = write_picture(argv[4], i, of_family, width, height, rgb);
    }
    if (!good)
        fprintf(stderr, "synthetic: cannot write into '%s'\n", argv[4]);
    free(rgb);
    return !good;
}
