/* generate_gpu.c - generates code for GPUs from formulas, for generate.c: one function of the GPU per formula, and one host function per kernel that launches
 * them. A thread computes one element of the output with the same expression as the CPU's loop, so the bits are the same. Reductions of many terms are shared
 * by work-groups (reduce_group.c, pass_group.c); others are computed by the thread of their element. For compiler/load it tells what this code computes besides
 * the formulas, as the estimate of its time needs it. The other files for GPUs take ports and arguments from it.
 *
 * Threads: the two last dimensions of the output that are not small constants go over the threads of 2-D blocks of 32 by 8,
 *          the one before over the grid's third extent; what is left are loops. A grid has a limit, so each thread goes on
 *          with the element that is a grid further.
 * Text:    is the same for all compilers, by the macros of df_formula_gpu.h. As CUDA C++ it is one file; of OpenCL the functions of the GPU are
 *          OpenCL C, and those that launch them are C.
 * Launch:  by DF_RUN of df_formula_gpu.h.
 * Groups:  are one such function, which computes tiles (tiles.c), or else a launch for each stream that they make. Then streams inside
 *          are whole planes, in scratch.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>

#include "compiler/count/count.h"
#include "compiler/fusion/fusion.h"

#define FEW 32                          /* a dimension of fewer elements is a loop */

/* ---- which dimension goes over which threads ---- */

struct axes { int of[3]; };             /* the dimension that x, y and z go over; -1: none */

static bool is_few(const struct dff_node *extent) { return extent->kind == DFF_CONST && extent->i < FEW; }

static struct axes find_axes(const struct dfg_gen *g)
{
    const struct dff_formula *f = g->formula;
    const struct dff_port *port = &g->kernel->ports[f->port];
    struct axes axes = { { -1, -1, -1 } };
    int n = 0;
    for (int small = 0; small < 2; small++) /* one that is small is taken if there is no other */
        for (int d = (int)f->rank - 1; d >= 0 && n < (small ? 1 : 3); d--)
            if (f->is_index[d] && is_few(port->extents[d]) == (small == 1))
                axes.of[n++] = d;
    return axes;
}

static const char *loop_head(struct dfg_gen *g, unsigned d, const struct axes *axes)
{
    const bool part = d == 0 && dfg_has_parts(g);
    const char *name = g->formula->names[d], *begin = part ? "df_from + " : "";
    const char *extent = part ? "df_to" : dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[d]), DFG_PLUS);
    if (axes->of[0] == (int)d)
        return dfg_printf(g, "for (int64_t %s = %sDF_FIRST_X; %s < %s; %s = DF_NEXT_X(%s, %s))", name, begin, name, extent, name, name, extent);
    for (int a = 1; a < 3; a++)
        if (axes->of[a] == (int)d)
            return dfg_printf(g, "DF_UNROLL(1) for (int64_t %s = %sDF_FIRST_%c; %s < %s; %s += DF_STEP_%c)", name,
                              begin, "XYZ"[a], name, extent, name, "XYZ"[a]);
    return dfg_printf(g, "for (int64_t %s = %s0; %s < %s; %s++)", name, begin, name, extent, name);
}

/* ---- a formula ---- */

/* Prints the loops over the formula's indices from dimension d on, and the element inside of them, into g->block. */
static void print_loops(struct dfg_gen *g, unsigned d, const struct axes *axes)
{
    while (d < g->formula->rank && !g->formula->is_index[d])
        d++;
    if (d == g->formula->rank) {
        dfg_store(g);
        return;
    }
    struct dfg_block block;
    const char *head = loop_head(g, d, axes);
    if (dfg_open(g, &block, (int)d, g->formula->names[d]))
        print_loops(g, d + 1, axes);
    dfg_close(g, &block, head);
}

/* Does the function take the port? Streams in the local memory of tiles have no other, unless they leave. */
static bool is_taken(const struct dfg_gen *g, unsigned p)
{
    return !dfg_is_local(g, p) || (p == g->kernel->ports[p].memory && !dfg_is_ring(g, p));
}

const char *dfg_gpu_ports(struct dfg_gen *g)
{
    const char *text = "";
    for (unsigned p = 0; p < g->kernel->n_ports; p++)
        if (is_taken(g, p))
            text = dfg_printf(g, "%s%sDF_GLOBAL(%s%s, %s)", text, *text ? ", " : "", g->kernel->ports[p].mode == DF_IN ? "const " : "",
                              df_elem_c_type(g->kernel->ports[p].elem), dfg_port_name(g, p));
    return text;
}

const char *dfg_gpu_begin(struct dfg_gen *g, bool has_scratch)
{
    const char *text = "   ";
    for (unsigned p = 0; p < g->kernel->n_ports; p++)
        if (is_taken(g, p))
            text = dfg_printf(g, "%s DF_GLOBAL_BEGIN(%s);", text, dfg_port_name(g, p));
    return dfg_printf(g, "%s%s\n", text, has_scratch ? " DF_GLOBAL_BEGIN(df_scratch);" : "");
}

/* The items of a work-group, each of which computes elements of the formula. */
struct items { unsigned x, y; };

static struct items items_of(const struct axes *axes) { return axes->of[0] < 0 ? (struct items){ 1, 1 } : axes->of[1] < 0 ? (struct items){ 256, 1 } : (struct items){ 32, 8 }; }

/* Prints the function whose threads compute an element each. known: hoisted reductions whose values are in scratch. */
static void print_formula(FILE *out, struct dfg_gen *g, unsigned number, unsigned known)
{
    struct dfg_block block;
    const struct axes axes = find_axes(g);
    const struct items items = items_of(&axes);
    dfg_analyse(g);
    g->column = -1;                     /* reads are of ports as they are, and not of rows */
    g->mode = DFG_EDGE;
    g->copies = 1;
    g->block = NULL;
    if (dfg_open(g, &block, -1, NULL)) {
        dfg_known_print(g, known);
        print_loops(g, 0, &axes);
    }
    dfg_close(g, &block, NULL);
    fprintf(out, "DF_KERNEL(%u, %u) df_%s_%c_%u(%s%s%s%s)\n{\n%s%s}\n\n", items.x, items.y, known ? "known" : "kernel", DFG_NAME, number, dfg_parameters(g),
            dfg_gpu_ports(g), known ? ", DF_GLOBAL(const uint8_t, df_scratch)" : "", dfg_has_parts(g) ? ", const int64_t df_from, const int64_t df_to" : "",
            dfg_gpu_begin(g, known), g->failed ? "" : block.bytes);
    free(block.bytes);
}

/* ---- the kernel ---- */

const char *dfg_scratch(struct dfg_gen *g, unsigned number) { return dfg_printf(g, "df_ports[%u]", g->kernel->callee->sig.n_ports + number); }

/* The rows that the plane of a group's ring has: those that the part needs of it. On a GPU launches for each strip would be too small. */
static const char *ring_rows(struct dfg_gen *g, unsigned memory, const char *end)
{
    const struct dff_strips *strips = g->kernel->strips;
    return strips->dim ? dfg_printf(g, "df_%s", end) : dfg_printf(g, "df_stages[%u].need.%s", strips->stage_of[memory], end);
}

const char *dfg_gpu_arguments(struct dfg_gen *g)
{
    const char *text = "";
    for (unsigned p = 0; p < g->kernel->n_ports; p++) {
        const struct dff_port *port = &g->kernel->ports[p];
        const bool ring = dfg_is_ring(g, port->memory);
        if (!is_taken(g, p))
            continue;
        const char *first = "0";
        if (port->rank && dfg_has_parts(g))
            first = dfg_printf(g, "-%s * (%s)", ring ? ring_rows(g, port->memory, "from") : dfg_printf(g, "df_first[%u]", port->memory), dfg_row_size(g, port, 1));
        text = dfg_printf(g, "%s%sDF_PORT(%s, %s, %s)", text, *text ? ", " : "", df_elem_c_type(port->elem),
                          ring ? dfg_scratch(g, g->kernel->strips->plane_of[port->memory]) : dfg_printf(g, "df_ports[%u]", port->memory), first);
    }
    return text;
}

/* The rows that the formula computes. */
static const char *formula_rows(struct dfg_gen *g, unsigned number, const char *end)
{
    const struct dff_strips *strips = g->kernel->strips;
    for (unsigned s = 0; strips && !strips->dim && s < strips->n_stages; s++)
        if (number - strips->stages[s].first_formula < strips->stages[s].n_formulas)
            return dfg_printf(g, "df_stages[%u].make.%s", s, end);
    return dfg_printf(g, "df_%s", end);
}

static void print_launch(struct dfg_gen *g, unsigned number, bool known)
{
    const struct axes axes = find_axes(g);
    const struct dff_port *port = &g->kernel->ports[g->formula->port];
    const struct items items = items_of(&axes);
    const char *extents[3], *rows = "";
    const char *from = formula_rows(g, number, "from"), *to = formula_rows(g, number, "to");
    for (int a = 0; a < 3; a++)
        extents[a] = axes.of[a] < 0 ? "1" : axes.of[a] == 0 && dfg_has_parts(g) ? dfg_printf(g, "%s - %s", to, from)
                                                                               : dfg_index(g, port->extents[axes.of[a]]).c;
    const char *arguments = dfg_gpu_arguments(g); /* what they declare stands before the condition */
    if (dfg_has_parts(g)) {
        dfg_line(g, g->block, "if (%s > %s)", to, from);
        rows = dfg_printf(g, ", DF_VALUE(%s), DF_VALUE(%s)", from, to);
    }
    dfg_line(g, g->block, "%sDF_RUN(df_%s_%c_%u, %u, %u, df_up(%s, %u), df_up(%s, %u), %s, %s%s%s%s);", *rows ? "    " : "", known ? "known" : "kernel", DFG_NAME, number,
             items.x, items.y, extents[0], items.x, extents[1], items.y, extents[2], dfg_arguments(g), arguments,
             known ? dfg_printf(g, ", DF_PORT(const uint8_t, %s, 0)", dfg_scratch(g, 0)) : "", rows);
}

/* Prints the launches of reductions that work-groups share, and behind them the one of a thread for each element. */
static void print_shared(struct dfg_gen *g, unsigned number, bool known)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    struct dfg_block block;
    if (!dff_grouped(g->kernel, g->formula, nodes)) {
        print_launch(g, number, known);
        return;
    }
    if (dfg_open(g, &block, -1, NULL)) {
        dfg_grouped_launch(g, number);
        print_launch(g, number, known);
    }
    dfg_close(g, &block, "");
}

static void print_launches(struct dfg_gen *g, unsigned number)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    struct dff_one_pass pass;
    struct dfg_block block, hoisted;
    const enum dff_pass kind = dfg_pass_find(g, &pass);
    if (!kind && !dff_hoisted(g->kernel, g->formula, nodes)) {
        print_shared(g, number, false);
        return;
    }
    if (dfg_open(g, &block, -1, NULL)) {
        if (kind) {
            dfg_pass_launch(g, number, &pass, kind);
        } else {
            dfg_hoisted_check(g);
            if (dfg_open(g, &hoisted, -1, NULL)) {
                dfg_hoisted_launch(g, number);
                print_shared(g, number, true);
            }
            dfg_close(g, &hoisted, "if (df_hoists && df_pays)");
            dfg_line(g, g->block, "else");
        }
        print_launch(g, number, false);
    }
    dfg_close(g, &block, "");
}

/* Which rows the node makes, and in a group those of each stage. */
static void print_rows(struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    const unsigned n = g->kernel->callee->sig.n_ports;
    if (!dfg_has_parts(g))
        return;
    dfg_line(g, g->block, "const struct df_part df_rows = df_part(call);");
    dfg_line(g, g->block, "const int64_t df_from = (int64_t)df_rows.first;");
    dfg_line(g, g->block, "int64_t df_to = (int64_t)(df_rows.first + df_rows.rows), df_first[%u] = { 0 };", n);
    dfg_line(g, g->block, "for (unsigned df_i = 0; df_rows.rows && df_i < %u; df_i++)", n);
    dfg_line(g, g->block, "    df_first[df_i] = (int64_t)df_part_row(call, df_i);");
    for (unsigned p = 0; p < g->kernel->n_ports && !(s && !s->dim); p++) {
        const char *rows = dfg_rows_made(g, &g->kernel->ports[p]);
        if (rows)
            dfg_line(g, g->block, "df_to = df_rows.rows || df_to > %s ? df_to : %s;", rows, rows);
    }
    if (g->tiles && !s->dim)
        dfg_line(g, g->block, "df_to = df_rows.rows ? df_to : %s;", dfg_tiles_end(g, false));
    if (!s || s->dim || g->tiles)
        return;
    dfg_line(g, g->block, "struct df_strip_stage df_stages[%u] = {};", s->n_stages);
    for (unsigned k = 0; k < s->n_stages; k++) {
        dfg_line(g, g->block, "df_stages[%u].extent = %s;", k, dfg_index(g, s->stages[k].rows).c);
        dfg_line(g, g->block, "df_stages[%u].leaves = %d;", k, s->stages[k].leaves);
        dfg_line(g, g->block, "df_stages[%u].times = %" PRId64 ";", k, s->stages[k].rate.times);
        dfg_line(g, g->block, "df_stages[%u].by = %" PRId64 ";", k, s->stages[k].rate.by);
    }
    dfg_line(g, g->block, "df_to = df_rows.rows ? df_to : df_strips_end(df_stages, %u);", s->n_stages);
    dfg_line(g, g->block, "static const struct df_strip_read df_reads[%u] = {", s->n_reads + 1);
    for (unsigned r = 0; r < s->n_reads; r++)
        dfg_line(g, g->block, "    { %u, %u, %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %d },", s->reads[r].reader, s->reads[r].made,
                 s->reads[r].times, s->reads[r].by, s->reads[r].low, s->reads[r].high, s->reads[r].border);
    dfg_line(g, g->block, "};");
    dfg_line(g, g->block, "df_strips_next(df_stages, %u, df_reads, %u, df_from, df_to);", s->n_stages, s->n_reads);
}

static void print_host(FILE *out, struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    struct dfg_block block;
    g->block = NULL;
    if (dfg_open(g, &block, -1, NULL)) {
        for (unsigned v = 0; v < sig->n_variables; v++)
            dfg_line(g, g->block, "const int64_t %s = (int64_t)df_dims[%u];", dfg_dim_name(g, v), v);
        for (unsigned s = 0; s < sig->n_scalars; s++)
            if (dfg_is_passed(g, s))
                dfg_line(g, g->block, "const %s%s = df_scalars[%u].%s;", dfg_scalar_type(sig->scalars[s]->type), dfg_scalar_name(g, s), s,
                         dfl_scalar_name(sig->scalars[s]->type));
        print_rows(g);
        if (g->tiles)
            dfg_tiles_launch(g);
        for (unsigned i = 0; i < g->kernel->n_formulas && !g->tiles; i++) {
            dfg_formula_alone(g, &g->kernel->formulas[i]);
            print_launches(g, i);
        }
    }
    dfg_close(g, &block, NULL);
    fprintf(out, "%sint df_formula_%c_%s(struct df_call *call, void *stream, const size_t *df_dims, void *const *df_ports,\n"
                 "    const union df_scalar *df_scalars)\n{\n    (void)call; (void)stream; (void)df_dims; (void)df_scalars;\n",
            g->opencl ? "" : "extern \"C\" ", DFG_NAME, g->opencl ? "opencl" : "gpu");
    dfg_print_limit(out, g);
    fprintf(out, "%s    return DF_OK;\n}\n\n", g->failed ? "" : block.bytes);
    if (!g->opencl)
        fprintf(out, "extern \"C\" const void *df_device_%c(void) { return (const void *)df_kernel_%c_0; }\n\n", DFG_NAME, DFG_NAME);
    free(block.bytes);
}

static void print_formulas(FILE *out, struct dfg_gen *g)
{
    for (unsigned i = 0; i < g->kernel->n_formulas && !g->failed; i++) {
        const struct dff_node *nodes[DFF_MOST_GROUPED];
        struct dff_one_pass pass;
        dfg_formula_alone(g, &g->kernel->formulas[i]);
        print_formula(out, g, i, 0);
        const enum dff_pass kind = dfg_pass_find(g, &pass);
        const unsigned known = kind ? 0 : dff_hoisted(g->kernel, g->formula, nodes);
        if (known && !g->failed)
            print_formula(out, g, i, known);
        if (kind && !g->failed)
            dfg_pass_print(out, g, i, &pass, kind);
        else if (!g->failed)
            dfg_grouped_print(out, g, i);
    }
}

/* The launches of a formula that is no part of a tile. */
static double launches_of(const struct dfg_gen *g)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    struct dff_one_pass pass;
    const bool shared = dfg_pass_find(g, &pass) || dff_grouped(g->kernel, g->formula, nodes), hoists = dff_hoisted(g->kernel, g->formula, nodes);
    return 1 + shared + 2 * hoists;     /* results of work-groups are joined by a second one */
}

bool dfg_gpu_code(const struct dff_kernel *kernel, double *computed, double *read, struct dff_gpu_code *code)
{
    struct dfg_gen g = { .arena = dfl_arena_new(), .kernel = kernel, .gpu = true };
    struct dfu_tiles tiles;
    const bool tiled = kernel->strips && kernel->strips->tiled;
    bool good = g.arena && dfg_kernel_begin(&g);
    *code = (struct dff_gpu_code){ .launches = tiled, .is_tiled = tiled, .computed = computed, .read = read };
    for (unsigned i = 0; i < kernel->n_formulas; i++) {
        computed[i] = 1;
        if (good && !tiled)
            code->launches += (dfg_formula_alone(&g, &kernel->formulas[i]), launches_of(&g));
    }
    for (unsigned p = 0; p < kernel->callee->sig.n_ports; p++)
        read[p] = 1;
    if (good && tiled)
        dfg_tiles_find(&g, &tiles);
    good = good && !g.failed && !dfl_arena_failed(g.arena);
    if (good && tiled)
        dfg_tiles_repeats(&g, &tiles, computed, read);
    free(g.all_facts);
    dfl_arena_free(g.arena);
    return good;
}

bool dfg_gpu_kernel_print(FILE *out, struct dfg_gen *g)
{
    struct dfu_tiles tiles;
    dfg_kernel_begin(g);
    g->tiles = g->kernel->strips && g->kernel->strips->tiled ? &tiles : NULL;
    if (g->tiles && !g->failed)
        dfg_tiles_find(g, &tiles);
    if (!g->failed)
        (g->tiles ? dfg_tiles_print : print_formulas)(out, g);
    fputc(DFG_LAUNCHES, out);
    if (!g->failed)
        print_host(out, g);
    free(g->all_facts);
    g->tiles = NULL;
    return !g->failed;
}
