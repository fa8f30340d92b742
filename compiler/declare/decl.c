/* decl.c - enters all declarations into the symbol tables, and evaluates params (with -D), args and types; front/front.c
 * calls it. Kernels and graphs are entered here and checked in sig.c, check_kernel.c and check_graph.c. Platform files
 * get only their params evaluated.
 *
 * Declarations may refer to each other in any order. Params and types are sorted topologically first, so a chain of
 * references of any length needs no recursion, and a cycle is found before anything is evaluated.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/declare/declare.h"
#include "compiler/declare/platform_decl.h"
#include "compiler/formula/table.h"
#include "compiler/types/paths.h"
#include "runtime/base/message.h"
#include "runtime/program/args.h"
#include "runtime/graph/builder.h"

/* ---- order of references ---- */

/* cycle[] runs from what is referred to towards what refers to it. The message lists it the other way, in reading
 * order. */
static void report_cycle(struct dfc_unit *u, const char *what, const char *verb, const char *const *names,
                         const struct dfr_array *edges, const uint32_t *cycle, uint32_t n)
{
    enum { SHOWN = 8 };
    const struct dfc_edge *edge = edges->items;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t from = cycle[(n - k) % n], to = cycle[n - k - 1], i = 0;
        while (edge[i].from != from || edge[i].to != to)
            i++;
        if (n == 1)
            dfl_error(u->sink, edge[i].loc, "%s '%s' %s itself", what, names[from], verb);
        else if (k == 0)
            dfl_error(u->sink, edge[i].loc, "%s '%s' %s itself by way of '%s'", what, names[from], verb, names[to]);
        else if (k < SHOWN || k + 1 == n)
            dfl_note(u->sink, edge[i].loc, "'%s' %s '%s'", names[from], verb, names[to]);
        else if (k == SHOWN)
            dfl_note(u->sink, (struct dfl_loc){ .file = DFL_NO_FILE }, "and so on: %u more", (unsigned)(n - SHOWN - 1));
    }
}

/* Lists of successors for the order: `to` comes before `from`. false: no memory. */
static bool list_successors(uint32_t n, const struct dfr_array *edges, uint32_t **offsets, uint32_t **targets)
{
    const struct dfc_edge *edge = edges->items;
    *offsets = calloc((size_t)n + 1, sizeof **offsets);
    *targets = malloc(((size_t)edges->n + 1) * sizeof **targets);
    if (!*offsets || !*targets)
        return false;
    for (uint32_t i = 0; i < edges->n; i++)
        (*offsets)[edge[i].to]++;
    for (uint32_t v = 1; v <= n; v++)
        (*offsets)[v] += (*offsets)[v - 1];             /* the ends of the lists; filling them from the back turns these
                                                         * into beginnings */
    for (uint32_t i = edges->n; i-- > 0;)
        (*targets)[--(*offsets)[edge[i].to]] = edge[i].from;
    return true;
}

bool dfc_order_references(struct dfc_unit *u, const char *what, const char *verb, const char *const *names, uint32_t n,
                          const struct dfr_array *edges, uint32_t *order)
{
    uint32_t *offsets = NULL, *targets = NULL, n_cycle = 0;
    uint32_t *cycle = malloc(((size_t)n + 1) * sizeof *cycle);
    int rc = cycle && list_successors(n, edges, &offsets, &targets)
                 ? df_topological_order(n, offsets, targets, order, cycle, &n_cycle) : DF_E_MEMORY;
    if (rc == DF_E_CYCLE)
        report_cycle(u, what, verb, names, edges, cycle, n_cycle);
    else if (rc != DF_OK)
        dfc_no_memory(u);
    free(cycle);
    free(offsets);
    free(targets);
    return rc == DF_OK;
}

static bool add_edge(struct dfc_unit *u, struct dfr_array *edges, uint32_t from, uint32_t to, struct dfl_loc loc)
{
    struct dfc_edge *edge = dfr_array_add(edges, sizeof *edge, 1);
    if (!edge)
        return dfc_no_memory(u);
    *edge = (struct dfc_edge){ from, to, loc };
    return true;
}

/* ---- names ---- */

/* Enters a name. If it was declared before, that is reported and *fresh is false. */
static bool enter(struct dfc_unit *u, struct dfc_index *index, const struct dfl_name *name, const struct dfl_loc *first,
                  uint32_t *id, bool *fresh)
{
    if (!dfc_index_add(index, name->text, id, fresh))
        return dfc_no_memory(u);
    if (!*fresh && first) {
        dfl_error(u->sink, name->loc, "'%s' is declared twice", name->text);
        dfl_note(u->sink, *first, "the first is here");
        if (index == &u->callees)
            dfl_hint(u->sink, "a kernel or graph has a name of its own: none is chosen by the types of a call");
    }
    return true;
}

/* Adds a record for the declaration, which is the record's first member. NULL: the name was declared before, which is reported, or memory ran out. */
static void *add_record(struct dfc_unit *u, struct dfc_index *index, struct dfr_array *items, size_t size, const struct dfl_decl *decl)
{
    const struct dfl_decl **record = NULL;
    uint32_t id;
    bool fresh;
    if (!dfc_index_add(index, decl->name.text, &id, &fresh)) {
        dfc_no_memory(u);
    } else if (!fresh) {
        const struct dfl_decl *first = *(const struct dfl_decl **)((unsigned char *)items->items + id * size);
        enter(u, index, &decl->name, &first->name.loc, &id, &fresh);
    } else if ((record = dfr_array_add(items, size, 1))) {
        *record = decl;
    } else {
        dfc_no_memory(u);
    }
    return record;
}

static bool enter_param(struct dfc_unit *u, const struct dfl_decl *decl)
{
    struct dfc_param *param = add_record(u, &u->params, &u->param_items, sizeof *param, decl);
    if (param) {
        param->arg = decl->kind == DFL_ARG ? u->n_args++ : DF_NONE;
        u->has_dynamic |= decl->dynamic;
    }
    return !u->no_memory;
}

static bool enter_type(struct dfc_unit *u, const struct dfl_decl *decl)
{
    enum df_elem elem;
    if (dfc_elem_find(decl->name.text, &elem))
        dfl_error(u->sink, decl->name.loc, "'%s' is an element type and cannot be declared", decl->name.text);
    else
        add_record(u, &u->types, &u->type_items, sizeof(struct dfc_type), decl);
    return !u->no_memory;
}

static bool enter_table(struct dfc_unit *u, const struct dfl_decl *decl)
{
    add_record(u, &u->tables, &u->table_items, sizeof(struct dfc_table), decl);
    return !u->no_memory;
}

static bool enter_resource(struct dfc_unit *u, const struct dfl_decl *decl)
{
    add_record(u, &u->resources, &u->resource_items, sizeof(struct dfc_resource), decl);
    return !u->no_memory;
}

static bool enter_callee(struct dfc_unit *u, const struct dfl_decl *decl)
{
    uint32_t id;
    bool fresh;
    if (dfc_select_declared(u, &decl->name))
        return true;
    if (!dfc_index_add(&u->callees, decl->name.text, &id, &fresh))
        return dfc_no_memory(u);
    if (!fresh)
        return enter(u, &u->callees, &decl->name, &dfc_callees(u)[id].loc, &id, &fresh);
    struct dfc_callee *callee = dfr_array_add(&u->callee_items, sizeof *callee, 1);
    if (!callee)
        return dfc_no_memory(u);
    callee->name = decl->name.text;
    callee->loc = decl->name.loc;
    callee->kernel = decl->kind == DFL_KERNEL ? decl->kernel : NULL;
    callee->graph = decl->kind == DFL_GRAPH ? decl->graph : NULL;
    callee->id = DF_NONE;
    return true;
}

/* To pkg-config such a name is an option, and what its answer says would reach the compiler. */
static void refuse_option(struct dfc_unit *u, const struct dfl_name *name)
{
    dfl_error(u->sink, name->loc, "'%s' is an option and not the name of a library", name->text);
    if (strncmp(name->text, "-l", 2) == 0 && name->text[2])
        dfl_hint(u->sink, "the name stands alone: link \"%s\";", name->text + 2);
    else
        dfl_hint(u->sink, "'link' takes a name that pkg-config or -l knows; options go to --cflags");
}

/* A file of code belongs to the variant that calls its functions. */
static void refuse_file(struct dfc_unit *u, const struct dfl_name *name)
{
    dfl_error(u->sink, name->loc, "'%s' is a file of code and not the name of a library", name->text);
    dfl_hint(u->sink,
             "name it in the variant that calls its functions: 'cpu \"%s\": f(a, b)' or 'cpu \"%s\" {{ ... }}'",
             name->text, name->text);
}

static bool enter_link(struct dfc_unit *u, const struct dfl_decl *decl)
{
    const struct dfl_name *links = u->links.items;
    for (uint32_t i = 0; i < u->links.n; i++)
        if (links[i].loc.file == decl->name.loc.file && strcmp(links[i].text, decl->name.text) == 0)
            return true;
    struct dfl_name *item = dfr_array_add(&u->links, sizeof *item, 1);
    if (!item)
        return dfc_no_memory(u);
    if (!*decl->name.text || decl->name.text[strcspn(decl->name.text, "\n\r \t")])
        dfl_error(u->sink, decl->name.loc, "'%s' is not the name of a library", decl->name.text);
    enum dfc_code_kind kind;
    if (*decl->name.text == '-')
        refuse_option(u, &decl->name);
    else if (dfc_code_kind(decl->name.text, &kind))
        refuse_file(u, &decl->name);
    *item = decl->name;
    return true;
}

static bool enter_platform(struct dfc_unit *u, const struct dfl_decl *decl, struct dfr_array *first)
{
    const struct df_platform *known = u->platforms.items;
    for (uint32_t i = 0; i < u->platforms.n; i++)
        if (strcmp(known[i].name, decl->name.text) == 0) {
            dfl_error(u->sink, decl->name.loc, "'%s' is declared twice", decl->name.text);
            dfl_note(u->sink, ((struct dfl_loc *)first->items)[i], "the first is here");
            return true;
        }
    if (u->platforms.n) {
        dfl_error(u->sink, decl->name.loc, "a program is planned for one platform, and this is the second");
        dfl_note(u->sink, ((struct dfl_loc *)first->items)[0], "the first is here");
        dfl_hint(u->sink, "keep each machine in a file of its own, and name one by --platform=FILE");
        return true;
    }
    struct df_platform platform;
    if (!dfc_platform_convert(u, decl->platform, &platform))
        return true;
    struct df_platform *item = dfr_array_add(&u->platforms, sizeof *item, 1);
    struct dfl_loc *loc = item ? dfr_array_add(first, sizeof *loc, 1) : NULL;
    if (!loc)
        return dfc_no_memory(u);
    *item = platform;
    *loc = decl->name.loc;
    return true;
}

static bool enter_all(struct dfc_unit *u)
{
    bool ok = true;
    for (uint32_t f = 0; f < u->files.n && ok; f++) {
        const struct dfl_decl *decl = ((struct dfc_loaded_file *)u->files.items)[f].ast->decls;
        for (; decl && ok; decl = decl->next) {
            u->at = decl->loc;
            switch (decl->kind) {
            case DFL_PARAM:
            case DFL_ARG: ok = enter_param(u, decl); break;
            case DFL_TYPE: ok = enter_type(u, decl); break;
            case DFL_TABLE: ok = enter_table(u, decl); break;
            case DFL_RESOURCE: ok = enter_resource(u, decl); break;
            case DFL_KERNEL:
            case DFL_GRAPH: ok = enter_callee(u, decl); break;
            case DFL_LINK: ok = enter_link(u, decl); break;
            case DFL_PLATFORM:
            case DFL_IMPORT: break;
            }
        }
    }
    return ok;
}

/* Platforms come after params, which their values may hold. */
static bool enter_platforms(struct dfc_unit *u)
{
    struct dfr_array locs = { 0 };
    bool ok = true;
    for (uint32_t f = 0; f < u->files.n && ok; f++) {
        const struct dfl_decl *decl = ((struct dfc_loaded_file *)u->files.items)[f].ast->decls;
        for (; decl && ok; decl = decl->next)
            if (decl->kind == DFL_PLATFORM)
                ok = enter_platform(u, decl, &locs);
    }
    dfr_array_free(&locs);
    return ok;
}

/* Adds the class of OpenCL's devices before any kernel is checked. */
static bool enter_opencl_class(struct dfc_unit *u)
{
    const struct df_platform *declared = u->options->opencl_declared && u->platforms.n ? u->platforms.items : NULL;
    const uint32_t other = declared ? df_platform_other_class(declared) : DF_CLASS_CPU;
    const char *name = !declared ? u->options->opencl_class : other != DF_CLASS_CPU ? declared->class_names[other] : "";
    uint32_t cls, same;
    bool fresh;
    if (!u->options->opencl_class || !*name)
        return true;
    name = dfl_arena_copy(u->arena, name, strlen(name));
    if (df_builder_class(u->builder, name, &cls, NULL) != DF_OK || !dfc_index_add(&u->classes, name, &same, &fresh))
        return dfc_no_memory(u);
    u->opencl_classes = 1u << cls;
    return true;
}

/* ---- params and args ---- */

/* A program takes its args and dynamic params as `--name=value`. So they may not have the name of one of its own
 * options. */
static void check_option_name(struct dfc_unit *u, const struct dfl_decl *decl)
{
    const char *option;
    for (size_t i = 0; (option = dfr_option_name(i)); i++)
        if (strcmp(option, decl->name.text) == 0)
            dfl_error(u->sink, decl->name.loc, "'%s' is an option of every program: %s needs another name",
                      decl->name.text, decl->kind == DFL_ARG ? "the arg" : "the dynamic param");
}

static bool param_edges(struct dfc_unit *u, uint32_t from, const struct dfl_expr *e, struct dfr_array *edges)
{
    uint32_t to;
    if (!e)
        return true;
    if (e->kind == DFL_EXPR_NAME && dfc_index_find(&u->params, e->s, &to) && dfc_params(u)[to].arg == DF_NONE)
        return add_edge(u, edges, from, to, e->loc);
    if (!param_edges(u, from, e->a, edges) || !param_edges(u, from, e->b, edges))
        return false;
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        if (!param_edges(u, from, arg, edges))
            return false;
    return true;
}

/* A description is shown by `./app --help`, so what it describes is an option of the program; and it is one line of text. */
static void check_help(struct dfc_unit *u, const struct dfl_decl *decl)
{
    if (decl->kind == DFL_PARAM && !decl->dynamic) {
        dfl_error(u->sink, decl->help->loc, "param '%s' is not dynamic, so no program has it as an option to describe", decl->name.text);
        dfl_hint(u->sink, "'dynamic' before 'help' makes it one; or write a comment: // %s", decl->help->s);
    }
    for (const char *text = decl->help->s; *text; text += dfr_shown_bytes(text, strlen(text)))
        if (dfr_shown_bytes(text, strlen(text)) == 0) {
            dfl_error(u->sink, decl->help->loc, "a description is one line of text, and this one has a character that is not shown");
            return;
        }
}

/* Replaces the value by that of -D, which must be of the same kind. */
static bool override(struct dfc_unit *u, const struct dfc_define *define, struct dfc_value *value)
{
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    const char *text = define->value;
    char *end;
    errno = 0;
    long long i = strtoll(text, &end, 10);
    bool is_int = *text && *end == '\0' && (*text == '-' || *text == '+' || (*text >= '0' && *text <= '9'));
    if (value->n.kind == DF_KIND_STR) {
        value->n.s = dfl_arena_copy(u->arena, text, strlen(text));
    } else if (value->n.kind == DF_KIND_I64) {
        if (!is_int || errno == ERANGE) {
            dfl_error(u->sink, nowhere, "-D %s=%s: the param is an integer, but '%s' is %s", define->name, text, text,
                      is_int ? "too large for 64 bits" : "not");
            return false;
        }
        value->n.i = i;
    } else {
        double f = strtod(text, &end);
        if (!*text || *end || !isfinite(f)) {
            dfl_error(u->sink, nowhere, "-D %s=%s: the param is a number, but '%s' is not", define->name, text, text);
            return false;
        }
        value->n.f = f;
    }
    return true;
}

static bool evaluate_param(struct dfc_unit *u, struct dfc_param *param)
{
    const struct dfc_names names = { .use = DFC_USE_PARAM };
    const struct dfl_decl *decl = param->decl;
    if (!dfc_fold(u, &names, decl->value, &param->value))
        return false;
    if (decl->dynamic && param->value.dynamic) {
        dfl_error(u->sink, decl->value->loc,
                  "dynamic param '%s' cannot have a default that depends on the dynamic param '%s'", decl->name.text,
                  param->value.dynamic);
        dfl_hint(u->sink, "without 'dynamic' it follows '%s' at run time", param->value.dynamic);
        return false;
    }
    if (decl->dynamic && param->value.n.kind != DF_KIND_I64) {
        dfl_error(u->sink, decl->value->loc, "dynamic param '%s' must be an integer", decl->name.text);
        return false;
    }
    const struct dfc_front_options *o = u->options;
    for (size_t i = 0; i < o->n_defines; i++)           /* if a name is defined several times, the last one counts */
        if (strcmp(o->defines[i].name, decl->name.text) == 0) {
            if (!override(u, &o->defines[i], &param->value))
                return false;
            param->value.dynamic = NULL;
        }
    if (decl->dynamic)
        param->value.dynamic = decl->name.text;
    return true;
}

static void evaluate_arg(struct dfc_unit *u, struct dfc_param *arg)
{
    const struct dfc_names names = { .use = DFC_USE_PARAM };
    const struct dfl_decl *decl = arg->decl;
    check_option_name(u, decl);
    arg->ready = true;
    if (!decl->value)
        return;
    const char *what = dfc_printf(u, "arg '%s'", decl->name.text);
    arg->ready = dfc_fold(u, &names, decl->value, &arg->value) &&
                 dfc_convert(u, decl->value->loc, what, decl->scalar, &arg->value);
}

/* -D may replace an element type that a declared type stands for, and no format. */
static void check_define_of_type(struct dfc_unit *u, const struct dfc_define *define, const struct dfl_decl *type)
{
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    enum df_elem elem;
    if (!dfc_elem_find(type->format->name.text, &elem) || type->format->dims) {
        dfl_error(u->sink, nowhere, "-D %s=%s: the type '%s' is no element type, so it cannot be replaced", define->name,
                  define->value, define->name);
        dfl_note(u->sink, type->name.loc, "it is declared here");
    } else if (!dfc_elem_find(define->value, &elem)) {
        dfl_error(u->sink, nowhere, "-D %s=%s: '%s' is no element type", define->name, define->value, define->value);
        dfl_hint(u->sink, DFC_ELEM_TYPES);
    }
}

/* Names the params that -D could mean, if they are few. */
static void hint_params(struct dfc_unit *u)
{
    const char *names = "";
    unsigned n = 0;
    for (uint32_t i = 0; i < u->params.names.n; i++)
        if (dfc_params(u)[i].arg == DF_NONE && n++ < 8)
            names = dfc_printf(u, "%s%s%s", names, *names ? ", " : "", dfc_index_names(&u->params)[i]);
    if (n == 0)
        dfl_hint(u->sink, "the file has no param: 'param NAME = VALUE;' declares one");
    else
        dfl_hint(u->sink, "the params are %s%s", names, n > 8 ? ", ..." : "");
}

static void check_defines(struct dfc_unit *u)
{
    const struct dfc_front_options *o = u->options;
    for (size_t i = 0; i < o->n_defines; i++) {
        uint32_t id;
        const char *name = o->defines[i].name;
        bool found = dfc_index_find(&u->params, name, &id);
        if (!found && dfc_index_find(&u->types, name, &id)) {
            check_define_of_type(u, &o->defines[i], dfc_types(u)[id].decl);
            continue;
        }
        if (found && dfc_params(u)[id].arg == DF_NONE)
            continue;
        if (!found && o->platform && dfc_platform_has_param(o->platform, name))
            continue;
        dfl_error(u->sink, (struct dfl_loc){ .file = DFL_NO_FILE }, "-D %s=%s: there is no param '%s'%s%s%s", name,
                  o->defines[i].value, name, o->platform ? ", nor in '" : "", o->platform ? o->platform : "",
                  o->platform ? "'" : "");
        if (found)
            dfl_hint(u->sink, "'%s' is an arg: it is given when the program runs, as --%s=%s", name, name,
                     o->defines[i].value);
        else if (!dfc_hint_name(u, name, dfc_index_names(&u->params), u->params.names.n) && !o->platform)
            hint_params(u);
    }
}

static bool evaluate_params(struct dfc_unit *u)
{
    struct dfr_array edges = { 0 };
    uint32_t n = u->param_items.n, *order = malloc(((size_t)n + 1) * sizeof *order);
    bool ok = order || dfc_no_memory(u);
    for (uint32_t i = 0; i < n && ok; i++)
        ok = dfc_params(u)[i].arg != DF_NONE || param_edges(u, i, dfc_params(u)[i].decl->value, &edges);
    if (ok && dfc_order_references(u, "param", "refers to", dfc_index_names(&u->params), n, &edges, order)) {
        for (uint32_t k = 0; k < n; k++) {
            struct dfc_param *param = &dfc_params(u)[order[k]];
            if (param->decl->help)
                check_help(u, param->decl);
            if (param->arg != DF_NONE) {
                evaluate_arg(u, param);
                continue;
            }
            if (param->decl->dynamic)
                check_option_name(u, param->decl);
            param->ready = evaluate_param(u, param);
        }
    }
    dfr_array_free(&edges);
    free(order);
    return !u->no_memory;
}

bool dfc_declare_params(struct dfc_unit *u, const struct dfl_file *file)
{
    for (const struct dfl_decl *decl = file->decls; decl; decl = decl->next)
        if (decl->kind == DFL_PARAM && !enter_param(u, decl))
            return false;
    return evaluate_params(u);
}

/* ---- types ---- */

static bool evaluate_types(struct dfc_unit *u)
{
    const struct dfc_names names = { .use = DFC_USE_TYPE };
    struct dfr_array edges = { 0 };
    uint32_t n = u->type_items.n, *order = malloc(((size_t)n + 1) * sizeof *order), to;
    bool ok = order || dfc_no_memory(u);
    for (uint32_t i = 0; i < n && ok; i++) {
        const struct dfl_name *name = &dfc_types(u)[i].decl->format->name;
        if (dfc_index_find(&u->types, name->text, &to))
            ok = add_edge(u, &edges, i, to, name->loc);
    }
    if (ok && dfc_order_references(u, "type", "refers to", dfc_index_names(&u->types), n, &edges, order))
        for (uint32_t k = 0; k < n; k++) {
            struct dfc_type *type = &dfc_types(u)[order[k]];
            uint64_t bytes;
            type->ready = dfc_format_fold(u, &names, type->decl->format, &type->format);
            if (type->ready && !dfc_format_bytes(&type->format, &bytes)) {
                char text[120];
                dfc_format_print(&type->format, text, sizeof text);
                dfl_error(u->sink, type->decl->format->loc, "the size of %s does not fit in 63 bits", text);
                type->ready = false;
            }
        }
    dfr_array_free(&edges);
    free(order);
    return !u->no_memory;
}

/* ---- tables ---- */

static bool check_tables(struct dfc_unit *u)
{
    for (uint32_t i = 0; i < u->table_items.n && !u->no_memory; i++) {
        struct dfc_table *table = (struct dfc_table *)u->table_items.items + i;
        const struct dfl_decl *decl = table->decl;
        uint32_t id;
        u->at = decl->loc;
        if (dfc_index_find(&u->params, decl->name.text, &id)) {
            const struct dfl_decl *other = dfc_params(u)[id].decl;
            dfl_error(u->sink, decl->name.loc, "'%s' is the name of a table and of %s", decl->name.text,
                      other->kind == DFL_ARG ? "an arg" : "a param");
            dfl_note(u->sink, other->name.loc, "the %s is here", other->kind == DFL_ARG ? "arg" : "param");
        }
        table->table = dff_table_check(u, decl);
    }
    return !u->no_memory;
}

/* ---- resources ---- */

static void evaluate_resource(struct dfc_unit *u, struct dfc_resource *resource)
{
    const struct dfc_names names = { .use = DFC_USE_RESOURCE };
    const struct dfl_expr *n = resource->decl->value;
    int64_t value;
    bool known;
    resource->n = 1;                    /* after an error */
    if (!dfc_fold_int(u, &names, n, &value, &known))
        return;
    if (value < 1 || value > DF_MAX_RESOURCE)
        dfl_error(u->sink, n->loc, "resource '%s' is %lld, it must be from 1 to %u: so many jobs use it at a time", resource->decl->name.text, (long long)value,
                  DF_MAX_RESOURCE);
    else
        resource->n = (uint32_t)value;
}

static bool evaluate_resources(struct dfc_unit *u)
{
    for (uint32_t i = 0; i < u->resource_items.n; i++) {
        u->at = dfc_resources(u)[i].decl->loc;
        if (i == DF_MAX_RESOURCES)
            dfl_error(u->sink, u->at, "a program has at most %u resources", DF_MAX_RESOURCES);
        evaluate_resource(u, &dfc_resources(u)[i]);
    }
    return true;
}

/* ---- signatures ---- */

static const struct dfc_loaded_file *file_of(const struct dfc_unit *u, const struct dfc_callee *callee)
{
    const struct dfc_loaded_file *file = u->files.items;
    while (file->ast->file != callee->loc.file)
        file++;
    return file;
}

static bool check_callees(struct dfc_unit *u)
{
    for (uint32_t i = 0; i < u->callee_items.n && !u->no_memory; i++) {
        struct dfc_callee *callee = &dfc_callees(u)[i];
        const struct dfc_loaded_file *file = file_of(u, callee);
        u->at = callee->loc;
        callee->ready = dfc_sig_check(u, callee, callee->kernel ? callee->kernel->sig : callee->graph->sig);
        if (callee->kernel)
            callee->ready &= dfc_kernel_check(u, callee, file->dir, !file->own);
        callee->due = file->own;
    }
    return !u->no_memory;
}

/* ---- classes that nothing runs on ---- */

static bool is_served(struct dfc_unit *u, const char *cls)
{
    uint32_t id, classes = 0;
    bool emulated = u->options->emu_all && strcmp(cls, "gpu") == 0;
    for (uint32_t i = 0; i < u->callee_items.n; i++)
        classes |= dfc_callees(u)[i].code_classes | dfc_callees(u)[i].cost_classes;
    return emulated || strcmp(cls, "cpu") == 0 || (dfc_index_find(&u->classes, cls, &id) && classes >> id & 1);
}

/* Warns, once for each class of a declared platform, that no kernel can run there. */
static void check_classes(struct dfc_unit *u, const struct dfl_platform *platform)
{
    uint32_t id;
    for (const struct dfl_device *device = platform->devices; device; device = device->next) {
        const struct dfl_device *first = platform->devices;
        while (strcmp(first->cls.text, device->cls.text) != 0)
            first = first->next;
        if (first == device && !is_served(u, device->cls.text)) {
            dfl_warning(u->sink, device->cls.loc, "nothing can run on '%s': no kernel has %sa cost on class '%s'",
                        device->name.text, strcmp(device->cls.text, "gpu") == 0 ? "a gpu variant or " : "",
                        device->cls.text);
            if (!dfc_index_find(&u->classes, device->cls.text, &id))
                dfc_hint_name(u, device->cls.text, dfc_index_names(&u->classes), u->classes.names.n);
        }
    }
}

static void check_platforms(struct dfc_unit *u)
{
    bool any = u->kernels.n > 0 && dfl_sink_errors(u->sink) == 0; /* a file may hold a platform alone, for --platform */
    for (uint32_t f = 0; f < u->files.n && any; f++) {
        const struct dfl_decl *decl = ((struct dfc_loaded_file *)u->files.items)[f].ast->decls;
        for (; decl; decl = decl->next)
            if (decl->kind == DFL_PLATFORM)
                check_classes(u, decl->platform);
    }
}

bool dfc_declare(struct dfc_unit *u)
{
    if (!enter_all(u))
        return false;
    check_defines(u);
    bool ok = evaluate_params(u) && enter_platforms(u) && enter_opencl_class(u) && evaluate_types(u) && check_tables(u) && evaluate_resources(u) &&
              check_callees(u);
    if (ok)
        check_platforms(u);
    return ok;
}
