/* emit_plan.c - prints --emit=plan: what was decided before the run, and the numbers behind it: the platform, the time
 * of each work and its source, the unit of each node, the memory that each unit will need, and the predicted makespan.
 * commands/cmd_compile.c calls it; the commands that show plans print the parts about fusion, division and passes with it.
 */
#include "compiler/show/listing.h"
#include "compiler/show/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "compiler/fusion/fusion.h"
#include "compiler/tools/messages.h"
#include "runtime/base/text.h"
#include "runtime/graph/passes.h"

static void emit_seconds(FILE *out, double s)
{
    char text[32];
    fputs(dfr_text_seconds_6(s, text, sizeof text), out);
}

static void emit_link(FILE *out, const char *name, const struct df_link *link)
{
    fprintf(out, ", %s %.4g GB/s after ", name, link->bytes_per_s / 1e9);
    emit_seconds(out, link->latency_s);
    if (link->threshold_bytes)
        fprintf(out, " and %" PRIu64 " bytes", link->threshold_bytes);
}

static void emit_units(FILE *out, const struct dfc_loaded *loaded, const struct df_plan *plan,
                       const struct dfp_evaluation *e)
{
    const struct df_platform *p = &loaded->platform;
    for (uint32_t u = 0; u < p->n_units; u++) {
        const struct df_unit *unit = &p->units[u];
        fprintf(out, "u%u %s %s: %u worker%s", u, p->class_names[unit->cls], unit->name, unit->workers,
                unit->workers == 1 ? "" : "s");
        if (unit->unified) {
            fputs(", unified", out);
        } else if (u) {
            emit_link(out, "h2d", &unit->h2d);
            emit_link(out, "d2h", &unit->d2h);
            if (unit->peer.bytes_per_s > 0)
                emit_link(out, "peer", &unit->peer);
            if (unit->handover_s > 0) {
                fputs(", handover ", out);
                emit_seconds(out, unit->handover_s);
            }
        }
        fprintf(out, "; %u nodes, busy ", e->nodes[u]);
        emit_seconds(out, e->busy_s[u]);
        if (u)
            fprintf(out, ", needs %" PRIu64 " bytes for a wave, %" PRIu64 " for its largest job", plan->pool_bytes[u],
                    plan->largest_job_bytes[u]);
        fputc('\n', out);
    }
}

static void emit_times(FILE *out, const struct df_graph *g, const struct df_times *times)
{
    for (uint32_t w = 0; w < g->n_works; w++) {
        dfc_emit_work_name(out, g, w);
        for (uint32_t c = 0; c < times->n_classes; c++) {
            size_t at = (size_t)c * times->n_works + w;
            fprintf(out, "%s %s ", c ? "," : ":", df_graph_string(g, g->class_names[c]));
            emit_seconds(out, times->time_s[at]);
            if (!isnan(times->time_s[at]))
                fprintf(out, " (%s)", dfc_source_word(times->source[at]));
        }
        fputc('\n', out);
    }
}

/* "gradient, 3 product, window": uses of one kernel that follow each other are counted. */
static void emit_members(FILE *out, const struct dfu_wiring *w)
{
    for (unsigned m = 0, n; m < w->n; m += n) {
        for (n = 1; m + n < w->n && w->member[m + n].callee == w->member[m].callee;)
            n++;
        fputs(m ? ", " : "", out);
        if (n > 1)
            fprintf(out, "%u ", n);
        fputs(w->member[m].callee->name, out);
    }
}

static void emit_fused(FILE *out, const struct df_graph *g, const struct dfc_fused *f)
{
    char name[1024], text[32];
    if (f->node == DF_NONE) {
        fputs("not fused: ", out);
        emit_members(out, &f->group->wiring);
        fprintf(out, ": the rows that they would keep take %s\n", dfr_text_bytes(f->ring_bytes, text, sizeof text));
        return;
    }
    df_node_name(g, f->node, name, sizeof name);
    fprintf(out, "fused: %s: ", name);
    emit_members(out, &f->group->wiring);
    fprintf(out, "; strips of %" PRIu64 " rows", f->strip_rows);
    if (f->ring_bytes)
        fprintf(out, ", which keep %s", dfr_text_bytes(f->ring_bytes, text, sizeof text));
    if (f->group->n_inlined)
        fprintf(out, "; %u stream%s computed where %s read", f->group->n_inlined, f->group->n_inlined == 1 ? " is" : "s are",
                f->group->n_inlined == 1 ? "it is" : "they are");
    if (f->saved_bytes > f->ring_bytes)
        fprintf(out, "; saves %s", dfr_text_bytes(f->saved_bytes - f->ring_bytes, text, sizeof text));
    fputc('\n', out);
}

void dfc_emit_fusion(FILE *out, const struct dfc_front *front)
{
    for (size_t i = 0; i < front->n_fused; i++)
        emit_fused(out, front->graph, &front->fused[i]);
    for (size_t i = 0; i < front->n_unfused; i++) {
        const struct dfc_unfused *u = &front->unfused[i];
        fprintf(out, "not fused: %s and %s, line %u", u->from, u->to, u->loc.line);
        if (u->count > 1)
            fprintf(out, ", %u times", u->count);
        fprintf(out, ": %s\n", u->why);
        const char *remedy = dfu_remedy(u->why);
        if (remedy && u->read.line)
            fprintf(out, "    line %u: %s\n", u->read.line, remedy);
        else if (remedy)
            fprintf(out, "    %s\n", remedy);
    }
    if (front->n_fused || front->n_unfused)
        fputc('\n', out);
}

void dfc_emit_divisions(FILE *out, const struct dfc_loaded *loaded)
{
    char before[32], after[32];
    for (size_t i = 0; i < loaded->n_divisions; i++) {
        dfc_division_print(out, "divided", &loaded->divisions[i]);
        dfc_division_print_gain(out, &loaded->divisions[i]);
        fputc('\n', out);
    }
    for (size_t i = 0; i < loaded->n_declined; i++) {
        const struct dfc_division *d = &loaded->declined[i];
        dfc_division_print(out, "not divided", d);
        fprintf(out, "a wave would take %s, which is not 3 %% less than %s\n", dfr_text_seconds_6(d->after_s, after, sizeof after),
                dfr_text_seconds_6(d->before_s, before, sizeof before));
    }
    if (loaded->n_divisions + loaded->n_declined)
        fputc('\n', out);
}

/* Why the waves go by n times. */
static void emit_why(FILE *out, const struct dfc_loaded *loaded, uint32_t n, const struct dfr_again *again)
{
    const struct df_graph *g = loaded->front->graph;
    const struct dfp_passes *p = &loaded->passes;
    char now[32], before[32], times[32] = "once";
    if (p->n > p->least) {
        fprintf(out, "part by part: %u waves go by %u times%s; ", (unsigned)loaded->waves, n,
                loaded->waves_guessed  ? ", if so many come (--waves says how many)"
                : loaded->waves_learnt ? ", as the latest run with --learn had so many"
                                       : "");
        if (p->least > 1)
            snprintf(times, sizeof times, "in %u passes", (unsigned)p->least);
        if (loaded->n_divisions == 0 || loaded->divisions[loaded->n_divisions - 1].passes == 0)
            fprintf(out, "a part leaves its device while the next one is changed, so they take %s in place of %s %s; ",
                    dfr_text_seconds_6(p->predicted_s, now, sizeof now), dfr_text_seconds_6(p->least_s, before, sizeof before), times);
    } else if (dfr_passes_hint(g)) {
        fprintf(out, "part by part: several waves go by %u times, as '@passes' says; ", n);
    } else {
        fprintf(out, "part by part: several waves go by %u times, because %u parts of an acc do not fit in a device's memory together; ", n,
                dfr_passes_most(g));
    }
    if (again->kept_bytes)
        fprintf(out, "each wave leaves %s in host memory for it\n\n", dfr_text_bytes(again->kept_bytes, now, sizeof now));
    else
        fputs("the sources are called again\n\n", out);
}

void dfc_emit_passes(FILE *out, const struct dfc_loaded *loaded)
{
    const struct df_graph *g = loaded->front->graph;
    const uint32_t n = dfr_passes_choose(g, &loaded->platform, INT64_MAX, loaded->passes.n);
    struct dfr_again again;
    struct df_error error;
    if (dfr_again_find(g, NULL, &again, &error) == DF_OK && n > 1)
        emit_why(out, loaded, n, &again);
    dfr_again_free(&again);
}

char *dfc_choices_text(const struct dfc_loaded *loaded)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        dfc_emit_divisions(out, loaded);
        dfc_emit_passes(out, loaded);
    }
    if (!dfr_text_close(out, &text))
        dfc_error("out of memory");
    return text;
}

void dfc_emit_plan(FILE *out, const struct dfc_loaded *loaded, const struct df_plan *plan,
                   const struct dfp_evaluation *e)
{
    const struct df_graph *g = loaded->front->graph;
    const struct df_platform *p = &loaded->platform;
    fprintf(out, "plan %s: %s on platform '%s' (%s)\npredicted ", g->name, plan->policy, p->name,
            loaded->platform_source);
    emit_seconds(out, plan->predicted_s);
    fprintf(out, " for a wave; all on '%s' ", p->units[plan->best_single_unit].name);
    emit_seconds(out, plan->best_single_s);
    fprintf(out, "%s\ncut: %" PRIu64 " bytes, ",
            plan->best_single_s < plan->predicted_s ? ", so this partition does not pay" : "", e->cut_bytes);
    emit_seconds(out, e->cut_s);
    fprintf(out, "; copies: %u to devices (%" PRIu64 " bytes), %u back (%" PRIu64 " bytes)", e->h2d_copies,
            e->h2d_bytes, e->d2h_copies, e->d2h_bytes);
    if (e->peer_copies)
        fprintf(out, ", %u between them (%" PRIu64 " bytes)", e->peer_copies, e->peer_bytes);
    fputs("\n\n", out);
    emit_units(out, loaded, plan, e);
    fputc('\n', out);
    emit_times(out, g, &loaded->times);
    fputc('\n', out);
    dfc_emit_fusion(out, loaded->front);
    dfc_emit_divisions(out, loaded);
    dfc_emit_passes(out, loaded);
    if (plan->n_waves > 1)
        fprintf(out, "%u waves placed jointly: wave w goes by column w %% %u\n", plan->n_waves, plan->n_waves);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        char name[1024];
        df_node_name(g, v, name, sizeof name);
        fprintf(out, "n%u %s", v, name);
        for (uint32_t row = 0; row < plan->n_waves; row++)
            fprintf(out, " u%u", plan->place[(size_t)row * g->n_nodes + v]);
        fputs(" rank ", out);
        emit_seconds(out, (double)plan->priority[v]);
        fputc('\n', out);
    }
}
