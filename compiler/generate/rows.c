/* rows.c - prints a formula as functions that compute one row, and the loop that calls them for every row, for kernel.c. Strips and GPU code use its parts.
 *
 * Columns:  of the formula's indices the last one that does not go over a small fixed extent (channels) is the *column*.
 *           Those before it are the *row* indices, those behind it loops inside.
 * MAIN:     computes columns for which every read is inside. So its inner loop has no border in it.
 * EDGE:     computes the other ones: the same text with borders. There is none if every column is MAIN's.
 * Phases:   if an index divides the column by 2, say, MAIN's loop goes over pairs of columns, which have a text each. In both of
 *           them the quotient is a sum of the loop's variable and a number, as vectors need it. What is less than a pair is EDGE's.
 * Far:      MAIN takes functions of near arguments for sin, cos and tan. If one was far it calls EDGE, which does not, for all of
 *           its columns. An inout port has lost by then what EDGE would read, so there MAIN does not.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/fusion/fusion.h"

#define GROUP 16                        /* rows that are computed in pairs before their EDGE columns */

/* ---- the formula ---- */

static const struct dff_port *out_port(const struct dfg_gen *g)
{
    return &g->kernel->ports[g->formula->port];
}

static struct dfg_text index_of(struct dfg_gen *g, const struct dff_formula *f, unsigned d)
{
    if (!f->is_index[d])
        return dfg_number(g, DFF_I32, f->at[d], 0);
    const struct dfg_block *block = dfg_block_of(g, 1u << d);
    if (block->is_number)
        return dfg_number(g, DFF_I32, block->number, 0);
    if (block->times)
        return (struct dfg_text){ dfg_printf(g, "%" PRId64 " * %s + %" PRId64, block->times, block->name, block->shift), DFG_PLUS };
    const char *name = g->formula->names[d]; /* its siblings have their loops from it */
    return block->shift ? (struct dfg_text){ dfg_printf(g, "%s + %" PRId64, name, block->shift), DFG_PLUS } : (struct dfg_text){ name, DFG_ATOM };
}

/* ---- one row ---- */

/* The value as it is stored. */
static const char *stored(struct dfg_gen *g, const struct dff_port *port, struct dfg_text value)
{
    return port->elem == DF_F16         ? dfg_printf(g, "df_f16_of_f32(%s)", value.c)
           : dff_is_narrow(port->elem) ? dfg_printf(g, "(%s)%s", df_elem_c_type(port->elem), dfg_within(g, value, DFG_ATOM))
                                       : value.c;
}

static void store(struct dfg_gen *g, const struct dff_formula *f)
{
    const struct dff_port *port = &g->kernel->ports[f->port];
    struct dff_port rest = { .rank = port->rank - dfg_lead(g) };
    struct dfg_text at[DF_MAX_RANK] = { { 0 } }, value = dfg_value(g, f->value);
    for (unsigned d = 0; d < rest.rank; d++) {
        rest.extents[d] = port->extents[d + dfg_lead(g)];
        at[d] = index_of(g, f, d + dfg_lead(g));
    }
    const char *place = g->flat ? f->names[g->column] : dfg_offset(g, &rest, at);
    const char *element = dfg_printf(g, "%s[%s]", g->row ? g->row : dfg_port_name(g, f->port), place);
    dfg_line_of(g, g->block, &f->ast->loc);
    if (dfg_is_local(g, f->port)) {
        const char *local = dfg_tiles_element(g, f->port, at), *own = dfg_tiles_own(g, f, at);
        dfg_line(g, g->block, "%s = %s;", local, stored(g, port, value));
        if (own) {
            dfg_line(g, g->block, "if (%s)", own);
            dfg_line(g, g->block, "    %s = %s;", element, local);
        }
    } else {
        dfg_line(g, g->block, "%s = %s;", element, stored(g, port, value));
    }
    dfg_line_own(g, g->block);
}

void dfg_store(struct dfg_gen *g)
{
    const unsigned before = g->copies;
    g->copies *= g->n_siblings;
    for (unsigned i = 0; i < g->n_siblings && !g->failed; i++)
        store(g, g->siblings[i]);
    g->copies = before;
}

static void inner(struct dfg_gen *g, unsigned d);

static void channel_loop(struct dfg_gen *g, unsigned d)
{
    unsigned before = g->copies;
    g->copies *= (unsigned)dff_channels(g->kernel, g->formula, d);
    for (int64_t i = 0; i < dff_channels(g->kernel, g->formula, d) && !g->failed; i++) {
        struct dfg_block block;
        if (dfg_open_number(g, &block, (int)d, i))
            inner(g, d + 1);
        dfg_close(g, &block, "");
    }
    g->copies = before;
}

/* The dimensions behind the column. */
static void inner(struct dfg_gen *g, unsigned d)
{
    while (d < g->formula->rank && (!g->formula->is_index[d] || g->apart >> d & 1))
        d++;
    if (d == g->formula->rank)
        dfg_store(g);
    else
        channel_loop(g, d);
}

/* One column of one row, or of two: what does not depend on the row is computed once. */
static void print_column(struct dfg_gen *g)
{
    const unsigned y = dfg_lead(g) - 1;
    for (int64_t k = 0; g->stage.is_pair && k < 2 && !g->failed; k++) {
        struct dfg_block copy;
        if (dfg_open_shared(g, &copy, (int)y, g->formula->names[y])) {
            copy.shift = k;
            g->row = k ? DFG_NEXT_ROW : NULL;
            inner(g, (unsigned)g->column + 1);
        }
        dfg_close(g, &copy, "");
    }
    g->row = NULL;
    if (!g->stage.is_pair)
        inner(g, (unsigned)g->column + 1);
}

static void print_columns(struct dfg_gen *g, const char *from, const char *to)
{
    struct dfg_block loop;
    bool good = dfg_open_columns(g, &loop);
    loop.loc = &g->formula->ast->loc;
    if (good)
        print_column(g);
    dfg_close_columns(g, &loop, from, to);
}

/* The loop over the columns that has a text for each residue of them. */
static void print_phases(struct dfg_gen *g)
{
    const unsigned before = g->copies;
    struct dfg_block loop;
    bool good = dfg_open_columns(g, &loop);
    loop.loc = &g->formula->ast->loc;
    g->copies *= (unsigned)g->stage.phases;
    for (int64_t phase = 0; phase < g->stage.phases && good; phase++) {
        struct dfg_block block;
        if (dfg_open_phase(g, &block, &loop, phase))
            inner(g, (unsigned)g->column + 1);
        dfg_close(g, &block, "");
    }
    g->copies = before;
    dfg_close_columns(g, &loop, dfg_printf(g, "df_from / %" PRId64, g->stage.phases), dfg_printf(g, "df_to / %" PRId64, g->stage.phases));
}

/* May reductions stand around the columns? EDGE is called by MAIN for far arguments, and for columns of which MAIN has changed the kept sums. */
static bool has_around(const struct dfg_gen *g)
{
    return g->mode == DFG_MAIN ? !g->stage.is_pair && !g->kept.is_read : g->mode == DFG_EDGE && !g->far[0] && !g->far[1];
}

/* The loop over the columns. If columns share values, it goes from strip to strip, so that the arrays are small. */
static void print_strip_loop(struct dfg_gen *g)
{
    const char *from = dfg_flat_end(g, "df_from"), *to = dfg_flat_end(g, "df_to");
    struct dfg_block strip;
    g->n_columns = g->column_bytes = 0;
    dfg_open(g, &strip, -1, NULL);
    dfg_line(g, &strip, "const int64_t df_strip_end = %s - df_strip < df_strip_columns ? %s : df_strip + df_strip_columns;", to, to);
    if (g->mode == DFG_MAIN && has_around(g) && !g->flat && !g->failed) {
        dfg_columns_print(g);
        dfg_gathers_print(g);
        if (g->sum && !g->failed)
            dfg_sum_print(g);
    }
    if (has_around(g) && !g->failed)
        dfg_around_print(g);
    if (!g->n_columns) {
        dfg_drop(g, &strip);
        print_columns(g, from, to);
        return;
    }
    g->stage.has_strips = true;
    print_columns(g, "df_strip", "df_strip_end");
    dfg_line(g, strip.outer, "enum { df_strip_columns = %u };", dfg_strip_columns(g));
    dfg_close(g, &strip, dfg_printf(g, "for (int64_t df_strip = %s; df_strip < %s; df_strip += df_strip_columns)", from, to));
    g->n_columns = 0;
}

static void print_channels(struct dfg_gen *g, unsigned d);

/* Channel i of dimension d. head: of a loop over all of them, in which i is not used; "": there is none. */
static void print_channel(struct dfg_gen *g, unsigned d, int64_t i, const char *head)
{
    struct dfg_block block;
    bool good = dfg_open(g, &block, (int)d, *head ? g->formula->names[d] : NULL);
    block.is_number = !*head;
    block.number = i;
    if (good)
        print_channels(g, d + 1);
    dfg_close(g, &block, head);
}

/* The strips, from channel d on for each of those in g->apart. */
static void print_channels(struct dfg_gen *g, unsigned d)
{
    const unsigned before = g->copies;
    while (d < g->formula->rank && !(g->apart >> d & 1))
        d++;
    if (d >= g->formula->rank) {
        print_strip_loop(g);
        return;
    }
    const int64_t channels = dff_channels(g->kernel, g->formula, d);
    const char *c = g->formula->names[d];
    if (g->apart_once >> d & 1) {
        print_channel(g, d, 0, dfg_printf(g, "for (int64_t %s = 0; %s < %" PRId64 "; %s++)", c, c, channels, c));
        return;
    }
    g->copies *= (unsigned)channels;
    for (int64_t i = 0; i < channels && !g->failed; i++)
        print_channel(g, d, i, "");
    g->copies = before;
}

/* Prints with flat columns, if all reads can be. */
static bool print_flat(struct dfg_gen *g, void (*print)(struct dfg_gen *g))
{
    struct dfg_block block;
    g->flat_fails = false;
    if (dfg_open(g, &block, -1, NULL))
        print(g);
    const bool good = !g->flat_fails;
    if (good)
        dfg_close(g, &block, "");
    else
        dfg_drop(g, &block);
    g->flat = 0;
    return good;
}

static void print_apart(struct dfg_gen *g)
{
    if (has_around(g) && !g->failed)
        dfg_around_apart(g);
    if (!g->flat || !print_flat(g, print_strip_loop))
        print_channels(g, (unsigned)g->column + 1);
    g->apart = g->apart_once = 0;
}

/* Places in a port of few elements are kept as int32_t, of which vectors have twice as many as of int64_t. As below there is no `else`. */
static void print_strips(struct dfg_gen *g)
{
    if (g->mode == DFG_MAIN && g->stage.phases) {
        print_phases(g);
        return;
    }
    const char *near = g->mode == DFG_MAIN && !g->stage.is_pair && !g->kept.is_read && !g->failed ? dfg_places_are_near(g) : NULL;
    const char *name = near ? dfg_new_name(g) : NULL;
    if (near)
        dfg_line(g, g->block, "const int %s = %s;", name, near);
    for (int i = 0; near && i < 2 && !g->failed; i++) {
        struct dfg_block block;
        g->near_places = i == 0;
        if (dfg_open(g, &block, -1, NULL))
            print_apart(g);
        dfg_close(g, &block, dfg_printf(g, "if (%s%s)", i ? "!" : "", name));
    }
    g->near_places = false;
    if (!near)
        print_apart(g);
}

/* If the row decides between sides of conditions, a text for each residue of the row. There is no `else`: what one of them needs of
 * the block around it is printed between them. */
static void print_residues(struct dfg_gen *g)
{
    int64_t modulus = 1;
    int slot = g->mode == DFG_MAIN && !g->stage.is_pair ? dfg_residues(g, &modulus) : -1;
    if (slot < 0)
        print_strips(g);
    for (int64_t r = 0; slot >= 0 && r < modulus && !g->failed; r++) {
        struct dfg_block block;
        const char *y = g->formula->names[slot];
        bool good = dfg_open(g, &block, slot, y);
        block.modulus = modulus;
        block.residue = r;
        if (good)
            print_strips(g);
        dfg_close(g, &block, dfg_printf(g, "if (%s %% %" PRId64 " == %" PRId64 ")", y, modulus, r));
    }
}

/* What print() prints, in blocks that have the parameters of a row function. NULL: no memory. */
static char *text_of(struct dfg_gen *g, void (*print)(struct dfg_gen *g))
{
    struct dfg_block function, outer[DF_MAX_RANK];
    unsigned n = 0;
    if (!dfg_open(g, &function, -1, NULL))
        return NULL;
    for (unsigned d = 0; d < dfg_lead(g) - g->stage.is_pair; d++)
        if (g->formula->is_index[d]) {
            dfg_open_shared(g, &outer[n], (int)d, g->formula->names[d]); /* a parameter of the row function */
            n++;
        }
    print(g);
    while (n)
        dfg_close(g, &outer[--n], "");
    dfg_close(g, &function, "");
    return function.bytes;
}

static void print_row_text(struct dfg_gen *g)
{
    g->copies = 1;
    g->n_ranged = 0;
    g->near = g->mode == DFG_MAIN && out_port(g)->mode == DF_OUT;
    if (g->column < 0)
        dfg_store(g);
    else if (g->stage.is_half)
        dfg_kept_print(g);
    else {
        dfg_ranged_print(g);
        print_residues(g);
    }
    g->n_ranged = 0;
    g->near = false;
}

/* The text of a row function without its head. NULL: no memory. */
static char *row_text(struct dfg_gen *g)
{
    return text_of(g, print_row_text);
}

/* ---- the functions ---- */

/* Has MAIN not all columns? */
static bool has_edge(const struct dfg_gen *g)
{
    return g->stage.n_bounds || g->stage.phases || g->near_facts;
}

/* Those behind what is written: what is read, the row's indices, and the columns. */
static const char *read_parameters(struct dfg_gen *g)
{
    const char *text = "";
    for (unsigned i = 0; i < g->stage.n_rows; i++)
        text = dfg_printf(g, "%s,\n    const %s *restrict %s", text, df_elem_c_type(g->kernel->ports[g->stage.rows[i].port].elem),
                          g->stage.rows[i].name);
    for (unsigned p = 0; p < g->kernel->n_ports; p++)
        if (g->stage.whole[p])
            text = dfg_printf(g, "%s,\n    const %s *restrict %s", text, df_elem_c_type(g->kernel->ports[p].elem),
                              dfg_port_name(g, p));
    for (unsigned d = 0; d < dfg_lead(g); d++)
        if (g->formula->is_index[d])
            text = dfg_printf(g, "%s, const int64_t %s", text, g->formula->names[d]);
    return dfg_printf(g, "%s, const int64_t df_from, const int64_t df_to", text);
}

static const char *row_parameters(struct dfg_gen *g)
{
    const struct dff_port *out = out_port(g);
    const char *text = dfg_printf(g, "%s%s *restrict %s", dfg_parameters(g), df_elem_c_type(out->elem),
                                  dfg_port_name(g, g->formula->port));
    if (g->stage.is_pair)
        text = dfg_printf(g, "%s, %s *restrict " DFG_NEXT_ROW, text, df_elem_c_type(out->elem));
    for (unsigned i = 0; i < g->stage.n_runs; i++)
        text = dfg_printf(g, "%s, %s *restrict df_runs%u", text, dfg_type(g->stage.runs[i].node->type), i);
    return dfg_printf(g, "%s%s%s", text, g->stage.n_runs ? ", const int df_next" : "", read_parameters(g));
}

/* What kept values are computed into: a row of each plane, which are pointers of their own so that loops become vectors. */
static const char *plane_parameters(struct dfg_gen *g)
{
    const char *text = dfg_parameters(g);
    for (unsigned p = 0; p < g->kept.n_planes; p++)
        text = dfg_printf(g, "%s%s%s *restrict df_plane_%u", text, p ? ", " : "", dfg_type(g->kept.node->type), p);
    return text;
}

/* What they are read from: the row y - i of all planes is df_kept_i. */
static const char *kept_parameters(struct dfg_gen *g)
{
    const char *text = "";
    for (int64_t k = 0; k <= g->kept.rows; k++)
        text = dfg_printf(g, "%sconst %s *restrict df_kept_%" PRId64 ", ", text, dfg_type(g->kept.node->type), k);
    return dfg_printf(g, "%sconst int64_t df_stride", text);
}

/* The arguments of such a function up to the columns. first: the row's first element; rows: each behind ", ". */
static const char *row_arguments(struct dfg_gen *g, const char *first, const char *rows)
{
    const char *text = dfg_printf(g, "%s%s", dfg_arguments(g), first);
    for (unsigned i = 0; i < g->stage.n_runs; i++)
        text = dfg_printf(g, "%s, df_runs%u", text, i);
    text = dfg_printf(g, "%s%s%s", text, g->stage.n_runs ? ", df_next" : "", rows);
    for (unsigned p = 0; p < g->kernel->n_ports; p++)
        if (g->stage.whole[p])
            text = dfg_printf(g, "%s, %s", text, dfg_port_name(g, p));
    for (unsigned d = 0; d < dfg_lead(g); d++)
        if (g->formula->is_index[d])
            text = dfg_printf(g, "%s, %s", text, g->formula->names[d]);
    return text;
}

static const char *row_names(struct dfg_gen *g, const struct dfg_stage *stage)
{
    const char *rows = "";
    for (unsigned i = 0; i < stage->n_rows; i++)
        rows = dfg_printf(g, "%s, %s", rows, stage->rows[i].name);
    return rows;
}

/* What MAIN does when something was far. */
static const char *far_call(struct dfg_gen *g)
{
    const char *any = g->far[0] ? g->far[1] ? "df_far32 | df_far64" : "df_far32" : "df_far64";
    return dfg_printf(g, "    if (%s)\n        df_edge%u_%c(%s, df_from, df_to);\n", any, g->stage.number, DFG_NAME,
                      row_arguments(g, dfg_port_name(g, g->formula->port), row_names(g, &g->stage)));
}

/* The function of two rows, if it is better than two calls: g->pair.is_pair says so. */
static void pair_function(struct dfg_gen *g, FILE *out)
{
    const struct dfg_stage one = g->stage;
    g->stage = (struct dfg_stage){ .number = one.number, .is_pair = true };
    g->mode = DFG_MAIN;
    char *text = row_text(g);
    const char *parameters = row_parameters(g);
    g->pair = g->stage;
    g->stage = one;
    g->pair.is_pair = dfg_pair_is_good(g);
    if (!g->failed && g->pair.is_pair)
        fprintf(out, "static DF_ALONE void df_rows%u_%c(%s)\n{\n%s}\n\n", one.number, DFG_NAME, parameters, text);
    free(text);
}

/* ---- few terms: MAIN calls a function for their number ---- */

static void print_all_columns(struct dfg_gen *g)
{
    print_columns(g, dfg_flat_end(g, "df_from"), dfg_flat_end(g, "df_to"));
}

static void print_few(struct dfg_gen *g)
{
    struct dfg_block block;
    g->copies = 1;
    g->flat = dfg_flat_channels(g);
    g->apart = g->flat ? dfg_channel_slots(g) : 0;
    if (dfg_few_open_text(g, &block, g->few.range, g->few.terms) && (!g->flat || !print_flat(g, print_all_columns))) {
        g->apart = 0;
        print_all_columns(g);
    }
    dfg_few_close_text(g, &block);
    g->apart = 0;
}

/* Their texts: texts[k] is for k + 1 terms. */
static void few_texts(struct dfg_gen *g, const struct dff_range *range, char **texts)
{
    for (unsigned k = 0; k < DFG_MOST_FEW && range && !g->failed; k++) {
        g->few = (struct dfg_few){ k + 1, range, NULL };
        texts[k] = text_of(g, print_few);
    }
}

static void print_few_calls(struct dfg_gen *g)
{
    const char *arguments = row_arguments(g, dfg_port_name(g, g->formula->port), row_names(g, &g->stage));
    dfg_line(g, g->block, "switch (%s - %s) {", dfg_index(g, g->few.range->to).c, dfg_within(g, dfg_index(g, g->few.range->from), DFG_UNARY));
    for (unsigned k = 1; k <= DFG_MOST_FEW; k++)
        dfg_line(g, g->block, "case %u: df_few%u_%u_%c(%s, df_from, df_to); return;", k, k, g->stage.number, DFG_NAME, arguments);
    dfg_line(g, g->block, "}");
}

/* Prints the functions, and gives the text of what calls them, which the caller frees. */
static char *few_functions(struct dfg_gen *g, FILE *out, const struct dff_range *range, const char *parameters, char **texts)
{
    for (unsigned k = 0; k < DFG_MOST_FEW; k++) {
        if (!g->failed)
            fprintf(out, "static DF_ALONE void df_few%u_%u_%c(%s)\n{\n%s}\n\n", k + 1, g->stage.number, DFG_NAME, parameters, texts[k]);
        free(texts[k]);
    }
    g->few = (struct dfg_few){ 0, range, NULL };
    return text_of(g, print_few_calls);
}

/* ---- EDGE by MAIN ----
 *
 * EDGE of a formula with many terms copies what its columns read of each row, and what stands beside the row, into an array, and calls MAIN with this.
 */

#define MOST_PADDED 4                   /* rows: the arrays are on the stack */
#define MOST_CHANNELS 4
#define PAD 1024                        /* DF_PAD of df_formula.h */

/* Elements of a row for each column. 0: too many, or they are no number. */
static int64_t channels_of(const struct dfg_gen *g, const struct dfg_row *row)
{
    const struct dff_port *port = &g->kernel->ports[row->port];
    int64_t channels = 1;
    for (unsigned d = row->lead + 1; d < port->rank && channels; d++) {
        const struct dff_node *extent = port->extents[d];
        channels = extent->kind == DFF_CONST && extent->i <= MOST_CHANNELS && channels * extent->i <= MOST_CHANNELS ? channels * extent->i : 0;
    }
    return channels;
}

static bool can_pad(const struct dfg_gen *g)
{
    unsigned padded = 0;
    bool can = g->stage.is_wide && !g->stage.has_other_bounds;
    for (unsigned i = 0; i < g->stage.n_rows && can; i++) {
        const struct dfg_row *row = &g->stage.rows[i];
        padded += row->beside != DFF_NONE;
        can = row->beside == DFF_NONE || (!row->has_others && channels_of(g, row));
    }
    return can && padded && padded <= MOST_PADDED;
}

/* C that says whether all scalars are near of which indices may be made. "": there are none. */
static const char *scalars_are_near(struct dfg_gen *g)
{
    const char *text = "";
    for (unsigned i = 0; i < g->kernel->n_nodes && g->near_facts; i++)
        if (g->kernel->nodes[i]->kind == DFF_SCALAR && g->kernel->nodes[i]->type == DFF_I32)
            text = dfg_printf(g, "%s%sdf_is_near(%s, %d)", text, *text ? " && " : "", dfg_scalar_name(g, g->kernel->nodes[i]->number), DFG_NEAR);
    return text;
}

/* The most elements beside a column that MAIN reads; more than PAD if they are not known. */
static int64_t pad_of(const struct dfg_row *row)
{
    const struct dfg_way *way = row->ways;
    return way->next || way->least.n || way->most.n ? PAD + 1 : way->most.constant - way->least.constant;
}

/* The element that stands outside of a port in dimension d, if a number does. */
static const char *outside_of(struct dfg_gen *g, const struct dff_port *port, unsigned d)
{
    const char *number = dfg_value(g, port->outside[d]).c;
    return port->elem == DF_F16 ? dfg_printf(g, "df_f16_of_f32(%s)", number) : number;
}

/* Copies what the columns of the strip read of row i. Gives what stands for the row's pointer. */
static const char *print_pad(struct dfg_gen *g, unsigned i)
{
    const struct dfg_row *row = &g->stage.rows[i];
    const struct dff_port *port = &g->kernel->ports[row->port];
    const int64_t channels = channels_of(g, row);
    const char *extent = dfg_index(g, port->extents[row->lead]).c, *elem = df_elem_c_type(port->elem);
    const char *at = row->beside == DFF_NUMBER ? "df_p" : dfg_bordered(g, (struct dfg_text){ "df_p", DFG_ATOM }, row->beside, extent).c;
    const char *outside = row->beside == DFF_NUMBER ? dfg_printf(g, "df_p < 0 || df_p >= %s ? %s : ", extent, outside_of(g, port, row->lead)) : "";
    const char *times = channels > 1 ? dfg_printf(g, " * %" PRId64 " + df_c", channels) : "";
    dfg_line(g, g->block, "%s df_pad%u[%" PRId64 " * (df_strip_columns + DF_PAD)];", elem, i, channels);
    dfg_line(g, g->block, "for (int64_t df_p = df_strip + df_least%u; df_p < df_strip_end + df_most%u; df_p++)", i, i);
    if (channels > 1)
        dfg_line(g, g->block, "    for (int64_t df_c = 0; df_c < %" PRId64 "; df_c++)", channels);
    dfg_line(g, g->block, "        df_pad%u[(df_p - df_strip - df_least%u)%s] = %s%s[%s%s];", i, i, times, outside, row->name, at, times);
    return dfg_printf(g, ", df_pad%u - %" PRId64 " * (df_strip + df_least%u)", i, channels, i);
}

static void print_pads(struct dfg_gen *g)
{
    const char *fits = scalars_are_near(g), *rows = "";
    struct dfg_block block, strip;
    for (unsigned i = 0; i < g->stage.n_rows; i++) {
        const struct dfg_row *row = &g->stage.rows[i];
        if (row->beside == DFF_NONE)
            continue;
        dfg_line(g, g->block, "int64_t df_least%u = %s, df_most%u = %s;", i, dfg_affine_text(g, &row->ways->least).c, i, dfg_affine_text(g, &row->ways->most).c);
        for (const struct dfg_way *way = row->ways->next; way; way = way->next) {
            dfg_line(g, g->block, "df_least%u = df_min_i64(df_least%u, %s);", i, i, dfg_affine_text(g, &way->least).c);
            dfg_line(g, g->block, "df_most%u = df_max_i64(df_most%u, %s);", i, i, dfg_affine_text(g, &way->most).c);
        }
        if (pad_of(row) > PAD)
            fits = dfg_printf(g, "%s%sdf_most%u - df_least%u <= DF_PAD", fits, *fits ? " && " : "", i, i);
    }
    if (!dfg_open(g, &block, -1, NULL))
        return;
    dfg_line(g, &block, "enum { df_strip_columns = 256 };");
    if (dfg_open(g, &strip, -1, NULL)) {
        dfg_line(g, &strip, "const int64_t df_strip_end = df_to - df_strip < df_strip_columns ? df_to : df_strip + df_strip_columns;");
        for (unsigned i = 0; i < g->stage.n_rows; i++)
            rows = dfg_printf(g, "%s%s", rows, g->stage.rows[i].beside == DFF_NONE ? dfg_printf(g, ", %s", g->stage.rows[i].name) : print_pad(g, i));
        dfg_line(g, &strip, "df_row%u_%c(%s, df_strip, df_strip_end);", g->stage.number, DFG_NAME, row_arguments(g, dfg_port_name(g, g->formula->port), rows));
    }
    dfg_close(g, &strip, "for (int64_t df_strip = df_from; df_strip < df_to; df_strip += df_strip_columns)");
    if (*fits)
        dfg_line(g, &block, "return;");
    dfg_close(g, &block, *fits ? dfg_printf(g, "if (%s)", fits) : "");
}

/* Does EDGE need no other text? */
static bool always_fits(const struct dfg_gen *g)
{
    bool fits = !g->near_facts;
    for (unsigned i = 0; i < g->stage.n_rows; i++)
        fits = fits && (g->stage.rows[i].beside == DFF_NONE || pad_of(&g->stage.rows[i]) <= PAD);
    return fits;
}

/* The border of a dimension in which some row of the port may be outside. A row that always is inside for elements of the output is
 * read beyond these, too. */
static void set_borders(const struct dfg_stage *one, struct dfg_stage *half)
{
    for (unsigned i = 0; i < half->n_rows; i++)
        for (unsigned k = 0; k < one->n_rows; k++)
            for (unsigned d = 0; half->rows[i].port == one->rows[k].port && d < half->rows[i].lead && d < one->rows[k].lead; d++)
                if (one->rows[k].border[d] != DFF_NONE)
                    half->rows[i].border[d] = one->rows[k].border[d];
}

/* The text of a row function that reads kept values, and then of the one that computes them. */
static char *kept_text(struct dfg_gen *g, bool are_read)
{
    g->kept.is_read = are_read;
    if (!are_read) /* the other one has the parameters of MAIN */
        g->stage = (struct dfg_stage){ .number = g->stage.number, .is_half = true };
    g->mode = DFG_MAIN;
    char *text = row_text(g);
    g->kept.is_read = false;
    return text;
}

/* The two functions of a formula that shares values between rows. */
static void kept_functions(struct dfg_gen *g, FILE *out)
{
    const struct dfg_stage one = g->stage;
    const char *parameters = row_parameters(g);
    free(kept_text(g, true));           /* it says which planes are read */
    dfg_kept_settle(g);
    g->stage = one;
    char *text = kept_text(g, true), *half = NULL;
    bool good = g->kept.n_planes && g->stage.n_rows == one.n_rows && memcmp(g->stage.whole, one.whole, sizeof one.whole) == 0;
    if (good && !g->failed) {
        half = kept_text(g, false);
        const char *half_parameters = dfg_printf(g, "%s%s", plane_parameters(g), read_parameters(g));
        g->kept.half = g->stage;
        set_borders(&one, &g->kept.half);
        good = !g->failed && g->kept.half.n_rows && !memchr(g->kept.half.whole, 1, sizeof g->kept.half.whole);
        if (good)
            fprintf(out, "static DF_ALONE void df_half%u_%c(%s)\n{\n%s}\n\nstatic DF_ALONE void df_shared%u_%c(%s, %s)\n{\n%s}\n\n",
                    one.number, DFG_NAME, half_parameters, half, one.number, DFG_NAME, kept_parameters(g), parameters, text);
    }
    if (!good)
        g->kept.node = NULL;
    g->stage = one;
    free(text);
    free(half);
}

void dfg_row_functions(struct dfg_gen *g, unsigned number, FILE *out)
{
    g->kept.node = NULL;
    g->pair.is_pair = false;
    g->stage = (struct dfg_stage){ .number = number };
    g->column = dff_column(g->kernel, g->formula);
    g->mode = DFG_MAIN;
    g->far[0] = g->far[1] = false;
    g->sum = dfg_sum_that_gathers(g);
    dfg_facts_choose(g, true);
    if (g->sum)
        dfg_analyse(g);
    g->stage.phases = g->sum ? 0 : dfg_phases(g);
    char *main_text = row_text(g), *edge_text = NULL, *few_text = NULL, *few[DFG_MOST_FEW] = { NULL };
    const bool far = g->far[0] || g->far[1], sums = g->sum;
    const struct dff_range *few_range = g->failed ? NULL : dfg_few_range(g);
    few_texts(g, few_range, few);
    g->sum = NULL;
    if (sums)
        dfg_analyse(g);
    g->mode = DFG_EDGE;
    const bool pads = !far && !sums && !g->stage.phases && g->stage.n_bounds && can_pad(g);
    dfg_facts_choose(g, false);
    if ((has_edge(g) || far) && !(pads && always_fits(g)) && !g->failed)
        edge_text = row_text(g);
    dfg_facts_choose(g, true);
    char *pads_text = pads && !g->failed ? text_of(g, print_pads) : NULL; /* EDGE may have parameters of its own */
    const char *parameters = row_parameters(g);
    if (!g->failed && !sums && !g->stage.phases && dfg_pair_is_wanted(g, main_text))
        pair_function(g, out);
    if (!g->failed && !far && !sums && !g->stage.phases && !g->stage.n_runs)
        dfg_kept_find(g);
    if (!g->failed && g->kept.node)
        kept_functions(g, out);
    if (few_range)
        few_text = few_functions(g, out, few_range, parameters, few);
    if (!g->failed && pads_text)        /* MAIN calls no EDGE that calls it */
        fprintf(out, "static void df_row%u_%c(%s);\n\n", number, DFG_NAME, parameters);
    if (!g->failed && (edge_text || pads_text))
        fprintf(out, "static DF_SELDOM void df_edge%u_%c(%s)\n{\n%s%s}\n\n", number, DFG_NAME, parameters, pads_text ? pads_text : "", edge_text ? edge_text : "");
    if (!g->failed)
        fprintf(out, "static %s void df_row%u_%c(%s)\n{\n%s%s%s%s%s}\n\n", g->pair.is_pair ? "DF_SELDOM" : "DF_ALONE", number, DFG_NAME, parameters,
                g->far[0] ? "    uint32_t df_far32 = 0;\n" : "", g->far[1] ? "    uint64_t df_far64 = 0;\n" : "", few_text ? few_text : "", main_text,
                far ? far_call(g) : "");
    free(main_text);
    free(few_text);
    free(edge_text);
    free(pads_text);
}

/* ---- the caller ---- */

/* Elements of a row. */
const char *dfg_row_size(struct dfg_gen *g, const struct dff_port *port, unsigned lead)
{
    const char *text = "";
    for (unsigned d = lead; d < port->rank; d++)
        text = dfg_printf(g, "%s%s%s", text, *text ? " * " : "", dfg_within(g, dfg_index(g, port->extents[d]), DFG_TIMES));
    return *text ? text : "1";
}

static const char *row_start(struct dfg_gen *g, const char *name, const struct dff_port *port, const struct dff_port *lead,
                             const struct dfg_text *at)
{
    struct dff_port dims = *lead;
    struct dfg_text index[DF_MAX_RANK];
    memcpy(index, at, sizeof index);
    if (g->rings_turn && lead->rank > g->rows && dfg_is_ring(g, port->memory)) { /* it has no dimensions before its rows */
        dims.rank -= g->rows;
        memmove(dims.extents, dims.extents + g->rows, dims.rank * sizeof *dims.extents);
        memmove(index, index + g->rows, dims.rank * sizeof *index);
        const char *rows = dfg_dim_name(g, g->kernel->strips->ring_rows[port->memory]);
        index[0] = (struct dfg_text){ dfg_printf(g, "df_strip_row(%s, %s)", index[0].c, rows), DFG_ATOM };
    }
    struct dfg_text place = { dfg_offset(g, &dims, index), dims.rank == 1 ? index[0].level : DFG_PLUS };
    return dfg_printf(g, "%s + %s * %s", name, dfg_within(g, place, DFG_UNARY), dfg_row_size(g, port, lead->rank));
}

static bool has_number(const struct dfg_row *row)
{
    for (unsigned d = 0; d < row->lead; d++)
        if (row->border[d] == DFF_NUMBER)
            return true;
    return false;
}

/* The pointer to a row: of a mirrored place, say, or the row of numbers that stands outside. */
static void print_row_pointer(struct dfg_gen *g, const struct dfg_row *row)
{
    const struct dff_port *port = &g->kernel->ports[row->port];
    struct dff_port lead = { .rank = row->lead };
    struct dfg_text at[DF_MAX_RANK] = { { 0 } };
    const char *outside = "";
    for (unsigned d = 0; d < row->lead; d++) {
        const char *extent = dfg_index(g, port->extents[d]).c;
        lead.extents[d] = port->extents[d];
        at[d] = row->computed[d] ? dfg_index(g, row->computed[d]) : dfg_affine_text(g, &row->at[d]);
        if (row->border[d] == DFF_NUMBER)
            outside = dfg_printf(g, "%s%s%s < 0 || %s >= %s", outside, *outside ? " || " : "", at[d].c, at[d].c, extent);
        else if (row->border[d] != DFF_NONE)
            at[d] = dfg_bordered(g, at[d], row->border[d], extent);
    }
    dfg_line(g, g->block, "const %s *const %s = %s%s%s;", df_elem_c_type(port->elem), row->name, outside,
             *outside ? dfg_printf(g, " ? df_outside_%s : ", dfg_port_name(g, row->port)) : "",
             row_start(g, dfg_port_name(g, row->port), port, &lead, at));
}

void dfg_print_bounds(struct dfg_gen *g, const char *first, const char *width)
{
    const int64_t phases = g->stage.phases;
    if (phases) { /* counted in pairs of columns, say */
        first = dfg_printf(g, "(%s + %" PRId64 ") / %" PRId64, first, phases - 1, phases);
        width = dfg_printf(g, "(%s) / %" PRId64, width, phases);
    }
    dfg_line(g, g->block, "int64_t df_low = %s, df_high = %s;", first, width);
    for (unsigned i = 0; i < g->stage.n_bounds; i++) {
        struct dfg_bound *b = &g->stage.bounds[i];
        dfg_line(g, g->block, "df_narrow(&df_low, &df_high, %" PRId64 ", %s, %s, %s);", b->factor, dfg_affine_text(g, &b->least).c,
                 dfg_affine_text(g, &b->most).c, dfg_index(g, b->extent).c);
    }
    if (g->near_facts)
        dfg_line(g, g->block, "df_high = %s ? df_high : 0;", scalars_are_near(g));
    dfg_line(g, g->block, "df_order(&df_low, &df_high, %s);", width);
    if (phases)
        dfg_line(g, g->block, "df_low *= %" PRId64 ", df_high *= %" PRId64 ";", phases, phases);
}

void dfg_row_ends(struct dfg_gen *g, unsigned d, const char **from, const char **to)
{
    *from = "0";
    *to = dfg_index(g, out_port(g)->extents[d]).c;
    if (g->from && d == g->rows)
        *from = g->from, *to = g->to;
    else if (g->from && d < g->rows)
        *from = dfg_printf(g, "df_outer%u", d), *to = dfg_printf(g, "%s + 1", *from);
}

/* Where the values of the row y - k are kept: in a ring of rows. */
static const char *kept_row(struct dfg_gen *g, int64_t k)
{
    const unsigned d = dfg_lead(g) - 1;
    const char *from, *to;
    dfg_row_ends(g, d, &from, &to);
    return dfg_printf(g, "df_kept + (%s - (%s) + %" PRId64 ") %% %" PRId64 " * df_ring", g->formula->names[d], from,
                      g->kept.rows - k, g->kept.rows + 1);
}

static const char *width_of(struct dfg_gen *g)
{
    if (g->to && g->column == (int)g->rows) /* the rows of a strip are columns here */
        return g->to;
    return g->column < 0 ? "1" : dfg_index(g, out_port(g)->extents[g->column]).c;
}

/* The call of a row function that reads kept values, before `else`. arguments: those of the other one, behind its number. */
static void print_shared_call(struct dfg_gen *g, const char *arguments, const char *from, const char *to)
{
    const char *kept = "";
    if (!g->kept.node)
        return;
    for (int64_t k = 0; k <= g->kept.rows; k++)
        kept = dfg_printf(g, "%s%s, ", kept, kept_row(g, k));
    dfg_line(g, g->block, "if (df_kept && %s < %s)", from, to);
    dfg_line(g, g->block, "    df_shared%u_%c(%sdf_stride, %s, %s, %s);", g->stage.number, DFG_NAME, kept, strchr(arguments, '(') + 1, from, to);
    dfg_line(g, g->block, "else");
}

/* Computes the values of a row that are kept. Rows before those that are written have no other use. */
static void print_half(struct dfg_gen *g, const char *from)
{
    const struct dfg_stage one = g->stage;
    struct dfg_block block;
    const char *y = g->formula->names[dfg_lead(g) - 1], *low = "0", *high = width_of(g);
    if (dfg_open(g, &block, -1, NULL)) {
        for (unsigned i = 0; i < g->kept.half.n_rows; i++)
            print_row_pointer(g, &g->kept.half.rows[i]);
        if (g->stage.n_bounds) {
            dfg_print_bounds(g, low, high);
            low = "df_low";
            high = "df_high";
        }
        g->stage = g->kept.half;
        const char *planes = "";
        for (unsigned p = 0; p < g->kept.n_planes; p++)
            planes = dfg_printf(g, "%s%sdf_row_kept + %u * df_stride", planes, p ? ", " : "", p);
        const char *arguments = row_arguments(g, planes, row_names(g, &g->kept.half));
        g->stage = one;
        dfg_line(g, g->block, "%s *const df_row_kept = %s;", dfg_type(g->kept.node->type), kept_row(g, 0));
        dfg_line(g, g->block, "if (%s < %s)", low, high);
        dfg_line(g, g->block, "    df_half%u_%c(%s, %s, %s);", one.number, DFG_NAME, arguments, low, high);
    }
    dfg_close(g, &block, "if (df_kept)");
    dfg_line(g, g->block, "if (%s < %s)", y, from);
    dfg_line(g, g->block, "    continue;");
}

/* The first element of the row that is written, or of one of those behind it. */
static const char *first_of(struct dfg_gen *g, int64_t behind)
{
    const struct dff_port *out = out_port(g);
    struct dfg_text at[DF_MAX_RANK] = { { 0 } };
    struct dff_port lead = { .rank = dfg_lead(g) };
    for (unsigned d = 0; d < lead.rank; d++) {
        lead.extents[d] = out->extents[d];
        at[d] = index_of(g, g->formula, d);
    }
    if (!lead.rank)
        return dfg_port_name(g, g->formula->port);
    if (behind)
        at[lead.rank - 1] = (struct dfg_text){ dfg_printf(g, "%s + %" PRId64, at[lead.rank - 1].c, behind), DFG_PLUS };
    return row_start(g, dfg_port_name(g, g->formula->port), out, &lead, at);
}

/* Elements of the largest vectors: of the smallest type that is read or written. */
static unsigned lanes_of(const struct dfg_gen *g)
{
    size_t least = df_elem_bytes(out_port(g)->elem);
    for (unsigned i = 0; i < g->stage.n_rows; i++) {
        const size_t bytes = df_elem_bytes(g->kernel->ports[g->stage.rows[i].port].elem);
        least = bytes < least ? bytes : least;
    }
    return 64 / (unsigned)least;
}

/* Calls the function of two rows for pieces of the columns (runtime/df_formula.h). What it writes depends on nothing that it has written. */
static void print_pieces(struct dfg_gen *g, unsigned number, const char *arguments)
{
    const unsigned lanes = lanes_of(g);
    dfg_line(g, g->block, "const int64_t df_before = df_skew(%s, %zu, df_low, df_high, %u);", first_of(g, 0), df_elem_bytes(out_port(g)->elem), lanes);
    dfg_line(g, g->block, "for (int64_t df_at = df_low; df_at < df_high; df_at = df_next_piece(df_at, df_low, df_high, %u, df_before))", lanes);
    dfg_line(g, g->block, "    df_rows%u%s, df_at, df_piece_end(df_at, df_low, df_high, %u, df_before));", number, arguments, lanes);
}

void dfg_print_calls(struct dfg_gen *g, const char *first, const char *rows)
{
    const char *width = width_of(g), *arguments = dfg_printf(g, "_%c(%s", DFG_NAME, row_arguments(g, first, rows));
    const char *begin = g->from && g->column == (int)g->rows ? g->from : "0";
    unsigned number = g->stage.number;
    if (!has_edge(g)) {
        print_shared_call(g, arguments, begin, width);
        dfg_line(g, g->block, "df_row%s%u%s, %s, %s);", g->stage.is_pair ? "s" : "", number, arguments, begin, width);
        return;
    }
    dfg_print_bounds(g, begin, width);
    if (g->stage.is_pair) {
        print_pieces(g, number, arguments);
        return;
    }
    dfg_line(g, g->block, "if (df_low > %s)", begin);
    dfg_line(g, g->block, "    df_edge%u%s, %s, df_low);", number, arguments, begin);
    print_shared_call(g, arguments, "df_low", "df_high");
    dfg_line(g, g->block, "if (%sdf_low < df_high)", g->stage.when ? g->stage.when : "");
    dfg_line(g, g->block, "    df_row%u%s, df_low, df_high);", number, arguments);
    dfg_line(g, g->block, "if (df_high < %s)", width);
    dfg_line(g, g->block, "    df_edge%u%s, df_high, %s);", number, arguments, width);
}

static void print_row(struct dfg_gen *g)
{
    const char *first = first_of(g, 0), *y = g->stage.is_pair ? g->formula->names[dfg_lead(g) - 1] : NULL;
    if (y) {
        first = dfg_printf(g, "%s, %s", first, first_of(g, 1));
        dfg_line(g, g->block, "%s -= %s + 1 == %s;", y, y, g->stage.last);
    }
    const char *from = "", *to;
    if (g->kept.node || g->stage.n_runs)
        dfg_row_ends(g, dfg_lead(g) - 1, &from, &to);
    if (g->kept.node)
        print_half(g, from);
    if (g->stage.n_runs)
        dfg_line(g, g->block, "const int df_next = df_has_runs && %s > %s;", g->formula->names[dfg_lead(g) - 1], from);
    for (unsigned i = 0; i < g->stage.n_rows; i++)
        print_row_pointer(g, &g->stage.rows[i]);
    dfg_print_calls(g, first, row_names(g, &g->stage));
}

static void row_loops(struct dfg_gen *g, unsigned d);

static void row_loop(struct dfg_gen *g, unsigned d, const char *head)
{
    struct dfg_block block;
    dfg_open(g, &block, (int)d, g->formula->names[d]);
    if (!g->failed)
        row_loops(g, d + 1);
    dfg_close(g, &block, head);
}

/* Two rows at a time, the last two again if their number is odd. Then, one by one, a row that is alone, and the columns that are
 * EDGE's. */
static void pair_loops(struct dfg_gen *g, unsigned d, const char *from, const char *to)
{
    const char *y = g->formula->names[d], *begin = dfg_printf(g, "for (int64_t %s = %s; ", y, from),
               *rows = strcmp(from, "0") == 0 ? to : dfg_printf(g, "%s - %s", to, from);
    const struct dfg_stage one = g->stage;
    g->stage = g->pair;
    g->stage.last = to;
    row_loop(g, d, dfg_printf(g, "%s%s > 1 && %s < %s; %s += 2)", begin, rows, y, to, y));
    g->stage = one;
    const char *alone = dfg_printf(g, "%s == 1 && ", rows);
    g->stage.when = alone;
    row_loop(g, d, dfg_printf(g, "%s%s%s < %s; %s++)", begin, one.n_bounds ? "" : alone, y, to, y));
    g->stage.when = NULL;
}

/* EDGE's columns follow after a group of rows, while these are in the caches. The last group may have one row more, because one
 * row alone would be no pair. */
static void pair_groups(struct dfg_gen *g, unsigned d, const char *from, const char *to)
{
    struct dfg_block block;
    if (!g->stage.n_bounds) {
        pair_loops(g, d, from, to);
        return;
    }
    if (dfg_open(g, &block, -1, NULL)) {
        dfg_line(g, g->block, "const int64_t df_group_end = df_group + %u < %s ? df_group + %u : %s;", GROUP + 1, to, GROUP, to);
        pair_loops(g, d, "df_group", "df_group_end");
        dfg_line(g, g->block, "df_group = df_group_end;");
    }
    dfg_close(g, &block, dfg_printf(g, "for (int64_t df_group = %s; df_group < %s;)", from, to));
}

static void row_loops(struct dfg_gen *g, unsigned d)
{
    const struct dff_formula *f = g->formula;
    while (d < dfg_lead(g) && !f->is_index[d])
        d++;
    if (d >= dfg_lead(g)) {
        print_row(g);
        return;
    }
    const char *from, *to, *before = "";
    dfg_row_ends(g, d, &from, &to);
    if (g->kept.node && d + 1 == dfg_lead(g))
        before = dfg_printf(g, " - (df_kept ? %" PRId64 " : 0)", g->kept.rows);
    if (g->pair.is_pair && d + 1 == dfg_lead(g))
        pair_groups(g, d, from, to);
    else
        row_loop(g, d, dfg_printf(g, "for (int64_t %s = %s%s; %s < %s; %s++)", f->names[d], from, before, f->names[d], to, f->names[d]));
}

/* Of the port's rows that may be full of a number, the longest. */
static unsigned least_lead(const struct dfg_gen *g, uint32_t port)
{
    unsigned lead = DF_MAX_RANK;
    for (unsigned i = 0; i < g->stage.n_rows; i++)
        if (g->stage.rows[i].port == port && has_number(&g->stage.rows[i]) && g->stage.rows[i].lead < lead)
            lead = g->stage.rows[i].lead;
    return lead;
}

/* Rows of the numbers that stand outside of ports. false: there are none. */
static bool print_outside_rows(struct dfg_gen *g, bool free_them)
{
    bool done[DFL_MAX_PORTS] = { false }, any = false;
    for (unsigned i = 0; i < g->stage.n_rows; i++) {
        const struct dfg_row *row = &g->stage.rows[i];
        const struct dff_port *port = &g->kernel->ports[row->port];
        const char *name = dfg_port_name(g, row->port), *elem = df_elem_c_type(port->elem), *number = NULL;
        if (!has_number(row) || done[row->port])
            continue;
        done[row->port] = any = true;
        for (unsigned d = 0; d < row->lead; d++)
            if (row->border[d] == DFF_NUMBER)
                number = outside_of(g, port, d);
        if (free_them) {
            dfg_line(g, g->block, "__builtin_free(df_outside_%s);", name);
            continue;
        }
        const char *size = dfg_row_size(g, port, least_lead(g, row->port));
        dfg_line(g, g->block, "%s *const df_outside_%s = __builtin_malloc(sizeof(%s) * (size_t)(%s));", elem, name, elem, size);
        dfg_line(g, g->block, "for (int64_t df_i = 0; df_outside_%s && df_i < %s; df_i++)", name, size);
        dfg_line(g, g->block, "    df_outside_%s[df_i] = %s;", name, number);
        dfg_line(g, g->block, "df_good = df_good && df_outside_%s;", name);
    }
    return any;
}

/* The ring of kept values; NULL if there are few rows, or the ring would be large, or there is no memory: then nothing is kept. */
static void print_kept(struct dfg_gen *g)
{
    const struct dfg_kept *k = &g->kept;
    const char *type = dfg_type(k->node->type), *from, *to;
    dfg_row_ends(g, dfg_lead(g) - 1, &from, &to);
    dfg_line(g, g->block, "const int64_t df_stride = %s + %" PRId64 ", df_ring = %u * df_stride;",
             dfg_within(g, dfg_index(g, out_port(g)->extents[g->column]), DFG_PLUS), 2 * k->columns, k->n_planes);
    dfg_line(g, g->block, "%s *const df_kept_all = %s - (%s) >= %" PRId64 " && %" PRId64 " * df_ring <= DF_KEPT / (int64_t)sizeof(%s) ?",
             type, to, from, 8 * (k->rows ? k->rows : 1), k->rows + 1, type);
    dfg_line(g, g->block, "    __builtin_malloc(sizeof(%s) * (size_t)(%" PRId64 " * df_ring)) : 0;", type, k->rows + 1);
    dfg_line(g, g->block, "%s *const df_kept = df_kept_all ? df_kept_all + %" PRId64 " : 0;", type, k->columns);
}

/* The sums of the row before, of each column; NULL: there is none, or no memory. */
static void print_runs(struct dfg_gen *g)
{
    const char *from, *to, *width = dfg_index(g, out_port(g)->extents[g->column]).c, *all = "";
    dfg_row_ends(g, dfg_lead(g) - 1, &from, &to);
    for (unsigned i = 0; i < g->stage.n_runs; i++) {
        const char *type = dfg_type(g->stage.runs[i].node->type);
        dfg_line(g, g->block, "%s *const df_runs%u = %s - (%s) > 1 ? __builtin_malloc(sizeof(%s) * (size_t)(%s)) : 0;", type, i, to, from, type, width);
        all = dfg_printf(g, "%s%sdf_runs%u != 0", all, i ? " && " : "", i);
    }
    dfg_line(g, g->block, "const int df_has_runs = %s;", all);
}

void dfg_row_loops(struct dfg_gen *g, FILE *out)
{
    struct dfg_block block;
    if (dfg_open(g, &block, -1, NULL)) {
        struct dfg_block good;
        bool outside = print_outside_rows(g, false);
        if (outside)
            dfg_open(g, &good, -1, NULL);
        if (!g->failed && g->kept.node)
            print_kept(g);
        if (!g->failed && g->stage.n_runs)
            print_runs(g);
        if (!g->failed)
            row_loops(g, 0);
        for (unsigned i = 0; i < g->stage.n_runs; i++)
            dfg_line(g, g->block, "__builtin_free(df_runs%u);", i);
        if (!g->failed && g->kept.node)
            dfg_line(g, g->block, "__builtin_free(df_kept_all);");
        if (outside)
            dfg_close(g, &good, "if (df_good)");
        print_outside_rows(g, true);
    }
    dfg_close(g, &block, "");
    if (!g->failed)
        fprintf(out, "    {\n%s    }\n", block.bytes);
    free(block.bytes);
}
