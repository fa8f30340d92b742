/* common.c - the options that all commands for graphs share: their table, the parsing of a command line with them, and
 * of lists of policies. Every such command calls it.
 */
#include "compiler/options/common.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tools/messages.h"
#include "runtime/base/error.h"
#include "runtime/policy/policy.h"
#include "runtime/program/args.h"

/* ---- the options ---- */

static int set_define(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfc_common *common = field;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return dfr_error(error, DF_E_ARGUMENT, "%s %s: NAME=VALUE is expected", option->name, text);
    struct dfc_define *defines = realloc(common->defines, (common->n_defines + 1) * sizeof *defines);
    if (!defines)
        return dfr_error_memory(error);
    common->defines = defines;
    char *name = strndup(text, (size_t)(equals - text));
    if (!name)
        return dfr_error_memory(error);
    for (size_t i = 0; i < common->n_defines; i++)
        if (strcmp(defines[i].name, name) == 0) { /* as with a C compiler, the last one holds */
            free(name);
            defines[i].value = equals + 1;
            return DF_OK;
        }
    defines[common->n_defines++] = (struct dfc_define){ name, equals + 1 };
    return DF_OK;
}

/* "5000" evaluations, or "10x" for ten times as many as by default. */
int dfc_set_budget(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfp_options *options = field;
    size_t n = strlen(text);
    bool times = n > 1 && text[n - 1] == 'x';
    char number[24];
    uint64_t count;
    snprintf(number, sizeof number, "%.*s", (int)(times ? n - 1 : n), text);
    int status = dfr_option_count(option->name, number, 1, times ? 1000000 : 1000000000000, &count, error);
    if (status == DF_OK) {
        options->budget = times ? 0 : count;
        options->budget_times = times ? (uint32_t)count : 0;
    }
    return status;
}

static int set_gpu_tile(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfc_tile *tile = field;
    int end = 0;
    if (sscanf(text, "%4ux%4u%n", &tile->rows, &tile->columns, &end) == 2 && !text[end] && tile->rows && tile->columns && isdigit((unsigned char)*text))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "%s=%s: ROWSxCOLUMNS is expected, such as 16x64", option->name, text);
}

#define COMMON struct dfc_common
const struct dfr_option dfc_options_common[] = {
    DFR_HEADING("common options"),
    { "-D", "NAME=VALUE", "gives a param another value, or a type without extents another element type", DFR_SET_ALL(set_define) },
    { "-I", "DIR", "a folder in which imported files are looked for, after the importing file's own", DFR_NAMES(COMMON, import_dirs, n_import_dirs) },
    { "-L", "DIR", "a folder with libraries for the linker", DFR_NAMES(COMMON, lib_dirs, n_lib_dirs) },
    { "-l", "NAME", "a library for the linker", DFR_NAMES(COMMON, lib_names, n_lib_names) },
    DFC_OPTION_PLATFORM("the machine to plan for, in a file that 'dfc probe' writes; if it is not given, the platform "
                        "in the .df, else the stored probe, else a stated default"),
    DFC_OPTION_POLICY("POLICY", "the policy that places nodes (gp if all times are known, else gp-thesis)"),
    { "--ratio", "total|per-worker", "the CPU's share of the work follows from total times, or from times per worker "
      "(gp-thesis)", DFR_FIELD(WORD, COMMON, partition.ratio), .first = DFP_RATIO_TOTAL },
    { "--vertex-weight", "gpu|cpu", "the times by which the partition is balanced (gp-thesis)",
      DFR_FIELD(WORD, COMMON, partition.vertex_weight), .first = DFP_WEIGHT_GPU },
    { "--seed", "N", "seed of the partitioner", DFR_COUNT(COMMON, partition.seed, 0, UINT32_MAX) },
    { "--objective", "latency|throughput", "one wave soon, or many waves a second (gp; by default throughput if the graph "
      "has streams or accs)", DFR_FIELD(WORD, COMMON, partition.objective), .first = DFP_LATENCY },
    { "--budget", "N|Nx", "plan with N evaluations, or with N times as many as by default (gp)",
      DFR_SET(dfc_set_budget, COMMON, partition) },
    { "--time-cap", "SECONDS", "plan no longer than that; the plan may then depend on the machine (gp)",
      DFR_FIELD(SECONDS, COMMON, partition.time_cap_s), .first = true },
    { "--device", "auto|none|emu|cuda|opencl|sim", "GPUs to use (auto: cuda or none), or several kinds of devices together, as in emu,opencl",
      DFR_SET(dfr_option_set_devices, COMMON, device), DFR_DEVICE_WORDS },
    { "--untrusted", NULL, "the program is a stranger's: read no file that is not below its folder, compile nothing and run nothing of it",
      DFR_FIELD(FLAG, COMMON, untrusted) },
    { "-w", NULL, "no warnings; errors are told", DFR_FIELD(FLAG, COMMON, no_warnings) },
    { "--no-fuse", NULL, "every kernel of formulas is a node of its own", DFR_FIELD(FLAG, COMMON, no_fuse) },
    { "--gpu-tile", "ROWSxCOLUMNS", "outputs that a work-group of a GPU computes of kernels that are one (else as many as take the fewest steps); "
      "without room for them in local memory, the streams inside are whole arrays", DFR_SET(set_gpu_tile, COMMON, gpu_tile) },
    { "--parts", "N", "divide each node that can be divided into N parts (1: none)", DFR_COUNT(COMMON, parts, 1, DF_MAX_PARTS) },
    { "--emu-all", NULL, "every kernel with a cpu variant may run on the emulated GPU", DFR_FIELD(FLAG, COMMON, emu_all) },
    { "--gpu-mem", "SIZE", "use no more of each GPU's memory (6GiB, 512MiB, …)", DFR_FIELD(BYTES, COMMON, gpu_mem_bytes) },
    { "--workers", "N", "CPU workers", DFR_COUNT(COMMON, workers, 1, DF_MAX_WORKERS) },
    { "--inflight", "N", "waves in flight", DFR_COUNT(COMMON, inflight, 1, DFR_MAX_INFLIGHT) },
    { "--gpu-jobs", "N|auto", "jobs in flight per GPU", DFR_COUNT(COMMON, gpu_jobs, 1, DFR_MAX_GPU_JOBS), .words = "auto",
      .first = DF_FIND_JOBS },
    { 0 }
};

static int add_policy(struct dfc_policies *p, const char *name, bool once, struct df_error *error)
{
    for (unsigned i = 0; once && i < p->n; i++)
        if (strcmp(p->names[i], name) == 0)
            return DF_OK;
    if (p->n == DFC_MOST_POLICIES)
        return dfr_error(error, DF_E_ARGUMENT, "at most %d policies are compared", DFC_MOST_POLICIES);
    p->names[p->n++] = name;
    return DF_OK;
}

bool dfc_policies_read(struct dfc_policies *p, const char *text, const char *also, bool once)
{
    char *copy = strdup(text), *place = NULL;
    struct df_error error = { "" };
    int status = copy ? DF_OK : dfr_error_memory(&error);
    *p = (struct dfc_policies){ 0 };
    for (char *word = copy ? strtok_r(copy, ", ", &place) : NULL; word && status == DF_OK; word = strtok_r(NULL, ", ", &place)) {
        const bool all = strcmp(word, "all") == 0, other = also && strcmp(word, also) == 0;
        const struct dfr_policy *policy = all || other ? NULL : dfr_policy_find(word, &error);
        p->all |= all;
        for (const char *const *name = dfr_policy_names(); all && *name && status == DF_OK; name++)
            status = add_policy(p, *name, once, &error);
        if (!all)
            status = policy || other ? add_policy(p, policy ? policy->name : also, once, &error) : DF_E_ARGUMENT;
    }
    if (status == DF_OK && !p->n)
        status = dfr_error(&error, DF_E_ARGUMENT, "no policy is named");
    if (status != DF_OK)
        dfc_error("--policy: %s", error.text);
    free(copy);
    return status == DF_OK;
}

bool dfc_policy_places(const char *policy)
{
    char names[256] = "";
    if (!policy || dfp_partitioner_find(policy))
        return true;
    for (size_t i = 0; dfp_partitioners[i]; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", dfp_partitioners[i]->name);
    }
    dfc_error("--policy=%s: a policy that places nodes before the run is expected: %s (others are chosen when the "
              "program is run)",
              policy, names);
    return false;
}

bool dfc_policy_or_lock(const struct dfc_common *common)
{
    if (common->policy && common->lock)
        dfc_error("--policy chooses who makes the plan, and --lock has one: give one of them");
    return !common->policy || !common->lock;
}

/* ---- whole command lines ---- */

/* The graph's file. */
static bool take_path(void *request, const char *word)
{
    struct dfc_common *common = request;
    const char *dot = strrchr(word, '.');
    const bool df = !dot || strcmp(dot, ".df") == 0;
    const bool picture = !df && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0 || strcmp(dot, ".dot") == 0);
    if (common->path)
        dfc_error("one .df file is expected, and '%s' and '%s' were given%s", common->path, word,
                  df ? "" : picture ? "; -o names what is written" : "; the kernels of a .df name their files of code");
    else
        common->path = word;
    return common->path == word;
}

int dfc_parse_options(const struct dfc_command *command, int argc, char **argv, struct dfc_common *common)
{
    if (!dfc_options_read(command, argc, argv, common, take_path))
        return 2;
    if (common->no_warnings)
        dfc_no_warnings();
    common->partition.inflight = common->inflight;
    if (common->waves > 1 && common->partition.objective == DFP_BY_GRAPH)
        common->partition.objective = DFP_THROUGHPUT;
    if (common->path || common->path_optional)
        return 0;
    dfc_error("a .df file is expected; 'dfc %s --help' says more", dfc_command_name(command));
    return 2;
}

void dfc_common_free(struct dfc_common *common)
{
    for (size_t i = 0; i < common->n_defines; i++)
        free((char *)common->defines[i].name);
    free(common->defines);
    free(common->import_dirs);
    free(common->lib_dirs);
    free(common->lib_names);
    memset(common, 0, sizeof *common);
}
