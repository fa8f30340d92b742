/* mapping.c - mappings of random pipelines: ours beside the optimum, BSC, DPM and HeDPM, as tables in Markdown.
 *
 *   mapping 4x4 SAMPLES          4 stages on 4 processors. Enumeration finds the optimum, and distances from it are printed.
 *   mapping 30 SAMPLES           30 stages on 10, 20, … 100 processors, with like and with unlike links.
 *   mapping time                 How long the search takes.
 *
 * Pipelines are drawn as tests/rig/pipelines/pipeline_rig.h says, with seed 1. All but the times is the same on every machine.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "partition/stages/pipeline.h"
#include "pipelines/pipeline_rig.h"

enum { IDENTITY, BSC, DPM, HEDPM, OURS, N_MAPS };
static const char *const map_names[N_MAPS] = { "identity", "BSC", "DPM", "HeDPM", "ours" };

/* Periods of all; infinity: no mapping. Ours begins with the others. */
static void map_all(const struct dfp_pipeline *l, double period_s[N_MAPS])
{
    static struct dfp_mapping maps[N_MAPS];
    struct df_error error;
    bool found[N_MAPS] = { true, dfp_map_bsc(l, &maps[BSC]), dfp_map_dpm(l, &maps[DPM]), dfp_map_hedpm(l, &maps[HEDPM]), true };
    dfp_map_identity(l, &maps[IDENTITY]);
    for (int i = 0; i < OURS; i++)
        if (!found[i])
            maps[i].n_groups = 0;
    if (dfp_map_search(l, maps, OURS, 0, 1, &maps[OURS], &error) != DF_OK)
        abort();
    for (int i = 0; i < N_MAPS; i++) {
        if (found[i] && !dfp_mapping_is_valid(l, &maps[i]))
            abort();
        period_s[i] = found[i] ? dfp_mapping_period_s(l, &maps[i], NULL) : HUGE_VAL;
    }
}

static struct dfp_pipeline make(uint32_t n_stages, uint32_t n_processors, struct draws *draws, bool unlike)
{
    struct dfp_pipeline l;
    struct df_error error;
    if (dfp_pipeline_new(n_stages, n_processors, &l, &error) != DF_OK)
        abort();
    draw_pipeline(draws, &l, unlike);
    return l;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean(const double *values, unsigned n)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += values[i];
    return sum / n;
}

/* ---- beside the optimum ---- */

static void small(unsigned samples)
{
    struct draws draws = { 1 };
    double *worse[N_MAPS];
    unsigned found[N_MAPS] = { 0 }, best[N_MAPS] = { 0 };
    for (int k = 0; k < N_MAPS; k++)
        if (!(worse[k] = malloc(samples * sizeof **worse)))
            abort();
    for (unsigned i = 0; i < samples; i++) {
        struct dfp_pipeline l = make(4, 4, &draws, true);
        struct dfp_mapping optimal;
        double period_s[N_MAPS];
        uint64_t steps;
        if (!dfp_map_brute(&l, 10000000, &optimal, &steps))
            abort();
        double optimum_s = dfp_mapping_period_s(&l, &optimal, NULL);
        map_all(&l, period_s);
        for (int k = 0; k < N_MAPS; k++) {
            if (period_s[k] == HUGE_VAL)
                continue;
            worse[k][found[k]++] = 100 * (period_s[k] / optimum_s - 1);
            best[k] += period_s[k] <= optimum_s * (1 + 1e-9);
        }
        dfp_pipeline_free(&l);
    }
    printf("| 4 stages on 4 processors, %u drawn | has a mapping | is the optimum | mean distance | median | 9 of 10 below |\n"
           "|---|---|---|---|---|---|\n", samples);
    for (int k = 0; k < N_MAPS; k++) {
        qsort(worse[k], found[k], sizeof **worse, ascending);
        printf("| %s | %u | %u | %.1f %% | %.1f %% | %.1f %% |\n", map_names[k], found[k], best[k], mean(worse[k], found[k]),
               worse[k][found[k] / 2], worse[k][found[k] * 9 / 10]);
        free(worse[k]);
    }
    putchar('\n');
}

/* ---- beside the others ---- */

static void row(uint32_t n_processors, unsigned samples, bool unlike, struct draws *draws)
{
    double sum[N_MAPS] = { 0 }, ratio[N_MAPS] = { 0 };
    unsigned found[N_MAPS] = { 0 }, worse = 0, better = 0;
    for (unsigned i = 0; i < samples; i++) {
        struct dfp_pipeline l = make(30, n_processors, draws, unlike);
        double period_s[N_MAPS], best_s = HUGE_VAL;
        map_all(&l, period_s);
        for (int k = 0; k < N_MAPS; k++) {
            if (period_s[k] == HUGE_VAL)
                continue;
            found[k]++;
            sum[k] += period_s[k];
            ratio[k] += period_s[k] / period_s[OURS];
            if (k != OURS)
                best_s = fmin(best_s, period_s[k]);
        }
        worse += period_s[OURS] > best_s;
        better += period_s[OURS] < best_s;
        dfp_pipeline_free(&l);
    }
    printf("| %u ", (unsigned)n_processors);
    for (int k = BSC; k < N_MAPS; k++)
        printf("| %.2f ", sum[k] / found[k]);
    for (int k = BSC; k < OURS; k++)
        printf("| %.2f ", ratio[k] / found[k]);
    printf("| %u | %u | %u |\n", better, worse, samples - found[HEDPM]);
    fflush(stdout);
}

static void large(unsigned samples)
{
    for (int unlike = 0; unlike < 2; unlike++) {
        struct draws draws = { 1 };
        printf("30 stages, %s links, %u drawn for each line:\n\n", unlike ? "unlike" : "like", samples);
        puts("| processors | BSC | DPM | HeDPM | ours | BSC over ours | DPM over ours | HeDPM over ours | ours better than all | ours worse than one | HeDPM has none |\n"
             "|---|---|---|---|---|---|---|---|---|---|---|");
        for (uint32_t n = 10; n <= 100; n += 10)
            row(n, samples, unlike, &draws);
        putchar('\n');
    }
}

/* ---- time ---- */

static void times(void)
{
    static const struct { uint32_t stages, processors; } sizes[] = { { 4, 4 }, { 6, 14 }, { 30, 10 }, { 30, 30 }, { 30, 100 } };
    puts("| stages | processors | 100,000 mappings take |\n|---|---|---|");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct draws draws = { 1 };
        double took_s[5];
        for (int k = 0; k < 5; k++) {
            struct dfp_pipeline l = make(sizes[i].stages, sizes[i].processors, &draws, true);
            struct dfp_mapping start, ours;
            struct df_error error;
            struct timespec from, to;
            dfp_map_identity(&l, &start);
            clock_gettime(CLOCK_MONOTONIC, &from);
            if (dfp_map_search(&l, &start, 1, 0, 1, &ours, &error) != DF_OK)
                abort();
            clock_gettime(CLOCK_MONOTONIC, &to);
            took_s[k] = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
            dfp_pipeline_free(&l);
        }
        qsort(took_s, 5, sizeof *took_s, ascending);
        printf("| %u | %u | %.0f ms |\n", (unsigned)sizes[i].stages, (unsigned)sizes[i].processors, 1e3 * took_s[2]);
    }
}

int main(int argc, char **argv)
{
    unsigned samples = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (argc == 3 && strcmp(argv[1], "4x4") == 0 && samples)
        small(samples);
    else if (argc == 3 && strcmp(argv[1], "30") == 0 && samples)
        large(samples);
    else if (argc == 2 && strcmp(argv[1], "time") == 0)
        times();
    else {
        fputs("usage: mapping 4x4|30 SAMPLES, or mapping time\n", stderr);
        return 2;
    }
    return 0;
}
