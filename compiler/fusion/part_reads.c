/* part_reads.c - computes which input rows a part of a divided node needs, where the node is a formula kernel or a
 * fused group; elab/divisible.c and elab/divided.c ask it.
 *
 * A part produces a range of rows of all outputs. The rows are propagated backwards from the outputs to the inputs,
 * using the distances that reads.c finds. An input whose rows cannot be determined is read as a whole.
 */
#include "compiler/fusion/fusion.h"

/* Are rows of a stream that leaves needed for other rows of what leaves? Then a part would make rows of its neighbours. */
static bool needs_beside(const struct dfu_wiring *w)
{
    bool beside[DFU_MOST_MEMBERS] = { false }; /* by member: rows of it are */
    for (unsigned m = w->n; m-- > 0;) {
        if (beside[m] && dfu_leaves(&w->member[m]))
            return true;
        for (unsigned i = 0; i < w->member[m].callee->sig.n_in; i++) {
            const struct dfu_source *from = &w->member[m].in[i];
            struct dfu_rows rows;
            if (from->member >= 0)
                beside[from->member] |= beside[m] || dfu_why_no_rows(w->member[m].callee, w->member[m].callee->sig.in_port[i], 0, &rows) ||
                                        !dfu_in_place(&rows);
        }
    }
    return false;
}

/* Do all that leave make as many rows as each other in a strip? */
static bool leave_alike(const struct dfu_wiring *w)
{
    struct dfu_ratio rates[DFU_MOST_MEMBERS];
    bool alike = dfu_rates(w, 0, rates);
    for (unsigned m = 0; m < w->n && alike; m++)
        alike = !dfu_leaves(&w->member[m]) || dfu_is_one(rates[m]);
    return alike;
}

const char *dfu_why_no_parts(const struct dfu_wiring *w)
{
    const char *why = NULL;
    for (unsigned m = 0; m < w->n && !why; m++)
        why = dfu_why_no_part(w->member[m].callee);
    if (!why && needs_beside(w))
        why = "one of its outputs is read inside of it, at other rows";
    if (!why && w->n > 1 && !leave_alike(w))
        why = "its outputs do not have a row each for a row of the others";
    return why;
}

void dfu_part_rows(const struct dfu_wiring *w, const uint64_t *const *in_rows, struct df_rows made, struct df_rows *need)
{
    struct df_rows rows[DFU_MOST_MEMBERS] = { { 0, 0 } };
    for (unsigned k = 0; k < w->n_outside; k++)
        need[k] = (struct df_rows){ 0, 0 };
    for (unsigned m = 0; m < w->n; m++)
        if (dfu_leaves(&w->member[m]))
            rows[m] = made;
    for (unsigned m = w->n; m-- > 0;)
        for (unsigned i = 0; i < w->member[m].callee->sig.n_in && rows[m].to > rows[m].from; i++) {
            const struct dfu_source *from = &w->member[m].in[i];
            struct df_rows *of = from->member < 0 ? &need[from->slot] : &rows[from->member];
            struct dfu_rows far;
            if (dfu_why_no_rows(w->member[m].callee, w->member[m].callee->sig.in_port[i], 0, &far)) {
                *of = (struct df_rows){ 0, (int64_t)in_rows[m][i] };
                continue;
            }
            const struct df_strip_read read = { .times = (int32_t)far.rate.times, .by = (int32_t)far.rate.by, .low = (int32_t)far.low,
                                                .high = (int32_t)far.high, .border = (int)far.border };
            df_strip_need(of, rows[m], &read, (int64_t)in_rows[m][i]);
        }
}
