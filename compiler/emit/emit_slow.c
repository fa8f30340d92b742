/* emit_slow.c - tells which formulas leave the fast ways of generated code: `dfc explain` (commands/cmd_explain.c) all of them, a build (build/build_units.c)
 * those that are several times slower.
 */
#include <stdlib.h>

#include "compiler/emit/emit.h"
#include "compiler/emit/emit_slow.h"
#include "compiler/generate/slow.h"

struct all {
    struct dfg_slow (*of)[DFG_SLOWNESSES]; /* by kernel */
    bool no_memory;
};

/* Members of groups and their kernels have the same places. */
static bool is_told(const struct all *all, size_t kernel, unsigned why)
{
    const struct dfl_loc here = all->of[kernel][why].loc;
    for (size_t i = 0; i < kernel; i++)
        if (all->of[i][why].what && all->of[i][why].loc.file == here.file && all->of[i][why].loc.line == here.line)
            return true;
    return false;
}

static struct all find_all(const struct dfc_front *front, const bool *used)
{
    struct all all = { .of = calloc(front->n_kernels + 1, sizeof *all.of) };
    all.no_memory = !all.of;
    for (size_t i = 0; i < front->n_kernels && !all.no_memory; i++)
        if (dfc_is_formula(&front->kernels[i], false) && (!used || used[front->kernels[i].kernel]))
            all.no_memory = !dfg_slow_find(front->kernels[i].formula, all.of[i]);
    return all;
}

bool dfc_emit_slow(FILE *out, const struct dfc_front *front, bool has_gpus)
{
    bool *used = calloc((size_t)front->graph->n_kernels + 1, sizeof *used), any = false;
    for (uint32_t v = 0; used && v < front->graph->n_nodes; v++)
        used[front->graph->nodes[v].kernel] = true;
    struct all all = used ? find_all(front, used) : (struct all){ .no_memory = true };
    for (size_t i = 0; i < front->n_kernels && !all.no_memory; i++)
        for (unsigned why = 0; why < DFG_SLOWNESSES; why++) {
            const struct dfg_slow *slow = &all.of[i][why];
            if (!slow->what || (slow->on_gpu && !has_gpus) || is_told(&all, i, why))
                continue;
            fprintf(out, "slow%s: %s:%u, %s: %s%s%s\n", slow->on_gpu ? " on a GPU" : "", dfl_sink_file_name(front->sink, slow->loc.file), slow->loc.line,
                    front->kernels[i].ast->name.text, slow->what, slow->remedy ? "; " : "", slow->remedy ? slow->remedy : "");
            any = true;
        }
    if (any)
        fputc('\n', out);
    free(used);
    free(all.of);
    return !all.no_memory;
}

bool dfc_note_slow(const struct dfc_front *front)
{
    struct all all = find_all(front, NULL);
    for (size_t i = 0; i < front->n_kernels && !all.no_memory; i++)
        for (unsigned why = 0; why < DFG_SLOWNESSES; why++)
            if (all.of[i][why].what && all.of[i][why].much && !is_told(&all, i, why)) {
                dfl_remark(front->sink, all.of[i][why].loc, "this is slow: %s", all.of[i][why].what);
                dfl_hint(front->sink, "%s", all.of[i][why].remedy);
                break;                  /* one for each kernel */
            }
    free(all.of);
    return !all.no_memory;
}
