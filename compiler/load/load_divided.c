/* load_divided.c - divides nodes when load_cmd.c loads a graph, as a lock file says or automatically: connects
 * compiler/divide/ to the front end, which elaborates the candidate graphs from the same files, and to the database,
 * which times them.
 *
 * Later:    a library divides its nodes when a call provides the sizes. A program with dynamic params is divided here
 *           for its default values, and again by itself for others. With --graph, passes are not chosen, because a call
 *           has few waves.
 * Waves:    the number given by --waves, else that of the latest run with --learn.
 */
#include <string.h>

#include "compiler/load/load.h"
#include "compiler/tools/messages.h"
#include "profiles/estimate/roofline.h"

struct attempts {                       /* what graphs with other divisions are made from */
    const struct dfc_common *common;
    const struct dfc_loaded *loaded;
    bool need_code;
};

static void unmake(struct dfc_made *made)
{
    dfr_times_free(&made->times);
    dfc_front_free(made->front);
    dfl_sink_free(made->more);
    *made = (struct dfc_made){ 0 };
}

static bool make(void *arg, const struct dfc_division *divisions, size_t n_divisions, struct dfc_made *made)
{
    const struct attempts *from = arg;
    const struct dfc_loaded *loaded = from->loaded;
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct df_error error;
    *made = (struct dfc_made){ .more = sink };
    if (!sink)
        return false;
    dfl_sink_program(sink, "dfc");
    dfl_sink_no_warnings(sink);         /* they were told */
    if (dfc_run_front(from->common, loaded->opencl_class, from->need_code, divisions, n_divisions, sink, &made->front) &&
        dfw_rates_give(&loaded->rates, made->front->graph, &error) == DF_OK &&
        dfw_known_times(&loaded->known, made->front->graph, &made->times, &error) == DF_OK &&
        dfw_roofline_times(&loaded->known, made->front->graph, made->front->operations, &made->times, &error) == DF_OK)
        return true;
    unmake(made);
    return false;
}

/* The graph with the divisions of the lock file, in place of the one without. */
static bool divide_as_locked(struct attempts *from, struct dfc_loaded *loaded)
{
    struct dfc_division *divisions;
    struct dfc_made undivided = { loaded->front, loaded->times, loaded->sink }, made;
    size_t n;
    if (!dfc_lock_divisions(loaded->lock, &divisions, &n))
        return false;
    bool good = n == 0 || make(from, divisions, n, &made);
    if (good && n > 0) {
        loaded->front = made.front;
        loaded->times = made.times;
        loaded->sink = made.more;
        unmake(&undivided);
    }
    dfc_lock_divisions_free(divisions, n);
    return good;
}

bool dfc_load_divided(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded)
{
    struct attempts from = { common, loaded, need_code };
    if (common->exported)
        return true;
    if (loaded->lock)
        return divide_as_locked(&from, loaded);
    const enum dfp_objective objective = common->partition.objective;
    struct dfc_divide d = {
        .platform = &loaded->platform, .make = make, .unmake = unmake, .arg = &from,
        .throughput = objective == DFP_THROUGHPUT || (objective == DFP_BY_GRAPH && df_graph_has_streams(loaded->front->graph)),
        .fixed = common->parts > 0, .one_pass = common->passes > 0 || common->graph, .waves = common->waves ? common->waves : loaded->rates.waves,
        .made = { loaded->front, loaded->times, loaded->sink },
    };
    dfc_divide(&d);
    loaded->front = d.made.front;
    loaded->times = d.made.times;
    loaded->sink = d.made.more;
    loaded->divisions = d.divisions;
    loaded->n_divisions = d.n_divisions;
    loaded->declined = d.declined;
    loaded->n_declined = d.n_declined;
    loaded->waves = d.waves;
    loaded->waves_guessed = d.waves_guessed;
    loaded->waves_learnt = !d.waves_guessed && !common->waves;
    loaded->passes = d.passes;
    return true;
}
