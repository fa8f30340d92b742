/* sizes.c - builds and caches what a library session needs for each combination of sizes, for library.c: the graph, by the compiler's front end; its plan; and
 * a session of libdf with threads and devices (library.h).
 */
#include "runtime/library/library.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/arrays.h"
#include "runtime/start/run_machine.h"
#include "runtime/threads/host.h"

#define MOST_WAVES (INT64_C(1) << 40)   /* of a call of several */

/* ---- the parts, in order ---- */

/* The graph of these sizes, with its nodes divided for the machine of the session's options. In each call, a session has the passes that its
 * memory needs. */
static int make_graph(struct dfr_library *l, const uint64_t *extents, struct dfr_sized *s, struct df_error *error)
{
    struct df_platform *platform = calloc(1, sizeof *platform);
    struct df_options options = l->line.options;
    const struct df_made_for run = { .platform = platform, .waves = s->many ? 0 : 1, .throughput = s->many, .one_pass = true,
                                     .log_level = options.log_level };
    if (!platform)
        return dfr_error_memory(error);
    options.plan = l->image.plan;
    options.emu_gpu_code = l->program.emu_gpu_code;
    dfr_machine_describe(l->image.graph, &options, platform);
    int rc = l->program.replanner->make_function(&l->image, l->function->name, extents, l->function->n_dims, l->line.params,
                                                 l->image.graph->n_params, &run, &s->made, error);
    free(platform);
    return rc;
}

static int make_function(struct dfr_library *l, const size_t *dims, struct dfr_sized *s, struct df_error *error)
{
    const struct df_library_function *f = l->function;
    uint64_t *extents = malloc((f->n_dims + 1) * sizeof *extents);
    s->dims = malloc((f->n_dims + 1) * sizeof *s->dims);
    int rc = extents && s->dims ? DF_OK : dfr_error_memory(error);
    for (unsigned i = 0; rc == DF_OK && i < f->n_dims; i++)
        extents[i] = s->dims[i] = dims[i];
    if (rc == DF_OK)
        rc = make_graph(l, extents, s, error);
    free(extents);
    return rc;
}

/* The kernels have the numbers that they have in the image. Those behind them stand for the caller and have no code. */
static int attach_functions(const struct df_program *program, const struct df_graph *graph, struct df_error *error)
{
    struct df_functions *functions = calloc((size_t)graph->n_kernels + 1, sizeof *functions);
    if (!functions)
        return dfr_error_memory(error);
    for (size_t k = 0; k < program->n_functions && k < graph->n_kernels; k++)
        functions[k] = program->functions[k];
    for (size_t k = 0; k < graph->n_kernels; k++)
        if (graph->kernels[k].flags & DF_KERNEL_LOOP)
            functions[k].cpu = df_loop;
    int rc = dfr_graph_set_functions((struct df_graph *)graph, functions, graph->n_kernels, error);
    free(functions);
    return rc;
}

/* If there can be no plan for this platform, there may be one for the machine: then the session makes it. */
static void make_plan(struct dfr_library *l, struct dfr_sized *s)
{
    const struct df_plan *empty = l->image.plan;
    const struct df_platform *platform = l->platform ? l->platform : &empty->platform;
    const char *policy = empty->policy[0] ? empty->policy
                         : dfr_times_known(s->made.graph, &s->made.times, platform) ? "gp" : "gp-thesis";
    if (l->program.planner->make(s->made.graph, platform, &s->made.times, policy, &s->plan, NULL) != DF_OK)
        s->plan = NULL;
}

/* Allocates what a session is opened with. */
static int make_buffers(struct dfr_library *l, struct dfr_sized *s, struct df_error *error)
{
    const struct df_library_function *f = l->function;
    uint32_t n_own = l->image.graph->n_args;
    bool by_node = l->line.stats != DFR_STATS_NONE && !l->line.stats_totals;
    s->buffers = calloc(f->n_ports + 1, sizeof *s->buffers);
    s->args = calloc((size_t)n_own + f->n_scalars + 1, sizeof *s->args);
    if (by_node)
        s->node_stats = calloc((size_t)s->made.graph->n_nodes + 1, sizeof *s->node_stats);
    if (l->line.stats != DFR_STATS_NONE)
        s->node_skips = calloc((size_t)s->made.graph->n_nodes + 1, sizeof *s->node_skips);
    if (!s->buffers || !s->args || (by_node && !s->node_stats) || (l->line.stats != DFR_STATS_NONE && !s->node_skips))
        return dfr_error_memory(error);
    for (unsigned p = 0; p < f->n_ports; p++)
        s->buffers[p] = (struct df_buffer){ .node = s->made.ports[p].node, .out_slot = s->made.ports[p].out_slot,
                                            .bytes = UINT64_MAX, .given = f->ports[p].mode == DF_IN };
    memcpy(s->args, l->line.args, n_own * sizeof *s->args);
    return DF_OK;
}

static int open_session(struct dfr_library *l, struct dfr_sized *s, struct df_error *error)
{
    struct df_options options = l->line.options;
    options.emu_gpu_code = l->program.emu_gpu_code;
    options.plan = s->plan;
    options.planner = l->program.planner;
    options.args = s->args;
    options.node_stats = s->node_stats;
    options.node_skips = s->node_skips;
    options.waves = s->many ? MOST_WAVES : 1;
    options.buffers = s->buffers;
    options.n_buffers = l->function->n_ports;
    return df_session_open(s->made.graph, &options, &s->session, error);
}

struct opening {
    struct dfr_library *library;
    struct dfr_sized *sized;
    struct df_error *error;
    int rc;
};

static void open_one(void *opening)
{
    struct opening *o = opening;
    o->rc = open_session(o->library, o->sized, o->error);
}

static int open_on_own_stack(struct dfr_library *l, struct dfr_sized *s, struct df_error *error)
{
    struct opening opening = { l, s, error, DF_OK };
    dfr_on_own_stack(open_one, &opening);
    return opening.rc;
}

/* ---- the session ---- */

/* If there is too little memory beside the sessions of other sizes, these end. */
int dfr_sized_open(struct dfr_library *l, struct dfr_sized *s, struct df_error *error)
{
    int rc = open_on_own_stack(l, s, error);
    if (rc != DF_E_MEMORY && rc != DF_E_DEVICE && rc != DF_E_REFUSED)
        return rc;
    bool others = false;
    for (unsigned i = 0; i < DF_LIBRARY_SIZES; i++)
        if (&l->sizes[i] != s && l->sizes[i].used > 0) {
            others = true;
            dfr_sized_close(&l->sizes[i]);
        }
    return others ? open_on_own_stack(l, s, error) : rc;
}

/* For the ports whose extents differ, behind one another. */
static int make_extents(const struct df_library_function *f, struct dfr_sized *s, int64_t waves, struct df_error *error)
{
    size_t n = 0, numbers;
    for (unsigned p = 0; p < f->n_ports; p++)
        n += f->ports[p].varies != 0;
    free(s->extents);
    s->extents = NULL;
    if (__builtin_mul_overflow(n * DF_MAX_RANK * sizeof **s->extents, (size_t)waves, &numbers) ||
        __builtin_add_overflow(numbers, (f->n_ports + 1) * sizeof *s->extents, &numbers) || !(s->extents = malloc(numbers)))
        return dfr_error_memory(error);
    size_t *next = (size_t *)(s->extents + f->n_ports + 1);
    for (unsigned p = 0; p < f->n_ports; p++) {
        s->extents[p] = f->ports[p].varies ? next : NULL;
        next += f->ports[p].varies ? (size_t)waves * DF_MAX_RANK : 0;
    }
    return DF_OK;
}

int dfr_sized_waves(struct dfr_library *l, struct dfr_sized *s, int64_t waves, struct df_error *error)
{
    unsigned n = l->function->n_ports;
    size_t bytes = n * sizeof *s->empty + n * (size_t)waves;

    s->waves = 0;
    if (waves > s->most_waves) {
        free(s->empty);
        s->empty = malloc(bytes + 1);
        s->most_waves = 0;
        if (!s->empty)
            return dfr_error_memory(error);
        if (make_extents(l->function, s, waves, error) != DF_OK)
            return DF_E_MEMORY;
        s->most_waves = waves;
    }
    memset(s->empty + n, 0, n * (size_t)waves);
    for (unsigned p = 0; p < n; p++) {
        s->empty[p] = (unsigned char *)(s->empty + n) + p * (size_t)waves;
        if (s->extents[p])
            memset(s->extents[p], 0, (size_t)waves * DF_MAX_RANK * sizeof *s->extents[p]);
    }
    s->waves = waves;
    return DF_OK;
}

/* ---- one of them ---- */

void dfr_sized_end(struct dfr_sized *s, struct df_stats *stats)
{
    if (s->session)
        df_session_close(s->session, stats, NULL);
    s->session = NULL;
}

void dfr_sized_close(struct dfr_sized *s)
{
    dfr_sized_end(s, NULL);
    dfr_plan_free(s->plan);
    dfr_function_free(&s->made);
    free(s->dims);
    free(s->buffers);
    free(s->node_stats);
    free(s->node_skips);
    free(s->empty);
    free(s->extents);
    free(s->args);
    *s = (struct dfr_sized){ 0 };
}

static int make(struct dfr_library *l, const size_t *dims, bool many, struct dfr_sized *s, struct df_error *error)
{
    s->many = many;
    int rc = make_function(l, dims, s, error);
    if (rc == DF_OK)
        rc = attach_functions(&l->program, s->made.graph, error);
    if (rc == DF_OK) {
        make_plan(l, s);
        rc = make_buffers(l, s, error);
    }
    if (rc != DF_OK)
        dfr_sized_close(s);
    return rc;
}

struct making {
    struct dfr_library *library;
    const size_t *dims;
    bool many;
    struct dfr_sized *sized;
    struct df_error *error;
    int rc;
};

static void make_one(void *making)
{
    struct making *m = making;
    m->rc = make(m->library, m->dims, m->many, m->sized, m->error);
}

/* ---- all of them ---- */

int dfr_sized_get(struct dfr_library *l, const size_t *dims, bool many, struct dfr_sized **sized,
                  struct df_error *error)
{
    struct dfr_sized *oldest = &l->sizes[0];
    for (unsigned i = 0; i < DF_LIBRARY_SIZES; i++) {
        struct dfr_sized *s = &l->sizes[i];
        if (s->used > 0 && s->many == many && memcmp(s->dims, dims, l->function->n_dims * sizeof *dims) == 0) {
            s->used = ++l->calls;
            *sized = s;
            return DF_OK;
        }
        if (s->used < oldest->used)
            oldest = s;
    }
    if (l->last == oldest)
        l->last = NULL;
    dfr_sized_close(oldest);
    struct making making = { l, dims, many, oldest, error, DF_OK };
    dfr_on_own_stack(make_one, &making);
    if (making.rc != DF_OK)
        return making.rc;
    oldest->used = ++l->calls;
    *sized = oldest;
    return DF_OK;
}
