/* strips.c - prints for kernel.c the code of a fused group: a function for each stage, which computes some of its rows,
 * and the loop over strips that calls them. df_strips.h determines at run time which rows these are. The other files
 * ask it which memory is a ring.
 *
 * A ring of n rows is indexed modulo n: row y of the stream is row y % n of the ring. If some stage accesses a ring
 * other than row by row, no ring of the group is. Such stages use a ring as if all rows of the stream existed: their
 * pointer is that of row 0, which would lie before the ring, and the rows that the next strip needs are moved to the
 * beginning.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>

#include "compiler/fusion/fusion.h"

/* The indices of the dimensions before that which counts rows, each behind `before`. */
static const char *outer_list(struct dfg_gen *g, const char *before)
{
    const char *text = "";
    for (unsigned d = 0; d < g->rows; d++)
        text = dfg_printf(g, "%s%s%u", text, before, d);
    return text;
}

static void print_stage(struct dfg_gen *g, FILE *out, unsigned s)
{
    const struct dff_stage *stage = &g->kernel->strips->stages[s];
    char *body = dfg_formulas(g, out, stage->first_formula, stage->n_formulas);
    if (!g->failed)
        fprintf(out, "static DF_ALONE int df_stage%u_%c(%s%s%s, const int64_t df_from, const int64_t df_to)\n{\n    int df_good = 1;\n"
                     "%s    return df_good;\n}\n\n",
                s, DFG_NAME, dfg_parameters(g), dfg_port_parameters(g), outer_list(g, ", const int64_t df_outer"), body);
    free(body);
}

/* The text of all stages, which the caller frees. It is of no use if it sets g->rings_are_whole and rings turn. NULL: no memory. */
static char *stages_text(struct dfg_gen *g)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    g->failed |= !out;
    g->rings_are_whole = false;
    for (unsigned s = 0; s < g->kernel->strips->n_stages && !g->failed && !(g->rings_turn && g->rings_are_whole); s++)
        print_stage(g, out, s);
    g->failed |= out && fclose(out) != 0;
    return text;
}

static void print_stages(struct dfg_gen *g, FILE *out)
{
    g->rings_turn = true;
    char *text = stages_text(g);
    if (g->rings_are_whole && !g->failed) {
        free(text);
        g->rings_turn = false;
        text = stages_text(g);
    }
    if (!g->failed)
        fputs(text, out);
    free(text);
}

bool dfg_is_ring(const struct dfg_gen *g, unsigned memory)
{
    return g->kernel->strips && g->kernel->strips->ring_rows[memory] != DF_NONE;
}

static const char *row_of(struct dfg_gen *g, unsigned port)
{
    return dfg_row_size(g, &g->kernel->ports[port], g->rows + 1);
}

/* Rows of the whole stream before the first one that the ring holds. */
static const char *rows_before(struct dfg_gen *g, unsigned port)
{
    const struct dff_port *p = &g->kernel->ports[port];
    struct dff_port lead = { .rank = g->rows + 1 };
    struct dfg_text at[DF_MAX_RANK] = { { 0 } };
    for (unsigned d = 0; d <= g->rows; d++) {
        lead.extents[d] = p->extents[d];
        at[d] = (struct dfg_text){ d < g->rows ? dfg_printf(g, "df_outer%u", d)
                                               : dfg_printf(g, "df_stages[%u].have.from", g->kernel->strips->stage_of[p->memory]),
                                   DFG_ATOM };
    }
    const char *text = dfg_offset(g, &lead, at);
    return g->rows ? dfg_printf(g, "(%s)", text) : text;
}

/* Ports as a stage takes them: a ring that does not turn by the place of its row 0. */
static const char *port_arguments(struct dfg_gen *g)
{
    const char *text = "";
    for (unsigned p = 0; p < g->kernel->n_ports; p++) {
        text = dfg_printf(g, "%s, %s", text, dfg_port_name(g, p));
        if (!g->rings_turn && dfg_is_ring(g, g->kernel->ports[p].memory))
            text = dfg_printf(g, "%s - %s * %s", text, rows_before(g, p), row_of(g, p));
    }
    return text + 2;
}

static void print_tables(struct dfg_gen *g, FILE *out)
{
    static const char *const borders[] = { "DF_STRIP_NONE", "DF_STRIP_CLAMP", "DF_STRIP_MIRROR", "DF_STRIP_REFLECT" };
    const struct dff_strips *s = g->kernel->strips;
    fprintf(out, "    struct df_strip_stage df_stages[%u] = {\n", s->n_stages);
    for (unsigned k = 0; k < s->n_stages; k++)
        fprintf(out, "        { .extent = %s, .leaves = %d, .times = %" PRId64 ", .by = %" PRId64 " }, /* %s */\n", dfg_index(g, s->stages[k].rows).c,
                s->stages[k].leaves, s->stages[k].rate.times, s->stages[k].rate.by,
                g->kernel->ports[g->kernel->formulas[s->stages[k].first_formula].port].ast->name.text);
    fputs("    };\n", out);
    if (!s->n_reads)
        return;
    fprintf(out, "    static const struct df_strip_read df_reads[%u] = {\n", s->n_reads);
    for (unsigned r = 0; r < s->n_reads; r++)
        fprintf(out, "        { %u, %u, %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %s },\n", s->reads[r].reader, s->reads[r].made,
                s->reads[r].times, s->reads[r].by, s->reads[r].low, s->reads[r].high, borders[s->reads[r].border]);
    fputs("    };\n", out);
}

static void print_stage_call(struct dfg_gen *g, FILE *out, unsigned s)
{
    const struct dff_strips *strips = g->kernel->strips;
    fprintf(out, "        if (df_good && df_stages[%u].make.to) {\n", s);
    for (unsigned p = 0; p < g->kernel->callee->sig.n_ports; p++)
        if (!g->rings_turn && dfg_is_ring(g, p) && strips->stage_of[p] == s)
            fprintf(out, "            df_strip_move(&df_stages[%u], %s, %s * (int64_t)sizeof *%s);\n", s, dfg_port_name(g, p),
                    row_of(g, p), dfg_port_name(g, p));
    fprintf(out, "            df_strip_made(&df_stages[%u]);\n"
                 "            df_good = df_stage%u_%c(%s%s%s, df_stages[%u].make.from, df_stages[%u].make.to);\n        }\n",
            s, s, DFG_NAME, dfg_arguments(g), port_arguments(g), outer_list(g, ", df_outer"), s, s);
}

/* Loops over the dimensions before that which counts rows. They end with one brace. */
static void print_outer(struct dfg_gen *g, FILE *out)
{
    const struct dff_port *port = &g->kernel->ports[g->kernel->formulas[0].port];
    for (unsigned d = 0; d < g->rows; d++)
        fprintf(out, "    for (int64_t df_outer%u = %s; df_good && df_outer%u < %s; df_outer%u++)\n", d,
                d == 0 ? "df_from" : "0", d, d == 0 ? "df_to" : dfg_index(g, port->extents[d]).c, d);
    if (g->rows)
        fputs("    {\n", out);
}

void dfg_strips(FILE *out, struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    const char *strip = dfg_dim_name(g, s->strip);
    g->rows = s->dim;
    g->from = "df_from";
    g->to = "df_to";
    print_stages(g, out);
    g->from = g->to = NULL;
    if (g->failed)
        return;
    fprintf(out, "static DF_ALONE int df_kernel_%c(%s%s%s)\n{\n    int df_good = 1;\n", DFG_NAME, dfg_parameters(g),
            dfg_port_parameters(g), dfg_part_parameters(g));
    dfg_part_begin(out, g);
    print_outer(g, out);
    print_tables(g, out);
    const char *from = g->rows ? "0" : "df_from";
    fprintf(out, "    const int64_t df_end = %s;\n", dfg_printf(g, g->rows ? "df_strips_end(df_stages, %u)" : "df_to ? df_to : df_strips_end(df_stages, %u)", s->n_stages));
    fprintf(out, "    for (int64_t df_row = %s; df_good && df_row < df_end; df_row += %s) {\n"
                 "        df_strips_next(df_stages, %u, %s, %u, df_row, df_strip_least(df_row + %s, df_end));\n",
            from, strip, s->n_stages, s->n_reads ? "df_reads" : "0", s->n_reads, strip);
    for (unsigned k = 0; k < s->n_stages; k++)
        print_stage_call(g, out, k);
    fprintf(out, "    }\n%s    return df_good;\n}\n\n", g->rows ? "    }\n" : "");
}
