#include <stdio.h>
#include <inttypes.h>

/* Is the level sure of the tile? Of 84 in 100; the last level of three in four. */
static int is_sure(int64_t tile, int level, int seed)
{
    uint64_t x = (uint64_t)tile * 3 + (uint64_t)level + ((uint64_t)seed << 40);
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 32;
    return level < 2 ? x % 100 >= 16 : x % 4 != 0;
}

int tile_cpu(struct df_call *call, size_t n, int32_t *t, int32_t seed)
{
    for (size_t i = 0; i < n; i++)
        t[i] = (int32_t)(df_wave(call) * 4 + seed);
    return DF_OK;
}

int shrink_cpu(struct df_call *call, size_t n, const int32_t *t, int32_t *s)
{
    (void)call;
    for (size_t i = 0; i < n / 2; i++)
        s[i] = (t[2 * i] + t[2 * i + 1]) / 2;
    return DF_OK;
}

int feature_cpu(struct df_call *call, size_t n, const int32_t *t, int32_t *f)
{
    (void)call;
    for (size_t i = 0; i < n; i++)
        f[i] = t[i] + 1;
    return DF_OK;
}

int classify_cpu(struct df_call *call, size_t n, const int32_t *f, int32_t *kind, int32_t level, int32_t seed)
{
    if (f[0] != df_wave(call) * 4 + seed + 1 || f[n - 1] != f[0])
        return df_fail(call, "level %d got another tile: %d", level, (int)f[0]);
    if (!is_sure(df_wave(call), level, seed))
        return DF_SKIP;
    kind[0] = level;
    kind[1] = f[n - 1];
    kind[2] = (int32_t)n;
    kind[3] = (int32_t)df_wave(call);
    return DF_OK;
}

int unsure_cpu(struct df_call *call, size_t n, size_t m, const int32_t *f, const int32_t *t, int32_t *finer, int32_t level,
               int32_t seed)
{
    (void)f, (void)n;
    if (is_sure(df_wave(call), level, seed))
        return DF_SKIP;
    for (size_t i = 0; i < m; i++)
        finer[i] = t[i];
    return DF_OK;
}

/* Counts what was sure at each level; at the end compares with what must have been. */
struct counts {
    int64_t got[4], last, seed, waves;
};

static int compare(void *state, int good, struct df_error *error)
{
    struct counts *c = state;
    int64_t want[3] = { 0, 0, 0 };
    (void)error;
    if (!good)
        return DF_OK;
    for (int64_t tile = 0; tile <= c->last; tile++)
        for (int level = 0; level < 3; level++)
            if (is_sure(tile, level, (int)c->seed)) {
                want[level]++;
                break;
            }
    printf("%" PRId64 " %" PRId64 " %" PRId64 " %s\n", c->got[0], c->got[1], c->got[2],
           c->got[0] == want[0] && c->got[1] == want[1] && c->got[2] == want[2] ? "right" : "wrong");
    return DF_OK;
}

int report_cpu(struct df_call *call, size_t n, const int32_t *kind, int32_t seed, int32_t print)
{
    struct counts *c = df_state(call, sizeof *c, compare);
    if (!c)
        return DF_FAILED;
    c->seed = seed;
    if (n != 4 || kind[3] != df_wave(call) || kind[0] < 0 || kind[0] > 2 || (c->waves > 0 && kind[3] <= c->last))
        return df_fail(call, "tile %d of level %d after tile %d", (int)kind[3], (int)kind[0], (int)c->last);
    for (int level = 0; level < kind[0]; level++)
        if (is_sure(kind[3], level, seed))
            return df_fail(call, "level %d was sure already", level);
    c->got[kind[0]]++;
    c->last = kind[3];
    c->waves++;
    if (print)
        printf("%d: level %d\n", (int)kind[3], (int)kind[0]);
    return DF_OK;
}
