/* ranks.c - runs a graph on all ranks of an mpirun, for program/program_main.c: decides what is handed out, and calls this rank's side of it (ranks.h). */
#include "runtime/ranks/ranks.h"

#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/graph/plan.h"
#include "runtime/ranks/ranks_impl.h"
#include "runtime/record/digest.h"
#include "runtime/record/facts.h"

/* One rank of the run. */
struct rank {
    struct dfr_comm comm;
    bool first;
    const struct df_graph *graph;
    struct df_options options;
    const struct dfr_ranks_options *ranks;
    uint64_t hash;                      /* of the graph with its args */
    struct df_stats *stats;
};

static void ring(void *comm)
{
    dfr_comm_ring(comm);
}

static int run_waves(struct rank *r, struct df_error *error)
{
    struct dfr_parts parts;
    int status = dfr_parts_make(r->graph, &parts, error);

    if (status == DF_OK)
        status = r->first ? dfr_rank0_waves(&r->comm, &parts, &r->options, r->hash, r->ranks, NULL, r->stats, error)
                          : dfr_replica_waves(&r->comm, &parts, &r->options, r->hash, r->ranks, r->stats, error);
    else if (!r->first)
        status = DF_OK;                 /* the first rank says it; if this one failed, too, mpirun might end that one before */
    dfr_parts_free(&parts);
    return status;
}

static int run_one_group(struct rank *r, struct df_error *error)
{
    const bool kept = r->ranks->resume && r->ranks->resume->checkpoint_s > 0;
    struct dfr_shared shared;
    bool parts;
    int status = dfr_shared_choose(r->graph, r->options.args, r->comm.link->size, kept, r->ranks->share, &shared, &parts, error);

    if (status != DF_OK)
        return r->first ? status : DF_OK; /* the first rank says it */
    /* Ranks that share waves have other tokens, and so another hash. */
    status = parts ? (r->first ? dfr_rank0_parts : dfr_replica_parts)(&r->comm, &shared, &r->options, ~r->hash, r->ranks, r->stats, error)
                   : run_waves(r, error);
    dfr_shared_free(&shared);
    return status;
}

static int check_stages(const struct rank *r, struct df_error *error)
{
    if (r->comm.link->size - 1 > (int)DFR_MOST_PROCESSORS)
        return dfr_error(error, DF_E_REFUSED, "--cluster: there are %d ranks, and stages can be on %u at most", r->comm.link->size, DFR_MOST_PROCESSORS);
    if (r->ranks->stages->tune && !(r->options.planner && r->options.planner->remapper))
        return dfr_error(error, DF_E_REFUSED, "--tuned: the program has no planner");
    return DF_OK;
}

static int run_stages(struct rank *r, struct df_error *error)
{
    struct dfr_stages stages = { 0 };
    int status = check_stages(r, error);

    if (status == DF_OK)
        status = dfr_stages_find(r->graph, &stages, error);
    if (status == DF_OK)
        status = (r->first ? dfr_rank0_stages : dfr_replica_stages)(&r->comm, r->graph, &stages, &r->options, dfr_hash(r->hash, "stages", 6), r->ranks,
                                                                    r->stats, error);
    else if (!r->first)
        status = DF_OK;                 /* the first rank says it */
    dfr_stages_free(&stages);
    return status;
}

int dfr_ranks_run(struct dfr_link *link, const struct df_graph *graph, const struct df_options *options, const struct dfr_ranks_options *ranks,
                  struct df_stats *stats, struct df_error *error)
{
    char *facts = dfr_facts_of(graph, options->args);
    struct rank r = { .comm = { .link = link, .facts = facts, .whole = true }, .first = link->rank == 0, .graph = graph, .options = *options,
                      .ranks = ranks, .hash = dfr_graph_digest(graph, options->args), .stats = stats };

    r.options.fed = ring;
    r.options.fed_arg = &r.comm;
    int status = (ranks->stages ? run_stages : run_one_group)(&r, error);
    link->close(link, r.comm.whole);
    free(facts);
    return status;
}
