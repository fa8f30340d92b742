/* build_program.c - builds a program or library from a loaded graph, step by step: plan, image, sources, compile, link.
 * commands/cmd_compile.c calls it, and compiler/trial for programs that run at once; for commands/cmd_wrap.c it compiles one source file
 * to an object.
 *
 * Place:    generated files go to a temporary work folder, which is removed at the end. With --keep it is PROGRAM.dfc/
 *           and stays.
 * Output:   the program is linked under a temporary name beside its own, and renamed once it is complete and checked to
 *           be an executable for this machine. A failed build leaves an existing program untouched.
 */
#include "compiler/build/build_program.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/emit/emit.h"
#include "compiler/front/sources.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/output.h"
#include "runtime/graph/image.h"
#include "runtime/start/back_ends.h"

static bool no_memory(void)
{
    dfc_error("out of memory");
    return false;
}

/* ---- the work folder ---- */

static bool work_open(struct dfc_program *p)
{
    const char *tmp = getenv("TMPDIR");
    const char *place = p->options->keep ? p->output : tmp && *tmp ? tmp : "/tmp";
    int n = asprintf(&p->work, "%s%s%s", dfc_path_prefix(place), place, /* or sources in it would be options */
                     p->options->keep ? ".dfc" : "/dfc-XXXXXX");
    if (n < 0) {
        p->work = NULL;
        return no_memory();
    }
    const int error = p->options->keep ? dfr_output_make_room(p->work) : mkdtemp(p->work) ? 0 : errno;
    if (error == 0)
        return true;
    dfc_error("cannot make the folder '%s': %s", p->work, strerror(error));
    free(p->work);
    p->work = NULL;
    return false;
}

static void work_close(struct dfc_program *p)
{
    DIR *dir = p->work && !p->options->keep ? opendir(p->work) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) {
        closedir(dir);
        rmdir(p->work);
    }
    free(p->work);
    p->work = NULL;
}

/* ---- the image ---- */

/* Says what the program will need of each device's memory, if the user gave a limit, or if fewer waves fit than would
 * be in flight. */
static void note_promises(const struct dfc_program *p, const struct df_plan *plan)
{
    uint32_t inflight = p->common->inflight, wanted = inflight ? inflight : DF_DEFAULT_INFLIGHT;
    wanted = !inflight && plan->inflight ? plan->inflight : wanted;
    for (uint32_t u = 1; u < plan->platform.n_units; u++) {
        const struct df_unit *unit = &plan->platform.units[u];
        char promise[160], need[32];
        if (!unit->memory_bytes || (!p->common->gpu_mem_bytes && !inflight &&
                                    dfr_need_waves(&plan->memory[u], unit->memory_bytes, wanted) == wanted))
            continue;
        dfp_text_promise(promise, plan, u, inflight);
        dfc_note("under %s, %s needs %s for one wave: %s", plan->policy, unit->name,
                 dfp_text_bytes(need, plan->pool_bytes[u]), promise);
    }
}

/* A library has no graph yet. It carries what plans are made from: the platform, and the policy if one was named. */
static struct df_plan *make_empty_plan(const struct dfc_program *p)
{
    struct df_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    if (p->options->policy)
        snprintf(plan->policy, sizeof plan->policy, "%s", p->options->policy);
    plan->platform = p->loaded->platform;
    plan->n_waves = 1;
    plan->times.n_classes = p->loaded->front->graph->n_classes;
    plan->times.time_s = malloc(1);     /* arrays of nothing are there, too */
    plan->times.source = malloc(1);
    plan->place = malloc(1);
    plan->priority = malloc(1);
    return plan;
}

/* The plan that the program carries. A run on the platform that the plan was made for need not plan again. If the graph
 * cannot run on this platform, the program carries no plan: it may run on another machine. false: a lock file does not fit (reported). */
static bool make_plan(struct dfc_program *p)
{
    struct df_error error = { "" };
    const char *policy = p->options->policy ? p->options->policy : dfc_default_placer(p->loaded);
    if (p->loaded->lock && !dfc_lock_plan(p->loaded->lock, &p->loaded->problem, &p->plan))
        return false;
    if (!p->plan && dfp_plan_make(&p->loaded->problem, policy, &p->common->partition, &p->plan, &error) != DF_OK) {
        if (!p->options->quiet)
            dfc_warning("the program carries no placement; it is made when the program starts: %s", error.text);
        return true;
    }
    if (!p->options->quiet)
        note_promises(p, p->plan);
    return true;
}

static bool write_bytes(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(bytes, 1, size, file) == size;
    int error = errno;
    if (file && fclose(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (!good)
        dfc_error("cannot write '%s': %s", path, strerror(error));
    return good;
}

static bool store_image(const struct dfc_program *p, const struct dfr_image *image)
{
    struct df_error error = { "" };
    unsigned char *bytes = NULL;
    char *path = NULL;
    size_t size;
    bool good = false;
    if (dfr_image_write(image, &bytes, &size, &error) != DF_OK)
        dfc_error("%s", error.text);
    else if (asprintf(&path, "%s/%s.image", p->work, p->stem) < 0)
        good = no_memory();
    else {
        good = write_bytes(path, bytes, size);
        free(path);
    }
    free(bytes);
    return good;
}

/* Does the program make its graph itself, for sizes that are known only when it runs? */
static bool is_made_again(const struct dfc_program *p)
{
    return p->loaded->front->has_dynamic || p->common->exported;
}

static bool write_image(const struct dfc_program *p)
{
    struct dfr_image image = { .graph = p->loaded->front->graph, .default_waves = -1 };
    unsigned char *sources = NULL, *known = NULL;
    bool good = true;
    if (is_made_again(p)) {             /* what it needs for that */
        good = (dfc_sources_pack(p->loaded->front, p->common->defines, p->common->n_defines, &sources,
                                 &image.source_bytes) &&
                dfw_known_pack(&p->loaded->known, &known, &image.known_bytes, NULL) == DF_OK) ||
               no_memory();
        image.sources = sources;
        image.known = known;
    }
    image.plan = p->plan;
    good = good && store_image(p, &image);
    free(sources);
    free(known);
    return good;
}

/* ---- the program ---- */

static bool is_replaceable(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        return true; /* opening it will refuse a folder */
    dfc_error("cannot write '%s': it is not a regular file", path);
    return false;
}

/* Is the variant's code in files that need no nvcc? */
static bool is_host_code(const struct dfl_variant *variant)
{
    const char *file;
    if (dfc_code_is_generated(variant) || variant->has_launch)
        return false;
    for (unsigned i = 0; (file = dfc_variant_file(variant, i, NULL)); i++)
        if (dfc_code_kind_of(file) == DFC_CODE_CUDA || (i == 0 && dfc_code_kind_of(file) == DFC_CODE_OBJECT))
            return false;
    return true;
}

/* --emu-gpu-code: treats gpu variants that need nvcc as if they had not been written. */
static void leave_out_cuda(struct dfc_program *p)
{
    for (size_t i = 0; i < p->loaded->front->n_kernels; i++) {
        struct dfc_kernel_code *code = &p->loaded->front->kernels[i];
        if (code->gpu && !is_host_code(code->gpu))
            code->gpu = NULL;
    }
}

/* Without OpenCL's headers there is no back end that could launch. --no-opencl asks for it, and needs no note. */
static void leave_out_opencl(struct dfc_program *p)
{
    char names[160] = "";
    for (size_t i = 0; i < p->loaded->front->n_kernels; i++) {
        struct dfc_kernel_code *code = &p->loaded->front->kernels[i];
        const size_t used = strlen(names);
        if (code->opencl && used + strlen(code->ast->name.text) + 5 < sizeof names)
            sprintf(names + used, "%s'%s'", used ? ", " : "", code->ast->name.text);
        code->opencl = NULL;
    }
    if (*names && !p->options->no_opencl && !p->options->quiet)
        dfc_note("this dfc was built without OpenCL's headers: the variants in .cl files of %s are left out", names);
}

/* Kernels of imported files that no graph calls are not compiled: a library may have many, and need what is not here. */
static void leave_out_uncalled(struct dfc_program *p)
{
    struct dfc_front *front = p->loaded->front;
    uint32_t main_file = 0;
    while (strcmp(dfl_sink_file_name(front->sink, main_file), front->sources[0].path) != 0)
        main_file++;
    for (size_t i = 0; i < front->n_kernels; i++)
        if (!front->kernels[i].called && front->kernels[i].ast->name.loc.file != main_file)
            front->kernels[i] = (struct dfc_kernel_code){ .ast = front->kernels[i].ast, .kernel = front->kernels[i].kernel,
                                                          .dir = front->kernels[i].dir };
}

/* Formulas of kernels that no node of the graph has are not compiled: those of kernels that are fused in all calls, or not called. A graph that is made
 * again may have these nodes at other sizes, where a group would need too much memory for its rows. Returns false if there is no memory, which is reported. */
static bool leave_out_fused(struct dfc_program *p)
{
    struct dfc_front *front = p->loaded->front;
    if (is_made_again(p))
        return true;
    bool *used = calloc((size_t)front->graph->n_kernels + 1, sizeof *used);
    if (!used)
        return no_memory();
    for (uint32_t v = 0; v < front->graph->n_nodes; v++)
        used[front->graph->nodes[v].kernel] = true;
    for (uint32_t s = 0; s < front->graph->n_steps; s++)
        used[front->graph->steps[s].kernel] = true;
    for (size_t i = 0; i < front->n_kernels; i++)
        if (!used[front->kernels[i].kernel])
            front->kernels[i].formula = NULL;
    free(used);
    return true;
}

/* Is there code for GPUs that dfc would have made of formulas? */
static bool has_formulas(const struct dfc_front *front)
{
    for (size_t i = 0; i < front->n_kernels; i++)
        if (dfc_is_formula(&front->kernels[i], true))
            return true;
    return false;
}

/* Says which kernels' gpu variants this build leaves out, and why. Code of formulas is nobody's file, so it is left out without a word,
 * unless --nvcc names what was to compile it. */
static void note_left_out(const struct dfc_program *p)
{
    const struct dfc_front *front = p->loaded->front;
    char names[160] = "";
    const char *nvcc = p->options->nvcc;
    size_t n = 0, shown = 0;
    for (size_t i = 0; i < front->n_kernels; i++) {
        if (!front->kernels[i].gpu || (p->options->emu_gpu_code && is_host_code(front->kernels[i].gpu)))
            continue;
        size_t used = strlen(names);
        const char *name = front->kernels[i].ast->name.text;
        if (used + strlen(name) + 8 < sizeof names) {
            snprintf(names + used, sizeof names - used, "%s'%s'", shown ? ", " : "", name);
            shown++;
        }
        n++;
    }
    if (n && !p->options->quiet)
        dfc_note("%s: the gpu variant%s of %s%s left out (the emulated GPU runs the cpu code)", p->tools.no_gpu_code,
                 n == 1 ? "" : "s", names,
                 n > shown ? " and others are"
                 : n == 1  ? " is"
                           : " are");
    else if (nvcc && *nvcc && strcmp(nvcc, "none") != 0 && !p->options->emu_gpu_code && !p->options->quiet && has_formulas(front))
        dfc_note("%s: the formulas have no code for GPUs (the emulated GPU runs the cpu code)", p->tools.no_gpu_code);
}

/* The steps that may take long and leave no file. Signals are not held here, so Ctrl-C ends dfc at once. */
static bool prepare(struct dfc_program *p)
{
    leave_out_uncalled(p);
    p->opencl = dfr_back_end_of(DF_DEVICE_OPENCL) != NULL && !p->options->no_opencl;
    if (!p->opencl)
        leave_out_opencl(p);
    if (!leave_out_fused(p) || !dfc_tools_find(&p->tools, p->common, p->options, p->loaded->front))
        return false;
    p->gpu_code = p->tools.toolkit && !p->tools.no_gpu_code ? DFC_GPU_CUDA : p->options->emu_gpu_code ? DFC_GPU_EMULATED : DFC_GPU_NONE;
    if (p->tools.no_gpu_code)
        note_left_out(p);
    if (p->options->emu_gpu_code)
        leave_out_cuda(p);
    if (!p->common->exported)
        return make_plan(p);
    p->plan = make_empty_plan(p);
    return true;
}

static bool run_steps(struct dfc_program *p, struct dfc_output *program)
{
    if (!work_open(p) || !write_image(p) || !dfc_units_make(p) || dfc_signals_caught() || !dfc_units_compile(p) ||
        dfc_signals_caught() || !dfc_data_write(p))
        return false;
    struct dfc_library_files beside = { .n = 0 };
    bool good = !p->common->exported || dfc_library_open(p, &beside);
    fclose(program->to.file); /* the linker writes it by name */
    program->file = program->to.file = NULL;
    const double before = dfc_moment_now().tools_s;
    good = good && dfc_link(p, program->to.temporary);
    p->link_cpu_s = dfc_moment_now().tools_s - before;
    good = good && (!p->options->dependencies || dfc_write_dependencies(p));
    return dfc_library_close(&beside, good) && good;
}

/* Compiling a program may run its commands (flags "-fplugin=…"), or copy any file into the object (.incbin). */
static bool may_compile(const struct dfc_common *common)
{
    if (common->untrusted)
        dfc_error("--untrusted: '%s' is not compiled, because compiling a program gives it the rights of who compiles it; "
                  "partition, explain, simulate and --emit=graph run nothing of it", common->path);
    return !common->untrusted;
}

int dfc_build_object(const struct dfc_common *common, const struct dfc_build_options *options, const char *path,
                     int (*use)(void *arg, const char *object), void *arg)
{
    static const struct dfc_front no_kernels;
    struct dfc_program program = { .common = common, .options = options, .output = path };
    struct dfc_signals signals;
    int status = 1;
    if (!may_compile(common))
        return 1;
    dfc_signals_hold(&signals);
    bool found = dfc_tools_find(&program.tools, common, options, &no_kernels);
    dfc_list_add(&program.tools.c_flags, "-w");       /* warnings come when the file is compiled for a program */
    dfc_list_add(&program.tools.c_flags, "-fno-lto"); /* or its information is for the linker, and no debug information */
    found = found && work_open(&program);
    if (found && dfc_takes_flags(&program, dfc_code_kind_of(path) == DFC_CODE_CXX ? &program.tools.cxx : &program.tools.cc, "-femit-all-decls"))
        dfc_list_add(&program.tools.c_flags, "-femit-all-decls"); /* else clang leaves out what nothing calls */
    if (found && dfc_units_make_alone(&program, path) && dfc_units_compile(&program) &&
        !dfc_signals_caught())
        status = use(arg, program.units[0].object);
    work_close(&program);
    dfc_units_free(&program);
    dfc_tools_free(&program.tools);
    dfc_signals_release(&signals);
    return status;
}

int dfc_build(const struct dfc_common *common, struct dfc_loaded *loaded, const struct dfc_build_options *options,
              const char *output)
{
    struct dfc_program program = { .common = common, .loaded = loaded, .options = options, .output = output };
    const struct dfc_moment began = dfc_moment_now();
    struct dfc_output file;
    struct dfc_signals signals;
    char *stem = NULL;
    const bool sized = !is_made_again(&program);
    if (!may_compile(common))
        return 1;
    if (sized && !dfc_check_memory(loaded))
        return 1;
    if (sized)
        dfc_warn_memory(loaded);
    bool held = false, good = is_replaceable(output) && ((stem = dfc_stem(common->path)) || no_memory());
    program.stem = stem;
    good = good && prepare(&program) && dfc_output_open(&file, output);
    if (good) {
        held = true;
        dfc_signals_hold(&signals);
        good = run_steps(&program, &file);
        if (options->keep && program.work && !options->quiet)
            dfc_note("generated files are in '%s/'", program.work);
        good = dfc_output_close(&file, good) && good;
        if (options->timing && good)
            dfc_print_timing(stderr, &program, began);
        work_close(&program);
        dfc_units_free(&program);
    }
    dfc_tools_free(&program.tools);
    free(program.data);
    if (program.plan)
        dfr_plan_free(program.plan);
    free(stem);
    if (held)
        dfc_signals_release(&signals);
    return good ? 0 : 1;
}
