/* part_reads.c - which rows a part of a node of formulas reads: of a kernel, or of a group of kernels.
 *
 * A part makes a range of rows of all its outputs. Rows are followed from the outputs back to the streams from outside, by
 * the distances that reads.c finds. A stream of which they cannot be told is read as a whole.
 */
#include "compiler/fusion/fusion.h"

/* Does a member read, at another distance than 0, a stream that leaves? Then a part would make rows of its neighbours. */
static bool reads_beside(const struct dfu_wiring *w, unsigned m)
{
    const struct dfc_sig *sig = &w->member[m].callee->sig;
    bool beside = false;
    for (unsigned i = 0; i < sig->n_in; i++) {
        const struct dfu_source *from = &w->member[m].in[i];
        struct dfu_rows rows;
        if (from->member >= 0 && w->member[from->member].leaves[from->slot])
            beside |= dfu_why_no_rows(w->member[m].callee, sig->in_port[i], 0, &rows) || rows.low || rows.high;
    }
    return beside;
}

const char *dfu_why_no_parts(const struct dfu_wiring *w)
{
    const char *why = NULL;
    for (unsigned m = 0; m < w->n && !why; m++)
        why = dfu_why_no_part(w->member[m].callee);
    for (unsigned m = 0; m < w->n && !why; m++)
        if (reads_beside(w, m))
            why = "one of its outputs is read inside of it, at other rows";
    return why;
}

static bool leaves(const struct dfu_wiring *w, unsigned m)
{
    bool any = false;
    for (unsigned i = 0; i < w->member[m].callee->sig.n_out; i++)
        any |= w->member[m].leaves[i];
    return any;
}

void dfu_part_rows(const struct dfu_wiring *w, const uint64_t *const *in_rows, struct df_rows made, struct df_rows *need)
{
    struct df_rows rows[DFU_MOST_MEMBERS] = { { 0, 0 } };
    for (unsigned k = 0; k < w->n_outside; k++)
        need[k] = (struct df_rows){ 0, 0 };
    for (unsigned m = 0; m < w->n; m++)
        if (leaves(w, m))
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
            const struct df_strip_read read = { .low = (int32_t)far.low, .high = (int32_t)far.high,
                                                .border = (int)far.border };
            df_strip_need(of, rows[m], &read, (int64_t)in_rows[m][i]);
        }
}
