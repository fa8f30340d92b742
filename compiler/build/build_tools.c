/* build_tools.c - finds the compilers on this machine (C, C++, nvcc and the CUDA toolkit) and collects the flags for
 * them, for build_program.c: from the command line, from pkg-config, and for the sanitizer that this dfc was built
 * with. It also asks nvcc whether it takes a flag, and finds any program on PATH, for the rest of the room,
 * compiler/doctor and commands/cmd_replay.c.
 */
#include "compiler/build/build_program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/build/gpu_arch.h"
#include "compiler/emit/emit.h"
#include "compiler/tools/home.h"
#include "runtime/base/option.h"

#ifndef DFC_DEFAULT_CFLAGS
#define DFC_DEFAULT_CFLAGS ""
#endif

/* ---- names ---- */

static bool is_runnable(const char *path)
{
    return access(path, X_OK) == 0;
}

char *dfc_find_program(const char *name)
{
    if (strchr(name, '/'))
        return is_runnable(name) ? strdup(name) : NULL;
    for (const char *path = getenv("PATH"); path && *path;) {
        size_t n = strcspn(path, ":");
        char *file = NULL;
        if (n && asprintf(&file, "%.*s/%s", (int)n, path, name) < 0)
            file = NULL;
        if (file && is_runnable(file))
            return file;
        free(file);
        path += n + (path[n] == ':');
    }
    return NULL;
}

/* Adds the C++ compiler that belongs to a C compiler: gcc-12 → g++-12, clang → clang++, cc → c++. */
static void add_cxx_name(struct dfc_list *cxx, const char *cc)
{
    static const char *const pairs[][2] = { { "clang", "clang++" }, { "gcc", "g++" }, { "cc", "c++" } };
    const char *slash = strrchr(cc, '/'), *base = slash ? slash + 1 : cc;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *at = strstr(base, pairs[i][0]);
        if (at) {
            dfc_list_add(cxx, "%.*s%s%s", (int)(at - cc), cc, pairs[i][1], at + strlen(pairs[i][0]));
            return;
        }
    }
    dfc_list_add(cxx, "c++");
}

static void find_c(struct dfc_tools *tools, const struct dfc_build_options *options)
{
    const char *cc = options->cc ? options->cc : getenv("CC"), *cxx = options->cc ? NULL : getenv("CXX");
    dfc_list_add_words(&tools->cc, cc);
    if (tools->cc.n == 0)
        dfc_list_add(&tools->cc, "cc");
    dfc_list_add_words(&tools->cxx, cxx);
    if (tools->cxx.n)
        return;
    for (size_t i = 0; i + 1 < tools->cc.n; i++) /* a wrapper before the name, such as ccache, stays before it */
        dfc_list_add(&tools->cxx, "%s", tools->cc.items[i]);
    add_cxx_name(&tools->cxx, tools->cc.items[tools->cc.n - 1]);
}

/* ---- CUDA ---- */

static bool any_gpu_code(const struct dfc_front *front)
{
    for (size_t i = 0; i < front->n_kernels; i++)
        if (front->kernels[i].gpu || dfc_is_formula(&front->kernels[i], true))
            return true;
    return false;
}

static bool has_file(const char *folder, const char *file)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", folder, file);
    return n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
}

/* The toolkit's folder as nvcc itself tells it ("#$ TOP=…" of a dry run), because `nvcc` may be a wrapper script in any
 * folder. malloc'ed; NULL: it told nothing. */
static char *toolkit_of_nvcc(const char *nvcc)
{
    char *text = NULL, *said = NULL, *top = NULL;
    dfc_run_tool((char *[]){ (char *)nvcc, "--dryrun", "-x", "cu", "-E", "/dev/null", NULL }, &text, &said);
    char *line = said ? strstr(said, "TOP=") : NULL;
    if (line) {
        line += strlen("TOP=");
        line[strcspn(line, "\r\n")] = '\0';
        top = realpath(line, NULL);
    }
    free(text);
    free(said);
    return top;
}

/* The folder of the toolkit that this nvcc belongs to. malloc'ed; NULL: there are no headers in it. */
static char *toolkit_of(const char *nvcc)
{
    char *top = toolkit_of_nvcc(nvcc);
    if (top && has_file(top, "include/cuda_runtime_api.h"))
        return top;
    free(top);
    return access("/usr/include/cuda_runtime_api.h", R_OK) == 0 ? strdup("/usr") : NULL;
}

/* nvcc escapes "$" in options, but not in names of files. */
bool dfc_nvcc_takes(const struct dfc_list *argv)
{
    for (size_t i = 0; i < argv->n; i++) {
        const char *word = argv->items[i], *bad = strpbrk(word, *word == '-' ? "`" : "`$");
        if (!bad)
            continue;
        dfc_error("nvcc gives '%s' to a shell, where '%c' has a meaning: use another name or folder ($TMPDIR for dfc's own files), or --nvcc=none",
                  word, *bad);
        return false;
    }
    return true;
}

/* Returns whether an option asks for CUDA code. */
static bool wants_cuda(const struct dfc_common *common, const struct dfc_build_options *options)
{
    return options->nvcc || options->nvcc_flags || options->gpu_arch || (common->device && dfr_option_lists(common->device, "cuda"));
}

/* Finds the CUDA toolkit. Gives why gpu variants cannot be compiled, or NULL if they can. */
static const char *find_cuda(struct dfc_tools *tools, const struct dfc_common *common, const struct dfc_build_options *options)
{
    const char *named = options->nvcc ? options->nvcc : getenv("NVCC");
    static const char *const places[] = { "nvcc", "/usr/local/cuda/bin/nvcc" };
    if (options->emu_gpu_code)
        return "--emu-gpu-code builds without CUDA";
    if (named && strcmp(named, "none") == 0)
        return "nvcc is 'none'";
    if (options->runs_here && !wants_cuda(common, options) && !dfc_gpu_is_here())
        return "there is no GPU here";
    if (named && *named) {
        dfc_list_add_words(&tools->nvcc, named);
    } else {
        for (size_t i = 0; i < 2 && tools->nvcc.n == 0; i++) {
            char *found = dfc_find_program(places[i]);
            if (found)
                dfc_list_add(&tools->nvcc, "%s", found);
            free(found);
        }
    }
    char *nvcc = tools->nvcc.n ? dfc_find_program(tools->nvcc.items[tools->nvcc.n - 1]) : NULL;
    if (!nvcc)
        return named && *named ? "the nvcc that was named is not there" : "no nvcc";
    tools->toolkit = toolkit_of(nvcc);
    free(nvcc);
    if (!tools->toolkit)
        return "nvcc is there, but not the headers of its toolkit";
    if (!has_file(tools->lib, "libdf-cuda.a"))
        return "this dfc was built without CUDA";
    return NULL;
}

/* ---- libraries ---- */

/* Is it a part of the CUDA toolkit? Then it is looked for there, not by the linker's search. */
static bool is_cuda_library(const char *name)
{
    static const char *const names[] = { "cublas",   "cublasLt", "cusolver", "cufft", "curand",
                                         "cusparse", "cudart",   "nppc",     "nvjpeg" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool pkg_config(const char *what, const char *name, struct dfc_list *flags)
{
    char *text = NULL, *ignored = NULL;
    int status = dfc_run_tool((char *[]){ "pkg-config", (char *)what, (char *)name, NULL }, &text, &ignored);
    if (status == 0)
        dfc_list_add_words(flags, text);
    free(text);
    free(ignored);
    return status == 0;
}

static void add_library(struct dfc_tools *tools, const char *name, bool gpu)
{
    if (is_cuda_library(name)) {
        if (gpu)
            dfc_list_add(&tools->link_flags, "-l%s", name);
    } else if (pkg_config("--libs", name, &tools->link_flags)) {
        pkg_config("--cflags", name, &tools->c_flags);
    } else {
        dfc_list_add(&tools->link_flags, "-l%s", name);
    }
}

/* ---- flags ---- */

static const char *optimisation(const struct dfc_build_options *options)
{
    return options->optimise ? options->optimise : "-O2";
}

static void c_flags(struct dfc_tools *tools, const struct dfc_common *common, const struct dfc_build_options *options)
{
    struct dfc_list *flags = &tools->c_flags;
    dfc_list_add(flags, "%s", optimisation(options));
    if (options->debug)
        dfc_list_add(flags, "-g");
    dfc_list_add(flags, "-pthread");
    dfc_list_add(flags, "-falign-functions=64"); /* a kernel's loops lie alike in cache lines in every program, so they
                                                  * take as long as when they were profiled */
    dfc_list_add(flags, "-falign-loops=32");     /* and a short one lies in one line */
    if (common->exported)
        dfc_list_add(flags, "-fPIC");
    dfc_list_add(flags, "-Werror=return-type"); /* a kernel without its 'return' would give any status at all */
    if (isatty(STDERR_FILENO))
        dfc_list_add(flags, "-fdiagnostics-color=always");
    dfc_list_add_words(flags, DFC_DEFAULT_CFLAGS);
    dfc_list_add(flags, "-I%s", tools->include);
    for (size_t i = 0; i < common->n_import_dirs; i++)
        dfc_list_add_path(flags, "-I", common->import_dirs[i]);
    tools->n_own_flags = flags->n;
    dfc_list_add_words(flags, options->cflags);
}

bool dfc_is_device_c(const char *flag)
{
    return strcmp(flag, "-dc") == 0 || strcmp(flag, "--device-c") == 0;
}

static bool names_architecture(const char *flags)
{
    return flags && (strstr(flags, "-arch") || strstr(flags, "-gencode") || strstr(flags, "--gpu-"));
}

/* Do nvcc's flags ask for relocatable device code? The last one counts, as for nvcc. */
static bool asks_relocatable(const struct dfc_list *flags)
{
    static const char *const names[] = { "-rdc", "--relocatable-device-code" };
    bool relocatable = false;
    for (size_t i = 0; i < flags->n; i++) {
        relocatable |= dfc_is_device_c(flags->items[i]);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            size_t n = strlen(names[k]);
            const char *word = flags->items[i], *value = strncmp(word, names[k], n) != 0 ? NULL
                                                         : word[n] == '='                ? word + n + 1
                                                         : word[n] == '\0'               ? flags->items[i + 1]
                                                                                         : NULL;
            if (value)
                relocatable = strcmp(value, "true") == 0;
        }
    }
    return relocatable;
}

/* Adds the flags of the architectures, if the user's own flags do not name any. false: reported. */
static bool arch_flags(struct dfc_tools *tools, const struct dfc_build_options *options)
{
    if (!names_architecture(options->nvcc_flags))
        return dfc_gpu_arch_flags(&tools->cu_flags, options->gpu_arch, tools->nvcc.items[tools->nvcc.n - 1], options->quiet);
    if (options->gpu_arch)
        dfc_error("--gpu-arch=%s: --nvcc-flags names architectures already", options->gpu_arch);
    return !options->gpu_arch;
}

static bool cu_flags(struct dfc_tools *tools, const struct dfc_common *common, const struct dfc_build_options *options)
{
    struct dfc_list *flags = &tools->cu_flags, defaults = { 0 };
    dfc_list_add(flags, "%s", optimisation(options));
    if (options->debug)
        dfc_list_add(flags, "-g"); /* not -lineinfo: it puts the unit's path, which is new in every build, into the
                                    * program */
    if (common->exported)
        dfc_list_add(flags, "-Xcompiler=-fPIC");
    dfc_list_add(flags, "--diag-error=940"); /* nvcc's -Werror=return-type */
    if (!arch_flags(tools, options))
        return false;
    dfc_list_add_words(&defaults, DFC_DEFAULT_CFLAGS);
    for (size_t i = 0; i < defaults.n; i++)
        dfc_list_add(flags, "-Xcompiler=%s", defaults.items[i]);
    flags->failed |= defaults.failed;
    dfc_list_free(&defaults);
    dfc_list_add(flags, "-I%s", tools->include);
    for (size_t i = 0; i < common->n_import_dirs; i++)
        dfc_list_add_path(flags, "-I", common->import_dirs[i]);
    dfc_list_add_words(flags, options->nvcc_flags);
    tools->relocatable = asks_relocatable(flags);
    return true;
}

/* A library counts unless it is a matter of kernels that are not in the program: its file declares some, and none of them
 * has code here. */
static bool link_counts(const struct dfc_front *front, const struct dfl_name *link)
{
    bool declares = false;
    for (size_t i = 0; i < front->n_kernels; i++) {
        const struct dfc_kernel_code *code = &front->kernels[i];
        if (code->ast->name.loc.file != link->loc.file)
            continue;
        if (code->cpu || code->gpu)
            return true;
        declares = true;
    }
    return !declares;
}

/* Several files may name one library. */
static bool link_is_new(const struct dfc_front *front, size_t link)
{
    for (size_t i = 0; i < link; i++)
        if (strcmp(front->links[i].text, front->links[link].text) == 0 && link_counts(front, &front->links[i]))
            return false;
    return link_counts(front, &front->links[link]);
}

static void link_flags(struct dfc_tools *tools, const struct dfc_common *common, const struct dfc_front *front,
                       bool gpu)
{
    for (size_t i = 0; i < common->n_lib_dirs; i++)
        dfc_list_add_path(&tools->link_flags, "-L", common->lib_dirs[i]);
    for (size_t i = 0; i < front->n_links; i++)
        if (link_is_new(front, i))
            add_library(tools, front->links[i].text, gpu);
    for (size_t i = 0; i < common->n_lib_names; i++)
        dfc_list_add(&tools->link_flags, "-l%s", common->lib_names[i]);
}

bool dfc_tools_find(struct dfc_tools *tools, const struct dfc_common *common, const struct dfc_build_options *options,
                    const struct dfc_front *front)
{
    memset(tools, 0, sizeof *tools);
    tools->include = dfc_home_include();
    tools->lib = tools->include ? dfc_home_lib() : NULL;
    if (!tools->lib)
        return false;
    find_c(tools, options);
    bool gpu = any_gpu_code(front);
    if (gpu)
        tools->no_gpu_code = find_cuda(tools, common, options);
    gpu = gpu && !tools->no_gpu_code;
    c_flags(tools, common, options);
    if (gpu && !cu_flags(tools, common, options))
        return false;
    link_flags(tools, common, front, gpu);
    const struct dfc_list *const lists[] = { &tools->cc, &tools->cxx, &tools->nvcc, &tools->c_flags, &tools->cu_flags,
                                             &tools->link_flags };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i]->failed) {
            dfc_error("out of memory");
            return false;
        }
    return true;
}

void dfc_tools_free(struct dfc_tools *tools)
{
    dfc_list_free(&tools->cc);
    dfc_list_free(&tools->cxx);
    dfc_list_free(&tools->nvcc);
    dfc_list_free(&tools->c_flags);
    dfc_list_free(&tools->cu_flags);
    dfc_list_free(&tools->link_flags);
    free(tools->toolkit);
    memset(tools, 0, sizeof *tools);
}
