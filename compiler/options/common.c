/* common.c - the options that mean the same in every command that reads a graph, and how options are parsed. */
#include "compiler/options/common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tools/messages.h"
#include "runtime/program/args.h"
#include "runtime/base/colour.h"
#include "runtime/base/text.h"

/* ---- values ---- */

int dfc_option_value(const char *name, int argc, char **argv, int *i, const char **value)
{
    size_t n = strlen(name);
    const char *word = argv[*i];
    if (strncmp(word, name, n) != 0)
        return 0;
    bool is_long = name[1] == '-';
    if (word[n] == '=' && is_long) {
        *value = word + n + 1;
        return 1;
    }
    if (word[n] && is_long)
        return 0;
    if (word[n] == '=') {
        dfc_error("%s: no '=' stands between %s and its value: write '%s %s'", word, name, name, word + n + 1);
        return -1;
    }
    if (word[n]) { /* -Dn=4 */
        *value = word + n;
        return 1;
    }
    if (*i + 1 >= argc) {
        dfc_error("%s needs a value", name);
        return -1;
    }
    *value = argv[++*i];
    return 1;
}

/* The same for the name of a file, a folder or a library, which is never empty. */
static int name_option(const char *name, int argc, char **argv, int *i, const char **value)
{
    int taken = dfc_option_value(name, argc, argv, i, value);
    if (taken <= 0 || **value)
        return taken;
    dfc_error("%s needs a name, and this one is empty", name);
    return -1;
}

bool dfc_parse_count(const char *name, const char *text, unsigned long least, unsigned long most,
                     unsigned long *count)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n < least || n > most) {
        dfc_error("%s=%s: a whole number from %lu to %lu is expected", name, text, least, most);
        return false;
    }
    *count = n;
    return true;
}

static int parse_bytes(const char *name, const char *text, uint64_t *bytes)
{
    if (dfr_parse_size(text, bytes))
        return 1;
    dfc_error("%s=%s: a size is expected, such as 512MiB or 6GiB; a number alone is bytes, at least %d", name, text,
              DFR_LEAST_BYTES);
    return -1;
}

/* Takes an option whose value is one of `choices` (NULL-terminated); *choice is its index. Gives 1, 0 and -1 as
 * dfc_option_value() does. */
static int choice_option(const char *name, const char *const *choices, int argc, char **argv, int *i, int *choice)
{
    char all[128] = "";
    const char *text;
    int taken = dfc_option_value(name, argc, argv, i, &text);
    if (taken <= 0)
        return taken;
    for (int c = 0; choices[c]; c++) {
        if (strcmp(text, choices[c]) == 0) {
            *choice = c;
            return 1;
        }
        strncat(all, c ? ", " : "", sizeof all - strlen(all) - 1);
        strncat(all, choices[c], sizeof all - strlen(all) - 1);
    }
    dfc_error("%s=%s: one of %s is expected%s", name, text, all,
              strcmp(name, "--device") != 0 ? "" : "; 'none' uses the CPU alone, 'cuda' a GPU, 'emu' an emulated one");
    return -1;
}

int dfc_form_option(bool json, int argc, char **argv, int *i, enum dfc_form *form)
{
    const char *const forms[] = { "text", "csv", json ? "json" : NULL, NULL };
    int choice, taken = choice_option("--format", forms, argc, argv, i, &choice);
    if (taken > 0)
        *form = (enum dfc_form)choice;
    return taken;
}

/* ---- options that may be given several times ---- */

static int out_of_memory(void)
{
    dfc_error("out of memory");
    return -1;
}

static int append(const char ***items, size_t *n, const char *item)
{
    const char **grown = realloc(*items, (*n + 1) * sizeof *grown);
    if (!grown)
        return out_of_memory();
    *items = grown;
    grown[(*n)++] = item;
    return 1;
}

static int define(struct dfc_common *common, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        dfc_error("-D %s: NAME=VALUE is expected", text);
        return -1;
    }
    struct dfc_define *defines = realloc(common->defines, (common->n_defines + 1) * sizeof *defines);
    if (!defines)
        return out_of_memory();
    common->defines = defines;
    char *name = strndup(text, (size_t)(equals - text));
    if (!name)
        return out_of_memory();
    for (size_t i = 0; i < common->n_defines; i++)
        if (strcmp(defines[i].name, name) == 0) { /* as with a C compiler, the last one holds */
            free(name);
            defines[i].value = equals + 1;
            return 1;
        }
    defines[common->n_defines++] = (struct dfc_define){ name, equals + 1 };
    return 1;
}

/* ---- the options ---- */

const struct dfc_option dfc_options_common[] = {
    { NULL, NULL, "common options" },
    { "-D", "NAME=VALUE", "gives a param another value, or a type without extents another element type" },
    { "-I", "DIR", "a folder in which imported files are looked for, after the importing file's own" },
    { "-L", "DIR", "a folder with libraries for the linker" },
    { "-l", "NAME", "a library for the linker" },
    { "--platform", "FILE", "the machine to plan for, in a file that 'dfc probe' writes; if it is not given, the platform "
                            "in the .df, else the stored probe, else a stated default" },
    { "--policy", "POLICY", "the policy that places nodes (gp if all times are known, else gp-thesis)" },
    { "--ratio", "total|per-worker", "the CPU's share of the work follows from total times, or from times per worker "
                                     "(gp-thesis)" },
    { "--vertex-weight", "gpu|cpu", "the times by which the partition is balanced (gp-thesis)" },
    { "--seed", "N", "seed of the partitioner" },
    { "--objective", "latency|throughput", "one wave soon, or many waves a second (gp; by default throughput if the graph "
                                           "has streams or accs)" },
    { "--budget", "N|Nx", "plan with N evaluations, or with N times as many as by default (gp)" },
    { "--time-cap", "SECONDS", "plan no longer than that; the plan may then depend on the machine (gp)" },
    { "--device", "auto|none|emu|cuda|sim", "GPUs to use (auto: cuda or none)" },
    { "--untrusted", NULL, "the program is a stranger's: read no file that is not below its folder, compile nothing and run nothing of it" },
    { "-w", NULL, "no warnings; errors are told" },
    { "--no-fuse", NULL, "every kernel of formulas is a node of its own" },
    { "--parts", "N", "divide each node that can be divided into N parts (1: none)" },
    { "--emu-all", NULL, "every kernel with a cpu variant may run on the emulated GPU" },
    { "--gpu-mem", "SIZE", "use no more of each GPU's memory (6GiB, 512MiB, …)" },
    { "--workers", "N", "CPU workers" },
    { "--inflight", "N", "waves in flight" },
    { "--gpu-jobs", "N|auto", "jobs in flight per GPU" },
    { 0 }
};

static int count_option(struct dfc_common *common, int argc, char **argv, int *i)
{
    const struct { const char *name; unsigned *count; unsigned long least, most; } counts[] = {
        { "--workers", &common->workers, 1, DF_MAX_WORKERS },
        { "--parts", &common->parts, 1, DF_MAX_PARTS },
        { "--inflight", &common->inflight, 1, DFR_MAX_INFLIGHT },
        { "--gpu-jobs", &common->gpu_jobs, 1, DFR_MAX_GPU_JOBS }, /* or "auto" */
        { "--seed", &common->partition.seed, 0, UINT32_MAX },
    };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const char *value;
        unsigned long n;
        int taken = dfc_option_value(counts[c].name, argc, argv, i, &value);
        if (!taken)
            continue;
        if (taken > 0 && counts[c].count == &common->gpu_jobs && strcmp(value, "auto") == 0) {
            common->gpu_jobs = DF_FIND_JOBS;
            return 1;
        }
        if (taken < 0 || !dfc_parse_count(counts[c].name, value, counts[c].least, counts[c].most, &n))
            return -1;
        *counts[c].count = (unsigned)n;
        return 1;
    }
    return 0;
}

/* Parses "5000" evaluations, or "10x" for ten times as many as by default. */
static int budget_option(struct dfp_options *options, const char *text)
{
    size_t n = strlen(text);
    bool times = n > 1 && text[n - 1] == 'x';
    char number[24];
    unsigned long count;
    snprintf(number, sizeof number, "%.*s", (int)(times ? n - 1 : n), text);
    if (!dfc_parse_count("--budget", number, 1, times ? 1000000 : 1000000000000, &count))
        return -1;
    options->budget = times ? 0 : count;
    options->budget_times = times ? (uint32_t)count : 0;
    return 1;
}

static int time_cap_option(struct dfp_options *options, const char *text)
{
    char *end;
    double cap_s = strtod(text, &end);
    if (end == text || *end || !(cap_s > 0 && cap_s <= 1e6)) {
        dfc_error("--time-cap=%s: seconds are expected, such as 0.5", text);
        return -1;
    }
    options->time_cap_s = cap_s;
    return 1;
}

static int gp_option(struct dfc_common *common, int argc, char **argv, int *i)
{
    static const char *const objectives[] = { "latency", "throughput", NULL };
    const char *value;
    int choice, taken;
    if ((taken = choice_option("--objective", objectives, argc, argv, i, &choice)) != 0) {
        if (taken > 0)
            common->partition.objective = choice ? DFP_THROUGHPUT : DFP_LATENCY;
        return taken;
    }
    if ((taken = dfc_option_value("--budget", argc, argv, i, &value)) != 0)
        return taken < 0 ? -1 : budget_option(&common->partition, value);
    if ((taken = dfc_option_value("--time-cap", argc, argv, i, &value)) != 0)
        return taken < 0 ? -1 : time_cap_option(&common->partition, value);
    return 0;
}

static int placement_option(struct dfc_common *common, int argc, char **argv, int *i)
{
    static const char *const ratios[] = { "total", "per-worker", NULL }, *const weights[] = { "gpu", "cpu", NULL },
                             *const devices[] = { "auto", "none", "emu", "cuda", "sim", NULL };
    int choice, taken;
    if ((taken = choice_option("--ratio", ratios, argc, argv, i, &choice)) != 0) {
        if (taken > 0)
            common->partition.ratio = choice ? DFP_RATIO_PER_WORKER : DFP_RATIO_TOTAL;
        return taken;
    }
    if ((taken = choice_option("--vertex-weight", weights, argc, argv, i, &choice)) != 0) {
        if (taken > 0)
            common->partition.vertex_weight = choice ? DFP_WEIGHT_CPU : DFP_WEIGHT_GPU;
        return taken;
    }
    if ((taken = choice_option("--device", devices, argc, argv, i, &choice)) > 0)
        common->device = devices[choice];
    return taken;
}

static int text_option(struct dfc_common *common, int argc, char **argv, int *i)
{
    const struct { const char *name; const char **text; } texts[] = {
        { "--platform", &common->platform }, { "--policy", &common->policy }, { "-o", &common->output },
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        int taken = name_option(texts[t].name, argc, argv, i, texts[t].text);
        if (taken)
            return taken;
    }
    return 0;
}

static int list_option(struct dfc_common *common, int argc, char **argv, int *i)
{
    const char *value;
    int taken;
    if ((taken = dfc_option_value("-D", argc, argv, i, &value)) != 0)
        return taken < 0 ? -1 : define(common, value);
    if ((taken = name_option("-I", argc, argv, i, &value)) != 0)
        return taken < 0 ? -1 : append(&common->import_dirs, &common->n_import_dirs, value);
    if ((taken = name_option("-L", argc, argv, i, &value)) != 0)
        return taken < 0 ? -1 : append(&common->lib_dirs, &common->n_lib_dirs, value);
    if ((taken = name_option("-l", argc, argv, i, &value)) != 0)
        return taken < 0 ? -1 : append(&common->lib_names, &common->n_lib_names, value);
    return 0;
}

int dfc_common_option(struct dfc_common *common, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *value;
    int taken;
    if (word[0] != '-' || word[1] == '\0') {
        if (common->path) {
            const char *dot = strrchr(word, '.');
            const bool df = !dot || strcmp(dot, ".df") == 0;
            const bool picture = !df && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0 || strcmp(dot, ".dot") == 0);
            dfc_error("one .df file is expected, and '%s' and '%s' were given%s", common->path, word,
                      df ? "" : picture ? "; -o names what is written" : "; the kernels of a .df name their files of code");
            return -1;
        }
        common->path = word;
        return 1;
    }
    if (strcmp(word, "-w") == 0) {
        common->no_warnings = true;
        dfc_no_warnings();
        return 1;
    }
    if (strcmp(word, "--untrusted") == 0) {
        common->untrusted = true;
        return 1;
    }
    if (strcmp(word, "--no-fuse") == 0) {
        common->no_fuse = true;
        return 1;
    }
    if (strcmp(word, "--emu-all") == 0) {
        common->emu_all = true;
        return 1;
    }
    if ((taken = dfc_option_value("--gpu-mem", argc, argv, i, &value)) != 0)
        return taken < 0 ? -1 : parse_bytes("--gpu-mem", value, &common->gpu_mem_bytes);
    if ((taken = list_option(common, argc, argv, i)) != 0)
        return taken;
    if ((taken = text_option(common, argc, argv, i)) != 0)
        return taken;
    if ((taken = placement_option(common, argc, argv, i)) != 0)
        return taken;
    if ((taken = gp_option(common, argc, argv, i)) != 0)
        return taken;
    return count_option(common, argc, argv, i);
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

/* ---- whole command lines ---- */

/* Takes --color, which counts from here on. Gives 1, 0 and -1 as dfc_common_option() does. */
static int colour_option(int argc, char **argv, int *i)
{
    static const char *const whens[] = { "auto", "always", "never", NULL };
    int choice, taken = choice_option("--color", whens, argc, argv, i, &choice);
    if (taken > 0)
        dfr_colour_set(choice == 0 ? dfr_colour_wanted() : choice == 1);
    return taken;
}

int dfc_waves_option(struct dfc_common *common, int argc, char **argv, int *i)
{
    const char *value;
    unsigned long n;
    int taken = dfc_option_value("--waves", argc, argv, i, &value);
    if (taken <= 0)
        return taken;
    if (!dfc_parse_count("--waves", value, 1, UINT32_MAX, &n))
        return -1;
    common->waves = (uint32_t)n;
    return 1;
}

int dfc_parse_options(const struct dfc_command *command, int argc, char **argv, struct dfc_common *common,
                      int (*own)(void *request, int argc, char **argv, int *i), void *request)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] && !dfc_option_known(command, argv[i]))
            return 2;
        int taken = colour_option(argc, argv, &i);
        if (!taken)
            taken = own(request, argc, argv, &i);
        if (!taken)
            taken = dfc_common_option(common, argc, argv, &i);
        if (!taken)
            dfc_error("internal error: '%s' is in the table, and nothing takes it", argv[i]);
        if (taken <= 0)
            return 2;
    }
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
