/* drift_simulation.c - the part of `dfc map` for --drift: parses the option, and simulates for map_command.c a mapped
 * pipeline whose times drift (drift_simulation.h).
 */
#include "compiler/cluster/drift_simulation.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tools/messages.h"
#include "runtime/base/suggest.h"

/* ---- the option ---- */

static bool read_wave(const char **at, int64_t *wave)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    unsigned long long value = strtoull(*at, &end, 10);
    *at = end;
    *wave = (int64_t)value;
    return value <= DFC_DRIFT_MOST_WAVES;
}

static bool read_factor(const char *at, double *factor)
{
    char *end;
    if (!isdigit((unsigned char)*at) && *at != '.')
        return false;
    *factor = strtod(at, &end);
    return !*end && *factor >= 1e-6 && *factor <= 1e6;
}

bool dfc_drift_take(struct dfc_drift_request *r, const char *text)
{
    struct dfp_drift drift = { .end = INT64_MAX };
    const char *at = strrchr(text, '@');
    if (r->n == DFC_MOST_DRIFTS) {
        dfc_error("--drift is given more than %d times", DFC_MOST_DRIFTS);
        return false;
    }
    bool good = at && at > text && (at++, read_wave(&at, &drift.from));
    if (good && *at == '-') {
        at++;
        good = read_wave(&at, &drift.end) && drift.from <= drift.end++;
    }
    if (!good || *at != ':' || !read_factor(at + 1, &drift.factor)) {
        dfc_error("--drift=%s: it is NAME@WAVE:FACTOR, or NAME@FIRST-LAST:FACTOR: the waves, up to %d, and how many times as long a stage or processor "
                  "takes, as in rank@200:3", text, DFC_DRIFT_MOST_WAVES);
        return false;
    }
    r->texts[r->n] = text;
    r->drifts[r->n++] = drift;
    return true;
}

static uint32_t find(char *const *names, uint32_t n, const char *name, size_t length)
{
    uint32_t i = 0;
    while (i < n && (strlen(names[i]) != length || memcmp(names[i], name, length) != 0))
        i++;
    return i;
}

static bool refuse_name(const struct dfc_map_input *input, const char *text, size_t length)
{
    const char *names[DFP_MOST_STAGES + DFP_MOST_PROCESSORS];
    unsigned n = 0;
    char *name = strndup(text, length);
    for (uint32_t i = 0; i < input->pipeline.n_stages; i++)
        names[n++] = input->stages[i];
    for (uint32_t i = 0; i < input->pipeline.n_processors; i++)
        names[n++] = input->processors[i];
    const char *close = name ? dfl_suggest(name, names, n) : NULL;
    if (close)
        dfc_error("--drift=%s: there is no such stage or processor; did you mean '%s'?", text, close);
    else
        dfc_error("--drift=%s: there is no such stage or processor", text);
    free(name);
    return false;
}

/* A stage's name goes before a processor's. */
static bool find_names(struct dfc_drift_request *r, const struct dfc_map_input *input)
{
    const struct dfp_pipeline *l = &input->pipeline;
    for (unsigned i = 0; i < r->n; i++) {
        size_t length = (size_t)(strrchr(r->texts[i], '@') - r->texts[i]);
        uint32_t stage = find(input->stages, l->n_stages, r->texts[i], length);
        uint32_t processor = find(input->processors, l->n_processors, r->texts[i], length);
        r->drifts[i].is_processor = stage == l->n_stages;
        r->drifts[i].number = stage < l->n_stages ? stage : processor;
        if (stage == l->n_stages && processor == l->n_processors)
            return refuse_name(input, r->texts[i], length);
    }
    return true;
}

/* ---- runs ---- */

/* The best mapping for the times behind all drifts. */
static int find_best(const struct dfp_drifting *d, const struct dfp_mapping *mapping, uint64_t budget, struct dfp_mapping *best, struct df_error *error)
{
    const struct dfp_pipeline *l = d->pipeline;
    struct dfp_remap remap;
    uint32_t of_stage[2][DFP_MOST_STAGES], of_processor[2][DFP_MOST_PROCESSORS];
    struct dfr_tuner_map present = { of_stage[0], of_processor[0] };
    struct dfr_tuner_offer offer = { .map = { of_stage[1], of_processor[1] } };
    double *time_s = calloc((size_t)l->n_stages * l->n_processors, sizeof *time_s);
    int code = dfp_remap_new(l, &remap, error);
    if (code == DF_OK && time_s) {
        remap.budget = budget;
        dfp_drifting_times(d, d->waves - 1, time_s);
        dfp_tuner_map_of(l, mapping, &present);
        code = dfp_remap_ask(&remap, time_s, d->waves, &present, &offer, error);
    }
    if (code == DF_OK && time_s)
        dfp_mapping_of(l, &offer.map, best);
    dfp_remap_free(&remap);
    free(time_s);
    return time_s ? code : DF_E_MEMORY;
}

bool dfc_drift_run(struct dfc_drift_request *r, const struct dfc_map_report *report, uint64_t budget, struct dfc_drift *drift)
{
    static struct dfp_mapping best;     /* large */
    const struct dfc_map_input *input = report->input;
    struct df_error error = { "out of memory" };
    if (!find_names(r, input))
        return false;
    *drift = (struct dfc_drift){
        .request = r, .report = report,
        .drifting = { .pipeline = &input->pipeline, .mapping = &report->rows[report->shown].mapping, .drifts = r->drifts, .n_drifts = r->n,
                      .waves = (int64_t)(r->waves ? r->waves : DFC_DRIFT_WAVES), .stages = (const char *const *)input->stages,
                      .processors = (const char *const *)input->processors, .rules = dfr_tuner_defaults } };
    struct dfp_drifting tuned = drift->drifting, fixed = drift->drifting;
    tuned.tune = true;
    fixed.mapping = &best;
    int code = find_best(&drift->drifting, drift->drifting.mapping, budget, &best, &error);
    if (code == DF_OK)
        code = dfp_drifting_run(&drift->drifting, &drift->runs[DFC_DRIFT_STAYS], &error);
    if (code == DF_OK && r->tune)
        code = dfp_drifting_run(&tuned, &drift->runs[DFC_DRIFT_TUNED], &error);
    if (code == DF_OK)
        code = dfp_drifting_run(&fixed, &drift->runs[DFC_DRIFT_BEST], &error);
    if (code != DF_OK) {
        dfc_error("%s", error.text);
        dfc_drift_free(drift);
    }
    return code == DF_OK;
}

void dfc_drift_free(struct dfc_drift *drift)
{
    for (int i = 0; i < DFC_DRIFT_RUNS; i++)
        dfp_drifting_free(&drift->runs[i]);
}
