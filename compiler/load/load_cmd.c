/* load_cmd.c - loads a graph with its platform and times, as a command's options say, for every command that takes a
 * graph. load.h documents which platform is used. It also names the default policy, makes the plan that --lock or a
 * policy says (commands/cmd_compile.c, commands/cmd_plan.c), and reports what the database has imported or rejected.
 */
#include "compiler/load/load.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/generate/generate.h"
#include "compiler/tools/home.h"
#include "compiler/tools/messages.h"
#include "profiles/estimate/roofline.h"
#include "runtime/base/error.h"

/* ---- the platform ---- */

static bool uses_gpu(const struct df_graph *g)
{
    for (uint32_t k = 0; k < g->n_kernels; k++)
        if ((g->kernels[k].code_classes | g->kernels[k].cost_classes) >> DF_CLASS_GPU & 1)
            return true;
    return false;
}

bool dfc_align_classes(struct df_platform *platform, const struct df_graph *g)
{
    struct df_platform old = *platform;
    uint32_t n = 0;
    memset(platform->class_names, 0, sizeof platform->class_names);
    for (; n < g->n_classes && n < DF_MAX_CLASSES; n++)
        snprintf(platform->class_names[n], sizeof platform->class_names[n], "%s",
                 df_graph_string(g, g->class_names[n]));
    for (uint32_t u = 0; u < old.n_units; u++) {
        const char *name = old.class_names[old.units[u].cls];
        uint32_t cls = 0;
        while (cls < n && strcmp(platform->class_names[cls], name) != 0)
            cls++;
        if (cls == DF_MAX_CLASSES) {
            dfc_error("platform '%s' and the graph have more than %d classes together", old.name, DF_MAX_CLASSES);
            return false;
        }
        if (cls == n)
            snprintf(platform->class_names[n++], sizeof platform->class_names[cls], "%s", name);
        platform->units[u].cls = cls;
    }
    platform->n_classes = n;
    return true;
}

/* The stored probe, if there is one. A database that cannot be read is no reason to stop. */
static bool probed(struct dfw_db *db, enum dfw_devices devices, struct df_platform *platform)
{
    struct df_error error = { "" };
    bool found = false;
    if (db && dfw_platform_load_for(db, devices, platform, &found, &error) != DF_OK) {
        dfc_warning("the stored probe is not used: %s", error.text);
        return false;
    }
    return found;
}

/* Warns of classes of a --platform file on which nothing of this graph can run. A GPU without work is no mistake there:
 * the machine has it. */
static void warn_classes(const struct dfc_common *common, const struct df_platform *platform, const struct df_graph *g)
{
    for (uint32_t p = 0; p < platform->n_classes; p++) {
        bool served = p == DF_CLASS_CPU || p == DF_CLASS_GPU;
        for (uint32_t c = 0; c < g->n_classes; c++)
            for (uint32_t k = 0; k < g->n_kernels; k++)
                served |= (g->kernels[k].code_classes | g->kernels[k].cost_classes) >> c & 1 &&
                          strcmp(platform->class_names[p], df_graph_string(g, g->class_names[c])) == 0;
        if (!served)
            dfc_warning("--platform=%s: nothing can run on class '%s': no kernel has a cost on it", common->platform,
                        platform->class_names[p]);
    }
}

static bool read_platform(const struct dfc_common *common, struct dfc_loaded *loaded)
{
    return dfc_platform_read(loaded->sink, common->platform, common->defines, common->n_defines, &loaded->platform);
}

/* The class of OpenCL's devices is that of the platform's units that are neither cpu nor gpu, as in a run (start/run_machine.c). Without a description they have
 * a class of their own beside devices of another kind. The front end wants to know it, so a file is read before. */
static bool find_opencl_class(const struct dfc_common *common, struct dfc_loaded *loaded)
{
    const uint32_t devices = dfw_devices_of(common->device);
    const struct df_platform *described = common->machine ? common->machine : common->platform ? &loaded->platform : NULL;
    if (!(devices >> DFW_OPENCL & 1))
        return true;
    if (!common->machine && common->platform && !read_platform(common, loaded))
        return false;
    const uint32_t other = described ? df_platform_other_class(described) : DF_CLASS_CPU;
    loaded->opencl_class = described ? other == DF_CLASS_CPU ? "" : described->class_names[other] : devices == 1u << DFW_OPENCL ? "" : "opencl";
    return true;
}

/* Adds the devices of a kind: OpenCL's as a class of their own. One of a GPU that is there already is left out, because a run uses it once. */
static void add_devices(struct df_platform *platform, const struct df_platform *more, enum dfw_devices devices)
{
    uint32_t cls = DF_CLASS_GPU;
    if (devices == DFW_OPENCL) {
        cls = platform->n_classes++;
        snprintf(platform->class_names[cls], sizeof platform->class_names[cls], "opencl");
    }
    for (uint32_t u = 1; u < more->n_units && platform->n_units < DF_MAX_UNITS; u++) {
        bool twice = false;
        for (uint32_t v = 1; v < platform->n_units; v++)
            twice |= devices == DFW_OPENCL && strcmp(platform->units[v].name, more->units[u].name) == 0;
        if (twice)
            continue;
        platform->units[platform->n_units] = more->units[u];
        platform->units[platform->n_units++].cls = cls;
    }
}

/* The platforms of several kinds of devices as one, on the host of the first. */
static void join_devices(const struct df_platform of[], uint32_t devices, struct df_platform *platform)
{
    static const enum dfw_devices kinds[] = { DFW_OWN, DFW_OPENCL, DFW_EMULATED }; /* as a run numbers their devices (start/back_ends.c) */
    *platform = of[__builtin_ctz(devices)];
    platform->n_units = 1;
    platform->units[0].cores = 0;       /* as in a run: it is not known how many cores the devices share */
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (devices >> kinds[k] & 1)
            add_devices(platform, &of[kinds[k]], kinds[k]);
}

static bool choose_probed(struct dfw_db *db, uint32_t devices, struct df_platform *platform)
{
    struct df_platform of[DFW_OPENCL + 1];
    for (enum dfw_devices d = DFW_OWN; d <= DFW_OPENCL; d++)
        if (devices >> d & 1 && !probed(db, d, &of[d]))
            return false;
    if (!(devices & (devices - 1))) {
        *platform = of[__builtin_ctz(devices)];
        return true;
    }
    join_devices(of, devices, platform);
    for (enum dfw_devices d = (enum dfw_devices)__builtin_ctz(devices) + 1; d <= DFW_OPENCL; d++) /* the first is in the name */
        if (devices >> d & 1)
            snprintf(platform->name + strlen(platform->name), sizeof platform->name - strlen(platform->name), "%s", d == DFW_OPENCL ? "_opencl" : "_emu");
    return true;
}

/* The stated default: a device of each kind, if some kernel can run there. */
static void choose_default(const struct dfc_common *common, const struct df_graph *graph, uint32_t devices, struct df_platform *platform)
{
    static const char *const names[] = { [DFW_OWN] = "gpu0", [DFW_EMULATED] = "emu0", [DFW_OPENCL] = "opencl0" };
    struct df_platform of[DFW_OPENCL + 1];
    const uint32_t n = uses_gpu(graph) || common->emu_all ? 1 : 0;
    df_platform_default(platform, n);
    for (enum dfw_devices d = DFW_OWN; d <= DFW_OPENCL; d++) {
        of[d] = *platform;
        snprintf(of[d].units[1].name, sizeof of[d].units[1].name, "%s", names[d]);
    }
    if (devices & (devices - 1))
        join_devices(of, devices, platform);
}

static bool choose_platform(const struct dfc_common *common, struct dfw_db *db, struct dfc_loaded *loaded)
{
    const struct dfc_front *front = loaded->front;
    if (common->machine) {
        loaded->platform_source = "file";
        loaded->platform = *common->machine;
    } else if (common->platform) {
        loaded->platform_source = "file";
        if (!loaded->opencl_class && !read_platform(common, loaded))
            return false;
        warn_classes(common, &loaded->platform, front->graph);
    } else if (front->n_platforms) {
        loaded->platform_source = "graph";
        loaded->platform = front->platforms[0];
    } else if (choose_probed(db, dfw_devices_of(common->device), &loaded->platform)) {
        loaded->platform_source = "probe";
    } else {
        loaded->platform_source = "default";
        choose_default(common, front->graph, dfw_devices_of(common->device), &loaded->platform);
    }
    return dfc_align_classes(&loaded->platform, front->graph);
}

/* --workers, --gpu-mem, --gpu-jobs and --device=none change what the platform says. */
static void apply_limits(const struct dfc_common *common, struct df_platform *platform)
{
    if (common->workers)
        platform->units[0].workers = common->workers;
    if (common->device && strcmp(common->device, "none") == 0) {
        uint32_t n = 1;
        for (uint32_t u = 1; u < platform->n_units; u++)
            if (platform->units[u].cls != DF_CLASS_GPU)
                platform->units[n++] = platform->units[u];
        platform->n_units = n;
    }
    for (uint32_t u = 1; u < platform->n_units; u++) {
        struct df_unit *unit = &platform->units[u];
        if (unit->cls == DF_CLASS_CPU)
            continue;
        if (!unit->unified && common->gpu_mem_bytes &&
            (!unit->memory_bytes || common->gpu_mem_bytes < unit->memory_bytes))
            unit->memory_bytes = common->gpu_mem_bytes;
        if (common->gpu_jobs)
            unit->jobs = common->gpu_jobs == DF_FIND_JOBS ? 0 : common->gpu_jobs;
    }
}

/* ---- code ---- */

/* Reports kernels that are used and cannot be compiled, because they have costs and no code. */
static bool check_code(const struct dfc_loaded *loaded)
{
    const struct dfc_front *front = loaded->front;
    const struct df_graph *g = front->graph;
    bool good = true;
    unsigned char *used = calloc(g->n_kernels ? g->n_kernels : 1, 1);
    if (!used) {
        dfc_error("out of memory");
        return false;
    }
    for (uint32_t w = 0; w < g->n_works; w++)
        used[g->works[w].kernel] = 1;
    for (size_t i = 0; i < front->n_kernels; i++) {
        const struct dfc_kernel_code *code = &front->kernels[i];
        if (!used[code->kernel] || code->cpu || code->gpu || code->opencl || code->formula)
            continue;
        dfl_error(loaded->sink, code->ast->name.loc,
                  "kernel '%s' has costs and no code, so no program can be made of it", code->ast->name.text);
        dfl_hint(loaded->sink, "give it a variant (cpu \"file.c\"), or study the graph with --emit or 'dfc partition'");
        good = false;
    }
    free(used);
    return good;
}

/* ---- loading ---- */

void dfc_report_learned(const struct dfw_db *db)
{
    const struct dfw_imported *i = db ? dfw_db_imported(db) : NULL;
    if (i && i->failure[0])
        dfc_warning("the times that programs learned are not used yet: %s", i->failure);
    if (i && i->unreadable)
        dfc_warning("%u file%s in '%s.learned' %s no times that a program learned: renamed to end in .bad; %s%s",
                    (unsigned)i->unreadable, i->unreadable == 1 ? "" : "s", dfw_db_path(db),
                    i->unreadable == 1 ? "has" : "have", i->unreadable == 1 ? "" : "the first: ", i->why);
    char rates[64] = "";
    if (i && i->rates)
        snprintf(rates, sizeof rates, " and the rate%s of %u node%s", i->rates == 1 ? "" : "s", (unsigned)i->rates,
                 i->rates == 1 ? "" : "s");
    if (i && i->files)
        dfc_note("the profile database has %u time%s%s more, from %u run%s with --learn", (unsigned)i->samples,
                 i->samples == 1 ? "" : "s", rates, (unsigned)i->files, i->files == 1 ? "" : "s");
}

void dfc_report_senseless(const struct dfw_db *db)
{
    if (db && *dfw_db_senseless(db))
        dfc_warning("profile database '%s': %s, so it is not used; others may be like it", dfw_db_path(db),
                    dfw_db_senseless(db));
}

bool dfc_run_front(const struct dfc_common *common, const char *opencl_class, bool need_code, const struct dfc_division *divisions,
                   size_t n_divisions, struct dfl_sink *sink, struct dfc_front **front)
{
    const struct dfc_root root = { .graph = common->graph };
    static const struct dfc_groups none;
    const struct dfc_front_options options = {
        .path = common->path,
        .root = common->graph ? &root : NULL,
        .defines = common->defines, .n_defines = common->n_defines,
        .import_dirs = common->import_dirs, .n_import_dirs = common->n_import_dirs,
        .exported = common->exported,
        .platform = common->platform,
        .own_dir = dfc_home_share(),
        .need_code_files = need_code,
        .untrusted = common->untrusted,
        .opencl_class = opencl_class, .opencl_declared = !common->platform && !common->machine,
        .emu_all = common->emu_all,
        .groups = common->no_fuse ? &none : NULL,
        .gpu_tile = common->gpu_tile,
        .gpu_code = dfg_gpu_code,
        .parts = common->parts,
        .divisions = divisions, .n_divisions = n_divisions,
    };
    return dfc_front_run(sink, &options, front);
}

int dfc_known_load(const struct dfc_common *common, const struct df_platform *platform, struct dfw_db *db, const struct df_graph *graph,
                   struct dfw_known *known, struct df_error *error)
{
    const uint32_t devices = dfw_devices_of(common->device), cls = devices >> DFW_OPENCL & 1 ? df_platform_other_class(platform) : DF_CLASS_CPU;
    const char *gpu = dfw_devices_name((enum dfw_devices)__builtin_ctz(devices)), *opencl;
    int status = dfw_known_load(db, graph, gpu, common->emu_all, known, error);
    if (status != DF_OK || cls == DF_CLASS_CPU)
        return status;
    opencl = dfw_devices_name(DFW_OPENCL);
    known->other = calloc(1, sizeof *known->other);
    status = known->other ? dfw_known_load(db, graph, opencl ? opencl : "", false, known->other, error) : dfr_error_memory(error);
    if (status == DF_OK)
        snprintf(known->other->cls, sizeof known->other->cls, "%s", platform->class_names[cls]);
    else
        dfw_known_free(known);
    return status;
}

static bool weigh(const struct dfc_common *common, struct dfc_loaded *loaded)
{
    struct df_error error = { "" };
    struct dfw_db *db = NULL;
    if (dfw_db_open(NULL, false, &db, &error) != DF_OK)
        dfc_warning("the profile database is not used: %s", error.text);
    dfc_report_learned(db);
    bool good = choose_platform(common, db, loaded);
    if (good) {
        apply_limits(common, &loaded->platform);
        struct df_graph *graph = loaded->front->graph;
        int status = dfc_known_load(common, &loaded->platform, db, graph, &loaded->known, &error);
        if (status != DF_OK && db) { /* a damaged database makes the plan less precise, but the program can still be
                                      * made */
            dfc_warning("the profile database is not used: %s", error.text);
            status = dfc_known_load(common, &loaded->platform, NULL, graph, &loaded->known, &error);
        }
        if (status == DF_OK && dfw_rates_load(db, graph, &loaded->rates, &error) != DF_OK)
            dfc_warning("the rates that programs learned are not used: %s", error.text);
        if (status == DF_OK)
            status = dfw_rates_give(&loaded->rates, graph, &error);
        if (status == DF_OK)
            status = dfw_known_times(&loaded->known, graph, &loaded->times, &error);
        dfw_known_machine(&loaded->known, &loaded->platform, __builtin_ctz(dfw_devices_of(common->device)) != DFW_EMULATED);
        if (status == DF_OK)
            status = dfw_roofline_times(&loaded->known, graph, loaded->front->operations, &loaded->times, &error);
        if (status != DF_OK)
            dfc_error("%s", error.text);
        good = status == DF_OK;
    }
    dfc_report_senseless(db);
    dfw_db_close(db);
    return good;
}

static bool give_up(struct dfc_loaded *loaded)
{
    dfc_unload(loaded);
    return false;
}

bool dfc_load_graph(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded)
{
    memset(loaded, 0, sizeof *loaded);
    loaded->sink = dfl_sink_new(stderr);
    if (!loaded->sink) {
        dfc_error("out of memory");
        return false;
    }
    dfl_sink_program(loaded->sink, "dfc");
    if (common->no_warnings)
        dfl_sink_no_warnings(loaded->sink);
    if (common->json)
        dfl_sink_json(loaded->sink, stdout);
    if (!find_opencl_class(common, loaded) || !dfc_run_front(common, loaded->opencl_class, need_code, NULL, 0, loaded->sink, &loaded->front) || (need_code && !check_code(loaded)) ||
        !dfc_output_check(common, loaded, common->output))
        return give_up(loaded);
    dfl_sink_summary(loaded->sink);
    return true;
}

bool dfc_load(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded)
{
    if (!dfc_load_graph(common, need_code, loaded))
        return false;
    if ((common->lock && !(loaded->lock = dfc_lock_read(common->lock))) || !weigh(common, loaded) || !dfc_load_divided(common, need_code, loaded))
        return give_up(loaded);
    loaded->problem = (struct dfp_problem){ loaded->front->graph, &loaded->platform, &loaded->times, loaded->passes.n };
    return true;
}

void dfc_unload(struct dfc_loaded *loaded)
{
    if (loaded->sink)
        dfl_sink_summary(loaded->sink);
    struct dfc_divide lists = { .divisions = loaded->divisions, .n_divisions = loaded->n_divisions,
                                .declined = loaded->declined, .n_declined = loaded->n_declined };
    dfc_divide_free(&lists);
    dfc_lock_free(loaded->lock);
    dfr_times_free(&loaded->times);
    dfw_known_free(&loaded->known);
    dfw_rates_free(&loaded->rates);
    dfc_front_free(loaded->front);
    dfl_sink_free(loaded->sink);
    memset(loaded, 0, sizeof *loaded);
}

const char *dfc_default_placer(const struct dfc_loaded *loaded)
{
    return dfr_times_known(loaded->front->graph, &loaded->times, &loaded->platform) ? "gp" : "gp-thesis";
}

bool dfc_plan_make(const struct dfc_common *common, const struct dfc_loaded *loaded, struct df_plan **plan)
{
    struct df_error error = { "" };
    const char *policy = common->policy ? common->policy : dfc_default_placer(loaded);
    if (loaded->lock)
        return dfc_lock_plan(loaded->lock, &loaded->problem, plan);
    if (dfp_plan_make(&loaded->problem, policy, &common->partition, plan, &error) == DF_OK)
        return true;
    dfc_error("%s", error.text);
    return false;
}
