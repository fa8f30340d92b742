/* check_graph.c - checks for the front end (front/front.c) the properties of graphs that do not depend on values: names,
 * numbers of inputs and outputs, types, the names that loop bounds may use, and that no graph contains itself. Every
 * graph is checked, used or not, so elaboration (elab/elab.c) can rely on all of this; of those that come with dfc, the ones that are called.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/declare/declare.h"

struct stream_name {                    /* by number in callee->streams */
    unsigned n_indices;
    struct dfl_loc loc;                 /* first assignment, or the in port */
    bool is_in_port, read;
};

struct walk {                           /* the check of one graph, statement by statement */
    struct dfc_unit *u;
    struct dfc_callee *graph;
    struct dfr_array streams;           /* struct stream_name */
    struct dfr_array *edges;            /* calls of graphs by graphs */
    bool ok;
};

const struct dfl_stmt *dfc_next_arm(const struct dfl_block *otherwise)
{
    const struct dfl_stmt *stmt = otherwise ? otherwise->stmts : NULL;
    return stmt && !stmt->next && stmt->kind == DFL_STMT_IF ? stmt : NULL;
}

static unsigned count(const struct dfl_expr *list)
{
    unsigned n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

/* ---- names of streams ---- */

static void mixed_indices(struct walk *w, struct dfl_loc loc, const char *name, unsigned n,
                          const struct stream_name *known)
{
    dfl_error(w->u->sink, loc, "'%s' has %u ind%s here, and %u elsewhere", name, n, n == 1 ? "ex" : "ices",
              known->n_indices);
    dfl_note(w->u->sink, known->loc, "the other place is here");
    dfl_hint(w->u->sink, "an index chooses one of several streams, as 'x[0] = f(a);' makes them; elements are read in kernels");
    w->ok = false;
}

static void add_stream(struct walk *w, const struct dfl_name *name, unsigned n_indices, bool is_in_port)
{
    uint32_t id;
    bool fresh;
    if (!dfc_index_add(&w->graph->streams, name->text, &id, &fresh)) {
        w->ok = dfc_no_memory(w->u);
        return;
    }
    if (fresh) {
        struct stream_name *item = dfr_array_add(&w->streams, sizeof *item, 1);
        if (!item) {
            w->ok = dfc_no_memory(w->u);
            return;
        }
        *item = (struct stream_name){ n_indices, name->loc, is_in_port, false };
        return;
    }
    const struct stream_name *known = (struct stream_name *)w->streams.items + id;
    if (known->is_in_port && is_in_port)
        return; /* two ports have one name: sig.c has reported that */
    if (known->is_in_port) {
        dfl_error(w->u->sink, name->loc, "'%s' is an in port of graph '%s' and cannot be assigned", name->text,
                  w->graph->name);
        dfl_note(w->u->sink, known->loc, "it is declared here");
        w->ok = false;
    } else if (known->n_indices != n_indices) {
        mixed_indices(w, name->loc, name->text, n_indices, known);
    }
}

static void collect_block(struct walk *w, const struct dfl_block *block);

static void collect_stmt(struct walk *w, const struct dfl_stmt *stmt)
{
    if (stmt->kind == DFL_STMT_FOR)
        collect_block(w, stmt->body);
    for (const struct dfl_stmt *arm = stmt->kind == DFL_STMT_IF ? stmt : NULL; arm;) {
        const struct dfl_stmt *next = dfc_next_arm(arm->otherwise);
        collect_block(w, arm->body);
        if (!next && arm->otherwise)
            collect_block(w, arm->otherwise);
        arm = next;
    }
    for (const struct dfl_target *target = stmt->kind == DFL_STMT_CALL ? stmt->targets : NULL; target;
         target = target->next)
        if (strcmp(target->name.text, "_") != 0)
            add_stream(w, &target->name, count(target->indices), false);
}

static void collect_block(struct walk *w, const struct dfl_block *block)
{
    for (const struct dfl_stmt *stmt = block->stmts; stmt && !w->u->no_memory; stmt = stmt->next)
        collect_stmt(w, stmt);
}

/* ---- calls ---- */

static void check_indices(struct walk *w, const struct dfc_names *scope, const char *name,
                          const struct dfl_expr *indices)
{
    struct dfc_names names = *scope;
    int64_t value;
    bool known;
    names.use = DFC_USE_INDEX;
    for (const struct dfl_expr *e = indices; e; e = e->next)
        w->ok &= dfc_fold_int(w->u, &names, e, &value, &known);
    if (count(indices) > DFC_MAX_INDICES) {
        dfl_error(w->u->sink, indices->loc, "'%s' has more than %u indices", name, DFC_MAX_INDICES);
        w->ok = false;
    }
}

static void unknown_stream(struct walk *w, const struct dfc_names *names, const struct dfl_expr *e, const char *port)
{
    struct dfc_unit *u = w->u;
    uint32_t id;
    const char *what = NULL;
    for (const struct dfc_env *env = names->env; env; env = env->outer)
        if (strcmp(env->name, e->s) == 0)
            what = "a loop variable";
    if (!what && dfc_index_find(&u->params, e->s, &id))
        what = dfc_params(u)[id].arg == DF_NONE ? "a param" : "an arg";
    w->ok = false;
    if (what) {
        dfl_error(u->sink, e->loc, "'%s' is %s: port '%s' takes a stream", e->s, what, port);
        return;
    }
    dfl_error(u->sink, e->loc, "unknown stream '%s'", e->s);
    if (!dfc_hint_name(u, e->s, dfc_index_names(&w->graph->streams), w->graph->streams.names.n) && dfl_sink_errors(u->sink) == 1)
        dfl_hint(u->sink, "a stream is what a call of this graph makes, '%s = f(...);', or an in port of it", e->s);
}

/* Does an expression have a stream in it? */
static bool has_stream(const struct walk *w, const struct dfl_expr *e)
{
    uint32_t id;
    if (!e)
        return false;
    if (e->kind == DFL_EXPR_INDEX || (e->kind == DFL_EXPR_NAME && dfc_index_find(&w->graph->streams, e->s, &id)))
        return true;
    bool has = has_stream(w, e->a) || has_stream(w, e->b);
    for (const struct dfl_expr *arg = e->args; arg && !has; arg = arg->next)
        has = has_stream(w, arg);
    return has;
}

static void check_input(struct walk *w, const struct dfc_names *names, const struct dfl_expr *e, const char *port)
{
    struct dfc_unit *u = w->u;
    uint32_t id;
    if (e->kind != DFL_EXPR_NAME && e->kind != DFL_EXPR_INDEX) {
        dfl_error(u->sink, e->loc, "port '%s' takes a stream", port);
        if (e->kind == DFL_EXPR_STR && dfc_index_find(&w->graph->streams, e->s, &id))
            dfl_hint(u->sink, "the name of a stream stands without quotes: '%s'", e->s);
        else if (has_stream(w, e))
            dfl_hint(u->sink, "kernels compute with streams: 'kernel add(in a: f32[n], in b: f32[n], out c: f32[n]) { c[i] = a[i] + b[i]; }', and 'c = add(a, b);'");
        w->ok = false;
        return;
    }
    check_indices(w, names, e->s, e->args);
    if (strcmp(e->s, "_") == 0) {
        dfl_error(u->sink, e->loc, "what '_' takes is discarded: it cannot be read");
        w->ok = false;
    } else if (!dfc_index_find(&w->graph->streams, e->s, &id)) {
        unknown_stream(w, names, e, port);
    } else {
        struct stream_name *known = (struct stream_name *)w->streams.items + id;
        known->read = true;
        if (known->n_indices != count(e->args))
            mixed_indices(w, e->loc, e->s, count(e->args), known);
    }
}

/* Goes past the one of the words that the text begins with. false: it begins with none. */
static bool pass_one(const char **text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(*text, words[i], strlen(words[i])) == 0) {
            *text += strlen(words[i]);
            return true;
        }
    return false;
}

/* The name may be that of a kernel of std/io.df, which the file does not import. Gives whether it said so. */
static bool hint_import(struct dfc_unit *u, const char *name)
{
    static const char *const begins[] = { "read_", "load_", "write_" }, *const formats[] = { "raw_", "npy_", "png", "jpeg", "tiff", "csv_", "records_" };
    uint32_t id;
    if (!pass_one(&name, begins, sizeof begins / sizeof begins[0]) || !pass_one(&name, formats, sizeof formats / sizeof formats[0]) ||
        dfc_index_find(&u->callees, "read_png", &id))
        return false;
    dfl_hint(u->sink, "'import \"std/io.df\";' brings kernels that read and write files");
    return true;
}

/* The name may be that of a kernel of std/ for an element type that its format does not have: load_png_i16. Gives whether it said so. */
static bool hint_element(struct dfc_unit *u, const char *name)
{
    char other[DFC_OTHER_NAME], list[600] = "";
    const char *to = NULL;
    size_t used = 0;
    const enum df_elem elem = dfc_element_in(name);
    if (elem == DF_N_ELEMS)
        return false;
    if (elem == DF_U8 && dfc_name_for_element(u, name, DF_U8, other)) { /* of pictures that of u8 has no suffix */
        dfl_hint(u->sink, "did you mean '%s'?", other);
        return true;
    }
    for (enum df_elem e = 0; e < DF_N_ELEMS; e++)
        if (used < sizeof list && dfc_name_for_element(u, name, e, other)) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'%s", used ? ", " : "", other,
                                     dfc_element_in(other) == DF_N_ELEMS ? " (u8)" : "");
            to = df_elem_name(strncmp(name, "read_", 5) && strncmp(name, "load_", 5) ? e : elem); /* what is written is converted before */
        }
    if (used)
        dfl_hint(u->sink, "there is none for %s, but there is %s; a formula converts, as in 'b[i] = %s(a[i])'", df_elem_name(elem), list, to);
    return used > 0;
}

static void hint_kernel(struct dfc_unit *u, const char *name)
{
    if (strcmp(name, "printf") == 0 || strcmp(name, "print") == 0)
        dfl_hint(u->sink, "a kernel prints: 'kernel show(in v: f32[n]) ordered cpu {{ printf(\"%%g\\n\", (double)v[0]); }};'");
    else
        dfl_hint(u->sink, "a kernel is declared, as in 'kernel %.60s(in a: f32[n], out b: f32[n]) cpu \"file.c\";', or imported", name);
}

static struct dfc_callee *find_callee(struct walk *w, const struct dfl_stmt *stmt)
{
    struct dfc_unit *u = w->u;
    struct dfc_callee *callee = dfc_callee_called(u, stmt);
    if (callee && callee->built_in)
        return callee;
    if (!callee && strcmp(stmt->callee.text, "select") == 0) {
        dfc_select_refused(u, stmt);
        return NULL;
    }
    if (!callee) {
        dfl_error(u->sink, stmt->callee.loc, "unknown kernel or graph '%s'", stmt->callee.text);
        if (!hint_import(u, stmt->callee.text) && !hint_element(u, stmt->callee.text) && !dfc_hint_name(u, stmt->callee.text, dfc_index_names(&u->callees), u->callees.names.n))
            hint_kernel(u, stmt->callee.text);
        return NULL;
    }
    if (callee->graph && strcmp(callee->name, "main") == 0 && w->graph != callee) {
        dfl_error(u->sink, stmt->callee.loc, "graph 'main' is the program and cannot be called");
        return NULL;
    }
    if (callee->graph && callee->graph->promises) {
        dfl_error(u->sink, stmt->callee.loc, "graph '%s' makes promises, so no other graph can call it", callee->name);
        dfl_note(u->sink, callee->graph->promises->loc, "its first promise is here");
        dfl_hint(u->sink, "promises are about a whole run: they stand in the graph that is run");
        return NULL;
    }
    if (callee->graph) {
        struct dfc_edge *edge = dfr_array_add(w->edges, sizeof *edge, 1);
        if (edge)
            *edge = (struct dfc_edge){ (uint32_t)(w->graph - dfc_callees(u)), (uint32_t)(callee - dfc_callees(u)),
                                       stmt->callee.loc };
        else
            dfc_no_memory(u);
    }
    if (callee->due && callee->kernel && callee->kernel->has_formulas)
        callee->ready = callee->ready && dfc_formulas_check(u, callee);
    callee->due = false;
    if (callee->kernel && callee->ready)
        ((struct dfc_kernel_code *)u->kernels.items)[callee->id].called = true;
    return callee;
}

/* Is this what a scalar may be given, and no stream? */
static bool is_value(const struct walk *w, const struct dfc_names *names, const struct dfl_expr *e)
{
    uint32_t id;
    if (e->kind != DFL_EXPR_NAME)
        return !has_stream(w, e);
    if (dfc_index_find(&w->graph->streams, e->s, &id))
        return false;
    for (const struct dfc_env *env = names->env; env; env = env->outer)
        if (strcmp(env->name, e->s) == 0)
            return true;
    return dfc_index_find(&w->u->params, e->s, &id);
}

/* A value in the place of a stream, in a call that takes scalars, too: a stream was left out, or they are in the wrong order. Then
 * what the other places hold says nothing. Reports it. */
static bool value_for_stream(struct walk *w, const struct dfl_stmt *stmt, const struct dfc_callee *callee, const struct dfc_names *names)
{
    const struct dfl_actual *actual = stmt->actuals;
    for (unsigned i = 0; i < callee->sig.n_in && actual && !actual->keyword.text; i++, actual = actual->next)
        if (callee->sig.n_given > 0 && is_value(w, names, actual->expr)) {
            check_input(w, names, actual->expr, callee->sig.ports[callee->sig.in_port[i]].ast->name.text);
            dfc_call_hint_order(w->u, callee);
            return true;
        }
    return false;
}

/* 'y = last(x)': the indices of x are those that are not the loop's variable. */
static void check_last(struct walk *w, const struct dfl_stmt *stmt, const struct dfc_names *names)
{
    struct dfc_unit *u = w->u;
    const struct dfl_actual *actual = stmt->actuals;
    const struct dfl_expr *e = actual ? actual->expr : NULL;
    const struct dfl_target *target = stmt->targets;
    uint32_t id;
    if (!e || actual->next || actual->keyword.text || (e->kind != DFL_EXPR_NAME && e->kind != DFL_EXPR_INDEX) || !target || target->next ||
        target->annotation || stmt->hints || strcmp(target->name.text, "_") == 0) {
        dfl_error(u->sink, stmt->call_loc, "'last' takes one stream that a loop with 'while' changes, and gives one: 'y = last(x);'");
        dfl_hint(u->sink, "'for k in 0..100 while r[k] > 0.1 { x[k + 1] = f(x[k]); r[k + 1] = g(x[k + 1]); }' changes x and r; the format is that of 'x[0]', and there are no hints");
        w->ok = false;
        return;
    }
    check_indices(w, names, target->name.text, target->indices);
    check_indices(w, names, e->s, e->args);
    if (!dfc_index_find(&w->graph->streams, e->s, &id)) {
        unknown_stream(w, names, e, "x");
        return;
    }
    struct stream_name *known = (struct stream_name *)w->streams.items + id;
    known->read = true;
    if (known->n_indices == count(e->args) + 1)
        return;
    dfl_error(u->sink, e->loc, "'%s' has %u ind%s, and 'last' takes those beside the loop's variable", e->s, known->n_indices, known->n_indices == 1 ? "ex" : "ices");
    dfl_hint(u->sink, "write 'last(x)' for what a loop assigns as 'x[k + 1]', and 'last(x[i])' for 'x[i, k + 1]'");
    w->ok = false;
}

static void check_call(struct walk *w, const struct dfl_stmt *stmt, const struct dfc_names *names)
{
    if (dfc_is_last(w->u, stmt)) {
        check_last(w, stmt, names);
        return;
    }
    const struct dfc_callee *callee = find_callee(w, stmt);
    for (const struct dfl_target *target = stmt->targets; target; target = target->next) {
        check_indices(w, names, target->name.text, target->indices);
        if (target->indices && strcmp(target->name.text, "_") == 0) {
            dfl_error(w->u->sink, target->loc, "'_' discards a value: it takes no index");
            w->ok = false;
        }
    }
    if (!callee || !callee->ready) {
        w->ok = false;
        return;
    }
    if (value_for_stream(w, stmt, callee, names))
        return;
    if (!dfc_call_check(w->u, stmt, callee, names))
        w->ok = false;
    const struct dfl_actual *actual = stmt->actuals;
    for (unsigned i = 0; i < callee->sig.n_in && actual && !actual->keyword.text; i++, actual = actual->next)
        check_input(w, names, actual->expr, callee->sig.ports[callee->sig.in_port[i]].ast->name.text);
}

/* ---- blocks ---- */

static void check_block(struct walk *w, const struct dfl_block *block, const struct dfc_names *names);

/* The streams in the condition of a loop; elab/loops.c finds their types. A name is a stream if it is nothing else. */
static void check_while(struct walk *w, const struct dfl_expr *e, const struct dfc_names *names)
{
    if (!e)
        return;
    if (dfc_is_stream_read(w->graph, names->env, w->u, e)) {
        check_input(w, names, e, "condition");
        return;
    }
    if (e->kind == DFL_EXPR_INDEX) {
        unknown_stream(w, names, e, "condition");
        return;
    }
    if (e->kind == DFL_EXPR_CHOICE || e->kind == DFL_EXPR_REDUCE) {
        w->ok &= dfc_fold_int(w->u, names, e, &(int64_t){ 0 }, &(bool){ false });
        return;
    }
    check_while(w, e->a, names);
    check_while(w, e->b, names);
    for (const struct dfl_expr *arg = e->kind == DFL_EXPR_CALL ? e->args : NULL; arg; arg = arg->next)
        check_while(w, arg, names);
}

static void check_for(struct walk *w, const struct dfl_stmt *stmt, const struct dfc_names *outer)
{
    struct dfc_names names = *outer;
    int64_t value;
    bool known;
    names.use = stmt->cond ? DFC_USE_ROUNDS : DFC_USE_BOUND;
    w->ok &= dfc_fold_int(w->u, &names, stmt->from, &value, &known);
    w->ok &= dfc_fold_int(w->u, &names, stmt->to, &value, &known);
    for (const struct dfc_env *env = outer->env; env; env = env->outer)
        if (strcmp(env->name, stmt->var.text) == 0) {
            dfl_error(w->u->sink, stmt->var.loc, "'%s' is the variable of a loop around this one", stmt->var.text);
            w->ok = false;
        }
    const struct dfc_env env = { .name = stmt->var.text,
                                 .outer = outer->env,
                                 .depth = outer->env ? outer->env->depth + 1 : 1,
                                 .rounds = stmt->cond != NULL };
    if (env.depth > DFC_MAX_LOOPS) {
        dfl_error(w->u->sink, stmt->var.loc, "loops nest deeper than %u", DFC_MAX_LOOPS);
        w->ok = false;
        return;
    }
    names.env = &env;
    names.use = DFC_USE_WHILE;
    check_while(w, stmt->cond, &names);
    check_block(w, stmt->body, &names);
}

static void check_if(struct walk *w, const struct dfl_stmt *stmt, const struct dfc_names *names)
{
    struct dfc_names condition = *names;
    int64_t value;
    bool known;
    condition.use = DFC_USE_CONDITION;
    for (const struct dfl_stmt *arm = stmt; arm;) {
        const struct dfl_stmt *next = dfc_next_arm(arm->otherwise);
        w->ok &= dfc_fold_int(w->u, &condition, arm->cond, &value, &known);
        check_block(w, arm->body, names);
        if (!next && arm->otherwise)
            check_block(w, arm->otherwise, names);
        arm = next;
    }
}

static void check_block(struct walk *w, const struct dfl_block *block, const struct dfc_names *names)
{
    for (const struct dfl_stmt *stmt = block->stmts; stmt && !w->u->no_memory; stmt = stmt->next) {
        switch (stmt->kind) {
        case DFL_STMT_CALL: check_call(w, stmt, names); break;
        case DFL_STMT_FOR: check_for(w, stmt, names); break;
        case DFL_STMT_IF: check_if(w, stmt, names); break;
        }
    }
}

/* ---- graphs ---- */

static void check_ports(struct walk *w)
{
    const struct dfc_sig *sig = &w->graph->sig;
    const struct stream_name *streams = w->streams.items;
    for (unsigned i = 0; i < sig->n_in; i++) {
        const struct dfl_port *port = sig->ports[sig->in_port[i]].ast;
        uint32_t id;
        if (dfc_index_find(&w->graph->streams, port->name.text, &id) && !streams[id].read)
            dfl_warning(w->u->sink, port->name.loc, "in port '%s' of graph '%s' is never read", port->name.text,
                        w->graph->name);
    }
    for (unsigned i = 0; i < sig->n_out; i++) {
        const struct dfl_port *port = sig->ports[sig->out_port[i]].ast;
        uint32_t id;
        if (!dfc_index_find(&w->graph->streams, port->name.text, &id)) {
            dfl_error(w->u->sink, port->name.loc, "out port '%s' of graph '%s' is never assigned", port->name.text,
                      w->graph->name);
            w->ok = false;
        } else if (streams[id].n_indices) {
            dfl_error(w->u->sink, streams[id].loc, "'%s' is an out port of graph '%s': it has no indices",
                      port->name.text, w->graph->name);
            w->ok = false;
        }
    }
}

static bool check_graph(struct dfc_unit *u, struct dfc_callee *graph, struct dfr_array *edges)
{
    struct walk w = { .u = u, .graph = graph, .edges = edges, .ok = true };
    const struct dfc_names names = { .callee = graph };
    const struct dfl_sig *sig = graph->graph->sig;
    for (unsigned i = 0; i < graph->sig.n_in; i++)
        add_stream(&w, &graph->sig.ports[graph->sig.in_port[i]].ast->name, 0, true);
    collect_block(&w, graph->graph->body);
    if (!u->no_memory)
        check_block(&w, graph->graph->body, &names);
    if (w.ok)
        check_ports(&w);
    if (strcmp(graph->name, "main") == 0 && sig && (sig->n_ports || sig->n_scalars)) {
        dfl_error(u->sink, sig->loc, "graph 'main' must have no ports: a program starts with it, and nothing calls it");
        dfl_hint(u->sink, "declare with 'arg' what the program is given when it runs; a graph for --lib has another name");
        w.ok = false;
    }
    dfr_array_free(&w.streams);
    return w.ok && !u->no_memory;
}

/* There is no graph 'main'. If only one graph of the file has no ports, it was probably meant to be main, so a hint
 * names it. */
static void hint_main(struct dfc_unit *u)
{
    const struct dfc_callee *program = NULL, *callee = dfc_callees(u);
    unsigned n = 0;
    for (uint32_t i = 0; i < u->callee_items.n; i++, callee++)
        if (callee->graph && callee->sig.n_ports + callee->sig.n_scalars == 0) {
            program = callee;
            n++;
        }
    if (n == 1)
        dfl_hint(u->sink, "the program is 'graph main { ... }'; rename 'graph %s'?", program->name);
    else
        dfl_hint(u->sink, "a program is 'graph main { ... }'");
}

/* Checks the graphs that are not due, or are not any more because one of these calls them. */
static bool check_called(struct dfc_unit *u, struct dfr_array *edges)
{
    bool ok = true, more = true, *done = dfc_alloc(u, u->callee_items.n + 1);
    while (more && done && !u->no_memory) {
        more = false;
        for (uint32_t i = 0; i < u->callee_items.n && !u->no_memory; i++) {
            struct dfc_callee *callee = &dfc_callees(u)[i];
            if (!callee->graph || callee->due || done[i])
                continue;
            more = done[i] = true;
            u->at = callee->loc;
            ok &= check_graph(u, callee, edges);
            ok &= dfc_promises_check(u, callee);
        }
    }
    return ok && done;
}

bool dfc_check_graphs(struct dfc_unit *u)
{
    struct dfr_array edges = { 0 };
    uint32_t n = u->callee_items.n, id, *order = malloc(((size_t)n + 1) * sizeof *order);
    bool ok = (order || dfc_no_memory(u)) && check_called(u, &edges);
    if (order && !u->no_memory)
        ok &= dfc_order_references(u, "graph", "calls", dfc_index_names(&u->callees), n, &edges, order);
    free(order);
    dfr_array_free(&edges);
    if (u->options->root || u->options->exported)
        return ok && !u->no_memory;
    if (!dfc_index_find(&u->callees, "main", &id)) {
        const struct dfl_file *file = ((struct dfc_loaded_file *)u->files.items)[0].ast;
        if (file->decls)
            dfl_error(u->sink, (struct dfl_loc){ file->file, 1, 1, 2 }, "no graph 'main' in '%s'", u->options->path);
        else
            dfl_error(u->sink, (struct dfl_loc){ file->file, 0, 0, 0 }, "the file declares nothing, so there is no graph 'main'");
        hint_main(u);
        ok = false;
    } else if (!dfc_callees(u)[id].graph) {
        dfl_error(u->sink, dfc_callees(u)[id].loc, "'main' is a kernel, but the program must be a graph of that name");
        ok = false;
    }
    return ok && !u->no_memory;
}
