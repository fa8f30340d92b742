/* build_link.c - links for build_program.c: composes the link line of a program, and of its device code if that is
 * relocatable, runs it or takes the product from program_cache.c, translates linker errors into terms of the .df, and
 * checks the linked file. build_library.c uses its parts for archives.
 */
#include "compiler/build/build_program.h"

#include <ar.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/build/program_cache.h"
#include "compiler/emit/emit.h"
#include "runtime/base/message.h"
#include "runtime/base/text.h"

#ifndef DFC_DEFAULT_CFLAGS
#define DFC_DEFAULT_CFLAGS ""
#endif

#define DEVICE_OBJECT "device-code.o"   /* in the work folder */

/* ---- the lines ---- */

/* Did the user name a run path? Then it is the only one: a program that is carried elsewhere, with its libraries beside
 * it, names no folder of this machine. */
static bool names_run_path(const struct dfc_tools *tools)
{
    for (size_t i = 0; i < tools->c_flags.n; i++)
        if (strstr(tools->c_flags.items[i], "-rpath"))
            return true;
    return false;
}

/* A bundle brings shared libraries beside libdf.a. They must be found before the system's, both when the program is
 * linked and when it starts, and also for what they need in turn. Hence RPATH: RUNPATH would not serve the libraries'
 * own needs. */
static void add_bundled(const struct dfc_tools *tools, struct dfc_list *argv)
{
    const char *lib = tools->lib;
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/libhwloc.so", lib);
    if (n < 0 || (size_t)n >= sizeof path || access(path, R_OK) != 0)
        return;
    dfc_list_add(argv, "-L%s", lib);
    dfc_list_add(argv, "-Wl,--disable-new-dtags,%s,%s", names_run_path(tools) ? "-rpath-link" : "-rpath", lib);
}

/* A program with --cluster loads this library, if it is there, and looks where it was made. */
static void add_mpi(const struct dfc_tools *tools, struct dfc_list *argv)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/libdf-mpi.so", tools->lib);
    if (n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0 && !names_run_path(tools))
        dfc_list_add(argv, "-Wl,-rpath,%s", tools->lib);
}

bool dfc_has_unit(const struct dfc_program *p, enum dfc_code_kind kind)
{
    for (size_t i = 0; i < p->n_units; i++)
        if (p->units[i].kind == kind)
            return true;
    return false;
}

/* Is there code that nvcc has made, or may have made? */
static bool from_nvcc(const struct dfc_program *p)
{
    return p->gpu_code == DFC_GPU_CUDA && (dfc_has_unit(p, DFC_CODE_CUDA) || dfc_has_unit(p, DFC_CODE_OBJECT));
}

static void add_objects(const struct dfc_program *p, struct dfc_list *argv)
{
    for (int archives = 0; archives < 2; archives++) /* archives come last, because objects need what is in them */
        for (size_t i = 0; i < p->n_units; i++) {
            const struct dfc_build_unit *unit = &p->units[i];
            size_t n = strlen(unit->object);
            bool archive = n > 2 && strcmp(unit->object + n - 2, ".a") == 0;
            if (archive == archives)
                dfc_list_add(argv, "%s", unit->object);
        }
}

/* What nvcc makes, its stubs of kernels too, needs the C++ runtime of its host compiler. The C compiler links that as
 * well, so no C++ compiler need be there under any name. The file is named whole, because that of development packages,
 * libstdc++.so, may be missing where objects were made elsewhere. --as-needed drops it if nothing needs it. */
static void add_cxx_runtime(const struct dfc_tools *tools, struct dfc_list *argv)
{
    const char *name = "libstdc++.so.6";
    for (size_t i = 0; i < tools->c_flags.n; i++)
        if (strcmp(tools->c_flags.items[i], "-static-libstdc++") == 0) /* a C compiler takes no notice of it */
            name = "libstdc++.a";
    dfc_list_add(argv, "-l:%s", name);
}

/* Kernels of relocatable device code may call and launch those of other files. nvcc links them to one more object, from
 * which the CUDA runtime takes them all. */
static bool has_device_link(const struct dfc_program *p)
{
    return p->tools.relocatable && from_nvcc(p);
}

static void device_link_command(const struct dfc_program *p, struct dfc_list *argv)
{
    dfc_list_add_all(argv, &p->tools.nvcc);
    for (size_t i = 0; i < p->tools.cu_flags.n; i++)
        if (!dfc_is_device_c(p->tools.cu_flags.items[i]))
            dfc_list_add(argv, "%s", p->tools.cu_flags.items[i]);
    dfc_list_add_words(argv, "-rdc=true -dlink --keep --keep-dir");
    dfc_list_add(argv, "%s", p->work);
    dfc_list_add(argv, "-o");
    dfc_list_add(argv, "%s/" DEVICE_OBJECT, p->work);
    for (size_t i = 0; i < p->n_units; i++)
        if (p->units[i].kind == DFC_CODE_CUDA || p->units[i].kind == DFC_CODE_OBJECT)
            dfc_list_add(argv, "%s", p->units[i].object);
}

/* Toolkits have their libraries in lib64, Python's packages in lib, conda under targets. The program's run path names
 * that folder too, unless the system looks there anyway or the user named a run path. */
static void add_cuda(const struct dfc_program *p, struct dfc_list *argv)
{
    static const char *const folders[] = { "lib64", "lib", "targets/x86_64-linux/lib" };
    char path[PATH_MAX];
    dfc_list_add(argv, "-Wl,-u,dfr_cuda_ops");
    dfc_list_add(argv, "%s/libdf-cuda.a", p->tools.lib);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", p->tools.toolkit, folders[i]);
        if (n < 0 || (size_t)n >= sizeof path || access(path, X_OK) != 0)
            continue;
        dfc_list_add(argv, "-L%s", path);
        if (strcmp(p->tools.toolkit, "/usr") != 0 && !names_run_path(&p->tools))
            dfc_list_add(argv, "-Wl,-rpath,%s", path);
    }
}

/* The libraries of this machine that the product is linked with. */
void dfc_link_needs(const struct dfc_program *p, struct dfc_list *words)
{
    bool cxx = dfc_has_unit(p, DFC_CODE_CXX);
    dfc_list_add_all(words, &p->tools.link_flags);
    dfc_list_add_words(words, "-lmetis -lhwloc -ldl -lrt -lm");
    dfc_flags_keep_for_linking(&p->tools.c_flags, words); /* -pthread, for one */
    dfc_flags_add_for_linking(p, words);
    if (cxx || from_nvcc(p))
        add_cxx_runtime(&p->tools, words);
}

/* Everything of dfc and of the user's, in the order in which the linker needs it. */
static void add_inside(const struct dfc_program *p, struct dfc_list *argv)
{
    static const char *const own[] = { "df", "dfplan", "dffront" };
    dfc_data_add(p, argv);
    add_objects(p, argv);
    if (has_device_link(p))
        dfc_list_add(argv, "%s/" DEVICE_OBJECT, p->work);
    add_bundled(&p->tools, argv);
    if (p->gpu_code == DFC_GPU_CUDA)
        add_cuda(p, argv);
    dfc_list_add_all(argv, &p->tools.link_flags);
    dfc_list_add(argv, "-Wl,--start-group");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        dfc_list_add(argv, "%s/lib%s.a", p->tools.lib, own[i]);
    dfc_list_add(argv, "-Wl,--end-group");
    if (has_device_link(p))
        dfc_list_add(argv, "-lcudadevrt");
    if (p->gpu_code == DFC_GPU_CUDA)
        dfc_list_add(argv, "-lcudart_static");
}

/* Two libraries in one process have each their own of everything, and undefined functions are told as for a program. */
static bool add_shared(const struct dfc_program *p, struct dfc_list *argv)
{
    char *exports = dfc_library_exports(p, true);
    if (!exports)
        return false;
    dfc_list_add_words(argv, "-shared -Wl,-Bsymbolic");
    if (!*DFC_DEFAULT_CFLAGS)           /* a sanitizer's functions are the program's */
        dfc_list_add(argv, "-Wl,-z,defs");
    dfc_list_add(argv, "-Wl,-soname,%s", dfc_library_file(p));
    dfc_list_add(argv, "-Wl,--version-script,%s", exports);
    free(exports);
    return true;
}

/* Does a word of the list say how to link, or is it a compiler for another machine, whose linkers have other names? */
static bool decides_on_linker(const struct dfc_list *words)
{
    bool decides = false;
    for (size_t i = 0; i < words->n; i++)
        decides |= strncmp(words->items[i], "-fuse-ld", 8) == 0 || strncmp(words->items[i], "-flto", 5) == 0 || strncmp(words->items[i], "-B", 2) == 0 ||
                   (i == 0 && strstr(words->items[i], "-linux-"));
    return decides;
}

/* A program that runs here is soon made again. lld and gold link it in half the time of GNU ld, or less; so the first of them that is installed does, unless the
 * user's flags or COMPILER_PATH say what links. */
static void add_quick_linker(const struct dfc_program *p, struct dfc_list *argv)
{
    static const char *const quick[] = { "lld", "gold" };
    const struct dfc_tools *tools = &p->tools;
    char *found = NULL;
    if (!p->options->runs_here || getenv("COMPILER_PATH") || decides_on_linker(&tools->cc) || decides_on_linker(&tools->cxx) || decides_on_linker(&tools->c_flags) ||
        decides_on_linker(&tools->link_flags))
        return;
    for (size_t i = 0; i < sizeof quick / sizeof *quick && !found; i++) {
        char name[16];
        snprintf(name, sizeof name, "ld.%s", quick[i]);
        if ((found = dfc_find_program(name)))
            dfc_list_add(argv, "-fuse-ld=%s", quick[i]);
    }
    free(found);
}

/* -fopenmp, -fsanitize and -flto count when linking, too. -ffast-math applies only to compiling kernels. */
static bool link_command(const struct dfc_program *p, const char *path, struct dfc_list *argv)
{
    const struct dfc_tools *tools = &p->tools;
    bool cxx = dfc_has_unit(p, DFC_CODE_CXX);
    dfc_flags_add_but_arithmetic(cxx ? &tools->cxx : &tools->cc, argv);
    dfc_list_add_words(argv, "-pthread -Wl,--gc-sections -Wl,--as-needed");
    add_quick_linker(p, argv);
    if (!dfc_flags_decide_on_debug(p))  /* else dfc's own would be most of the program, and of the time to link it */
        dfc_list_add(argv, "-Wl,--strip-debug");
    dfc_flags_add_but_arithmetic(&tools->c_flags, argv);
    dfc_flags_add_for_linking(p, argv);
    if (!p->common->exported)
        add_mpi(tools, argv);
    else if (!add_shared(p, argv))
        return false;
    dfc_list_add(argv, "-o");
    dfc_list_add_path(argv, "", path);
    add_inside(p, argv);
    dfc_list_add_words(argv, "-lmetis -lhwloc -ldl -lrt -lm");
    if (!cxx && from_nvcc(p))
        add_cxx_runtime(tools, argv);
    return true;
}

void dfc_link_relocatable(const struct dfc_program *p, struct dfc_list *argv)
{
    dfc_list_add_all(argv, dfc_has_unit(p, DFC_CODE_CXX) ? &p->tools.cxx : &p->tools.cc);
    dfc_list_add_words(argv, "-r -nostdlib -Wl,--force-group-allocation -o");
    dfc_list_add(argv, "%s/all.o", p->work);
    add_inside(p, argv);
}

/* ---- what failures mean ---- */

/* Behind the next place where GNU ld and gold (with "reference"), or lld and mold (with "symbol") say that something is nowhere. NULL: there is none. */
static const char *after_undefined(const char *text)
{
    static const char *const words[] = { "undefined reference to", "undefined symbol:" };
    const char *first = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(text, words[i]);
        if (at && (!first || at < first))
            first = at + strlen(words[i]);
    }
    return first;
}

static bool names_function(const char *text, const char *name)
{
    size_t n = strlen(name);
    while ((text = after_undefined(text))) {
        const char *at = text + strspn(text, " `'\"\xe2\x80\x98");
        if (strncmp(at, name, n) == 0 &&
            !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at[n]))
            return true;
    }
    return false;
}

/* The same of the functions behind `open` and `close`. */
static void explain_missing_state(const struct dfc_program *p, const struct dfl_variant *v, const char *text)
{
    if (v->open.text && names_function(text, v->open.text)) {
        dfl_error(p->loaded->sink, v->open.loc, "no file of the program defines '%s'", v->open.text);
        dfl_hint(p->loaded->sink, "it is 'int %s(struct df_call *call, ..., void **state)', with the kernel's dimensions and scalars in "
                                  "between, in a file that a variant names", v->open.text);
    }
    if (v->close.text && names_function(text, v->close.text)) {
        dfl_error(p->loaded->sink, v->close.loc, "no file of the program defines '%s'", v->close.text);
        dfl_hint(p->loaded->sink, "it is 'void %s(void *state)', in a file that a variant names", v->close.text);
    }
}

/* If the linker missed a function that a variant names, says so again, at the variant's place. */
static void explain_missing(const struct dfc_program *p, const char *text)
{
    const struct dfc_front *front = p->loaded->front;
    for (size_t i = 0; i < front->n_kernels; i++) {
        const struct dfc_kernel_code *code = &front->kernels[i];
        const struct dfl_variant *const variants[] = { code->cpu, p->gpu_code ? code->gpu : NULL };
        for (int gpu = 0; gpu < 2; gpu++) {
            const struct dfl_variant *v = variants[gpu];
            char name[300];
            if (v)
                explain_missing_state(p, v, text);
            if (!v || !v->path)
                continue;
            if (v->has_target)
                snprintf(name, sizeof name, "%s", v->target.text);
            else
                snprintf(name, sizeof name, "%s_%s", code->ast->name.text, gpu ? "gpu" : "cpu");
            if (!names_function(text, name))
                continue;
            dfl_error(p->loaded->sink, v->path_loc, "'%s' does not define '%s'", v->path, name);
            if (!v->has_target) {
                char *signature = NULL;
                size_t size;
                FILE *out = open_memstream(&signature, &size);
                if (out)
                    dfc_emit_signature(out, front->graph, code->kernel, "", gpu, false);
                if (dfr_text_close(out, &signature))
                    dfl_hint(p->loaded->sink, "it is expected as: %s", signature);
                free(signature);
            }
        }
    }
}

/* If the linker did not find a library of `link "…"`, says so again, at the place of that declaration. */
static void explain_libraries(const struct dfc_program *p, const char *text)
{
    const struct dfc_front *front = p->loaded->front;
    for (size_t i = 0; i < front->n_links; i++) {
        const struct dfl_name *link = &front->links[i];
        size_t n = strlen(link->text);
        for (const char *at = text; (at = strstr(at, "find ")); at++) {
            const char *flag = strstr(at, "-l"), *end = strchr(at, '\n');
            if (!flag || (end && flag > end) || strncmp(flag + 2, link->text, n) != 0 || !strchr(":\n", flag[2 + n]))
                continue;
            dfl_error(p->loaded->sink, link->loc, "there is no library '%s'", link->text);
            dfl_hint(p->loaded->sink, "install it with its development files, or name its folder with -L");
            break;
        }
    }
}

/* ---- what was made ---- */

/* The ELF header of this dfc itself, which the linker defines. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* The machine (e_machine) of the first ELF object in an ar archive; that of this dfc if the archive has none. A dfc whose libdf.a is for
 * another machine is a cross compiler, given that the C compiler is one. */
static ElfW(Half) machine_of_archive(const char *path)
{
    struct ar_hdr member;
    ElfW(Ehdr) header;
    ElfW(Half) machine = __ehdr_start.e_machine;
    FILE *file = fopen(path, "rb");
    if (!file)
        return machine;
    for (long at = SARMAG; fseek(file, at, SEEK_SET) == 0 && fread(&member, 1, sizeof member, file) == sizeof member;) {
        const long size = strtol(member.ar_size, NULL, 10);
        if (fread(&header, 1, sizeof header, file) == sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) {
            machine = header.e_machine;
            break;
        }
        at += (long)sizeof member + size + size % 2;
    }
    fclose(file);
    return machine;
}

/* What is wrong with a linked file of which `n` bytes were read into `header`. NULL: `machine` can start it as a program, or load it as a
 * library. */
static const char *why_no_program(const ElfW(Ehdr) *header, size_t n, ElfW(Half) machine, bool library)
{
    if (n == 0)
        return "an empty file";
    if (n < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return "a file that is no program";
    if (memcmp(header->e_ident, __ehdr_start.e_ident, EI_VERSION) != 0 || header->e_machine != machine)
        return "a file for another machine";
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN) /* ET_DYN: it may lie anywhere, as a library may */
        return "an object file";
    if (library)
        return header->e_type == ET_DYN ? NULL : "a program";
    return header->e_entry ? NULL : "a library";
}

/* Did the link command make what it was to make? A compiler that only prints, preprocesses or compiles ends without an
 * error, too. */
static bool is_product(const struct dfc_program *p, const char *command, const char *path)
{
    ElfW(Ehdr) header;
    char *runtime = NULL;
    const ElfW(Half) machine = asprintf(&runtime, "%s/libdf.a", p->tools.lib) < 0 ? __ehdr_start.e_machine : machine_of_archive(runtime);
    FILE *file = fopen(path, "rb");
    const char *why = file ? why_no_program(&header, fread(&header, 1, sizeof header, file), machine, p->common->exported) : "no file";
    free(runtime);
    if (file)
        fclose(file);
    if (!why)
        return true;
    const char *what = p->common->exported ? "library" : "program";
    dfc_error("'%s' was to link '%s' and made %s, not a %s for this machine", command, p->output, why, what);
    dfc_note("look at --cc and --cflags (or $CC): with -c, -S, -E%s or --version a compiler makes no %s",
             p->common->exported ? "" : ", -shared", what);
    return false;
}

static int run_linker(const struct dfc_list *argv, char **out, char **said)
{
    if (argv->failed) {
        dfc_error("out of memory");
        return -1;
    }
    const int status = dfc_run_tool(argv->items, out, said);
    if (status < 0)
        dfc_error("cannot run '%s': %s", argv->items[0], strerror(errno));
    return status;
}

/* Returns true if there was something to print. */
static bool print_said(const char *text)
{
    if (text)
        dfr_message_lines(stderr, text, strlen(text));
    return text && *text;
}

int dfc_run_linker(const struct dfc_list *argv, char **said)
{
    char *out = NULL;
    const int status = run_linker(argv, &out, said);
    print_said(out);
    print_said(*said);
    free(out);
    return status;
}

/* Runs a link command, and has the linker list what it reads. Older linkers refuse that; then it is run without. Sets *listed: it has listed all, and
 * said nothing. */
static int run_listing_linker(const struct dfc_program *p, const struct dfc_list *argv, bool *listed, char **said)
{
    struct dfc_list listing = { 0 };
    char *out = NULL;
    dfc_list_add_all(&listing, argv);
    dfc_program_list(p, &listing);
    const int status = run_linker(&listing, &out, said);
    const bool refused = status > 0 && *said && strstr(*said, DFC_LINKER_LISTS);
    *listed = false;
    if (!refused) {
        const bool told = print_said(out), warned = print_said(*said);
        *listed = status == 0 && !told && !warned;
    }
    dfc_list_free(&listing);
    free(out);
    if (!refused)
        return status;
    free(*said);
    *said = NULL;
    return dfc_run_linker(argv, said);
}

static bool link_device_code(const struct dfc_program *p)
{
    struct dfc_list argv = { 0 };
    char *said = NULL;
    device_link_command(p, &argv);
    int status = dfc_nvcc_takes(&argv) ? dfc_run_linker(&argv, &said) : -1;
    if (status > 0 && !dfc_signals_caught())
        dfc_error("linking the device code of '%s' failed", p->output);
    free(said);
    dfc_list_free(&argv);
    return status == 0;
}

/* Links a program or a shared library. If `listed` is there, the linker lists what it reads: run_listing_linker(). */
static bool link_whole(const struct dfc_program *p, const struct dfc_list *argv, const char *path, bool *listed)
{
    char *said = NULL;
    const int status = listed ? run_listing_linker(p, argv, listed, &said) : dfc_run_linker(argv, &said);
    if (status > 0 && !dfc_signals_caught()) {
        unsigned before = dfl_sink_errors(p->loaded->sink);
        explain_missing(p, said ? said : "");
        explain_libraries(p, said ? said : "");
        dfc_error("linking '%s' failed", p->output);
        if (said && after_undefined(said) && dfl_sink_errors(p->loaded->sink) == before)
            dfc_note("what a file needs from other files comes with them: cpu \"first.c\" \"other.c\": f(…); what it needs from "
                     "a library, with link \"NAME\";");
    }
    bool good = status == 0 && is_product(p, argv->items[0], path);
    free(said);
    return good;
}

/* Takes the product from the cache, or makes it: argv links `linked`, of which an archive is made if `path` is another file. */
static bool get_or_link(struct dfc_program *p, const struct dfc_list *argv, const char *linked, const char *path)
{
    const bool archive = linked != path;
    char *entry = dfc_program_entry(p, argv, archive);
    bool listed = false, good = entry && dfc_program_get(p, entry, path);
    p->was_cached = good;
    if (!good) {
        const struct timespec began = dfc_program_clock();
        good = link_whole(p, argv, linked, entry ? &listed : NULL) && (!archive || dfc_link_archive(p, path));
        if (good && listed)
            dfc_program_put(p, entry, path, argv, began);
    }
    free(entry);
    return good;
}

bool dfc_link(struct dfc_program *p, const char *path)
{
    const bool archive = dfc_product_of(p->output) == DFC_ARCHIVE && p->common->exported;
    struct dfc_list argv = { 0 };
    char *trial = NULL;
    if (has_device_link(p) && !link_device_code(p))
        return false;
    if (archive && asprintf(&trial, "%s/trial.so", p->work) < 0) { /* what is missing would be found by whoever links the archive */
        dfc_error("out of memory");
        return false;
    }
    const char *linked = archive ? trial : path;
    const bool good = link_command(p, linked, &argv) && get_or_link(p, &argv, linked, path);
    dfc_list_free(&argv);
    free(trial);
    return good;
}
