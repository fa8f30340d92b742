/* select.c - finds the callee of a call, for the checks of graphs and elaboration, and implements the built-in kernel
 * `select`, which passes on the first of its inputs that is not empty.
 *
 * Kernels have a fixed number of ports, so one callee is created for each number of inputs when a call first uses it.
 * Its ports are in the order that runtime/graph/graph.h requires: the first input, the output, the other inputs. They have no formats
 * of their own; each call uses that of its first input.
 */
#include <string.h>

#include "compiler/declare/declare.h"

#define MOST_INPUTS 1000u               /* a kernel's ports are at most 1024 */

static const char select_name[] = "select";

static bool is_select(const char *name)
{
    return strcmp(name, select_name) == 0;
}

static struct dfc_callee *make(struct dfc_unit *u, unsigned n_in)
{
    struct dfc_callee *callee = dfc_alloc(u, sizeof *callee);
    struct dfl_kernel *kernel = dfc_alloc(u, sizeof *kernel);
    struct dfc_port *ports = dfc_alloc(u, (n_in + 1) * sizeof *ports);
    struct dfl_port *texts = dfc_alloc(u, (n_in + 1) * sizeof *texts);
    uint16_t *in_port = dfc_alloc(u, n_in * sizeof *in_port), *out_port = dfc_alloc(u, sizeof *out_port);

    if (!callee || !kernel || !ports || !texts || !in_port || !out_port)
        return NULL;
    for (unsigned p = 0; p <= n_in; p++) {
        unsigned slot = p == 0 ? 0 : p - 1;
        texts[p].mode = p == 1 ? DFL_OUT : DFL_IN;
        texts[p].name.text = p == 1 ? "result" : dfc_printf(u, "input%u", slot + 1);
        ports[p] = (struct dfc_port){ .ast = &texts[p], .in_slot = p == 1 ? -1 : (int)slot, .out_slot = p == 1 ? 0 : -1 };
        if (p != 1)
            in_port[slot] = (uint16_t)p;
    }
    out_port[0] = 1;
    callee->name = select_name;
    callee->loc.file = DFL_NO_FILE;
    callee->kernel = kernel;
    callee->id = DF_NONE;
    callee->code_classes = UINT32_MAX;
    callee->ready = callee->built_in = true;
    callee->sig = (struct dfc_sig){ .n_ports = n_in + 1, .n_in = n_in, .n_out = 1, .ports = ports, .in_port = in_port,
                                    .out_port = out_port };
    return callee;
}

static unsigned count_inputs(const struct dfl_stmt *stmt)
{
    unsigned n = 0;
    for (const struct dfl_actual *actual = stmt->actuals; actual && !actual->keyword.text; actual = actual->next)
        n++;
    return n;
}

bool dfc_is_last(const struct dfc_unit *u, const struct dfl_stmt *stmt)
{
    uint32_t id;
    return strcmp(stmt->callee.text, "last") == 0 && !dfc_index_find(&u->callees, "last", &id);
}

bool dfc_is_stream_read(const struct dfc_callee *graph, const struct dfc_env *env, const struct dfc_unit *u, const struct dfl_expr *e)
{
    uint32_t id;
    if ((e->kind != DFL_EXPR_NAME && e->kind != DFL_EXPR_INDEX) || !dfc_index_find(&graph->streams, e->s, &id))
        return false;
    bool other = dfc_index_find(&u->params, e->s, &id);
    for (; env; env = env->outer)
        other |= strcmp(env->name, e->s) == 0;
    for (unsigned v = 0; v < graph->sig.n_variables; v++)
        other |= strcmp(graph->sig.variables[v].name.text, e->s) == 0;
    for (unsigned s = 0; s < graph->sig.n_scalars; s++)
        other |= strcmp(graph->sig.scalars[s]->name.text, e->s) == 0;
    return e->kind == DFL_EXPR_INDEX || !other;
}

struct dfc_callee *dfc_callee_called(struct dfc_unit *u, const struct dfl_stmt *stmt)
{
    struct dfc_callee **selects = u->selects.items, **added;
    unsigned n_in = is_select(stmt->callee.text) ? count_inputs(stmt) : 0;
    uint32_t id;

    if (!is_select(stmt->callee.text))
        return dfc_index_find(&u->callees, stmt->callee.text, &id) ? &dfc_callees(u)[id] : NULL;
    if (n_in < 2 || n_in > MOST_INPUTS)
        return NULL;
    for (uint32_t i = 0; i < u->selects.n; i++)
        if (selects[i]->sig.n_in == n_in)
            return selects[i];
    added = dfr_array_add(&u->selects, sizeof *added, 1);
    if (!added || !(*added = make(u, n_in))) {
        u->selects.n -= added != NULL;
        dfc_no_memory(u);
        return NULL;
    }
    return *added;
}

void dfc_select_refused(struct dfc_unit *u, const struct dfl_stmt *stmt)
{
    if (u->no_memory)
        return;
    dfl_error(u->sink, stmt->call_loc, "'select' takes 2 to %u inputs of one format, but this call has %u", MOST_INPUTS,
              count_inputs(stmt));
    dfl_hint(u->sink, "'y = select(a, b);' passes on the first of its inputs that is not empty in a wave");
}

bool dfc_select_declared(struct dfc_unit *u, const struct dfl_name *name)
{
    if (!is_select(name->text))
        return false;
    dfl_error(u->sink, name->loc, "'select' is built in: no kernel or graph can have this name");
    dfl_hint(u->sink, "'select(a, b)' passes on the first of its inputs that is not empty in a wave");
    return true;
}
