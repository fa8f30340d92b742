/* hedpm.c - the mapping heuristic HeDPM, for `dfc map` and tuning (partition/tuning/remap.c): Algorithm 4.1 matches stages with processors, slow ones with fast
 * ones; Algorithm 4.2 runs it for several production times.
 *
 * Where the paper's text leaves a choice, this is what gives the figures of its case study:
 * - A replica is added only if the time comes closer to the ideal one. The last stage takes all processors that are left.
 * - Means of B and c are over the links between the outside and the processors that are left, each with itself, too.
 * - If a neighbour has no processor yet, B and c are the means over all links of the processor in question.
 * - Algorithm 4.2 multiplies the ideal time of every iteration by one factor. In 20 steps the factor goes from 1 to 0.5 if the last
 *   match takes the least time, or to 1.5 if it takes the most. It stops when neither is so. The best mapping on the way is kept.
 *   A mapping that leaves out a stage is none. If the first one does, the factor grows.
 * - Which neighbour a group takes first is not decided by the case study. Here it is the one behind it.
 */
#include "partition/stages/pipeline.h"

#include <math.h>
#include <stdlib.h>

#define STEPS 20

/* A match of stages with processors that is not complete yet. */
struct matching {
    const struct dfp_pipeline *l;
    uint32_t stages[DFP_MOST_STAGES], processors[DFP_MOST_PROCESSORS]; /* in the order in which they are taken */
    uint32_t n_stages, n_processors;                /* that are left, in those arrays */
    uint32_t match_of[DFP_MOST_STAGES];             /* by stage; DFP_NO_GROUP: it is left */
    uint32_t of_processor[DFP_MOST_PROCESSORS];     /* by processor; DFP_NO_GROUP */
    uint32_t n_matches;
};

/* ---- means ---- */

struct means {
    double bytes_per_s, setup_s;
};

static struct means row_means(const struct dfp_pipeline *l, uint32_t place)
{
    size_t places = l->n_processors + (size_t)1, row = place * places;
    struct means mean = { 0, 0 };
    for (size_t i = 0; i < places; i++) {
        mean.bytes_per_s += l->bytes_per_s[row + i] / (double)places;
        mean.setup_s += l->setup_s[row + i] / (double)places;
    }
    return mean;
}

static struct means means_of(const struct dfp_pipeline *l, const uint32_t *processors, uint32_t n)
{
    size_t places = l->n_processors + (size_t)1;
    struct means mean = { 0, 0 };
    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t k = 0; k <= n; k++) {
            size_t at = (i ? processors[i - 1] + 1 : 0) * places + (k ? processors[k - 1] + 1 : 0);
            mean.bytes_per_s += l->bytes_per_s[at];
            mean.setup_s += l->setup_s[at];
        }
    mean.bytes_per_s /= (n + 1.0) * (n + 1.0);
    mean.setup_s /= (n + 1.0) * (n + 1.0);
    return mean;
}

static double transfer_s(struct means mean, double bytes)
{
    return bytes > 0 ? mean.setup_s + bytes / mean.bytes_per_s : 0;
}

/* ---- the first step: sorting ---- */

static void sort(uint32_t *numbers, const double *keys, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {  /* stable, and the lists are short */
        uint32_t at = i;
        for (; at > 0 && keys[i] < keys[numbers[at - 1]]; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = i;
    }
}

void dfp_hedpm_sort(const struct dfp_pipeline *l, uint32_t *stages, uint32_t *processors)
{
    double keys[DFP_MOST_STAGES > DFP_MOST_PROCESSORS ? DFP_MOST_STAGES : DFP_MOST_PROCESSORS];
    double speed = 0, work = 0, bytes = 0;
    for (uint32_t p = 0; p < l->n_processors; p++) {
        speed += l->speed[p] / l->n_processors;
        processors[p] = p;
    }
    struct means mean = means_of(l, processors, l->n_processors);
    for (uint32_t n = 0; n < l->n_stages; n++) { /* eq. 3 */
        keys[n] = -(transfer_s(mean, l->bytes[n]) + l->work[n] / speed + transfer_s(mean, l->bytes[n + 1]));
        work += l->work[n] / l->n_stages;
        bytes += l->bytes[n + 1] / l->n_stages;
    }
    sort(stages, keys, l->n_stages);
    for (uint32_t p = 0; p < l->n_processors; p++) /* eq. 4 */
        keys[p] = 2 * transfer_s(row_means(l, p + 1), bytes) + work / l->speed[p];
    sort(processors, keys, l->n_processors);
}

/* ---- the second step: the ideal production time (eq. 5 and 6) ---- */

static double ideal_s(const struct matching *m)
{
    const struct dfp_pipeline *l = m->l;
    double speed = 0, work = 0, bytes = 0;
    for (uint32_t i = 0; i < m->n_processors; i++)
        speed += l->speed[m->processors[i]]; /* P times the mean */
    for (uint32_t i = 0; i < m->n_stages; i++) {
        work += l->work[m->stages[i]];
        bytes += l->bytes[m->stages[i] + 1] / m->n_stages;
    }
    return 2 * transfer_s(means_of(l, m->processors, m->n_processors), bytes) + work / speed;
}

/* ---- the third step: matching ---- */

/* To or from the neighbour: the stage `other`, which is -1 or n_stages for the outside. */
static double neighbour_s(const struct matching *m, uint32_t processor, int64_t other, double bytes)
{
    const struct dfp_pipeline *l = m->l;
    size_t row = (processor + (size_t)1) * (l->n_processors + (size_t)1);
    struct means mean = { 0, 0 };
    unsigned n = 0;
    if (other < 0 || other == l->n_stages)
        return transfer_s((struct means){ l->bytes_per_s[row], l->setup_s[row] }, bytes);
    if (m->match_of[other] == DFP_NO_GROUP)
        return transfer_s(row_means(l, processor + 1), bytes);
    for (uint32_t p = 0; p < l->n_processors; p++)
        if (m->of_processor[p] == m->match_of[other]) {
            mean.bytes_per_s += l->bytes_per_s[row + p + 1];
            mean.setup_s += l->setup_s[row + p + 1];
            n++;
        }
    return transfer_s((struct means){ mean.bytes_per_s / n, mean.setup_s / n }, bytes);
}

static double match_s(const struct matching *m, uint32_t first, uint32_t n_stages, uint32_t processor)
{
    double time_s = neighbour_s(m, processor, (int64_t)first - 1, m->l->bytes[first]) +
                    neighbour_s(m, processor, first + n_stages, m->l->bytes[first + n_stages]);
    for (uint32_t n = first; n < first + n_stages; n++)
        time_s += dfp_stage_s(m->l, n, processor);
    return time_s;
}

/* Adds processors in their order as long as the time comes closer to the objective, or all of them. */
static void replicate(const struct matching *m, double objective_s, bool all, struct dfp_hedpm_step *step)
{
    double slowest_s = step->match_s;
    while (step->n_processors < m->n_processors && !m->l->serial[step->first]) {
        slowest_s = fmax(slowest_s, match_s(m, step->first, 1, m->processors[step->n_processors]));
        double next_s = slowest_s / (step->n_processors + 1);
        if (!all && (step->match_s <= 1.05 * objective_s || fabs(next_s - objective_s) >= fabs(step->match_s - objective_s)))
            break;
        step->match_s = next_s;
        step->n_processors++;
    }
}

static void gather(const struct matching *m, double objective_s, struct dfp_hedpm_step *step)
{
    while (step->match_s < 0.95 * objective_s) {
        uint32_t behind = step->first + step->n_stages;
        if (behind < m->l->n_stages && m->match_of[behind] == DFP_NO_GROUP)
            step->n_stages++;
        else if (step->first > 0 && m->match_of[step->first - 1] == DFP_NO_GROUP) {
            step->first--;
            step->n_stages++;
        } else
            break;
        step->match_s = match_s(m, step->first, step->n_stages, step->processor);
    }
}

/* Notes the match, and takes its stages and processors off the lists. */
static void take(struct matching *m, const struct dfp_hedpm_step *step)
{
    uint32_t left = 0;
    for (uint32_t n = step->first; n < step->first + step->n_stages; n++)
        m->match_of[n] = m->n_matches;
    for (uint32_t i = 0; i < step->n_processors; i++)
        m->of_processor[m->processors[i]] = m->n_matches;
    for (uint32_t i = 0; i < m->n_stages; i++)
        if (m->match_of[m->stages[i]] == DFP_NO_GROUP)
            m->stages[left++] = m->stages[i];
    m->n_stages = left;
    m->n_processors -= step->n_processors;
    for (uint32_t i = 0; i < m->n_processors; i++)
        m->processors[i] = m->processors[i + step->n_processors];
    m->n_matches++;
}

static struct dfp_hedpm_step match(const struct matching *m, double factor)
{
    struct dfp_hedpm_step step = { .ideal_s = factor * ideal_s(m), .first = m->stages[0], .n_stages = 1,
                                   .n_processors = 1, .processor = m->processors[0] };
    step.match_s = match_s(m, step.first, 1, step.processor);
    if (m->n_stages == 1 || step.match_s > 1.05 * step.ideal_s)
        replicate(m, step.ideal_s, m->n_stages == 1, &step);
    else
        gather(m, step.ideal_s, &step);
    return step;
}

/* Matches are numbered as they were made, groups in the order of the stages. */
static void to_mapping(const struct matching *m, struct dfp_mapping *mapping)
{
    uint32_t group_of[DFP_MOST_STAGES], n = 0;
    for (uint32_t s = 0; s < m->l->n_stages; s++)
        if (s == 0 || m->match_of[s] != m->match_of[s - 1]) {
            mapping->first[n] = s;
            group_of[m->match_of[s]] = n++;
        }
    mapping->n_groups = n;
    mapping->first[n] = m->l->n_stages;
    for (uint32_t p = 0; p < m->l->n_processors; p++)
        mapping->group_of[p] = m->of_processor[p] == DFP_NO_GROUP ? DFP_NO_GROUP : group_of[m->of_processor[p]];
}

bool dfp_map_hedpm_once(const struct dfp_pipeline *l, double factor, struct dfp_mapping *mapping, struct dfp_hedpm_log *log)
{
    struct matching m = { .l = l, .n_stages = l->n_stages, .n_processors = l->n_processors };
    dfp_hedpm_sort(l, m.stages, m.processors);
    for (uint32_t n = 0; n < l->n_stages; n++)
        m.match_of[n] = DFP_NO_GROUP;
    for (uint32_t p = 0; p < l->n_processors; p++)
        m.of_processor[p] = DFP_NO_GROUP;
    log->n_steps = 0;
    while (m.n_stages && m.n_processors) {
        struct dfp_hedpm_step step = match(&m, factor);
        log->steps[log->n_steps++] = step;
        take(&m, &step);
    }
    if (!m.n_stages)
        to_mapping(&m, mapping);
    return !m.n_stages;
}

/* ---- Algorithm 4.2 ---- */

/* How the last iteration's time stands among all: -1 it is the least, 1 the most, 0 neither. */
static int last_stands(const struct dfp_hedpm_log *log)
{
    double last_s = log->steps[log->n_steps - 1].match_s;
    bool least = true, most = true;
    for (uint32_t i = 0; i + 1 < log->n_steps; i++) {
        least &= last_s < log->steps[i].match_s;
        most &= last_s > log->steps[i].match_s;
    }
    return log->n_steps < 2 ? 0 : least ? -1 : most ? 1 : 0;
}

bool dfp_map_hedpm(const struct dfp_pipeline *l, struct dfp_mapping *mapping)
{
    struct dfp_hedpm_log log;
    struct dfp_mapping other;
    bool found = dfp_map_hedpm_once(l, 1, mapping, &log);
    int stands = found ? last_stands(&log) : 1, now = stands;
    double best_s = found ? dfp_mapping_period_s(l, mapping, NULL) : HUGE_VAL;
    for (int k = 1; now == stands && stands && k <= STEPS; k++) {
        if (!dfp_map_hedpm_once(l, 1 + stands * 0.5 * k / STEPS, &other, &log))
            continue;
        double period_s = dfp_mapping_period_s(l, &other, NULL);
        if (period_s < best_s) {
            best_s = period_s;
            *mapping = other;
        }
        found = true;
        now = last_stands(&log);
    }
    return found;
}
