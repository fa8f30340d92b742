/* emit_graph.c - prints --emit=graph: the graph with all its nodes as text, one line for each argument, param, kernel,
 * work and node, in the graph's own order and numbering. (A work is a kernel with its dimensions and scalars: runtime/graph/graph.h.)
 * The format is stable, so two graphs can be compared with diff. Nothing is collected in memory, so a graph may have a
 * million nodes. commands/cmd_compile.c calls it; emit_plan.c uses the names of works.
 *
 *   w2 add[k=1024](): in a f32[1024], in b f32[1024], out c f32[1024]; 1 node, 12288 bytes a job
 *   n2 main/add w2 (v0, v1) -> v2 c
 */
#include "compiler/show/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "runtime/df_formula.h"
#include "runtime/graph/expr.h"

static const char *const mode_names[] = { "in", "out", "inout", "tmp", "acc" };

/* ---- values and expressions ---- */

static void emit_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', out);
        if (*s == '\n')
            fputs("\\n", out);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

/* Prints the shortest digits that read back as the same number. */
static void emit_float(FILE *out, double f)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    fputs(text, out);
}

static void emit_constant(FILE *out, const struct df_graph *g, uint32_t type, int64_t i, double f, uint32_t str)
{
    if (type == DF_S_STR)
        emit_string(out, df_graph_string(g, str));
    else if (type == DF_S_F32 || type == DF_S_F64)
        emit_float(out, f);
    else
        fprintf(out, "%" PRId64, i);
}

static const char *const operators[] = {
    [DF_X_NEG] = "-",   [DF_X_NOT] = "!",   [DF_X_MUL] = " * ", [DF_X_DIV] = " / ",  [DF_X_MOD] = " % ",
    [DF_X_ADD] = " + ", [DF_X_SUB] = " - ", [DF_X_LT] = " < ",  [DF_X_LE] = " <= ",  [DF_X_GT] = " > ",
    [DF_X_GE] = " >= ", [DF_X_EQ] = " == ", [DF_X_NE] = " != ", [DF_X_AND] = " && ", [DF_X_OR] = " || ",
    [DF_X_MIN] = "min", [DF_X_MAX] = "max",
};

static char *operand_text(const struct df_graph *g, unsigned x, uint64_t word)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    double f;
    memcpy(&f, &word, sizeof f);
    if (x == DF_X_INT)
        fprintf(out, "%" PRId64, (int64_t)word);
    else if (x == DF_X_FLOAT)
        emit_float(out, f);
    else if (x == DF_X_STR)
        emit_string(out, df_graph_string(g, (uint32_t)word));
    else
        fputs(word < g->n_args ? df_graph_string(g, g->args[word].name) : "?", out);
    return dfr_text_close(out, &text);
}

static char *operator_text(unsigned x, const char *a, const char *b)
{
    char *text;
    int n = x == DF_X_NEG || x == DF_X_NOT ? asprintf(&text, "%s%s", operators[x], a)
            : x == DF_X_MIN || x == DF_X_MAX ? asprintf(&text, "%s(%s, %s)", operators[x], a, b)
                                             : asprintf(&text, "(%s%s%s)", a, operators[x], b);
    return n < 0 ? NULL : text;
}

/* Prints postfix code as the expression that a person would write. */
static void emit_expression(FILE *out, const struct df_graph *g, const uint64_t *code, unsigned n_code)
{
    char *stack[DF_EXPR_STACK];
    unsigned n = 0;
    bool good = true;
    for (unsigned c = 0; good && c < n_code; c++) {
        unsigned x = code[c] & 0xff;
        char *text = NULL;
        if (x <= DF_X_ARG && c + 1 < n_code) {
            text = operand_text(g, x, code[++c]);
        } else if ((x == DF_X_NEG || x == DF_X_NOT) && n >= 1) {
            text = operator_text(x, stack[n - 1], NULL);
            free(stack[--n]);
        } else if (x > DF_X_ARG && x <= DF_X_MAX && n >= 2) {
            text = operator_text(x, stack[n - 2], stack[n - 1]);
            free(stack[--n]);
            free(stack[--n]);
        }
        good = text && n < DF_EXPR_STACK;
        if (good)
            stack[n++] = text;
        else
            free(text);
    }
    if (good && n == 1) {
        size_t length = strlen(stack[0]);
        bool wrapped = stack[0][0] == '(';
        fprintf(out, "%.*s", (int)(length - 2 * wrapped), stack[0] + wrapped);
    } else {
        fputs("?", out);
    }
    while (n)
        free(stack[--n]);
}

static void emit_scalar(FILE *out, const struct df_graph *g, const struct df_scalar_value *s)
{
    if (s->n_code)
        emit_expression(out, g, g->code + s->first_code, s->n_code);
    else
        emit_constant(out, g, s->type, s->i, s->f, s->str);
}

/* ---- declarations ---- */

static void emit_help(FILE *out, const struct df_graph *g, uint32_t help)
{
    if (help) {
        fputs(" help ", out);
        emit_string(out, df_graph_string(g, help));
    }
    fputc('\n', out);
}

static void emit_args(FILE *out, const struct df_graph *g)
{
    for (uint32_t i = 0; i < g->n_args; i++) {
        const struct df_arg *a = &g->args[i];
        fprintf(out, "arg %s: %s", df_graph_string(g, a->name), df_scalar_name(a->type));
        if (a->has_default) {
            fputs(" = ", out);
            emit_constant(out, g, a->type, a->i, a->f, a->str);
        }
        emit_help(out, g, a->help);
    }
    for (uint32_t i = 0; i < g->n_params; i++) {
        fprintf(out, "param %s = %" PRId64 " dynamic", df_graph_string(g, g->params[i].name), g->params[i].value);
        emit_help(out, g, g->params[i].help);
    }
    if (g->n_args + g->n_params)
        fputc('\n', out);
}

static void emit_classes(FILE *out, const struct df_graph *g, const char *what, unsigned classes)
{
    if (!classes)
        return;
    fprintf(out, ", %s", what);
    for (uint32_t c = 0; c < g->n_classes; c++)
        if (classes >> c & 1)
            fprintf(out, " %s", df_graph_string(g, g->class_names[c]));
}

/* What an acc is at first. */
static void emit_initial(FILE *out, const struct df_kport *port)
{
    float f32;
    double f64;
    memcpy(&f32, &port->initial, sizeof f32);
    memcpy(&f64, &port->initial, sizeof f64);
    fputs(" = ", out);
    switch ((enum df_elem)port->elem) {
    case DF_F16: emit_float(out, df_f32_of_f16((uint16_t)port->initial)); break;
    case DF_F32: emit_float(out, f32); break;
    case DF_F64: emit_float(out, f64); break;
    case DF_I32: fprintf(out, "%" PRId32, (int32_t)port->initial); break;
    default: fprintf(out, "%" PRId64, (int64_t)port->initial);
    }
}

/* Which jobs have this scratch, if not all. */
static const char *side_name(const struct df_kport *port)
{
    return !port->only ? "" : df_port_is_on(port, DF_ON_HOST) ? "(cpu)" : "(gpu)";
}

/* How often a loop is repeated, and the calls of a round: t0' is what this round makes of t0 for the next one. */
static void emit_loop(FILE *out, const struct df_graph *g, const struct df_loop *loop)
{
    fprintf(out, ", a loop of at most %" PRIu64 " rounds:", loop->most);
    for (uint32_t s = loop->first_step; s < loop->first_step + loop->n_steps; s++) {
        const struct df_step_port *port = g->step_ports + g->steps[s].first_port;
        const unsigned n = g->kernels[g->steps[s].kernel].n_ports;
        const char *between = "";
        fprintf(out, "\n    %s(", df_graph_string(g, g->kernels[g->steps[s].kernel].name));
        for (unsigned p = 0; p < n; p++)
            if (port[p].reads != DF_NONE) {
                fprintf(out, "%st%u%s", between, (unsigned)port[p].reads, port[p].next ? "'" : "");
                between = ", ";
            }
        fputs(") ->", out);
        for (unsigned p = 0; p < n; p++)
            if (port[p].writes != DF_NONE)
                fprintf(out, " t%u%s", (unsigned)port[p].writes, g->loop_tokens[loop->first_token + port[p].writes].carried ? "'" : "");
    }
}

static void emit_kernel(FILE *out, const struct df_graph *g, uint32_t id)
{
    static const struct { unsigned bit; const char *name; } traits[] = {
        { DF_ORDERED, "ordered" }, { DF_STREAM, "stream" },   { DF_ONCE, "once" },
        { DF_SYNC, "sync" },       { DF_THREADS, "threads" },  { DF_LAUNCH, "launch" },
        { DF_RESTART, "restart" }, { DF_RESUME, "resume" },   { DF_ZERO_EXTENTS, "zero_extents" },
    };
    const struct df_kernel *k = &g->kernels[id];
    fprintf(out, "k%u %s(", id, df_graph_string(g, k->name));
    for (unsigned p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        fprintf(out, "%s%s%s %s: %s", p ? ", " : "", mode_names[port->mode], side_name(port), df_graph_string(g, port->name),
                df_elem_name((enum df_elem)port->elem));
        for (unsigned d = 0; d < port->rank; d++)
            fputs(d ? ", *" : "[*", out);
        fputs(port->rank ? "]" : "", out);
        if (port->initial)
            emit_initial(out, port);
    }
    for (unsigned s = 0; s < k->n_scalars; s++) {
        const struct df_kscalar *scalar = &g->kscalars[k->first_scalar + s];
        fprintf(out, "%s%s: %s", s ? ", " : "; ", df_graph_string(g, scalar->name), df_scalar_name(scalar->type));
    }
    fputc(')', out);
    for (size_t t = 0; t < sizeof traits / sizeof *traits; t++)
        if (k->traits & traits[t].bit)
            fprintf(out, " %s", traits[t].name);
    for (uint32_t r = 0; r < g->n_resources; r++)
        if (k->uses >> r & 1)
            fprintf(out, " uses(%s)", df_graph_string(g, g->resources[r].name));
    emit_classes(out, g, "code", k->code_classes);
    emit_classes(out, g, "cost", k->cost_classes);
    if (k->flags & DF_KERNEL_LOOP)
        emit_loop(out, g, &g->loops[k->loop]);
    fputs(k->flags & DF_KERNEL_COPY ? ", built in\n" : "\n", out);
}

void dfc_emit_work_name(FILE *out, const struct df_graph *g, uint32_t id)
{
    const struct df_work *w = &g->works[id];
    const struct df_kernel *k = &g->kernels[w->kernel];
    fprintf(out, "w%u %s[", id, df_graph_string(g, k->name));
    for (unsigned d = 0; d < k->n_dims; d++)
        fprintf(out, "%s%s=%" PRIu64, d ? ", " : "", df_graph_string(g, g->dim_names[k->first_dim + d]),
                g->dims[w->first_dim + d]);
    fputs("](", out);
    for (unsigned s = 0; s < k->n_scalars; s++) {
        fputs(s ? ", " : "", out);
        emit_scalar(out, g, &g->scalars[g->node_scalars[w->first_scalar + s]]);
    }
    fputc(')', out);
}

static void emit_work(FILE *out, const struct df_graph *g, uint32_t id)
{
    const struct df_work *w = &g->works[id];
    const struct df_kernel *k = &g->kernels[w->kernel];
    dfc_emit_work_name(out, g, id);
    for (unsigned p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        const uint64_t *dims = &g->port_dims[(size_t)(w->first_port + p) * DF_MAX_RANK];
        fprintf(out, "%s %s%s %s %s", p ? "," : ":", mode_names[port->mode], side_name(port), df_graph_string(g, port->name),
                df_elem_name((enum df_elem)port->elem));
        for (unsigned d = 0; d < port->rank; d++)
            fprintf(out, "%s%" PRIu64, d ? ", " : "[", dims[d]);
        fputs(port->rank ? "]" : "", out);
    }
    fprintf(out, "; %u node%s, %" PRIu64 " bytes a job", w->n_nodes, w->n_nodes == 1 ? "" : "s", w->job_bytes);
    if (w->threads > 1)
        fprintf(out, ", %u threads", w->threads);
    for (uint32_t c = 0; c < g->n_classes; c++) {
        double cost_s = g->cost_s ? g->cost_s[(size_t)c * g->n_works + id] : 0;
        if (g->cost_s && cost_s == cost_s) {
            fprintf(out, ", %s ", df_graph_string(g, g->class_names[c]));
            emit_float(out, cost_s);
            fputs(" s", out);
        }
    }
    fputc('\n', out);
}

/* ---- nodes ---- */

static void emit_node(FILE *out, const struct df_graph *g, uint32_t id)
{
    const struct df_node *v = &g->nodes[id];
    uint32_t n_in = df_node_n_in(g, id), n_out = df_node_n_out(g, id);
    char name[1024];
    df_node_name(g, id, name, sizeof name);
    fprintf(out, "n%u %s w%u (", id, name, v->work);
    for (uint32_t i = 0; i < n_in; i++)
        fprintf(out, "%sv%u", i ? ", " : "", g->in_value[v->first_in + i]);
    fputc(')', out);
    for (uint32_t o = 0; o < n_out; o++) {
        const struct df_value *value = &g->values[v->first_out + o];
        const char *as = df_graph_string(g, value->name);
        fprintf(out, "%s v%u%s%s", o ? "," : " ->", v->first_out + o, *as ? " " : "", as);
        if (value->taken_from != DF_NONE)
            fprintf(out, " in place of v%u", value->taken_from);
    }
    if (v->hint_class >= 0)
        fprintf(out, " @%s", df_graph_string(g, g->class_names[v->hint_class]));
    if (v->depth)
        fprintf(out, " @depth(%u)", v->depth);
    if (v->rate != 1.0f)
        fprintf(out, " @rate(%g)", (double)v->rate);
    fputs(v->flags & DF_NODE_WORKER ? " @worker" : "", out);
    if (v->stage)
        fprintf(out, " @stage(%u)", (unsigned)v->stage - 1);
    if (v->live && df_node_live(g, id)->newest)
        fprintf(out, " @newest(%u)", (unsigned)df_node_live(g, id)->newest);
    if (v->live && df_node_live(g, id)->every_s > 0)
        fprintf(out, " @every(%gs)", df_node_live(g, id)->every_s);
    fputs(v->flags & DF_NODE_FINAL ? " final" : v->flags & DF_NODE_ONCE ? " once" : "", out);
    fputs(v->flags & DF_NODE_INSERTED ? " inserted" : "", out);
    fputc('\n', out);
}

void dfc_emit_graph(FILE *out, const struct df_graph *g)
{
    fprintf(out, "graph %s: %u nodes, %u values, %u arcs, %u works, %u kernels\n\n", g->name, g->n_nodes, g->n_values,
            g->n_in_values, g->n_works, g->n_kernels);
    emit_args(out, g);
    for (uint32_t p = 0; p < g->n_promises; p++) {
        char text[320];
        fprintf(out, "promise %s, confidence %g\n%s", df_promise_text(g, p, text, sizeof text), g->promises[p].confidence, p + 1 == g->n_promises ? "\n" : "");
    }
    for (uint32_t k = 0; k < g->n_kernels; k++)
        emit_kernel(out, g, k);
    fputc('\n', out);
    for (uint32_t w = 0; w < g->n_works; w++)
        emit_work(out, g, w);
    fputc('\n', out);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        emit_node(out, g, v);
}
