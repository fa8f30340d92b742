/* index.c - the file of an index is opened and checked; directions for hashing. */
#include "index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t index_key(size_t table, const int32_t *numbers, size_t bits)
{
    uint64_t key = mix(table + 1);
    for (size_t i = 0; i < bits; i++)
        key = mix(key + 0x9e3779b97f4a7c15u + (uint32_t)numbers[i]);
    return key >> 1;                    /* it is kept as an i64 */
}

/* From 0 to 1: random number i of direction j. */
static double uniform(size_t j, size_t i) { return (double)(mix(mix(j + 77) + i) >> 11) * 0x1p-53; }

/* A direction has 14 numbers with nearly normal distribution, and an offset; all in units of an interval's width. */
int directions_cpu(struct df_call *call, size_t j, float *a, double width)
{
    if (!(width > 0))
        return df_fail(call, "the width of an interval is more than 0");
    for (size_t d = 0; d < j; d++)
        for (size_t k = 0; k < 15; k++) {
            double v = k < 14 ? -6 : uniform(d, 0);
            for (size_t i = 0; k < 14 && i < 12; i++)
                v += uniform(d, 1 + 12 * k + i);
            a[15 * d + k] = (float)(k < 14 ? v / width : v);
        }
    return DF_OK;
}

/* ---- opening ---- */

/* The next part of the file; its length counts in whole words. */
static const void *part(const void *file, size_t *at, int64_t bytes)
{
    const void *here = (const char *)file + *at;
    *at += ((size_t)bytes + 7) / 8 * 8;
    return here;
}

/* Divides the file into its parts. 0: it is longer or shorter than its header says. */
static int divide(struct index *x)
{
    const struct index_head *h = x->head;
    const int64_t most = INT32_MAX;
    size_t at = sizeof *h;
    if (h->regions < 1 || h->regions > 32 || h->tables < 1 || h->tables > MOST_TABLES || h->bits < 1 || h->bits > MOST_BITS ||
        h->images < 1 || h->images > most / h->regions || h->entries < 1 ||
        h->entries > h->images * h->regions || h->name_bytes < h->images || h->name_bytes > most * 4096 ||
        h->png_bytes < h->images || h->png_bytes > most * 65536)
        return 0;
    x->name_at = part(h, &at, (h->images + 1) * 8);
    x->names = part(h, &at, h->name_bytes);
    x->png_at = part(h, &at, (h->images + 1) * 8);
    x->pngs = part(h, &at, h->png_bytes);
    x->known = part(h, &at, h->images * h->regions * 15 * 4);
    x->keys = part(h, &at, h->tables * h->entries * 8);
    x->ids = part(h, &at, h->tables * h->entries * 4);
    return at == x->bytes;
}

/* Is everything that is an index within what it refers to, and are shares such as emd.h needs? */
static int is_sound(const struct index *x)
{
    const struct index_head *h = x->head;
    int good = x->name_at[0] == 0 && x->name_at[h->images] == h->name_bytes && x->png_at[0] == 0 && x->png_at[h->images] == h->png_bytes;
    for (int64_t i = 0; good && i < h->images; i++) {
        double sum = 0;
        int ended = 0;                  /* a share of 0 ends the regions of a picture */
        good = x->name_at[i] < x->name_at[i + 1] && x->name_at[i + 1] <= h->name_bytes && x->names[x->name_at[i + 1] - 1] == 0 &&
               x->png_at[i] <= x->png_at[i + 1] && x->png_at[i + 1] <= h->png_bytes;
        for (const float *r = x->known + 15 * h->regions * i; good && r < x->known + 15 * h->regions * (i + 1); r += 15) {
            good = r[14] >= 0 && r[14] <= 65536 && r[14] == (float)(int32_t)r[14] && (r[14] == 0 || !ended);
            ended |= r[14] == 0;
            sum += (double)r[14];
        }
        good = good && sum == 65536;
    }
    for (int64_t i = 0; good && i < h->tables * h->entries; i++)
        good = x->ids[i] >= 0 && x->ids[i] < h->images * h->regions && (i % h->entries == 0 || x->keys[i] >= x->keys[i - 1]);
    return good;
}

int index_open(struct df_call *call, const char *path, struct index *x)
{
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    memset(x, 0, sizeof *x);
    if (file < 0 || fstat(file, &status) != 0) {
        const int error = errno;
        if (file >= 0)
            close(file);
        return df_fail(call, "cannot open the index '%s': %s%s", path, strerror(error), error == ENOENT ? "; the program of index.df makes it" : "");
    }
    x->bytes = (size_t)status.st_size;
    void *map = S_ISREG(status.st_mode) && x->bytes >= sizeof *x->head ? mmap(NULL, x->bytes, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (map == MAP_FAILED)
        return df_fail(call, "'%s' is no index of ferret", path);
    x->head = map;
    const char *wrong = memcmp(x->head->magic, "ferret1", 8) != 0 ? "is no index of ferret" : !divide(x) ? "is an index that was cut off or is damaged"
                      : !is_sound(x) ? "is an index that is damaged" : NULL;
    if (wrong) {
        index_close(x);
        return df_fail(call, "'%s' %s", path, wrong);
    }
    return DF_OK;
}

void index_close(struct index *x)
{
    if (x->head)
        munmap((void *)(uintptr_t)x->head, x->bytes);
    x->head = NULL;
}

int index_fits(struct df_call *call, const char *path, const struct index *x, int64_t regions, int64_t tables, int64_t bits, double width)
{
    const struct index_head *h = x->head;
    if (h->regions == regions && h->tables == tables && h->bits == bits && h->width == width)
        return DF_OK;
    return df_fail(call, "'%s' was made with other numbers: compile with -D regions=%d -D tables=%d -D bits=%d -D width=%g", path,
                   (int)h->regions, (int)h->tables, (int)h->bits, h->width);
}
