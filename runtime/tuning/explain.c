/* explain.c - a sparse variant of Tukey's median polish (explain.h), for the tuner (tuning.c). */
#include "runtime/tuning/explain.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct line {
    double *values;
    const float *weight;
    uint32_t n, step;                   /* step: from one value to the next */
};

/* Sorts pairs of a value and a weight, the values ascending. */
static void sort(double *values, double *weights, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        double value = values[i], weight = weights[i];
        uint32_t k = i;
        for (; k > 0 && values[k - 1] > value; k--) {
            values[k] = values[k - 1];
            weights[k] = weights[k - 1];
        }
        values[k] = value;
        weights[k] = weight;
    }
}

/* The weighted median of what is known of a line, and what it explains: how much less is left in all without it, and of how many values. */
static double median_of(const struct line *line, double *scratch, double *explains, uint32_t *of)
{
    double *values = scratch, *weights = scratch + line->n, all = 0, below = 0;
    uint32_t n = 0, low = 0;
    for (uint32_t i = 0; i < line->n; i++) {
        double weight = line->weight[(size_t)i * line->step];
        if (!(weight > 0))
            continue;
        values[n] = line->values[(size_t)i * line->step];
        weights[n++] = weight;
        all += weight;
    }
    *explains = 0;
    *of = 0;
    if (!n)
        return 0;
    sort(values, weights, n);
    while (low < n - 1 && below + weights[low] < all / 2 * (1 - 1e-9))
        below += weights[low++];
    uint32_t high = low;
    if (below + weights[low] <= all / 2 * (1 + 1e-9) && low + 1 < n)
        high++;
    double median = fabs(values[low]) <= fabs(values[high]) ? values[low] : values[high];
    if (values[low] < 0 && values[high] > 0)
        median = 0;
    for (uint32_t i = 0; i < n; i++) {
        *explains += weights[i] * (fabs(values[i]) - fabs(values[i] - median));
        *of += fabs(values[i]) > fabs(values[i] - median);
    }
    return median;
}

static struct line line_of(uint32_t n_stages, uint32_t n_processors, double *table, const float *weight, uint32_t i)
{
    if (i < n_stages)
        return (struct line){ table + (size_t)i * n_processors, weight + (size_t)i * n_processors, n_processors, 1 };
    return (struct line){ table + i - n_stages, weight + i - n_stages, n_stages, n_processors };
}

void dfr_explain(uint32_t n_stages, uint32_t n_processors, double *table, const float *weight, double least, double *of_stage,
                 double *of_processor, double *scratch)
{
    uint32_t n = n_stages + n_processors;
    memset(of_stage, 0, n_stages * sizeof *of_stage);
    memset(of_processor, 0, n_processors * sizeof *of_processor);
    for (uint32_t step = 0; step < 2 * n; step++) {
        double most = 0, by = 0;
        uint32_t chosen = n, most_of = 0, of;
        for (uint32_t i = 0; i < n; i++) {
            struct line line = line_of(n_stages, n_processors, table, weight, i);
            double explains, median = median_of(&line, scratch, &explains, &of);
            bool more = explains > most * (1 + 1e-9) || (explains > most * (1 - 1e-9) && of > most_of);
            if (fabs(median) > least && more) {
                most = explains;
                most_of = of;
                by = median;
                chosen = i;
            }
        }
        if (chosen == n)
            break;
        struct line line = line_of(n_stages, n_processors, table, weight, chosen);
        for (uint32_t i = 0; i < line.n; i++)
            line.values[(size_t)i * line.step] -= by;
        *(chosen < n_stages ? &of_stage[chosen] : &of_processor[chosen - n_stages]) += by;
    }
}
