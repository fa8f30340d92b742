/* exports.c - selects for front.c the graphs that a library exports (exports.h), and checks that each can have C
 * functions of its name.
 */
#include "compiler/front/exports.h"

#include <string.h>

/* GRAPH_open() and the like of these are functions of the system. */
static const char *const of_system[] = { "argp", "iconv", "mq", "sem", "shm", "svc" };

static bool check_name(struct dfc_unit *u, const struct dfc_callee *graph)
{
    bool taken = strncmp(graph->name, "df_", 3) == 0 || strncmp(graph->name, "DF_", 3) == 0 || *graph->name == '_';
    for (size_t i = 0; i < sizeof of_system / sizeof *of_system; i++)
        taken |= strcmp(graph->name, of_system[i]) == 0;
    if (!taken)
        return true;
    dfl_error(u->sink, graph->loc, "the functions of graph '%s' would be named as some of C's libraries or of libdf",
              graph->name);
    dfl_hint(u->sink, "they are '%s_open', '%s_run' and the like: give the graph another name", graph->name,
             graph->name);
    return false;
}

static bool add_export(struct dfc_unit *u, uint32_t id)
{
    const uint32_t *have = u->exports.items;
    for (uint32_t i = 0; i < u->exports.n; i++)
        if (have[i] == id)
            return true;
    uint32_t *item = dfr_array_add(&u->exports, sizeof *item, 1);
    if (!item)
        return dfc_no_memory(u);
    *item = id;
    return check_name(u, &dfc_callees(u)[id]);
}

static bool add_named(struct dfc_unit *u, const char *name)
{
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    uint32_t id;
    if (!dfc_index_find(&u->callees, name, &id)) {
        dfl_error(u->sink, nowhere, "--graph=%s: there is no graph '%s'", name, name);
        dfc_hint_name(u, name, dfc_index_names(&u->callees), u->callees.names.n);
        return false;
    }
    const struct dfc_callee *callee = &dfc_callees(u)[id];
    if (callee->graph && callee->sig.n_ports > 0)
        return add_export(u, id);
    dfl_error(u->sink, callee->loc, "--graph=%s: '%s' is a %s", name, name,
              callee->graph ? "graph without ports, so nothing could be given to it" : "kernel");
    return false;
}

/* What is declared in other files is for those who import them. */
static bool add_own(struct dfc_unit *u)
{
    uint32_t main_file = ((struct dfc_loaded_file *)u->files.items)[0].ast->file;
    bool ok = true;
    for (uint32_t i = 0; i < u->callee_items.n; i++) {
        const struct dfc_callee *callee = &dfc_callees(u)[i];
        if (!callee->graph || callee->loc.file != main_file)
            continue;
        if (callee->sig.n_ports > 0)
            ok &= add_export(u, i);
        else if (strcmp(callee->name, "main") != 0)
            dfl_warning(u->sink, callee->loc, "graph '%s' has no ports, so it is not in the library", callee->name);
    }
    return ok;
}

bool dfc_choose_exports(struct dfc_unit *u)
{
    const struct dfc_library *library = u->options->exported;
    bool ok = true;
    for (size_t i = 0; i < library->n_graphs; i++)
        ok &= add_named(u, library->graphs[i]);
    if (library->n_graphs == 0)
        ok = add_own(u);
    if (ok && u->exports.n == 0) {
        const struct dfl_loc begin = { ((struct dfc_loaded_file *)u->files.items)[0].ast->file, 1, 1, 2 };
        dfl_error(u->sink, begin, "no graph of '%s' has ports, so a library has nothing to offer", u->options->path);
        dfl_hint(u->sink, "a graph that can be called is 'graph NAME(in a: f32[n], out b: f32[n]) { ... }'");
        ok = false;
    }
    return ok;
}
