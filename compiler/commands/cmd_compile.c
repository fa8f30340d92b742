/* cmd_compile.c - `dfc GRAPH.df`: compiles a program or library with -o, or stops after the step that --emit names, and
 * prints its result. The other commands that build programs share its table of build options.
 */
#include "compiler/commands/command.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/emit/emit.h"
#include "compiler/generate/generate.h"
#include "compiler/build/gpu_arch.h"
#include "compiler/show/listing.h"
#include "compiler/show/memory_report.h"
#include "compiler/types/paths.h"
#include "partition/draw/draw.h"

/* ---- --emit ---- */

struct emission {
    const char *name;
    bool (*run)(const struct dfc_common *common, FILE *out);
};

static bool failed(const struct df_error *error)
{
    dfc_error("%s", error->text);
    return false;
}

static bool emit_ast(const struct dfc_common *common, FILE *out)
{
    static const struct dfc_front_options options;
    char *text = NULL;
    size_t length;
    const char *why;
    if (!dfc_output_check(common, NULL, common->output))
        return false;
    if (!dfc_read_file(&options, common->path, &text, &length, &why)) {
        dfc_error("cannot read '%s': %s", common->path, why);
        return false;
    }
    struct dfl_sink *sink = dfl_sink_new(stderr);
    if (sink)
        dfl_sink_program(sink, "dfc");
    struct dfl_file *file = sink ? dfl_parse(sink, common->path, text, length) : NULL;
    if (!file)
        dfc_error("out of memory");
    bool good = file && dfl_sink_errors(sink) == 0;
    if (good)
        dfl_print(out, file);
    if (sink)
        dfl_sink_summary(sink);
    dfl_file_free(file);
    dfl_sink_free(sink);
    free(text);
    return good;
}

static bool emit_graph(const struct dfc_common *common, FILE *out)
{
    struct dfc_loaded loaded;
    if (!dfc_load_graph(common, false, &loaded))
        return false;
    dfc_emit_graph(out, loaded.front->graph);
    dfc_unload(&loaded);
    return true;
}

static bool emit_c(const struct dfc_common *common, FILE *out)
{
    struct dfc_loaded loaded;
    if (!dfc_load_graph(common, true, &loaded))
        return false;
    char *stem = dfc_stem(common->path);
    if (stem) {
        dfc_emit_header(out, loaded.front, stem);
        fputc('\n', out);
        dfc_emit_c(out, loaded.front, stem, DFG_MOST_LEVELS, &(struct dfc_emit_gpu){ .code = true }, false);
        for (int gpu = 0; gpu < 2; gpu++)
            if (dfc_has_formulas(loaded.front, gpu)) {
                struct dfg_texts formulas;
                if (dfc_emit_formulas(&formulas, loaded.front, stem, gpu, false))
                    fprintf(out, "\n%s", formulas.text[0]);
                dfg_texts_free(&formulas);
            }
        if (dfc_has_inline(loaded.front, true)) {
            fputc('\n', out);
            dfc_emit_cuda(out, loaded.front, stem);
        }
    } else {
        dfc_error("out of memory");
    }
    bool good = stem != NULL;
    free(stem);
    dfc_unload(&loaded);
    return good;
}

static bool emit_text(FILE *out, char *text, size_t size, int status, const struct df_error *error)
{
    if (status != DF_OK)
        return failed(error);
    fwrite(text, 1, size, out);
    free(text);
    return true;
}

static bool emit_dot(const struct dfc_common *common, FILE *out)
{
    struct df_error error = { "" };
    struct dfc_loaded loaded;
    char *text = NULL;
    size_t size = 0;
    bool summarised = false;
    if (!dfc_load(common, false, &loaded))
        return false;
    char *choices = dfc_choices_text(&loaded);
    if (!choices) {
        dfc_unload(&loaded);
        return false;
    }
    int status = dfp_draw_dot(&loaded.problem, NULL, &(struct dfp_drawing){ .choices = choices }, &text, &size, &summarised, &error);
    if (status == DF_OK && summarised)
        dfc_note("%u nodes are too many for a picture: this is the summary by nested graph or level",
                 loaded.front->graph->n_nodes);
    bool good = emit_text(out, text, size, status, &error);
    free(choices);
    dfc_unload(&loaded);
    return good;
}

static bool emit_metis(const struct dfc_common *common, FILE *out)
{
    struct df_error error = { "" };
    struct dfc_loaded loaded;
    char *text = NULL;
    size_t size = 0;
    if (!dfc_load(common, false, &loaded))
        return false;
    int status = dfp_metis_text(&loaded.problem, &common->partition, &text, &size, &error);
    bool good = emit_text(out, text, size, status, &error);
    dfc_unload(&loaded);
    return good;
}

static bool emit_plan(const struct dfc_common *common, FILE *out)
{
    struct df_error error = { "" };
    struct dfc_loaded loaded;
    struct df_plan *plan = NULL;
    struct dfp_evaluation evaluation;
    if (!dfc_load(common, false, &loaded))
        return false;
    if (!dfc_check_memory(&loaded)) {
        dfc_unload(&loaded);
        return false;
    }
    bool good = dfc_plan_make(common, &loaded, &plan);
    if (good) {
        good = dfp_evaluate(&loaded.problem, plan->place, plan->priority, &evaluation, &error) == DF_OK;
        if (good) {
            dfc_emit_plan(out, &loaded, plan, &evaluation);
            good = dfc_emit_memory(out, &loaded.problem, plan, common->inflight, &error) == DF_OK;
        }
        if (!good)
            failed(&error);
    }
    if (plan)
        dfr_plan_free(plan);
    dfc_unload(&loaded);
    return good;
}

static const struct emission emissions[] = {
    { "ast", emit_ast }, { "graph", emit_graph }, { "dot", emit_dot },
    { "c", emit_c },     { "metis", emit_metis }, { "plan", emit_plan },
};

/* ---- options ---- */

struct options {
    struct dfc_common common;
    struct dfc_build_options build;
    unsigned emit;                      /* one more than the number of what --emit names; 0: nothing */
    const struct emission *emission;
    const char **graphs;                /* --graph */
    size_t n_graphs;
    struct dfc_library exported;
    bool lib;                           /* --lib */
    bool syntax_only;
    char *made;                         /* the program's name if -o gives none, or NULL */
};

static int set_gpu_arch(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    (void)option, (void)error;
    *(const char **)field = text;
    return DFC_REPORTED(dfc_gpu_arch_check(text));
}

#define BUILD struct dfc_build_options
const struct dfr_option dfc_options_build[] = {
    DFR_HEADING("compiling"),
    { "-O0", NULL, "do not optimise, for debuggers", DFR_FIELD(SPELLING, BUILD, optimise) },
    { "-O1", NULL, "optimise a little", DFR_FIELD(SPELLING, BUILD, optimise) },
    { "-O2", NULL, "optimise: the default", DFR_FIELD(SPELLING, BUILD, optimise) },
    { "-O3", NULL, "optimise more", DFR_FIELD(SPELLING, BUILD, optimise) },
    { "-O", NULL, NULL, DFR_FIELD(SPELLING, BUILD, optimise) },
    { "-g", NULL, "tell debuggers about the code", DFR_FIELD(FLAG, BUILD, debug) },
    { "--cc", "COMMAND", "the C compiler (else $CC, else cc); the C++ compiler is the one that belongs to it, or $CXX", DFR_FIELD(TEXT, BUILD, cc) },
    { "--nvcc", "COMMAND", "the CUDA compiler (else $NVCC, nvcc in $PATH, /usr/local/cuda/bin/nvcc); if there is none, or "
      "with 'none', the gpu variants are left out", DFR_FIELD(TEXT, BUILD, nvcc) },
    { "--cflags", "FLAGS", "more flags for C and C++ files, and for linking; if there is an -rpath in them, it is the "
      "program's only run path", DFR_FIELD(TEXT, BUILD, cflags) },
    { "--gpu-arch", "native|all|sm_XX,…", "what CUDA code is made for: this machine's GPUs (the default if there are any), "
      "every major architecture that nvcc knows, or those named; without a GPU, PTX for any", DFR_SET(set_gpu_arch, BUILD, gpu_arch) },
    { "--nvcc-flags", "FLAGS", "more flags for CUDA files, -arch and -gencode among them; with -rdc=true, device code may "
      "call that of other files", DFR_FIELD(TEXT, BUILD, nvcc_flags) },
    { "--no-cache", NULL, "compile and link anew even if nothing has changed since ($DFC_CACHE, ~/.cache/dfc)", DFR_FIELD(FLAG, BUILD, no_cache) },
    { "--no-opencl", NULL, "leave OpenCL code out: formulas have none, and variants in .cl files do not count", DFR_FIELD(FLAG, BUILD, no_opencl) },
    { "--timing", NULL, "print the CPU time that generating each kernel, compiling each file and linking took, and which objects were cached",
      DFR_FIELD(FLAG, BUILD, timing) },
    { 0 }
};

/* Without -o, DIR/graph.df becomes ./graph. What is there already and cannot be executed is no earlier program. */
static bool name_program(struct options *o)
{
    struct stat there;
    size_t n = strlen(o->common.path);
    if (n <= 3 || strcmp(o->common.path + n - 3, ".df") != 0) {
        dfc_error("the name of '%s' does not end in .df: name the file of a graph, or the program by -o PROGRAM if this is one", o->common.path);
        return false;
    }
    o->common.output = o->made = dfc_stem(o->common.path);
    if (!o->made)
        dfc_error("out of memory");
    else if (stat(o->made, &there) == 0 && !(S_ISREG(there.st_mode) && access(o->made, X_OK) == 0))
        dfc_error("'%s' is there already and is no program: give -o PROGRAM", o->made);
    else
        return true;
    return false;
}

/* false: reported. */
static bool check_library(struct options *o)
{
    if (!o->lib && o->exported.n_graphs > 0)
        dfc_error("--graph chooses the graphs of a library: it goes with --lib");
    else if (!o->lib && o->build.python)
        dfc_error("--python makes a module that calls a library: it goes with --lib");
    else if (o->lib && o->common.lock)
        dfc_error("--lock is for programs: a library plans for the sizes of each call");
    else if (o->lib && o->emission)
        dfc_error("--lib makes a library, and --emit=%s writes a step on the way to a program: give one of them",
                  o->emission->name);
    else if (o->lib && o->syntax_only && !o->build.python)
        return true;
    else if (o->lib && !o->common.output)
        dfc_error("--lib needs a name for the library: -o libNAME.so or -o libNAME.a");
    else if (o->lib && dfc_product_of(o->common.output) == DFC_PROGRAM)
        dfc_error("--lib: the name '%s' does not say what library it is: it ends in .so or in .a", o->common.output);
    else if (o->build.python && dfc_product_of(o->common.output) != DFC_SHARED)
        dfc_error("--python: Python loads a shared library, and '%s' is an archive", o->common.output);
    else
        return true;
    return false;
}

/* 0, or 2 for a usage error (reported). */
static int parse(struct options *o, int argc, char **argv)
{
    if (dfc_parse_options(&dfc_command_compile, argc, argv, &o->common) != 0)
        return 2;
    o->emission = o->emit ? &emissions[o->emit - 1] : NULL;
    o->exported = (struct dfc_library){ .graphs = o->graphs, .n_graphs = o->n_graphs };
    if (!check_library(o))
        return 2;
    if (o->common.json && !o->syntax_only)
        dfc_error("--json is for editors: it goes with --syntax-only");
    else if (o->syntax_only && (o->emission || o->common.output))
        dfc_error("--syntax-only writes nothing: it does not go with -o and --emit");
    if (o->lib)
        o->common.exported = &o->exported;
    if (o->syntax_only || o->common.json)
        return o->syntax_only && !o->emission && !o->common.output ? 0 : 2;
    if (!o->emission && !o->common.output && !name_program(o))
        return 2;
    if (!o->emission && strcmp(o->common.output, "-") == 0) {
        dfc_error("a program cannot be written to the standard output: give -o a name");
        return 2;
    }
    if (o->emission && o->emission->run == emit_dot && o->common.output &&
        !dfc_output_is_picture("-o", o->common.output, "DOT"))
        return 2;
    o->build.policy = o->common.policy;
    return dfc_policy_places(o->common.policy) && dfc_policy_or_lock(&o->common) ? 0 : 2;
}

/* ---- the command ---- */

static int run_emission(const struct options *o)
{
    struct dfc_output output;
    if (!dfc_output_open(&output, o->common.output))
        return 1;
    bool good = o->emission->run(&o->common, output.file);
    return dfc_output_close(&output, good) && good ? 0 : 1;
}

static int run_build(const struct options *o)
{
    struct dfc_loaded loaded;
    if (!dfc_load(&o->common, true, &loaded))
        return 1;
    int status = dfc_build(&o->common, &loaded, &o->build, o->common.output);
    dfc_unload(&loaded);
    return status;
}

/* Everything is checked that a compilation would check before it runs a compiler, and nothing is written. */
static int check_syntax(const struct options *o)
{
    struct dfc_loaded loaded;
    if (!dfc_load_graph(&o->common, true, &loaded))
        return 1;
    dfc_unload(&loaded);
    return 0;
}

static int run(int argc, char **argv)
{
    struct options o = { 0 };
    dfp_options_default(&o.common.partition);
    int status = parse(&o, argc, argv);
    if (status == 0)
        status = o.syntax_only ? check_syntax(&o) : o.emission ? run_emission(&o) : run_build(&o);
    dfc_common_free(&o.common);
    free(o.graphs);
    free(o.made);
    return status;
}

static const char usage[] =
    "usage: dfc GRAPH.df [-o PROGRAM] [options]\n"
    "       dfc GRAPH.df --lib -o libNAME.so|libNAME.a [--graph=NAME …] [--python] [options]\n"
    "       dfc GRAPH.df --emit=WHAT [-o FILE] [options]\n\n"
    "Compiles a graph to a program, or writes one of the steps on the way there to FILE or to standard output:\n"
    "  ast      the file as it was read, in canonical spelling\n"
    "  graph    the elaborated graph: kernels, works, nodes, values\n"
    "  dot      the elaborated graph as a picture, for Graphviz\n"
    "  c        the header and the C code of the program\n"
    "  metis    the weighted graph that METIS partitions, in its file format\n"
    "  plan     times, placement, predicted makespan, and the memory plan: where each token lies\n";

static const struct dfr_option own_options[] = {
    DFR_HEADING("outputs"),
    DFC_OPTION_OUTPUT("the file for the program (./GRAPH), or for what --emit names (standard output)"),
    { "--emit", "ast|graph|dot|c|metis|plan", "write this step, and make no program", DFR_FIELD(WORD, struct options, emit), .first = 1 },
    DFC_OPTION_WAVES,
    DFC_OPTION_LOCK,
    { "--lib", NULL, "make each graph with ports a C function NAME_run() of a library; beside it are written NAME.h, a "
      "pkg-config file and a CMake package", DFR_FIELD(FLAG, struct options, lib) },
    { "--python", NULL, "a Python module beside the library, too, whose functions take arrays", DFR_FIELD(FLAG, struct options, build.python) },
    { "--graph", "NAME", "put this graph into the library, and no others but those that are named so, too", DFR_NAMES(struct options, graphs, n_graphs) },
    { "--syntax-only", NULL, "check the graph and that its files are there, and write nothing; with --lib the graphs of a library",
      DFR_FIELD(FLAG, struct options, syntax_only) },
    { "--json", NULL, "with --syntax-only: what is found as a JSON array on standard output, for editors", DFR_FIELD(FLAG, struct options, common.json) },
    { "-MD", NULL, "write PROGRAM.d, a make rule that names all files the program was made of", DFR_FIELD(FLAG, struct options, build.dependencies) },
    { "--keep", NULL, "keep the generated files in PROGRAM.dfc/", DFR_FIELD(FLAG, struct options, build.keep) },
    { "--here", NULL, "for this machine alone: formulas are compiled for its processor, and CUDA code only if it has a GPU",
      DFR_FIELD(FLAG, struct options, build.runs_here) },
    { "--emu-gpu-code", NULL, "build without CUDA: the emulated GPU runs gpu variants that are in C and C++ files, and the "
      "GPU code of formulas, instead of the cpu variants", DFR_FIELD(FLAG, struct options, build.emu_gpu_code) },
    { 0 }
};

const struct dfc_command dfc_command_compile = { NULL, "compile and link it, or write what --emit names", usage, run,
                                                 DFC_OPTIONS({ own_options, 0 }, { dfc_options_build, offsetof(struct options, build) },
                                                             { dfc_options_common, 0 }) };
