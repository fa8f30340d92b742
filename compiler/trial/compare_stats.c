/* compare_stats.c - parses the JSON that a program prints for --stats=json, for commands/cmd_compare.c and commands/cmd_profile.c, and
 * for the former computes statistics over several runs and ranks the policies. Unknown members are skipped, so programs
 * may print more.
 */
#include "compiler/trial/compare_stats.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one run ---- */

/* 0: it is not there, or no number. */
static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static uint64_t count_of(const json_t *object, const char *key)
{
    const double number = number_of(object, key);
    return number >= 0 && number < 0x1p63 ? (uint64_t)number : 0;
}

static const char *name_of(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    return name ? name : "";
}

static void add_memory(struct dfc_run_stats *stats, const json_t *memory)
{
    stats->n_gpus++;
    stats->h2d_copies += count_of(memory, "h2d_copies");
    stats->d2h_copies += count_of(memory, "d2h_copies");
    stats->peer_copies += count_of(memory, "peer_copies");
    stats->h2d_bytes += count_of(memory, "h2d_bytes");
    stats->d2h_bytes += count_of(memory, "d2h_bytes");
    stats->peer_bytes += count_of(memory, "peer_bytes");
    stats->evictions += count_of(memory, "evictions");
    stats->writebacks += count_of(memory, "writebacks");
}

/* A worker with the name of a device's memory is that of a GPU. */
static void add_worker(struct dfc_run_stats *stats, const json_t *worker, const json_t *memories)
{
    bool gpu = false;
    size_t i;
    json_t *memory;
    json_array_foreach(memories, i, memory)
        gpu |= strcmp(name_of(memory), name_of(worker)) == 0;
    *(gpu ? &stats->gpu_jobs : &stats->cpu_jobs) += count_of(worker, "jobs");
    *(gpu ? &stats->gpu_busy_s : &stats->cpu_busy_s) += number_of(worker, "busy_s");
}

static bool read_stats(const json_t *all, struct dfc_run_stats *stats)
{
    const json_t *makespan = json_object_get(all, "makespan_s"), *memories = json_object_get(all, "memories");
    const char *policy = json_string_value(json_object_get(all, "policy"));
    size_t i;
    json_t *one;
    if (!json_is_number(makespan) || !(json_number_value(makespan) >= 0))
        return false;
    *stats = (struct dfc_run_stats){ .makespan_s = json_number_value(makespan), .waves = count_of(all, "waves"), .jobs = count_of(all, "jobs") };
    if (policy)
        snprintf(stats->policy, sizeof stats->policy, "%s", policy);
    json_array_foreach(memories, i, one)
        add_memory(stats, one);
    json_array_foreach(json_object_get(all, "workers"), i, one)
        add_worker(stats, one, memories);
    return true;
}

bool dfc_run_stats_read(const char *text, struct dfc_run_stats *stats)
{
    bool good = false;
    for (const char *line = text; line && *line && !good; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        json_t *all = *line == '{' ? json_loads(line, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
        good = all && read_stats(all, stats);
        json_decref(all);
    }
    return good;
}

/* ---- several runs ---- */

static int compare_runs(const void *a, const void *b)
{
    double x = ((const struct dfc_run_stats *)a)->makespan_s, y = ((const struct dfc_run_stats *)b)->makespan_s;
    return (x > y) - (x < y);
}

/* A quantile, interpolated between the two runs around its place as most statistics programs do (Hyndman and Fan's type
 * 7). */
static double quantile(const struct dfc_run_stats *sorted, unsigned n, double q)
{
    double place = q * (n - 1);
    unsigned below = (unsigned)place;
    unsigned above = below + 1 < n ? below + 1 : below;
    return sorted[below].makespan_s + (place - below) * (sorted[above].makespan_s - sorted[below].makespan_s);
}

void dfc_policy_stats_of(const char *policy, struct dfc_run_stats *runs, unsigned n, struct dfc_policy_stats *stats)
{
    qsort(runs, n, sizeof *runs, compare_runs);
    *stats = (struct dfc_policy_stats){ .runs = n,
                                        .median_s = quantile(runs, n, 0.5),
                                        .least_s = runs[0].makespan_s,
                                        .most_s = runs[n - 1].makespan_s,
                                        .first_quartile_s = quantile(runs, n, 0.25),
                                        .third_quartile_s = quantile(runs, n, 0.75),
                                        .ratio = 1,
                                        .typical = runs[(n - 1) / 2] };
    if (strcmp(policy, DFC_NO_POLICY) == 0 && stats->typical.policy[0])
        snprintf(stats->policy, sizeof stats->policy, "%s (%s)", policy, stats->typical.policy);
    else
        snprintf(stats->policy, sizeof stats->policy, "%s", policy);
    if (stats->median_s > 0)
        stats->spread = (stats->third_quartile_s - stats->first_quartile_s) / stats->median_s;
}

unsigned dfc_policy_stats_rank(struct dfc_policy_stats *stats, unsigned n)
{
    unsigned best = 0;
    for (unsigned i = 1; i < n; i++) {
        if (stats[i].median_s < stats[best].median_s)
            best = i;
    }
    for (unsigned i = 0; i < n; i++)
        stats[i].ratio = stats[best].median_s > 0 ? stats[i].median_s / stats[best].median_s : 1;
    return best;
}
