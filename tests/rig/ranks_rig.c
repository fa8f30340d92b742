/* ranks_rig.c - a graph on several ranks, a thread for each: ranks_rig.h. */
#include "ranks_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "link_rig.h"
#include "runtime/link/message.h"

struct ranks_rig_rank ranks_rig[RANKS_RIG_MOST];

static void *run_rank(void *arg)
{
    struct ranks_rig_rank *r = arg;
    r->status = dfr_ranks_run(r->link, r->graph, &r->options, &r->ranks, &r->stats, &r->error);
    return NULL;
}

static void drop(void *cookie)
{
    dfr_message_drop(cookie);
}

void ranks_rig_number(const struct df_graph *graph)
{
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        ((struct df_node *)graph->nodes)[v].ordinal = v + 1;
}

int ranks_rig_run(struct rig *r, int n, const struct df_options *options, const struct dfr_ranks_options *ranks, int killed, uint32_t *random)
{
    struct link_rig *rig = link_rig_create(n, rig_rand(random), rig_rand(random) % 20);

    ranks_rig_number(r->graph);
    rig_clear(r);
    memset(ranks_rig, 0, sizeof ranks_rig);
    for (int i = 0; i < n; i++) {
        ranks_rig[i] = (struct ranks_rig_rank){ .link = link_rig_link(rig, i), .graph = r->graph, .options = *options, .ranks = *ranks };
        assert_int_equal(pthread_create(&ranks_rig[i].thread, NULL, run_rank, &ranks_rig[i]), 0);
    }
    if (killed) {
        usleep(rig_rand(random) % 20000);
        link_rig_kill(rig, killed);
    }
    for (int i = 0; i < n; i++)
        pthread_join(ranks_rig[i].thread, NULL);
    link_rig_destroy(rig, drop);
    return ranks_rig[0].status;
}

void ranks_rig_check(struct rig *r, int n, const struct df_options *options, const struct dfr_ranks_options *ranks, int killed, uint32_t *random, int64_t waves,
                     unsigned seed)
{
    ranks_rig_run(r, n, options, ranks, killed, random);
    for (int i = 0; i < n; i++)
        if ((i == 0 || i != killed) && ranks_rig[i].status != DF_OK)
            fail_msg("seed %u, rank %d of %d: %s", seed, i, n, ranks_rig[i].error.text);
    if (!rig_same(r, waves))
        fail_msg("seed %u: %d ranks, rank %d dies", seed, n, killed);
}
