/* lock.c - makes a lock of a plan, and writes it, for `dfc plan` in commands/cmd_plan.c (lock.h). `dfc plan --check` and
 * `dfc simulate` ask it what a lock says of graph, policy, objective and waves in flight, the rest of the room for the
 * names of units and nodes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lock/lock_impl.h"
#include "compiler/tools/messages.h"
#include "compiler/types/paths.h"
#include "partition/model/model.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"
#include "runtime/graph/work_key.h"

#ifndef DFC_VERSION
#define DFC_VERSION "unknown"
#endif

/* ---- names ---- */

const char *dfc_lock_unit_name(const struct df_platform *platform, uint32_t unit, char *text, size_t size)
{
    unsigned before = 0;
    for (uint32_t u = 0; u < unit; u++)
        before += strcmp(platform->units[u].name, platform->units[unit].name) == 0;
    if (before)
        snprintf(text, size, "%s#%u", platform->units[unit].name, before + 1);
    else
        snprintf(text, size, "%s", platform->units[unit].name);
    dfr_text_clean(text);
    return text;
}

/* Has a kernel that somebody wrote the name of the one of inserted copies? */
static bool is_namesake(const struct df_graph *g, uint32_t kernel)
{
    bool other = false;
    for (uint32_t k = 0; k < g->n_kernels; k++)
        other |= k != kernel && strcmp(df_graph_string(g, g->kernels[k].name), df_graph_string(g, g->kernels[kernel].name)) == 0;
    return other;
}

char *dfc_lock_node_name(const struct df_graph *g, uint32_t node)
{
    const bool other = g->nodes[node].flags & DF_NODE_INSERTED && is_namesake(g, g->nodes[node].kernel);
    const size_t n = df_node_name(g, node, NULL, 0);
    char *name = malloc(n + 2);
    if (name) {
        df_node_name(g, node, name, n + 1);
        strcpy(name + n, other ? "~" : "");
    }
    return name;
}

/* What stands in `path` before its last slash; "": the present folder. malloc'ed. */
static char *folder_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup("");
}

/* The way from a folder to a file, both absolute and without links. malloc'ed. */
static char *way(const char *folder, const char *file)
{
    size_t same = 0, up = 0;
    for (size_t i = 0; folder[i] == file[i] && folder[i]; i++)
        if (file[i] == '/')
            same = i + 1;
    const size_t n = strlen(folder);
    if (strncmp(folder, file, n) == 0 && file[n] == '/')
        return strdup(file + n + 1);
    for (size_t i = same; i < n; i++)
        up += folder[i] == '/';
    char *made = malloc(3 * (up + 1) + strlen(file + same) + 1), *at = made;
    for (size_t i = 0; made && i <= up; i++)
        at = stpcpy(at, "../");
    if (made)
        strcpy(at, file + same);
    return made;
}

/* The source's name as it is found from the lock's folder; as written if one of them is not there. malloc'ed. */
static char *source_name(const struct dfc_lock_facts *f)
{
    char *folder = folder_of(f->path), *from = folder ? realpath(*folder ? folder : ".", NULL) : NULL, *to = realpath(f->source, NULL);
    char *name = from && to ? way(strcmp(from, "/") ? from : "", to) : strdup(f->source);
    if (name)
        dfr_text_clean(name);
    free(folder);
    free(from);
    free(to);
    return name;
}

char *dfc_lock_source(const struct dfc_lock *lock)
{
    char *folder = folder_of(lock->path), *path = folder ? dfc_path_join(folder, dfc_lock_text(lock->root, "source")) : NULL;
    free(folder);
    if (path)
        dfc_path_tidy(path);
    else
        dfc_error("out of memory");
    return path;
}

const char *dfc_lock_policy(const struct dfc_lock *lock)
{
    return dfc_lock_text(lock->root, "policy");
}

bool dfc_lock_throughput(const struct dfc_lock *lock)
{
    return strcmp(dfc_lock_text(lock->root, "objective"), "throughput") == 0;
}

uint32_t dfc_lock_inflight(const struct dfc_lock *lock)
{
    return dfc_lock_count(lock, "inflight");
}

/* ---- making ---- */

/* A number as it is read again: with nine digits, and without the sign of a zero. */
static json_t *real(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", x + 0);
    return json_real(strtod(text, NULL));
}

static json_t *units_of(const struct dfc_lock_facts *f)
{
    const struct df_platform *p = f->problem->platform;
    json_t *units = json_object();
    for (uint32_t u = 0; u < p->n_units; u++) {
        char name[64];
        json_object_set_new(units, dfc_lock_unit_name(p, u, name, sizeof name),
                            json_pack("{s:s, s:I, s:I}", "class", p->class_names[p->units[u].cls], "workers", (json_int_t)p->units[u].workers, "memory_bytes",
                                      (json_int_t)f->plan->pool_bytes[u]));
    }
    return units;
}

static json_t *divided_of(const struct dfc_lock_facts *f)
{
    json_t *divided = json_object();
    for (size_t i = 0; i < f->n_divisions; i++) {
        json_t *weights = json_array();
        for (uint32_t k = 0; k < f->divisions[i].n; k++)
            json_array_append_new(weights, json_real(f->divisions[i].weights ? f->divisions[i].weights[k] : 1));
        json_object_set_new(divided, f->divisions[i].node, weights);
    }
    return divided;
}

/* A name, or a list of them by wave. */
static json_t *place_of(const struct dfc_lock_facts *f, uint32_t v)
{
    const struct df_plan *plan = f->plan;
    json_t *list = json_array();
    char name[64];
    for (uint32_t row = 0; row < plan->n_waves; row++)
        json_array_append_new(list, json_string(dfc_lock_unit_name(f->problem->platform, plan->place[(size_t)row * plan->n_nodes + v], name, sizeof name)));
    if (plan->n_waves > 1)
        return list;
    json_t *only = json_incref(json_array_get(list, 0));
    json_decref(list);
    return only;
}

static const char *source_word(const struct dfp_problem *problem, uint32_t work, uint32_t unit)
{
    static const char *const words[] = { "none", "cost", "measured", "estimated", "assumed" };
    const struct df_times *times = problem->times;
    const uint32_t cls = dfr_times_class(times, problem->graph, problem->platform, problem->platform->units[unit].cls);
    return words[cls < times->n_classes ? times->source[(size_t)cls * times->n_works + work] : DF_TIME_NONE];
}

/* A node's times by class, without launches; classes that cannot run it are left out. */
static json_t *times_of(const struct dfp_problem *problem, uint32_t work)
{
    const struct df_times *times = problem->times;
    json_t *all = json_object();
    for (uint32_t c = 0; c < times->n_classes; c++) {
        const double time_s = times->time_s[(size_t)c * times->n_works + work];
        if (!isnan(time_s))
            json_object_set_new(all, df_graph_string(problem->graph, problem->graph->class_names[c]), real(time_s));
    }
    return all;
}

/* NULL: no memory. */
static json_t *node_of(const struct dfc_lock_facts *f, uint32_t v)
{
    const struct df_graph *g = f->problem->graph;
    const uint32_t work = g->nodes[v].work, unit = f->plan->place[v];
    const struct df_kernel *kernel = &g->kernels[g->nodes[v].kernel];
    struct dfr_work_key key;
    struct df_error error;
    char code[17] = "";
    if (dfr_work_key_make(g, work, DF_CLASS_CPU, false, &key, &error) != DF_OK)
        return NULL;
    if (kernel->code_hash[0] | kernel->code_hash[1])
        snprintf(code, sizeof code, "%016" PRIx64, dfr_hash(0, kernel->code_hash, sizeof kernel->code_hash));
    json_t *node = json_pack("{s:o, s:o, s:o, s:s, s:o, s:s, s:s, s:I, s:s*}", "unit", place_of(f, v), "priority", real((double)f->plan->priority[v]), "time_s",
                             real(dfp_node_is_free(g, v) ? 0 : dfp_node_time_s(f->problem, v, unit)), "from", source_word(f->problem, work, unit), "times",
                             times_of(f->problem, work), "kernel", key.kernel, "size", key.dims, "bytes", (json_int_t)key.job_bytes, "code",
                             *code ? code : NULL);
    dfr_work_key_free(&key);
    return node;
}

static json_t *nodes_of(const struct dfc_lock_facts *f)
{
    json_t *nodes = json_object();
    for (uint32_t v = 0; v < f->problem->graph->n_nodes && nodes; v++) {
        char *name = dfc_lock_node_name(f->problem->graph, v);
        json_t *node = name ? node_of(f, v) : NULL;
        if (!node || json_object_set_new(nodes, name, node) != 0) {
            json_decref(nodes);
            nodes = NULL;
        }
        free(name);
    }
    return nodes;
}

static json_t *predicted_of(const struct df_plan *plan)
{
    json_t *predicted = json_pack("{s:o, s:o}", "wave_s", real(plan->predicted_s), "bound_s", real(plan->lower_bound_s));
    if (plan->wave_s > 0) {
        json_object_set_new(predicted, "inflight_wave_s", real(plan->wave_s));
        json_object_set_new(predicted, "inflight_bound_s", real(plan->load_bound_s));
    }
    return predicted;
}

/* What the graph promises, as the language has it; NULL: nothing, or no memory. */
static json_t *promises_of(const struct df_graph *g)
{
    char *text = NULL, one[320];
    size_t size;
    FILE *out = g->n_promises ? open_memstream(&text, &size) : NULL;
    for (uint32_t p = 0; out && p < g->n_promises; p++)
        fprintf(out, "%s; ", df_promise_text(g, p, one, sizeof one));
    if (out)
        fprintf(out, "confidence %g;", g->promises[0].confidence);
    json_t *promises = g->n_promises && dfr_text_close(out, &text) ? json_string(text) : NULL;
    free(text);
    return promises;
}

struct dfc_lock *dfc_lock_make(const struct dfc_lock_facts *f)
{
    struct dfc_lock *lock = calloc(1, sizeof *lock);
    const struct df_plan *plan = f->plan;
    char graph[17], times[17], platform[17], *source = source_name(f), *program = strdup(f->problem->graph->name);
    if (program)
        dfr_text_clean(program);
    dfc_lock_times_hash(f->problem, times);
    dfc_lock_platform_hash(f->problem->platform, platform);
    if (lock && source && program && dfc_lock_graph_hash(f->problem->graph, graph))
        lock->root = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:o*, s:o, s:o, s:o, s:o}", "format", 1, "dfc", DFC_VERSION, "program",
                               program, "source", source, "policy", plan->policy, "run_as", *plan->run_as ? plan->run_as : DFP_RUN_PLACED, "objective",
                               f->throughput ? "throughput" : "latency", "inflight", (json_int_t)plan->inflight, "joint_waves", (json_int_t)plan->n_waves,
                               "graph", graph, "times", times, "platform", platform, "promises", promises_of(f->problem->graph), "predicted", predicted_of(plan), "units", units_of(f), "divided",
                               divided_of(f), "nodes", nodes_of(f));
    free(source);
    free(program);
    if (lock && lock->root)
        return lock;
    dfc_error("out of memory");
    free(lock);
    return NULL;
}

void dfc_lock_free(struct dfc_lock *lock)
{
    if (!lock)
        return;
    json_decref(lock->root);
    free(lock->path);
    free(lock->text);
    free(lock);
}

/* ---- writing ---- */

static void put(FILE *out, const json_t *value, size_t digits)
{
    json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
}

/* A member whose members have a line each. */
static void put_lines(FILE *out, json_t *members, size_t digits)
{
    const char *name, *comma = "";
    json_t *value;
    fputc('{', out);
    json_object_foreach(members, name, value) {
        fprintf(out, "%s\n    ", comma);
        dfr_text_json(out, name);
        fputs(": ", out);
        put(out, value, digits);
        comma = ",";
    }
    fputs(*comma ? "\n  }" : "}", out);
}

void dfc_lock_print(FILE *out, const struct dfc_lock *lock)
{
    const char *name, *comma = "";
    json_t *value;
    fputc('{', out);
    json_object_foreach(lock->root, name, value) {
        fprintf(out, "%s\n  \"%s\": ", comma, name);
        if (value == dfc_lock_list(lock, "divided"))
            put_lines(out, value, 17);  /* the rows of the parts follow from these, to the last one */
        else if (value == dfc_lock_list(lock, "units") || value == dfc_lock_list(lock, "nodes"))
            put_lines(out, value, 9);
        else
            put(out, value, 9);
        comma = ",";
    }
    fputs("\n}\n", out);
}
