/* row_range.c - prints for kernel.c, strips.c and the GPU files the code of kernels whose nodes may be divided: they
 * compute a range of rows, and get ports of which only some rows are present. Dimensions remain those of the undivided
 * node, so indices, borders and bits are the same.
 */
#include "compiler/generate/gen.h"

#include "compiler/fusion/fusion.h"

bool dfg_has_parts(const struct dfg_gen *g)
{
    return g->kernel->strips || !dfu_why_no_part(g->kernel->callee);
}

const char *dfg_part_parameters(const struct dfg_gen *g)
{
    return dfg_has_parts(g) ? ", const int64_t df_from, int64_t df_to, const int64_t *df_first" : "";
}

const char *dfg_part_arguments(const struct dfg_gen *g)
{
    return dfg_has_parts(g) ? ", (int64_t)df_rows.first, (int64_t)(df_rows.first + df_rows.rows), df_first" : "";
}

void dfg_part_print(FILE *out, struct dfg_gen *g)
{
    const unsigned n = g->kernel->callee->sig.n_ports;
    if (!dfg_has_parts(g))
        return;
    fprintf(out, "    const struct df_part df_rows = df_part(call);\n    int64_t df_first[%u] = { 0 };\n"
                 "    for (unsigned df_i = 0; df_rows.rows && df_i < %u; df_i++)\n"
                 "        df_first[df_i] = (int64_t)df_part_row(call, df_i);\n", n, n);
}

const char *dfg_rows_made(struct dfg_gen *g, const struct dff_port *port)
{
    const bool made = (port->mode == DF_OUT || port->mode == DF_ACC) && port->rank && !dfg_is_ring(g, port->memory);
    return made ? dfg_index(g, port->extents[0]).c : NULL;
}

/* Rows of what leaves, of the port that has most. */
static void print_end(FILE *out, struct dfg_gen *g)
{
    for (unsigned p = 0; p < g->kernel->n_ports; p++) {
        const char *rows = dfg_rows_made(g, &g->kernel->ports[p]);
        if (rows)
            fprintf(out, "        df_to = df_to > %s ? df_to : %s;\n", rows, rows);
    }
}

void dfg_part_begin(FILE *out, struct dfg_gen *g)
{
    if (!dfg_has_parts(g))
        return;
    if (!g->kernel->strips || g->rows) { /* else strips know their end */
        fputs("    if (df_to == 0) {\n", out);
        print_end(out, g);
        fputs("    }\n", out);
    }
    for (unsigned p = 0; p < g->kernel->n_ports; p++) {
        const struct dff_port *port = &g->kernel->ports[p];
        if (port->rank && !dfg_is_ring(g, port->memory))
            fprintf(out, "    %s -= df_first[%u] * %s;\n", dfg_port_name(g, p), port->memory,
                    dfg_within(g, (struct dfg_text){ dfg_row_size(g, port, 1), DFG_PLUS }, DFG_UNARY));
    }
}
