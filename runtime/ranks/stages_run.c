/* stages_run.c - a graph on all ranks by stages (stages_run.h). */
#include "runtime/ranks/stages_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/message.h"
#include "runtime/base/source_line.h"
#include "runtime/base/suggest.h"
#include "runtime/ranks/ranks_impl.h"
#include "runtime/engine/log.h"
#include "runtime/graph/plan.h"
#include "runtime/record/digest.h"
#include "runtime/record/facts.h"
#include "runtime/ranks/rank0.h"
#include "runtime/subgraph/groups.h"
#include "runtime/ranks/replica_stages.h"

enum { MOST_TEXT = 1 << 20 };

/* ---- the text of a mapping ---- */

static int read_text(const char *path, char **text, size_t *size, struct df_error *error)
{
    FILE *file = fopen(path, "rb");

    if (!file)
        return dfr_error(error, DF_E_IO, "--mapping: cannot read '%s': %s", path, strerror(errno));
    *text = malloc(MOST_TEXT + 1);
    *size = *text ? fread(*text, 1, MOST_TEXT + 1, file) : 0;
    const int status = !*text           ? dfr_error_memory(error)
                       : ferror(file)   ? dfr_error(error, DF_E_IO, "--mapping: cannot read '%s': %s", path, strerror(errno))
                       : *size > MOST_TEXT ? dfr_error(error, DF_E_REFUSED, "--mapping: '%s' is no mapping: it has more than %d bytes", path, MOST_TEXT)
                                           : DF_OK;
    fclose(file);
    return status;
}

/* All stages, if the name is near none. */
static void print_names(const struct dfr_map_wrong *wrong)
{
    fprintf(stderr, "hint: the stages are");
    for (uint32_t i = 0; i < wrong->n_names; i++) {
        fprintf(stderr, "%s ", i > 0 ? "," : "");
        dfr_message_name(stderr, wrong->names[i]);
    }
    fprintf(stderr, "\n");
}

static void print_wrong(const char *path, const char *text, size_t size, const struct dfr_map_wrong *wrong)
{
    struct dfr_suggestion suggestion = { .name = wrong->word };

    for (uint32_t i = 0; wrong->word && i < wrong->n_names; i++)
        dfr_suggest(&suggestion, wrong->names[i]);
    dfr_message_print(stderr, "%s:%u:%u: error: %s", path, (unsigned)wrong->line, (unsigned)wrong->col, wrong->message);
    dfr_source_line(stderr, text, size, wrong->line, wrong->col, wrong->end_col);
    if (suggestion.closest)
        dfr_message_print(stderr, "hint: did you mean '%s'?", suggestion.closest);
    else if (wrong->word)
        print_names(wrong);
    else if (wrong->hint[0])
        dfr_message_print(stderr, "hint: %s", wrong->hint);
}

/* Somebody has said that the stage is on another rank, which cannot have it. */
static void tell_first(const char *stage, const char *where)
{
    dfr_say("warning: %s: stage '%s' runs on rank 0, as sources and sinks do, and what must see all waves in order", where, stage);
}

static int read_mapping(const struct df_graph *g, const struct dfr_stages *stages, const char *path, int n_ranks, struct dfr_mapping *m, struct df_error *error)
{
    bool on_first[DFR_MOST_STAGES];
    struct dfr_map_words words = { .stages = (const char *const *)stages->names, .n_stages = stages->n, .optional = on_first,
                                   .n_processors = (uint32_t)n_ranks - 1,
                                   .too_many = "rank 0 has no stages; other ranks: %u" };
    struct dfr_map_read *read = malloc(sizeof *read);
    struct dfr_map_wrong wrong;
    char *text = NULL;
    size_t size = 0;
    int status = read ? dfr_groups_on_first(g, stages, on_first, error) : dfr_error_memory(error);

    if (status == DF_OK)
        status = read_text(path, &text, &size, error);
    if (status == DF_OK && !dfr_map_read(&words, text, size, read, &wrong)) {
        print_wrong(path, text, size, &wrong);
        status = dfr_error(error, DF_E_REFUSED, "%s", "");
    }
    if (status == DF_OK) {
        for (uint32_t s = 0; s < stages->n; s++)
            if (on_first[s] && read->group_of_stage[s] != DFR_NO_GROUP)
                tell_first(stages->names[s], path);
        dfr_mapping_of_text(read, stages->n, n_ranks, on_first, m);
        if (m->n_groups == 0)
            status = dfr_error(error, DF_E_REFUSED, "--mapping: '%s' leaves no stage to other ranks than rank 0", path);
    }
    free(read);
    free(text);
    return status;
}

/* ---- no text ---- */

static int share_out(const struct df_graph *g, const struct dfr_stages *stages, int n_ranks, struct dfr_mapping *m, struct df_error *error)
{
    bool on_first[DFR_MOST_STAGES];
    uint32_t n = 0;
    char text[DFR_MESSAGE_BYTES];
    int status = dfr_groups_on_first(g, stages, on_first, error);

    if (status != DF_OK)
        return status;
    dfr_mapping_by_turns(stages->n, n_ranks, on_first, m);
    for (uint32_t s = 0; s < stages->n; s++)
        n += !on_first[s];
    if (n == 0)
        return dfr_error(error, DF_E_REFUSED, "--cluster: rank 0 alone can run all that says @stage, as it has sources and sinks, and what must see all waves "
                         "in order; --share=waves looks at no stages");
    for (uint32_t s = 0; s < stages->n; s++)
        if (on_first[s])
            tell_first(stages->names[s], "--cluster");
    if (n > m->n_groups) {
        dfr_mapping_text(m, (const char *const *)stages->names, text, sizeof text);
        dfr_say("warning: --cluster: there are %u stages for %u rank%s beside rank 0, so some share one: %s", (unsigned)n, (unsigned)n_ranks - 1,
                n_ranks > 2 ? "s" : "", text);
    }
    return DF_OK;
}

/* ---- the first rank ---- */

struct root {
    struct dfr_rank0 first;
    struct dfr_value *once;             /* a copy; the bytes are HEAD's */
    const struct dfr_stages_options *options;
    bool failed;
};

static void begin(void *arg, const struct dfr_value *once, uint32_t n)
{
    struct root *r = arg;

    r->once = malloc((n + 1u) * sizeof *once);
    if (r->once && n > 0)
        memcpy(r->once, once, n * sizeof *once);
    r->first.once = r->once;            /* NULL: no memory, so there is no WELCOME either */
    r->first.n_once = n;
}

static void ended(void *arg, struct dfr_comm *comm, int64_t n)
{
    struct root *r = arg;
    struct dfr_mapping next = r->first.mapping;

    const bool asked = r->options->change && r->options->change(r->options->change_arg, n, &next);
    if (!asked && !(r->first.tune && dfr_tune_ended(r->first.tune, n, &next, dfr_ranks_tell, NULL)))
        return;
    if (!dfr_mapping_is_valid(&next))
        return;
    dfr_rank0_change(&r->first, &next);
    dfr_comm_remap(comm);
}

static int lead(struct dfr_comm *comm, struct root *r, const struct df_options *options, uint64_t hash, const struct dfr_ranks_options *ranks,
                struct df_stats *stats, struct df_error *error)
{
    const struct dfr_manager_relay calls = dfr_rank0_relay(&r->first);
    const struct dfr_ranks_relay relay = { .arg = r, .relay = &calls, .begin = begin, .ended = ended };
    struct dfr_groups groups = { 0 };
    struct dfr_parts parts = { 0 };
    int status = dfr_groups_make(r->first.graph, r->first.stages, &r->first.wanted, &groups, error);

    if (status == DF_OK)
        status = dfr_groups_view(&groups, DFR_NO_GROUP, &parts, error);
    r->failed = status != DF_OK;
    if (status == DF_OK)
        status = dfr_ranks_first(comm, &parts, options, hash, ranks, &relay, stats, error);
    dfr_rank0_close(&r->first);
    free(r->once);
    dfr_parts_free(&parts);
    dfr_groups_free(&groups);
    return status;
}

/* ---- a run that cannot begin ---- */

static int no_result(void *arg, const struct dfr_message *result, bool *taken, struct df_error *error)
{
    (void)arg, (void)result, (void)taken, (void)error;
    return DF_OK;
}

static int no_wave(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *error)
{
    (void)arg, (void)head, (void)give, (void)over, (void)error;
    return DF_OK;
}

static int say_why(void *arg, unsigned most, unsigned *n, struct df_error *error)
{
    struct df_error *why = arg;
    (void)most;
    *n = 0;
    *error = *why;
    return DF_E_REFUSED;
}

/* Lets all ranks go. The sentence is *error's already. */
static void let_go(struct dfr_comm *comm, uint64_t hash, const struct df_error *error)
{
    struct df_error why = *error, again;
    const struct dfr_manage_side side = { .arg = &why, .next = no_wave, .result = no_result, .ended = say_why, .at_once = true };
    const struct dfr_manager_options options = { .hash = hash, .epoch = 1 };
    struct dfr_manager_state state;

    dfr_comm_manage(comm, &options, &side, &state, &again);
}

static int be_first(struct dfr_comm *comm, const struct df_graph *g, const struct dfr_stages *stages, const struct dfr_stages_options *own,
                    const struct df_options *options, uint64_t hash, const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    struct root *r = calloc(1, sizeof *r);
    int status = DF_OK;

    if (!r)
        return dfr_error_memory(error);
    *r = (struct root){ .first = { .graph = g, .stages = stages, .options = options, .policy = own->policy, .tell = dfr_ranks_tell }, .options = own };
    status = own->path ? read_mapping(g, stages, own->path, comm->link->size, &r->first.wanted, error)
                       : share_out(g, stages, comm->link->size, &r->first.wanted, error);
    if (status == DF_OK && own->tune)
        status = dfr_tune_open(stages, &r->first.wanted, options->planner->remapper, &r->first.tune, error);
    r->failed = status != DF_OK;
    if (status == DF_OK)
        status = lead(comm, r, options, hash, ranks, stats, error);
    if (r->failed)
        let_go(comm, hash, error);
    dfr_tune_close(r->first.tune);
    free(r);
    return status;
}

/* ---- all ranks ---- */

static void ring(void *comm)
{
    dfr_comm_ring(comm);
}

static int check(const struct dfr_link *link, const struct df_options *options, const struct dfr_stages_options *own, struct df_error *error)
{
    if (link->size - 1 > (int)DFR_MOST_PROCESSORS)
        return dfr_error(error, DF_E_REFUSED, "--cluster: there are %d ranks, and stages can be on %u at most", link->size, DFR_MOST_PROCESSORS);
    if (own->tune && !(options->planner && options->planner->remapper))
        return dfr_error(error, DF_E_REFUSED, "--tuned: the program has no planner");
    return DF_OK;
}

int dfr_stages_run(struct dfr_link *link, const struct df_graph *g, const struct df_options *from, const struct dfr_ranks_options *ranks,
                   const struct dfr_stages_options *own, struct df_stats *stats, struct df_error *error)
{
    char *facts = dfr_facts_of(g, from->args);
    struct dfr_comm comm = { .link = link, .facts = facts, .whole = true };
    struct df_options options = *from;
    struct dfr_stages stages = { 0 };
    int status = check(link, from, own, error);

    if (status == DF_OK)
        status = dfr_stages_find(g, &stages, error);
    options.fed = ring;
    options.fed_arg = &comm;
    if (status != DF_OK && link->rank > 0) {
        status = DF_OK;                 /* the first rank says it */
    } else if (status == DF_OK) {
        const uint64_t hash = dfr_hash(dfr_graph_digest(g, options.args), "stages", 6); /* ranks that share waves speak of other tokens */
        status = link->rank == 0 ? be_first(&comm, g, &stages, own, &options, hash, ranks, stats, error)
                                 : dfr_stage_rank_work(&comm, g, &stages, own->policy, own->tune, &options, hash, ranks, stats, error);
    }
    dfr_stages_free(&stages);
    free(facts);
    link->close(link, comm.whole);
    return status;
}
