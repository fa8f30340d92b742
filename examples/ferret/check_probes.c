/* check_probes.c - which keys kernels/probe.c looks up: all of them are unlike, there are as many as there can be, and the memory that they
 * are found in is enough. check.sh runs it.
 */
#include "kernels/index.c"
#include "kernels/probe.c"

int df_fail(struct df_call *call, const char *format, ...)
{
    (void)call;
    fputs(format, stderr);
    return DF_FAILED;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* n keys of a region at random places; there are `all` of them. */
static int is_right(size_t bits, size_t n, size_t all)
{
    const size_t bytes = n * sizeof(struct set);
    unsigned char *sets = malloc(4 * bytes);
    uint64_t *keys = malloc(n * sizeof *keys);
    float at[MOST_BITS];
    if (!sets || !keys)
        return 0;
    memset(sets, 0xee, 4 * bytes);
    for (size_t i = 0; i < bits; i++)
        at[i] = (float)rand() / (float)RAND_MAX * 20 - 10;
    const size_t found = probe_keys(1, at, bits, (struct set *)(void *)sets, keys, n);
    int good = found == (n < all ? n : all);
    for (size_t i = bytes; i < 4 * bytes; i++)
        good = good && sets[i] == 0xee;
    qsort(keys, found, sizeof *keys, by_value);
    for (size_t i = 1; i < found; i++)
        good = good && keys[i] != keys[i - 1];
    free(sets);
    free(keys);
    return good;
}

int main(void)
{
    int good = 1;
    for (size_t bits = 1, all = 3; bits <= 8; bits++, all *= 3)
        for (size_t n = 1; n <= all + all / 4; n += 1 + all / 9)
            for (int times = 0; times < 4; times++)
                good = good && is_right(bits, n, all);
    return !good;
}
