/* variants.h - what png.c and tiff.c share: they write files of every variant that the library can write, and beside them what each kernel of
 * std/ is to make of them. They know the pixels, and reckon with exact fractions, as the readers do not.
 *
 * Group:  files that are read by the same kernels: GROUP.txt lists them, and GROUP.KERNEL.want has all their tokens, one behind the other.
 * Number: of files, `all` or as many as make check has time for; then the choices that are left out are drawn at random.
 */
#ifndef VARIANTS_H
#define VARIANTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static inline uint32_t drawn(uint32_t n) /* 0 .. n-1 */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % n);
}

/* A sample of 0 .. most, often the least or the most. */
static inline uint32_t sample(uint32_t most)
{
    const uint32_t kind = drawn(6);
    return kind == 0 ? 0 : kind == 1 ? most : kind == 2 && most > 300 ? 256 * drawn(most / 256) : drawn(most) + drawn(2);
}

static inline uint64_t rounded(uint64_t above, uint64_t below)
{
    return (2 * above + below) / (2 * below);
}

/* Appends to the file DIR/GROUP.SUFFIX. Few files are open at a time, and many bytes come. */
static void add(const char *group, const char *suffix, const void *bytes, size_t n)
{
    static struct { char name[64]; FILE *file; } open[64];
    char name[64];
    snprintf(name, sizeof name, "%s.%s", group, suffix);
    size_t i = 0;
    while (open[i].file && strcmp(open[i].name, name) != 0)
        i++;
    if (!open[i].file) {
        memcpy(open[i].name, name, sizeof name);
        open[i].file = fopen(name, "wb");
    }
    if (!open[i].file || fwrite(bytes, 1, n, open[i].file) != n) {
        perror(name);
        exit(1);
    }
}

static inline void add_line(const char *group, const char *suffix, const char *line)
{
    add(group, suffix, line, strlen(line));
    add(group, suffix, "\n", 1);
}

#endif
