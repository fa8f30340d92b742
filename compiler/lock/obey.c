/* obey.c - makes the plan that a lock file says, without a search, for builds and commands with --lock; load/load_divided.c
 * takes the divisions of nodes from it (lock.h).
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/lock/lock_impl.h"
#include "compiler/tools/messages.h"
#include "runtime/base/text.h"
#include "runtime/policy/policy.h"

#define MOST_NAMED 3

/* ---- divisions ---- */

void dfc_lock_divisions_free(struct dfc_division *divisions, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((double *)divisions[i].weights);
    free(divisions);
}

bool dfc_lock_divisions(const struct dfc_lock *lock, struct dfc_division **divisions, size_t *n)
{
    json_t *weights, *divided = dfc_lock_list(lock, "divided");
    struct dfc_division *made = calloc(json_object_size(divided) + 1, sizeof *made);
    const char *name;
    bool good = made;
    *n = 0;
    json_object_foreach(divided, name, weights) {
        const size_t parts = json_array_size(weights);
        double *shares = good ? malloc(parts * sizeof *shares) : NULL;
        good = shares;
        for (size_t k = 0; k < parts && good; k++)
            shares[k] = json_number_value(json_array_get(weights, k));
        if (good)
            made[(*n)++] = (struct dfc_division){ .node = name, .n = (uint32_t)parts, .weights = shares, .why = "because the lock file says so" };
    }
    *divisions = made;
    if (good)
        return true;
    dfc_error("out of memory");
    dfc_lock_divisions_free(made, *n);
    return false;
}

/* ---- the graph and the platform ---- */

/* Differences between the lock's nodes and the graph's: the first few by name. */
struct differences {
    size_t n_new, n_gone;
    char text[1200];
    char first[512];                    /* a node that only the lock has; "": none */
};

static void add_name(struct differences *d, const char *name, size_t n_before, const char *what)
{
    const size_t used = strlen(d->text);
    if (n_before < MOST_NAMED)
        snprintf(d->text + used, sizeof d->text - used, "%s'%.150s' %s", used ? ", " : "", name, what);
}

static bool by_graph(const struct dfc_lock *lock, const struct df_graph *g, json_t *seen, struct differences *d)
{
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        char *name = dfc_lock_node_name(g, v);
        const bool there = name && json_object_get(dfc_lock_list(lock, "nodes"), name);
        if (!name || (there && json_object_set_new(seen, name, json_null()) != 0)) {
            free(name);
            return false;
        }
        if (!there)
            add_name(d, name, d->n_new++, "is new");
        free(name);
    }
    return true;
}

/* Are the graph's nodes those of the lock? false: reported. */
static bool same_nodes(const struct dfc_lock *lock, const struct df_graph *g)
{
    struct differences d = { 0 };
    json_t *seen = json_object(), *node, *nodes = dfc_lock_list(lock, "nodes");
    const char *name;
    char hint[1024], more[64] = "";
    if (!seen || !by_graph(lock, g, seen, &d)) {
        json_decref(seen);
        dfc_error("out of memory");
        return false;
    }
    json_object_foreach(nodes, name, node)
        if (!json_object_get(seen, name)) {
            if (d.n_gone == 0)
                snprintf(d.first, sizeof d.first, "%s", name);
            add_name(&d, name, d.n_gone++, "is gone");
        }
    json_decref(seen);
    if (d.n_new + d.n_gone == 0)
        return true;
    const size_t named = (d.n_new < MOST_NAMED ? d.n_new : MOST_NAMED) + (d.n_gone < MOST_NAMED ? d.n_gone : MOST_NAMED);
    if (d.n_new + d.n_gone > named)
        snprintf(more, sizeof more, ", and %zu more", d.n_new + d.n_gone - named);
    return dfc_lock_wrong(lock, *d.first ? d.first : "nodes", dfc_lock_remedy(lock, hint, sizeof hint), "the graph has other nodes than the lock: %s%s", d.text,
                          more);
}

/* The unit of the platform that has this name. DF_NONE: reported. */
static uint32_t find_unit(const struct dfc_lock *lock, const struct df_platform *p, const char *name)
{
    const char *cls = dfc_lock_text(json_object_get(dfc_lock_list(lock, "units"), name), "class");
    char own[64], all[600] = "", hint[1024];
    for (uint32_t u = 0; u < p->n_units; u++) {
        const bool same = strcmp(dfc_lock_unit_name(p, u, own, sizeof own), name) == 0;
        if (same && strcmp(p->class_names[p->units[u].cls], cls) == 0)
            return u;
        if (same) {
            dfc_lock_wrong(lock, name, dfc_lock_remedy(lock, hint, sizeof hint), "unit '%s' is of class %s, and of class %s on platform '%s'", name, cls,
                           p->class_names[p->units[u].cls], p->name);
            return DF_NONE;
        }
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", own);
    }
    dfc_lock_wrong(lock, name, dfc_lock_remedy(lock, hint, sizeof hint), "platform '%s' has no unit '%s': it has %s", p->name, name, all);
    return DF_NONE;
}

/* ---- the plan ---- */

struct places {
    uint16_t *place;
    float *priority;
};

/* A node of the lock's, whose units the platform has. */
static void take_node(const struct dfc_lock *lock, const json_t *node, const struct dfp_problem *problem, uint32_t v, struct places *to)
{
    const json_t *unit = json_object_get(node, "unit");
    const uint32_t n_rows = dfc_lock_count(lock, "joint_waves");
    to->priority[v] = (float)json_number_value(json_object_get(node, "priority"));
    for (uint32_t row = 0; row < n_rows; row++) {
        const char *name = json_string_value(json_is_array(unit) ? json_array_get(unit, row) : unit);
        char own[64];
        uint16_t u = 0;
        while (strcmp(dfc_lock_unit_name(problem->platform, u, own, sizeof own), name) != 0)
            u++;
        to->place[(size_t)row * problem->graph->n_nodes + v] = u;
    }
}

static bool take_nodes(const struct dfc_lock *lock, const struct dfp_problem *problem, struct places *to)
{
    for (uint32_t v = 0; v < problem->graph->n_nodes; v++) {
        char *name = dfc_lock_node_name(problem->graph, v);
        if (!name) {
            dfc_error("out of memory");
            return false;
        }
        take_node(lock, json_object_get(dfc_lock_list(lock, "nodes"), name), problem, v, to);
        free(name);
    }
    return true;
}

static bool check_policy(const struct dfc_lock *lock)
{
    char hint[1024];
    struct df_error error = { "" };
    struct dfr_run_as as;
    dfc_lock_remedy(lock, hint, sizeof hint);
    if (!dfp_partitioner_find(dfc_lock_policy(lock)))
        return dfc_lock_wrong(lock, "policy", hint, "'%s' is not a policy that places nodes before the run", dfc_lock_policy(lock));
    if (dfr_run_as_read(dfc_lock_text(lock->root, "run_as"), &as, &error) != DF_OK)
        return dfc_lock_wrong(lock, "run_as", hint, "%s", error.text);
    return true;
}

/* Are the units there, and the nodes? */
static bool check(const struct dfc_lock *lock, const struct dfp_problem *problem)
{
    const char *name;
    json_t *unit, *units = dfc_lock_list(lock, "units");
    json_object_foreach(units, name, unit)
        if (find_unit(lock, problem->platform, name) == DF_NONE)
            return false;
    return check_policy(lock) && same_nodes(lock, problem->graph);
}

static void warn_changed(const struct dfc_lock *lock, const struct df_graph *g)
{
    char now[17];
    if (dfc_lock_graph_hash(g, now) && strcmp(now, dfc_lock_text(lock->root, "graph")) != 0)
        dfc_warning("sizes, code or connections of the graph have changed since '%s' was made; 'dfc plan --check %s' compares", lock->path, lock->path);
}

static bool make(const struct dfc_lock *lock, const struct dfp_problem *problem, struct places *places, struct df_plan **plan)
{
    const json_t *predicted = dfc_lock_list(lock, "predicted");
    struct df_error error = { "" };
    struct dfp_result result = { .place = places->place, .priority = places->priority, .n_waves = dfc_lock_count(lock, "joint_waves"),
                                 .inflight = dfc_lock_inflight(lock), .makespan_s = json_number_value(json_object_get(predicted, "wave_s")),
                                 .wave_s = json_number_value(json_object_get(predicted, "inflight_wave_s")),
                                 .load_bound_s = json_number_value(json_object_get(predicted, "inflight_bound_s")) };
    char hint[1024];
    snprintf(result.run_as, sizeof result.run_as, "%s", dfc_lock_text(lock->root, "run_as"));
    if (!take_nodes(lock, problem, places))
        return false;
    if (dfp_plan_of_result(problem, dfc_lock_policy(lock), &result, plan, &error) != DF_OK)
        return dfc_lock_wrong(lock, "nodes", dfc_lock_remedy(lock, hint, sizeof hint), "%s", error.text);
    (*plan)->locked = 1;
    return true;
}

bool dfc_lock_plan(const struct dfc_lock *lock, const struct dfp_problem *problem, struct df_plan **plan)
{
    const size_t n = (size_t)problem->graph->n_nodes + 1;
    struct places places;
    if (!check(lock, problem))
        return false;
    warn_changed(lock, problem->graph);
    places = (struct places){ malloc(n * dfc_lock_count(lock, "joint_waves") * sizeof *places.place), malloc(n * sizeof *places.priority) };
    bool good = places.place && places.priority;
    if (!good)
        dfc_error("out of memory");
    good = good && make(lock, problem, &places, plan);
    free(places.place);
    free(places.priority);
    return good;
}
