/* rank0.c - rank 0's side of stages on ranks (rank0.h). */
#include "runtime/ranks/rank0.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- mappings ---- */

/* Says a mapping that is another one than before. */
static void tell(struct dfr_rank0 *f, const struct dfr_mapping *before)
{
    char text[400], sentence[480];

    if (f->begun && f->tell && (before->n_groups != f->mapping.n_groups ||
                                memcmp(before->group_of_stage, f->mapping.group_of_stage, sizeof before->group_of_stage) != 0 ||
                                memcmp(before->group_of_rank, f->mapping.group_of_rank, sizeof before->group_of_rank) != 0)) {
        dfr_mapping_text(&f->mapping, (const char *const *)f->stages->names, text, sizeof text);
        snprintf(sentence, sizeof sentence, "the stages are mapped anew: %s", text);
        f->tell(f->tell_arg, sentence);
    }
    f->begun = true;
}

static struct dfr_message *make_welcome(const struct dfr_rank0 *f, const struct dfr_head *head)
{
    struct dfr_value *values = calloc((size_t)f->n_once + 2, sizeof *values), *last = values + f->n_once;
    void *bytes = malloc(dfr_mapping_bytes(&f->mapping));
    struct dfr_message *message = NULL;

    if (values && bytes && f->once) {
        if (f->n_once > 0)
            memcpy(values, f->once, f->n_once * sizeof *values);
        dfr_mapping_pack(&f->mapping, bytes);
        last[0] = (struct dfr_value){ .port = f->graph->n_values, .data = bytes, .bytes = dfr_mapping_bytes(&f->mapping) };
        last[1] = (struct dfr_value){ .port = f->graph->n_values + 1, .data = f->classes, .bytes = f->mapping.n_ranks * sizeof *f->classes };
        message = dfr_message_make(head, values, f->n_once + 2);
    }
    free(values);
    free(bytes);
    return message;
}

static bool open_feed(struct dfr_rank0 *f)
{
    struct dfr_suits *suits;
    return dfr_suits_open(f->graph, f->stages, &f->mapping, 0, f->classes, f->options, &suits, NULL) == DF_OK &&
           dfr_feed_open(&f->mapping, 0, f->policy, suits, &f->feed, NULL) == DF_OK;
}

/* If no rank lives, ranks are told the mapping as it was, of which they are no part. */
static struct dfr_message *map(void *arg, const struct dfr_head *head, const bool *live, bool *uses)
{
    struct dfr_rank0 *f = arg;
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
    return make_welcome(f, head);
}

void dfr_rank0_change(struct dfr_rank0 *f, const struct dfr_mapping *wanted)
{
    f->wanted = *wanted;
}

/* ---- waves ---- */

static bool offer(void *arg, const struct dfr_message *give)
{
    struct dfr_rank0 *f = arg;
    return f->feed && dfr_feed_offer(f->feed, give->head.wave, give->values, give->n_values);
}

static void joined(void *arg, int rank, uint32_t classes)
{
    struct dfr_rank0 *f = arg;
    f->classes[rank] = classes;
}

static void request(void *arg, int rank, const struct dfr_head *ask)
{
    struct dfr_rank0 *f = arg;
    if (f->feed)
        dfr_feed_request(f->feed, (uint32_t)rank, ask);
}

static bool answer(void *arg, int *rank, struct dfr_head *head)
{
    struct dfr_rank0 *f = arg;
    uint32_t to;

    if (!f->feed || !dfr_feed_answer(f->feed, &to, head))
        return false;
    *rank = (int)to;
    return true;
}

static void took(void *arg, int rank, const struct dfr_message *message)
{
    struct dfr_rank0 *f = arg;
    double seconds;

    if (!f->tune || message->n_values != 1 || message->values[0].bytes != sizeof seconds)
        return;
    memcpy(&seconds, message->values[0].data, sizeof seconds);
    dfr_tune_took(f->tune, &f->mapping, (uint32_t)rank, message->head.wave, seconds);
}

struct dfr_manager_relay dfr_rank0_relay(struct dfr_rank0 *f)
{
    return (struct dfr_manager_relay){ .arg = f, .map = map, .offer = offer, .request = request, .answer = answer, .took = took,
                                        .joined = joined };
}

void dfr_rank0_close(struct dfr_rank0 *f)
{
    dfr_feed_close(f->feed);
    f->feed = NULL;
}
