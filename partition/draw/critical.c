/* critical.c - the chain of jobs that makes a planned wave as long as it is.
 *
 * Chain:    from the last job back. Each job began when the one before it in the chain ended, or when that one's output
 *           had arrived, or when it set a worker free. If no arc joins two jobs of the chain, the later one waited for
 *           the worker of the other.
 */
#include "partition/gp/gp.h"
#include "partition/planner/plan_report.h"

int dfp_critical_chain(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                       uint32_t *chain, uint32_t *n_chain, struct df_error *error)
{
    struct dfp_compact compact;
    struct dfp_state state;
    uint32_t n = 0;
    int code = dfp_compact_make(problem, &compact, error);
    if (code)
        return code;
    code = dfp_state_make(&compact, &state, error);
    if (!code && compact.n_nodes) {
        dfp_state_set(&state, place, NULL, 1);
        for (uint32_t v = 0; v < compact.n_nodes; v++)
            state.key[v] = dfp_key(priority[v], v);
        dfp_state_run(&state, INFINITY);
        for (uint32_t v = state.last_node; v != DF_NONE && n < compact.n_nodes; v = state.blame[v])
            chain[n++] = v;
    }
    if (!code)
        dfp_state_free(&state);
    dfp_compact_free(&compact);
    *n_chain = n;
    return code;
}
