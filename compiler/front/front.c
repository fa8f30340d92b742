/* front.c - runs the front end step by step, for load/load_cmd.c, with which commands load graphs, and for replan.c in
 * programs that change their sizes; each step relies on what the previous ones have checked. The first step that
 * reports errors is the last one to run, except that unused graphs are checked even if main is wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/count/count.h"
#include "compiler/elab/elab.h"
#include "compiler/front/exports.h"
#include "compiler/front/front.h"
#include "runtime/base/message.h"
#include "runtime/graph/builder.h"

/* ---- the unit ---- */

/* The program is named after its main file, without folder and ".df". Bytes that no text has become '?', because the
 * name stands in comments and pictures. */
static struct df_builder *make_builder(struct dfc_unit *u)
{
    const char *slash = strrchr(u->options->path, '/'), *name = slash ? slash + 1 : u->options->path;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".df") == 0)
        length -= 3;
    char *copy = dfl_arena_text(u->arena, length);
    if (!copy)
        return NULL;
    memcpy(copy, name, length);
    copy[length] = '\0';
    for (size_t i = 0, n; i < length; i += n) {
        n = dfr_shown_bytes(copy + i, length - i);
        if (n == 0) {
            copy[i] = '?';
            n = 1;
        }
    }
    return df_builder_new(copy);
}

static bool unit_open(struct dfc_unit *u, struct dfl_sink *sink, const struct dfc_front_options *options)
{
    uint32_t id;
    bool fresh;
    *u = (struct dfc_unit){ .sink = sink, .options = options, .at = { .file = DFL_NO_FILE }, .arena = dfl_arena_new() };
    u->builder = u->arena ? make_builder(u) : NULL;
    bool ok = u->builder && dfc_index_add(&u->classes, "cpu", &id, &fresh) &&
              dfc_index_add(&u->classes, "gpu", &id, &fresh);
    return ok || dfc_no_memory(u);
}

static void unit_free(struct dfc_unit *u)
{
    for (uint32_t i = 0; i < u->callee_items.n; i++)
        dfc_index_free(&dfc_callees(u)[i].streams);
    for (uint32_t i = 0; i < u->files.n; i++)
        dfl_file_free(((struct dfc_loaded_file *)u->files.items)[i].ast);
    for (uint32_t i = 0; i < u->sources.n; i++) {
        free(((struct dfc_source *)u->sources.items)[i].path);
        free(((struct dfc_source *)u->sources.items)[i].text);
    }
    dfc_index_free(&u->params);
    dfc_index_free(&u->types);
    dfc_index_free(&u->tables);
    dfc_index_free(&u->resources);
    dfc_index_free(&u->callees);
    dfc_index_free(&u->classes);
    dfc_index_free(&u->code_paths);
    dfr_array_free(&u->code_hashes);
    dfr_array_free(&u->code_uses);
    dfc_index_free(&u->state_names);
    dfr_array_free(&u->state_uses);
    dfr_array_free(&u->param_items);
    dfr_array_free(&u->type_items);
    dfr_array_free(&u->table_items);
    dfr_array_free(&u->resource_items);
    dfr_array_free(&u->callee_items);
    dfr_array_free(&u->selects);
    dfr_array_free(&u->files);
    dfr_array_free(&u->sources);
    dfr_array_free(&u->kernels);
    dfr_array_free(&u->links);
    dfr_array_free(&u->platforms);
    dfr_array_free(&u->import_dirs);
    dfr_array_free(&u->groups);
    dfr_array_free(&u->fused);
    dfr_array_free(&u->unfused);
    dfr_array_free(&u->exports);
    df_builder_free(u->builder);
    df_graph_free(u->graph);
    dfl_arena_free(u->arena);
}

/* ---- steps ---- */

/* The root of the program: graph `main`, or what is made around options->root. NULL: reported. */
static struct dfc_callee *find_root(struct dfc_unit *u)
{
    const struct dfc_root *root = u->options->root;
    uint32_t id;
    if (root && !root->dims)
        return dfc_root_named(u, root->graph);
    if (!dfc_index_find(&u->callees, root ? root->graph : "main", &id))
        return NULL;
    return root ? dfc_root_sized(u, id, root->dims, root->n_dims) : &dfc_callees(u)[id];
}

/* What is promised is about a whole run, so only the graph that is run can promise it. */
static bool fill_promises(struct dfc_unit *u)
{
    uint32_t id;
    return !dfc_index_find(&u->callees, u->options->root ? u->options->root->graph : "main", &id) || dfc_fill_promises(u, &dfc_callees(u)[id]);
}

/* Makes the program: flattened, connected, ordered, with formats, and given to the builder. */
static bool elaborate_root(struct dfc_unit *u)
{
    struct dfc_elab e;
    struct dfc_callee *root = dfc_root_reserve(u) && dfc_fuse_given(u) ? find_root(u) : NULL;
    if (!root || !dfc_fill_kernels(u) || !fill_promises(u))
        return false;
    bool ok = dfc_elab_run(&e, u, root) && dfc_resolve(&e) && dfc_order_items(&e) && dfc_number_items(&e) &&
              dfc_mark_stages(&e) && dfc_fuse(&e) && dfc_solve_dims(&e);
    dfc_elab_free(&e);
    return ok;
}

/* Checks the graphs of a library, as far as that is possible without dimensions. The builder gets kernels and no
 * nodes. */
static bool check_library(struct dfc_unit *u)
{
    struct df_error error;
    if (!dfc_choose_exports(u) || !dfc_root_reserve(u) || !dfc_fill_kernels(u))
        return false;
    bool ok = true;
    for (uint32_t i = 0; i < u->exports.n && !u->no_memory; i++) {
        struct dfc_callee *root = dfc_root_make(u, ((const uint32_t *)u->exports.items)[i], NULL);
        struct dfc_elab e;
        if (!root)
            return false;
        ok = dfc_elab_run(&e, u, root) && dfc_resolve(&e) && dfc_order_items(&e) && ok && dfc_check_formats(&e) && dfc_root_check(&e) &&
             dfc_fuse(&e) && dfc_check_parts(&e);
        dfc_elab_free(&e);
    }
    return ok && (df_builder_finish(u->builder, &u->graph, &error) == DF_OK || dfc_no_memory(u));
}

/* Checks graphs that the program does not use, as far as that is possible without dimensions. */
static bool check_unused(struct dfc_unit *u)
{
    bool ok = true;
    for (uint32_t i = 0; i < u->callee_items.n && !u->no_memory; i++) {
        struct dfc_callee *callee = &dfc_callees(u)[i];
        struct dfc_elab e;
        if (!callee->graph || callee->used)
            continue;
        ok &= dfc_elab_run(&e, u, callee) && dfc_resolve(&e) && dfc_order_items(&e);
        dfc_elab_free(&e);
    }
    return ok && !u->no_memory;
}

static bool keep_import_dirs(struct dfc_unit *u)
{
    for (size_t i = 0; i < u->options->n_import_dirs; i++) {
        const char *given = u->options->import_dirs[i], **dir = dfr_array_add(&u->import_dirs, sizeof *dir, 1);
        if (!dir)
            return dfc_no_memory(u);
        *dir = dfl_arena_copy(u->arena, given, strlen(given));
    }
    if (u->options->own_dir)
        u->own_dir = dfl_arena_copy(u->arena, u->options->own_dir, strlen(u->options->own_dir));
    return true;
}

static bool run_steps(struct dfc_unit *u)
{
    unsigned before = dfl_sink_errors(u->sink);
    if (!dfc_load_files(u) || !dfc_declare(u) || !dfc_check_graphs(u) || dfl_sink_errors(u->sink) != before)
        return false;
    bool ok = u->options->exported ? check_library(u) : elaborate_root(u);
    return check_unused(u) && ok && keep_import_dirs(u);
}

/* ---- the result ---- */

/* Gives the unit's arrays to the result. An empty array has no memory, and its pointer is NULL. */
static void fill_front(struct dfc_front *front, struct dfc_unit *u)
{
    front->graph = u->graph;
    u->graph = NULL;
    front->kernels = u->kernels.items;
    front->n_kernels = u->kernels.n;
    front->sources = u->sources.items;
    front->n_sources = u->sources.n;
    front->links = u->links.items;
    front->n_links = u->links.n;
    front->platforms = u->platforms.items;
    front->n_platforms = u->platforms.n;
    front->has_dynamic = u->has_dynamic;
    front->parts = u->options->parts;
    front->gpu_tile = u->options->gpu_tile;
    front->import_dirs = u->import_dirs.items;
    front->n_import_dirs = u->import_dirs.n;
    front->own_dir = u->own_dir;
    front->groups = u->groups.items;
    front->n_groups = u->groups.n;
    front->fused = u->fused.items;
    front->n_fused = u->fused.n;
    front->unfused = u->unfused.items;
    front->n_unfused = u->unfused.n;
    front->ports = u->ports;
    front->n_ports = u->n_ports;
    front->sink = u->sink;
    front->owner = u;
}

/* The numbers of the exports become pointers, now that the array of callees does not grow any more. */
static bool fill_exports(struct dfc_front *front, struct dfc_unit *u)
{
    front->exports = dfc_alloc(u, (u->exports.n + 1) * sizeof *front->exports);
    for (; front->exports && front->n_exports < u->exports.n; front->n_exports++)
        front->exports[front->n_exports] = &dfc_callees(u)[((const uint32_t *)u->exports.items)[front->n_exports]];
    return front->exports;
}

static bool fill_params(struct dfc_front *front, struct dfc_unit *u)
{
    front->params = dfc_alloc(u, (u->param_items.n + 1) * sizeof *front->params);
    for (uint32_t i = 0; front->params && i < u->param_items.n; i++)
        if (dfc_params(u)[i].arg == DF_NONE && !dfc_params(u)[i].decl->dynamic)
            front->params[front->n_params++] = dfc_params(u)[i].decl->name.text;
    return front->params;
}

/* A part of formulas has the dimensions of the whole, and does its rows' share of the operations. */
static void share_operations(const struct df_graph *g, const struct dfc_unit *u, struct dfw_operations *operations)
{
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const struct df_node *node = &g->nodes[v];
        const struct df_part_rows *part = node->part == DF_NONE ? NULL : &g->parts[node->part];
        struct dfw_operations *o = operations + 2 * node->work;
        if (!part || part->n == 1 || o->shared || node->kernel >= u->kernels.n ||
            !((const struct dfc_kernel_code *)u->kernels.items)[node->kernel].formula)
            continue;
        const double share = (double)part->rows / (double)part->whole;
        for (int cls = 0; cls < 2; cls++) {
            const struct dfw_operations whole = o[cls];
            o[cls] = (struct dfw_operations){ .known = whole.known, .shared = true, .launches = whole.launches };
            dfw_operations_add(&o[cls], &whole, share);
        }
    }
}

/* Counts what the work does on the cpu and on the GPU. */
static void count_work(struct dfc_unit *u, const struct dff_kernel *kernel, uint32_t work, struct dfw_operations *operations)
{
    const bool tiled = kernel->strips && kernel->strips->tiled;
    double *computed = dfc_alloc(u, (kernel->n_formulas + 1) * sizeof *computed), *read = dfc_alloc(u, (kernel->callee->sig.n_ports + 1u) * sizeof *read);
    struct dff_gpu_code gpu;
    operations[0] = dff_count(u, kernel, u->graph, work, NULL);
    if (!computed || !read)
        return;
    if (!u->options->gpu_code)
        gpu = (struct dff_gpu_code){ .launches = tiled ? 1 : kernel->n_formulas, .is_tiled = tiled };
    else if (!u->options->gpu_code(kernel, computed, read, &gpu))
        return (void)dfc_no_memory(u);
    operations[1] = dff_count(u, kernel, u->graph, work, &gpu);
}

static bool fill_operations(struct dfc_front *front, struct dfc_unit *u)
{
    bool any = false;
    for (uint32_t i = 0; i < u->kernels.n; i++)
        any |= ((const struct dfc_kernel_code *)u->kernels.items)[i].formula != NULL;
    if (!any)
        return true;
    front->operations = dfc_alloc(u, (2 * (size_t)u->graph->n_works + 1) * sizeof *front->operations);
    for (uint32_t w = 0; front->operations && w < u->graph->n_works; w++) {
        const struct dfc_kernel_code *code = (const struct dfc_kernel_code *)u->kernels.items + u->graph->works[w].kernel;
        if (u->graph->works[w].kernel < u->kernels.n && code->formula)
            count_work(u, code->formula, w, front->operations + 2 * w);
    }
    if (front->operations)
        share_operations(u->graph, u, front->operations);
    return front->operations;
}

bool dfc_front_run(struct dfl_sink *sink, const struct dfc_front_options *options, struct dfc_front **front)
{
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    struct dfc_unit *u = calloc(1, sizeof *u);
    struct dfc_front *result = calloc(1, sizeof *result);
    bool opened = u && result, ok = opened && unit_open(u, sink, options) && run_steps(u) &&
                                          fill_exports(result, u) && fill_params(result, u) &&
                                          fill_operations(result, u);
    if (!u || !result || u->no_memory || dfl_arena_failed(u->arena)) {
        dfl_error(sink, opened ? u->at : nowhere, "out of memory");
        ok = false;
    }
    if (ok) {
        df_builder_free(u->builder);
        u->builder = NULL;
        fill_front(result, u);
        *front = result;
        return true;
    }
    if (u && result)
        unit_free(u);
    free(u);
    free(result);
    return false;
}

void dfc_front_free(struct dfc_front *front)
{
    if (!front)
        return;
    struct dfc_unit *u = front->owner;
    df_graph_free(front->graph);
    unit_free(u);
    free(u);
    free(front);
}

bool dfc_front_has_name(const struct dfc_front *front, const char *name)
{
    uint32_t id;
    const struct dfc_unit *u = front->owner;
    return dfc_index_find(&u->params, name, &id) || dfc_index_find(&u->types, name, &id);
}
