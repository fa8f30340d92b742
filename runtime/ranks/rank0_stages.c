/* rank0_stages.c - the first rank of a run whose other ranks have pipeline stages; ranks.c calls it. It maps the stages, maps them anew if a rank dies, and
 * feeds the first group. It hands out waves as rank0_waves.c does, by a relay (manager.h).
 *
 * WELCOME:  what is made once; behind it the mapping (subgraph/mapping.h), under the number of values; and the classes of all ranks (suits.h), 32 bits each,
 *           under that number and one.
 * Change:   Another mapping may be wanted from the next wave on. Then no more waves are given until those under way are back, so none is lost and none is
 *           computed twice.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/message.h"
#include "runtime/base/source_line.h"
#include "runtime/base/suggest.h"
#include "runtime/engine/log.h"
#include "runtime/ranks/feed.h"
#include "runtime/ranks/rank0.h"
#include "runtime/ranks/tune.h"
#include "runtime/subgraph/groups.h"

enum { MOST_TEXT = 1 << 20 };

struct first {
    const struct df_graph *graph;       /* borrowed, as the rest of these */
    const struct dfr_stages *stages;
    const struct dfr_stages_options *own;
    const struct df_options *options;   /* for the times of waves */
    uint32_t classes[DFR_MOST_PROCESSORS + 1]; /* by rank */
    struct dfr_mapping wanted;          /* as if all ranks lived */
    struct dfr_mapping mapping;         /* what is so */
    struct dfr_feed *feed;              /* NULL: there is no mapping yet */
    bool begun;
    struct dfr_tune *tune;              /* NULL: it is not tuned */
};

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

/* ---- mappings while a run goes on ---- */

/* Says a mapping that is another one than before. */
static void tell(struct first *f, const struct dfr_mapping *before)
{
    char text[400];

    if (f->begun && (before->n_groups != f->mapping.n_groups ||
                     memcmp(before->group_of_stage, f->mapping.group_of_stage, sizeof before->group_of_stage) != 0 ||
                     memcmp(before->group_of_rank, f->mapping.group_of_rank, sizeof before->group_of_rank) != 0)) {
        dfr_mapping_text(&f->mapping, (const char *const *)f->stages->names, text, sizeof text);
        dfr_say("warning: the stages are mapped anew: %s", text);
    }
    f->begun = true;
}

static struct dfr_message *make_welcome(const struct first *f, const struct dfr_head *head, const struct dfr_value *once, uint32_t n_once)
{
    struct dfr_value *values = calloc((size_t)n_once + 2, sizeof *values), *last = values + n_once;
    void *bytes = malloc(dfr_mapping_bytes(&f->mapping));
    struct dfr_message *message = NULL;

    if (values && bytes) {
        if (n_once > 0)
            memcpy(values, once, n_once * sizeof *values);
        dfr_mapping_pack(&f->mapping, bytes);
        last[0] = (struct dfr_value){ .port = f->graph->n_values, .data = bytes, .bytes = dfr_mapping_bytes(&f->mapping) };
        last[1] = (struct dfr_value){ .port = f->graph->n_values + 1, .data = f->classes, .bytes = f->mapping.n_ranks * sizeof *f->classes };
        message = dfr_message_make(head, values, n_once + 2);
    }
    free(values);
    free(bytes);
    return message;
}

static bool open_feed(struct first *f)
{
    struct dfr_suits *suits;
    return dfr_suits_open(f->graph, f->stages, &f->mapping, 0, f->classes, f->options, &suits, NULL) == DF_OK &&
           dfr_feed_open(&f->mapping, 0, f->own->policy, suits, &f->feed, NULL) == DF_OK;
}

/* If no rank lives, ranks are told the mapping as it was, of which they are no part. */
static struct dfr_message *map(void *arg, const struct dfr_head *head, const struct dfr_value *once, uint32_t n_once, const bool *live, bool *uses)
{
    struct first *f = arg;
    const struct dfr_mapping before = f->mapping;
    struct dfr_mapping next;
    const bool any = dfr_mapping_without(&f->wanted, live, &next);

    if (f->tune)
        dfr_tune_lives(f->tune, live);
    dfr_feed_close(f->feed);
    f->feed = NULL;
    f->mapping = any ? next : f->wanted;
    if (any && !open_feed(f))
        return NULL;
    for (uint32_t rank = 1; rank < f->mapping.n_ranks; rank++)
        uses[rank] = any && f->mapping.group_of_rank[rank] != DFR_NO_GROUP;
    if (any)
        tell(f, &before);
    return make_welcome(f, head, once, n_once);
}

/* ---- waves ---- */

static bool offer(void *arg, const struct dfr_message *give)
{
    struct first *f = arg;
    return f->feed && dfr_feed_offer(f->feed, give->head.wave, give->values, give->n_values);
}

static void joined(void *arg, int rank, uint32_t classes)
{
    struct first *f = arg;
    f->classes[rank] = classes;
}

static void request(void *arg, int rank, const struct dfr_head *ask)
{
    struct first *f = arg;
    if (f->feed)
        dfr_feed_request(f->feed, (uint32_t)rank, ask);
}

static bool answer(void *arg, int *rank, struct dfr_head *head)
{
    struct first *f = arg;
    uint32_t to;

    if (!f->feed || !dfr_feed_answer(f->feed, &to, head))
        return false;
    *rank = (int)to;
    return true;
}

static void took(void *arg, int rank, const struct dfr_message *message)
{
    struct first *f = arg;
    double seconds;

    if (!f->tune || message->n_values != 1 || message->values[0].bytes != sizeof seconds)
        return;
    memcpy(&seconds, message->values[0].data, sizeof seconds);
    dfr_tune_took(f->tune, &f->mapping, (uint32_t)rank, message->head.wave, seconds);
}

static bool ended(void *arg, int64_t n)
{
    struct first *f = arg;
    struct dfr_mapping next;

    if (!f->own->change && !f->tune)
        return false;
    next = f->mapping;
    const bool asked = f->own->change && f->own->change(f->own->change_arg, n, &next);
    if (!asked && !(f->tune && dfr_tune_ended(f->tune, n, &next, dfr_ranks_tell, NULL)))
        return false;
    const bool valid = dfr_mapping_is_valid(&next);
    if (valid)
        f->wanted = next;
    return valid;
}

/* ---- begin and end ---- */

static int open_mapping(struct first *f, int n_ranks, struct df_error *error)
{
    int status = f->own->path ? read_mapping(f->graph, f->stages, f->own->path, n_ranks, &f->wanted, error)
                              : share_out(f->graph, f->stages, n_ranks, &f->wanted, error);

    return status == DF_OK && f->own->tune ? dfr_tune_open(f->stages, &f->wanted, f->options->planner->remapper, &f->tune, error) : status;
}

static int open_view(const struct first *f, struct dfr_parts *parts, struct df_error *error)
{
    struct dfr_groups groups;
    int status = dfr_groups_make(f->graph, f->stages, &f->wanted, &groups, error);

    if (status == DF_OK)
        status = dfr_groups_view(&groups, DFR_NO_GROUP, parts, error);
    dfr_groups_free(&groups);
    return status;
}

int dfr_rank0_stages(struct dfr_comm *comm, const struct df_graph *g, const struct dfr_stages *stages, const struct df_options *options, uint64_t hash,
                     const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    struct first *f = calloc(1, sizeof *f);
    const struct dfr_manager_relay relay = { .arg = f, .map = map, .offer = offer, .request = request, .answer = answer, .ended = ended, .joined = joined,
                                             .took = took };
    struct dfr_parts parts = { 0 };

    if (!f)
        return dfr_rank0_let_go(comm, hash, ranks, dfr_error_memory(error), error);
    *f = (struct first){ .graph = g, .stages = stages, .own = ranks->stages, .options = options };
    int status = open_mapping(f, comm->link->size, error);
    if (status == DF_OK)
        status = open_view(f, &parts, error);
    status = status == DF_OK ? dfr_rank0_waves(comm, &parts, options, hash, ranks, &relay, stats, error)
                             : dfr_rank0_let_go(comm, hash, ranks, status, error);
    dfr_feed_close(f->feed);
    dfr_tune_close(f->tune);
    dfr_parts_free(&parts);
    free(f);
    return status;
}
