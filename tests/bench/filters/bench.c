/* bench.c - runs contenders in turns with the first of them: bench FILTER H W PAIRS CONTENDERS.so…
 *
 * Each pair is one call of the first contender and one of another, in alternating order, on the same picture. One pair
 * goes before and does not count. Prints, as CSV, a line for each contender:
 *     filter,contender,ms,first_ms,ratio,differ
 * the medians of the milliseconds, of those of the first in the same pairs, and of the ratios (above 1: the first is
 * quicker), and which part of the samples differ by more than one grey level of 8 bits, or 1e-4 of the largest float (`-`:
 * they are on other scales). Filters that decide by comparing floats differ somewhere if one of the two contracts sums.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contender.h"

enum { MOST = 16, MOST_PAIRS = 1001 };
enum sample { U8, U16, F32 };

static const struct filter {
    const char *name;
    enum sample in, out;
    size_t planes, cut, channels;
} filters[] = { { "harris", F32, F32, 1, 4, 1 },
                { "unsharp", F32, F32, 3, 4, 3 },
                { "bilateral", F32, F32, 1, 0, 1 },
                { "sobel", U8, U8, 1, 0, 1 },
                { "canny", U8, U8, 1, 0, 1 },
                { "camera", U16, U8, 1, 12, 3 } };
static const size_t bytes_of[] = { [U8] = 1, [U16] = 2, [F32] = 4 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) {
        fprintf(stderr, "bench: error: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memset(memory, 0, bytes);
}

/* Waves of several lengths, edges and noise: every branch of a filter is taken somewhere. */
static void paint(const struct filter *f, size_t h, size_t w, void *to)
{
    uint32_t noise = 1;
    for (size_t i = 0; i < f->planes * h * w; i++) {
        double y = (double)(i / w), x = (double)(i % w);
        noise = noise * 1664525 + 1013904223;
        double v = 0.5 + 0.3 * sin(x / 23) * cos(y / 31) + 0.1 * ((i / w / 64 + i % w / 96) % 2) + 0.05 * (noise >> 8) / (1 << 24);
        if (f->in == U8)
            ((uint8_t *)to)[i] = (uint8_t)(255 * v);
        else if (f->in == U16)
            ((uint16_t *)to)[i] = (uint16_t)(1023 * v);
        else
            ((float *)to)[i] = (float)v;
    }
}

static double sample(enum sample type, const void *data, size_t i)
{
    return type == F32 ? ((const float *)data)[i] : ((const uint8_t *)data)[i];
}

static double part_that_differs(enum sample type, const void *a, const void *b, size_t n)
{
    double largest = 0;
    size_t differ = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(sample(type, a, i)));
    for (size_t i = 0; i < n; i++)
        differ += fabs(sample(type, a, i) - sample(type, b, i)) > (type == F32 ? 1e-4 * largest : 1);
    return (double)differ / (double)n;
}

static size_t load(int n, char **files, const char *filter, struct contender *to)
{
    size_t found = 0;
    for (int i = 0; i < n; i++) {
        void *library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
        void *entry = library ? dlsym(library, "contenders") : NULL;
        if (!entry) {
            fprintf(stderr, "bench: error: %s\n", dlerror());
            exit(1);
        }
        const struct contender *(*list)(const char *);
        memcpy(&list, &entry, sizeof list);
        for (const struct contender *c = list(filter); c->name && found < MOST; c++)
            to[found++] = *c;
    }
    return found;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct job {
    const void *in;
    size_t h, w;
};

static double timed(const struct contender *c, const struct job *job, void *out)
{
    double begin = now_ms();
    if (c->run(job->in, job->h, job->w, out) != 0) {
        fprintf(stderr, "bench: error: '%s' failed\n", c->name);
        exit(1);
    }
    return now_ms() - begin;
}

static void pairs(const struct filter *f, const struct contender *first, const struct contender *other, int n,
                  const struct job *job, void *mine, void *theirs, size_t samples)
{
    static double a[MOST_PAIRS], b[MOST_PAIRS], ratio[MOST_PAIRS];
    for (int i = -1; i < n; i++) {
        int at = i < 0 ? 0 : i, swap = i % 2 != 0;
        if (swap)
            b[at] = timed(other, job, theirs);
        a[at] = timed(first, job, mine);
        if (!swap)
            b[at] = timed(other, job, theirs);
        ratio[at] = b[at] / a[at];
    }
    printf("%s,\"%s\",%.3f,%.3f,%.3f,", f->name, other->name, median(b, n), median(a, n), median(ratio, n));
    if (strstr(other->name, "other scale"))
        printf("-\n");
    else
        printf("%.2g\n", part_that_differs(f->out, mine, theirs, samples));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const struct filter *f = argc > 5 ? filters : NULL, *end = filters + sizeof filters / sizeof *filters;
    while (f && f < end && strcmp(f->name, argv[1]) != 0)
        f++;
    int n = f ? atoi(argv[4]) : 0;
    struct job job = { NULL, f ? strtoull(argv[2], NULL, 10) : 0, f ? strtoull(argv[3], NULL, 10) : 0 };
    if (!f || f == end || n < 1 || n > MOST_PAIRS || job.h < 32 || job.w < 32) {
        fprintf(stderr, "usage: bench FILTER H W PAIRS CONTENDERS.so...   (from 32 x 32 on)\n");
        return 2;
    }
    struct contender list[MOST];
    size_t found = load(argc - 5, argv + 5, f->name, list), samples = f->channels * (job.h - f->cut) * (job.w - f->cut);
    if (found == 0) {
        fprintf(stderr, "bench: error: no contender for '%s'\n", f->name);
        return 1;
    }
    void *picture = allocate(f->planes * job.h * job.w * bytes_of[f->in]), *mine = allocate(samples * bytes_of[f->out]),
         *theirs = allocate(samples * bytes_of[f->out]);
    paint(f, job.h, job.w, picture);
    job.in = picture;
    for (size_t i = found > 1; i < found; i++)
        pairs(f, &list[0], &list[i], n, &job, mine, theirs, samples);
    return 0;
}
