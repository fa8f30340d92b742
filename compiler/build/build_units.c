/* build_units.c - decides for build_program.c which files are compiled, and with which command, and compiles them in
 * parallel, as far as object_cache.c does not have them. There is one translation unit for the generated program, one
 * for inline gpu code, and one for each user file, however many variants it contains. Compiler output is printed in the
 * order of the units.
 */
#include "compiler/build/build_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/emit/emit.h"
#include "compiler/emit/emit_slow.h"
#include "compiler/generate/generate.h"
#include "compiler/tools/home.h"
#include "compiler/build/cache_store.h"
#include "compiler/build/object_cache.h"
#include "runtime/base/message.h"
#include "runtime/df_opencl.h"
#include "runtime/start/back_ends.h"

#define UNIT_NAME 300
#define LARGEST_COMPARED 100000         /* bytes of a log in which repetitions are looked for */

/* ---- the list ---- */

static bool no_memory(void)
{
    dfc_error("out of memory");
    return false;
}

/* Adds a unit. Takes path; NULL: the unit is generated. `name` is the unit's file in the work folder. */
static bool add_unit(struct dfc_program *p, enum dfc_code_kind kind, char *path, const char *name)
{
    struct dfc_build_unit *units = realloc(p->units, (p->n_units + 1) * sizeof *units);
    if (!units) {
        free(path);
        return no_memory();
    }
    p->units = units;
    struct dfc_build_unit *u = &units[p->n_units++];
    *u = (struct dfc_build_unit){ .kind = kind, .path = path };
    if (kind == DFC_CODE_OBJECT)
        return asprintf(&u->object, "%s%s", dfc_path_prefix(path), path) >= 0 ||
               ((u->object = NULL), no_memory());
    if (asprintf(&u->source, "%s/%s", p->work, name) < 0)
        u->source = NULL;
    if (asprintf(&u->object, "%s/%s.o", p->work, name) < 0)
        u->object = NULL;
    if (asprintf(&u->log, "%s/%s.log", p->work, name) < 0)
        u->log = NULL;
    if (asprintf(&u->deps, "%s/%s.d", p->work, name) < 0)
        u->deps = NULL;
    return (u->source && u->object && u->log && u->deps) || no_memory();
}

/* Is it a C file of std/? */
static bool is_of_std(const char *path)
{
    const char *share = dfc_home_share();
    const size_t n = share ? strlen(share) : 0;
    return n && strncmp(path, share, n) == 0 && strncmp(path + n, "/std/", 5) == 0 && dfc_code_kind_of(path) == DFC_CODE_C;
}

static bool add_file(struct dfc_program *p, const char *dir, const char *as_written, const struct dfl_expr *flags)
{
    char *path = dfc_path_join(dir, as_written);
    if (!path)
        return no_memory();
    for (size_t i = 0; i < p->n_units; i++)
        if (p->units[i].path && strcmp(p->units[i].path, path) == 0) {
            free(path);
            return true;
        }
    const char *slash = strrchr(path, '/');
    const bool of_std = is_of_std(path);
    const enum dfc_code_kind kind = dfc_code_kind_of(path);
    char name[UNIT_NAME]; /* numbered, because two folders may each have a vec.c */
    snprintf(name, sizeof name, "%zu_%.250s%s", p->n_units, slash ? slash + 1 : path, kind == DFC_CODE_OPENCL ? ".c" : "");
    dfc_make_plain(name);               /* nvcc gives it to a shell */
    if (of_std)
        snprintf(name, sizeof name, "std=%.250s", slash + 1); /* no other name has a '=' */
    if (!add_unit(p, kind, path, name))
        return false;
    p->units[p->n_units - 1].of_std = of_std;
    p->units[p->n_units - 1].dir = dir;
    p->units[p->n_units - 1].flags = flags ? flags->s : NULL;
    return true;
}

static bool add_variant(struct dfc_program *p, const struct dfc_kernel_code *code, const struct dfl_variant *variant)
{
    struct dfl_loc loc;
    const char *file;
    for (unsigned i = 0; (file = dfc_variant_file(variant, i, &loc)); i++) {
        if (p->gpu_code != DFC_GPU_CUDA && dfc_code_kind_of(file) == DFC_CODE_CUDA) {
            dfl_error(p->loaded->sink, loc, "the cpu variant of '%s' is in a .cu file, which needs nvcc",
                      code->ast->name.text);
            return false;
        }
        if (!add_file(p, code->dir, file, dfc_variant_flags(variant, i)))
            return false;
    }
    return true;
}

static bool add_user_files(struct dfc_program *p)
{
    const struct dfc_front *front = p->loaded->front;
    for (size_t i = 0; i < front->n_kernels; i++) {
        const struct dfc_kernel_code *code = &front->kernels[i];
        const struct dfl_variant *const variants[] = { code->cpu, p->gpu_code ? code->gpu : NULL, code->opencl };
        for (int v = 0; v < 3; v++)
            if (variants[v] && !add_variant(p, code, variants[v]))
                return false;
    }
    return true;
}

/* ---- writing the sources ---- */

static bool is_of_formulas(const struct dfc_build_unit *unit)
{
    return unit->level || unit->gpu_formulas;
}

static bool written(FILE *file, const char *path)
{
    bool good = !ferror(file);
    if (fclose(file) == 0 && good)
        return true;
    dfc_error("cannot write '%s': %s", path, strerror(errno));
    return false;
}

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        dfc_error("cannot write '%s': %s", path, strerror(errno));
    return file;
}

static bool write_header(struct dfc_program *p)
{
    char *path;
    if (asprintf(&path, "%s/%s.df.h", p->work, p->stem) < 0)
        return no_memory();
    FILE *file = create(path);
    if (file)
        dfc_emit_header(file, p->loaded->front, p->stem);
    bool good = file && written(file, path);
    free(path);
    return good;
}

/* The name of a file of formulas, or of the unit that compiles it for a level. */
static const char *name_formulas(const struct dfc_program *p, size_t part, const struct dfg_level *level, char *name)
{
    char number[24] = "";
    if (part)
        snprintf(number, sizeof number, "%zu", part);
    snprintf(name, UNIT_NAME, "%.200s_formulas%s%s%s.c", p->stem, number, *level->name ? "_" : "", level->name);
    return name;
}

/* Writes the unit of a user's file, and the header of one of std/. */
static bool write_file(struct dfc_program *p, const struct dfc_build_unit *unit, FILE *file)
{
    char *path, *name;
    if (!unit->of_std) {
        if (asprintf(&name, "%s.df.h", p->stem) < 0)
            return no_memory();
        const bool good = unit->kind == DFC_CODE_OPENCL ? dfc_emit_opencl(file, p->loaded->front, name, unit->path)
                                                        : dfc_emit_unit(file, p->loaded->front, name, unit->path, unit->kind != DFC_CODE_C, p->gpu_code);
        free(name);
        return good;
    }
    if (asprintf(&path, "%s.h", unit->source) < 0)
        return no_memory();
    FILE *header = create(path);
    if (header)
        dfc_emit_file_header(header, p->loaded->front, unit->path);
    const bool good = header && written(header, path) && dfc_emit_unit(file, p->loaded->front, strrchr(path, '/') + 1, unit->path, false, false);
    free(path);
    return good;
}

/* Writes the unit of OpenCL formulas, and for who reads it (--keep) the OpenCL C. */
static bool write_opencl(struct dfc_program *p, FILE *file)
{
    char *path, *text = dfc_opencl_formulas_text(&p->formulas[2], p->stem, p->tools.include);
    if (!text || asprintf(&path, "%s/%s_formulas.cl", p->work, p->stem) < 0) {
        free(text);
        return no_memory();
    }
    FILE *readable = create(path);
    if (readable)
        fputs(text, readable);
    dfc_emit_opencl_unit(file, &p->formulas[2], p->stem, text);
    const bool good = readable && written(readable, path);
    free(path);
    free(text);
    return good;
}

static bool write_unit(struct dfc_program *p, struct dfc_build_unit *unit)
{
    char name[UNIT_NAME];
    FILE *file = create(unit->source);
    if (!file)
        return false;
    bool good = true;
    if (unit->path)
        good = write_file(p, unit, file);
    else if (unit->level && unit->level != dfg_level(0)) /* level 0's unit has the text */
        fprintf(file, "#define DF_LEVEL(name) name##_%s\n#include \"%s\"\n", unit->level->name, name_formulas(p, unit->part, dfg_level(0), name));
    else if (is_of_formulas(unit))
        fputs(p->formulas[unit->gpu_formulas].text[unit->part], file);
    else if (unit->opencl_formulas)
        good = write_opencl(p, file);
    else if (unit->kind == DFC_CODE_CUDA)
        dfc_emit_cuda(file, p->loaded->front, p->stem);
    else
        dfc_emit_c(file, p->loaded->front, p->stem, p->n_levels, &(struct dfc_emit_gpu){ p->gpu_code, p->options->emu_gpu_code, p->opencl }, p->catcher != NULL);
    if (unit == p->catcher)
        dfc_emit_catch(file);
    return written(file, unit->source) && good;
}

bool dfc_takes_flags(const struct dfc_program *p, const struct dfc_list *compiler, const char *flags)
{
    struct dfc_list argv = { 0 };
    dfc_list_add_all(&argv, compiler);
    dfc_list_add_words(&argv, flags);
    dfc_list_add_words(&argv, "-E -x c /dev/null");
    const bool takes = dfc_compiler_takes(p, &argv);
    dfc_list_free(&argv);
    return takes;
}

static bool is_wanted(const struct dfc_program *p, const struct dfg_level *level)
{
    return level && (!p->options->runs_here || df_isa_level() >= level->least) && dfc_takes_flags(p, &p->tools.cc, level->flags);
}

/* For how many levels formulas are compiled: those that the compiler knows, or the highest of them that this processor has. A compiler that knows
 * one knows those before it. */
static unsigned count_levels(struct dfc_program *p)
{
    unsigned n = DFG_MOST_LEVELS;
    while (n > 1 && !is_wanted(p, dfg_level(n - 1)))
        n--;
    p->here = p->options->runs_here ? dfg_level(n - 1) : NULL;
    return p->here ? 1 : n;
}

/* An element that the next column reads, too, clang would keep for that column. Then each column needs the one before it, and clang makes no vectors of
 * the loop. Other compilers do not have the flag. */
static const char for_vectors[] = "-mllvm -enable-load-in-loop-pre=false";

/* Each of the formulas' files is compiled once for each level of the processor's instructions. Those with much code come first, because the last
 * to be compiled is waited for. --keep is for reading: all is in one file. */
static bool add_formulas(struct dfc_program *p)
{
    char name[UNIT_NAME];
    if (!dfc_has_formulas(p->loaded->front, false))
        return true;
    if (!dfc_emit_formulas(&p->formulas[0], p->loaded->front, p->stem, false, !p->options->keep) ||
        (!p->options->quiet && !dfc_note_slow(p->loaded->front)))
        return no_memory();
    p->n_levels = count_levels(p);
    p->takes_for_vectors = dfc_takes_flags(p, &p->tools.cc, for_vectors);
    for (size_t part = p->formulas[0].n; part-- > 0;)
        for (unsigned i = 0; i < p->n_levels; i++) {
            if (!add_unit(p, DFC_CODE_C, NULL, name_formulas(p, part, dfg_level(i), name)))
                return false;
            p->units[p->n_units - 1].level = dfg_level(i);
            p->units[p->n_units - 1].part = part;
        }
    return true;
}

/* Their code for GPUs. --emu-gpu-code has it compiled for the host (df_formula_gpu.h). */
static bool add_gpu_formulas(struct dfc_program *p)
{
    const bool host = p->options->emu_gpu_code;
    char name[UNIT_NAME];
    if (!p->gpu_code || !dfc_has_formulas(p->loaded->front, true))
        return true;
    if (!dfc_emit_formulas(&p->formulas[1], p->loaded->front, p->stem, true, false))
        return no_memory();
    snprintf(name, sizeof name, "%.250s_formulas.%s", p->stem, host ? "cpp" : "cu");
    if (!add_unit(p, host ? DFC_CODE_CXX : DFC_CODE_CUDA, NULL, name))
        return false;
    p->units[p->n_units - 1].gpu_formulas = true;
    return true;
}

/* Their code for OpenCL devices: C, and a text that the driver compiles when the program runs. */
static bool add_opencl_formulas(struct dfc_program *p)
{
    char name[UNIT_NAME];
    p->opencl = p->opencl && dfc_has_opencl_formulas(p->loaded->front);
    if (!p->opencl)
        return true;
    if (!dfc_emit_opencl_formulas(&p->formulas[2], p->loaded->front, p->stem))
        return no_memory();
    snprintf(name, sizeof name, "%.250s_formulas_opencl.c", p->stem);
    if (!add_unit(p, DFC_CODE_C, NULL, name))
        return false;
    p->units[p->n_units - 1].opencl_formulas = true;
    return true;
}

/* A unit in C++ or CUDA that has, or may call, what throws. Formulas do not. */
static const struct dfc_build_unit *find_catcher(const struct dfc_program *p)
{
    for (size_t i = 0; i < p->n_units; i++)
        if ((p->units[i].kind == DFC_CODE_CXX || p->units[i].kind == DFC_CODE_CUDA) && !is_of_formulas(&p->units[i]))
            return &p->units[i];
    return NULL;
}

bool dfc_units_make(struct dfc_program *p)
{
    char name[UNIT_NAME];
    snprintf(name, sizeof name, "%.250s.c", p->stem);
    if (!add_unit(p, DFC_CODE_C, NULL, name))
        return false;
    snprintf(name, sizeof name, "%.250s_gpu.cu", p->stem);
    if (p->gpu_code && dfc_has_inline(p->loaded->front, true) && !add_unit(p, DFC_CODE_CUDA, NULL, name))
        return false;
    if (!add_formulas(p) || !add_gpu_formulas(p) || !add_user_files(p) || !add_opencl_formulas(p) || !write_header(p))
        return false;
    p->catcher = find_catcher(p);
    for (size_t i = 0; i < p->n_units; i++)
        if (p->units[i].kind != DFC_CODE_OBJECT && !write_unit(p, &p->units[i]))
            return false;
    return true;
}

bool dfc_units_make_alone(struct dfc_program *p, const char *path)
{
    char *own, *source;
    if (asprintf(&source, "%s%s", dfc_path_prefix(path), path) < 0)
        return no_memory();
    own = strdup(path);
    if (!own || !add_unit(p, dfc_code_kind_of(path), own, dfc_code_kind_of(path) == DFC_CODE_OPENCL ? "alone.c" : "alone")) {
        free(source);
        return own ? false : no_memory();
    }
    if (p->units[0].kind == DFC_CODE_OPENCL) { /* its kernels become C in the work folder */
        FILE *file = create(p->units[0].source);
        const bool good = file && dfc_emit_opencl_prototypes(file, path);
        free(source);
        p->units[0].kind = DFC_CODE_C;
        return file && written(file, p->units[0].source) && good;
    }
    free(p->units[0].source);
    p->units[0].source = source;
    return true;
}

void dfc_units_free(struct dfc_program *p)
{
    for (size_t i = 0; i < p->n_units; i++) {
        free(p->units[i].path);
        free(p->units[i].source);
        free(p->units[i].object);
        free(p->units[i].log);
        free(p->units[i].deps);
    }
    for (size_t i = 0; i < sizeof p->formulas / sizeof *p->formulas; i++)
        dfg_texts_free(&p->formulas[i]);
    free(p->units);
    p->units = NULL;
    p->n_units = 0;
}

/* ---- compiling ---- */

/* The folder in which a file's own includes are looked for: that of the file, not of its unit. malloc'ed; NULL: no
 * memory. */
static char *folder_of(const struct dfc_build_unit *unit)
{
    const char *slash = unit->path ? strrchr(unit->path, '/') : NULL;
    return !slash ? strdup(".") : strndup(unit->path, slash == unit->path ? 1 : (size_t)(slash - unit->path));
}

/* Compiler and flags of a unit of formulas, of the user's those that change nothing of what formulas mean. */
static void add_compiler_of_formulas(const struct dfc_tools *tools, const struct dfc_list *compiler, struct dfc_list *argv)
{
    dfc_flags_add_for_formulas(compiler, 0, argv);
    for (size_t i = 0; i < tools->n_own_flags; i++)
        dfc_list_add(argv, "%s", tools->c_flags.items[i]);
    dfc_flags_add_for_formulas(&tools->c_flags, tools->n_own_flags, argv);
}

/* The generated unit has numbers in double precision, also in inline code. The flag that takes it back is added only where it is needed, because
 * gcc alone has both. */
static void keep_double_constants(const struct dfc_build_unit *unit, struct dfc_list *argv)
{
    bool single = false;
    for (size_t i = 0; i < argv->n && !unit->path; i++)
        single |= strcmp(argv->items[i], "-fsingle-precision-constant") == 0;
    if (single)
        dfc_list_add(argv, "-fno-single-precision-constant");
}

bool dfc_is_cached(const struct dfc_program *p)
{
    return !p->options->no_cache && !p->options->keep;
}

/* The identity of the program needs the list, and so do the cache and -MD. */
static void add_list_of_files(const struct dfc_build_unit *unit, struct dfc_list *argv)
{
    dfc_list_add(argv, "-MD");
    dfc_list_add(argv, "-MF");
    dfc_list_add(argv, "%s", unit->deps);
}

static void command_c(const struct dfc_program *p, const struct dfc_build_unit *unit, struct dfc_list *argv)
{
    const struct dfc_list *compiler = unit->kind == DFC_CODE_CXX ? &p->tools.cxx : &p->tools.cc;
    if (is_of_formulas(unit)) {
        add_compiler_of_formulas(&p->tools, compiler, argv);
    } else {
        dfc_list_add_all(argv, compiler);
        dfc_list_add_all(argv, &p->tools.c_flags);
        keep_double_constants(unit, argv);
    }
    dfc_list_add(argv, "-I%s", p->work);
    char *folder = folder_of(unit);
    argv->failed |= !folder;
    dfc_list_add(argv, "-iquote");
    dfc_list_add_path(argv, "", folder ? folder : ".");
    free(folder);
    if (p->gpu_code == DFC_GPU_CUDA)
        dfc_list_add(argv, "-I%s/include", p->tools.toolkit);
    dfc_list_add(argv, "-ffile-prefix-map=%s=.", p->work); /* the work folder has another name in every build */
    add_list_of_files(unit, argv);
}

/* What formulas promise, and what makes their loops vectors (docs/language.md). */
static void add_for_formulas(const struct dfc_program *p, const struct dfc_build_unit *unit, struct dfc_list *argv)
{
    static const char *const flags[] = { "-fno-fast-math", "-fsigned-zeros", "-fno-associative-math",
                                         "-fno-finite-math-only", "-fno-reciprocal-math", "-ffp-contract=off",
                                         "-fno-math-errno", "-fno-trapping-math", "-w" };
    static const char *const nvcc_flags[] = { "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "-w" };
    if (unit->kind == DFC_CODE_CUDA)
        for (size_t i = 0; unit->gpu_formulas && i < sizeof nvcc_flags / sizeof *nvcc_flags; i++)
            dfc_list_add(argv, "%s", nvcc_flags[i]);
    if (unit->kind == DFC_CODE_CUDA || !is_of_formulas(unit))
        return;
    if (!p->options->optimise)
        dfc_list_add(argv, "-O3");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        dfc_list_add(argv, "%s", flags[i]);
    if (p->takes_for_vectors)
        dfc_list_add_words(argv, for_vectors);
    if (unit->level)
        dfc_list_add_words(argv, (p->here ? p->here : unit->level)->flags);
}


/* Names in quotes are looked for there; <features.h> stays the system's. nvcc splits what it hands to the host compiler at
 * commas and blanks; a folder with those is looked through for all names. */
static void add_quoted_folder(struct dfc_list *argv, const char *folder)
{
    dfc_list_add_path(argv, folder[strcspn(folder, " \t,\\\"'$`;&|<>()*?[]{}#~!")] ? "-I" : "-Xcompiler=-iquote,", folder);
}

static void command_cu(const struct dfc_program *p, const struct dfc_build_unit *unit, struct dfc_list *argv)
{
    dfc_list_add_all(argv, &p->tools.nvcc);
    for (size_t i = 0; i < p->tools.cu_flags.n; i++)
        if (!unit->gpu_formulas || !dfc_is_about_meaning(p->tools.cu_flags.items[i]))
            dfc_list_add(argv, "%s", p->tools.cu_flags.items[i]);
        else
            i += dfc_takes_macro_or_file(p->tools.cu_flags.items[i]); /* its argument is the next word */
    dfc_list_add(argv, "-I%s", p->work);
    char *folder = folder_of(unit);
    argv->failed |= !folder;
    add_quoted_folder(argv, folder ? folder : ".");
    free(folder);
    if (!unit->path)                    /* nvcc gives the host compiler preprocessed text, in which no #undef is left, to be preprocessed again */
        dfc_list_add(argv, "-Xcompiler=-Ulinux,-Uunix,-Ui386");
    if (p->options->debug)
        dfc_list_add(argv, "-Xcompiler=-ffile-prefix-map=%s=.", p->work);
    dfc_list_add(argv, "--keep"); /* else nvcc's own temporary names, which contain a process id, reach the object */
    dfc_list_add(argv, "--keep-dir");
    dfc_list_add(argv, "%s", p->work);
    add_list_of_files(unit, argv);
}

/* What only a file's own main() calls may be missing in the program: with sections apart, the linker drops the main()
 * with all that it needs. objcopy cannot change what link-time optimisation reads (build_main.c). */
static void add_for_main(const struct dfc_build_unit *unit, struct dfc_list *argv)
{
    if (!unit->path || !dfc_may_have_main(unit->source))
        return;
    dfc_list_add(argv, unit->kind == DFC_CODE_CUDA ? "-Xcompiler=-ffunction-sections" : "-ffunction-sections");
    if (unit->kind != DFC_CODE_CUDA)
        dfc_list_add(argv, "-fno-lto");
}

static void command(const struct dfc_program *p, const struct dfc_build_unit *unit, struct dfc_list *argv)
{
    (unit->kind == DFC_CODE_CUDA ? command_cu : command_c)(p, unit, argv);
    if (unit->kind != DFC_CODE_OPENCL)  /* whose flags are for OpenCL's compilers */
        dfc_flags_add(unit, argv);
    add_for_formulas(p, unit, argv);
    if (unit->opencl_formulas)          /* it does little beside launching, and compiling it takes a third of the time */
        dfc_list_add_words(argv, "-O0 -w");
    add_for_main(unit, argv);
    dfc_list_add(argv, "-c");
    dfc_list_add(argv, "-o");
    dfc_list_add(argv, "%s", unit->object);
    dfc_list_add(argv, "%s", unit->source);
}

/* Does a new diagnostic begin with this line of a compiler's log? Source lines and carets are indented. */
static bool begins_diagnostic(const char *line)
{
    size_t length = strcspn(line, "\n");
    return *line != ' ' && (memmem(line, length, "error: ", 7) || memmem(line, length, "warning: ", 9));
}

/* The end of the diagnostic that begins at `at`, with its source lines and notes. */
static const char *end_of_diagnostic(const char *at)
{
    do {
        at += strcspn(at, "\n");
        at += *at == '\n';
    } while (*at && !begins_diagnostic(at));
    return at;
}

static bool was_printed(const char *log, const char *from, size_t length)
{
    for (const char *at = log, *end; at < from; at = end) {
        end = end_of_diagnostic(at);
        if ((size_t)(end - at) == length && memcmp(at, from, length) == 0)
            return true;
    }
    return false;
}

/* Does gcc, or clang, report a function without a return as an error? */
static bool reports_missing_return(const char *log)
{
    return strstr(log, "-Werror=return-type") || strstr(log, "-Werror,-Wreturn-type");
}

/* Prints what a compiler said. A diagnostic that is the same text as an earlier one is left out. Returns true if a 'return' was forgotten. */
static bool print_log(const char *path)
{
    bool forgot_return = false;
    FILE *file = fopen(path, "r");
    char *log = NULL;
    size_t room = 0;
    if (file && getdelim(&log, &room, '\0', file) > 0) { /* else `log` may hold no text */
        for (const char *at = log, *end; *at; at = end) {
            end = end_of_diagnostic(at);
            size_t length = (size_t)(end - at);
            if (at - log > LARGEST_COMPARED || !was_printed(log, at, length))
                dfr_message_lines(stderr, at, length);
        }
        forgot_return = reports_missing_return(log);
    }
    free(log);
    if (file)
        fclose(file);
    return forgot_return;
}

/* A file without flags failed. If another one has some, perhaps they were meant for both. */
static void note_flags(const struct dfc_program *p, const struct dfc_build_unit *failed)
{
    for (size_t u = 0; u < p->n_units && !failed->flags; u++)
        if (p->units[u].flags && p->units[u].path && p->units[u].kind != DFC_CODE_OPENCL && (p->units[u].kind == DFC_CODE_CUDA) == (failed->kind == DFC_CODE_CUDA)) {
            dfc_note("flags \"%s\" are for '%s' alone: each file has flags of its own after its name, and dfc's --cflags are for all",
                     p->units[u].flags, p->units[u].path);
            return;
        }
}

/* Reports what went wrong with one unit. true: nothing did. */
static bool compiled(const struct dfc_program *p, const struct dfc_build_unit *unit, const struct dfc_job *job)
{
    const char *what = unit->kind == DFC_CODE_CUDA  ? "nvcc"
                       : unit->kind == DFC_CODE_CXX ? "the C++ compiler"
                                                     : "the C compiler";
    bool forgot_return = print_log(unit->log);
    if (job->status == 0)
        return true;
    if (dfc_signals_caught() || (job->error == ECANCELED && job->status < 0))
        return false; /* dfc ended it, or never started it because another unit failed */
    if (job->status < 0 && job->error == ENOENT)
        dfc_error("%s was not found: '%s' (%s)", what, job->argv.items[0],
                  unit->kind == DFC_CODE_CUDA ? "name one with --nvcc" : "install gcc, or name one with --cc");
    else if (job->status < 0)
        dfc_error("cannot run '%s': %s", job->argv.failed ? what : job->argv.items[0], strerror(job->error));
    else if (unit->path)
        dfc_error("%s failed on '%s'", what, unit->path);
    else
        dfc_error("%s failed on the code that dfc made of '%s'%s", what, p->common->path,
                  dfc_has_inline(p->loaded->front, unit->kind == DFC_CODE_CUDA) ? " (the inline code of its kernels)"
                                                                                 : "");
    if (unit->path && job->status > 0)
        note_flags(p, unit);
    if (forgot_return && unit->path)
        dfc_note("a kernel ends with 'return DF_OK;'; if the file is to stay as it is, and that function is no kernel's, write flags \"-Wno-error=return-type\" "
                 "after its name in the .df");
    return false;
}

/* Compiles the kernels of a .cl file with the first driver that is here, if there is one: on another machine they are compiled when the program starts. Its log is
 * printed. What the file includes is added to the unit's prerequisites, whose list the C compiler has written. */
static bool opencl_compiles(const struct dfc_build_unit *unit)
{
    const struct dfr_device_ops *ops = dfr_back_end_of(DF_DEVICE_OPENCL);
    struct df_error error = { "" };
    struct dfc_list files = { 0 };
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    bool good = out && dfc_prerequisites(unit->deps, &files) && dfc_emit_opencl_text(out, unit->path, &files) && dfc_write_prerequisites(unit->deps, &files);
    good = out && fclose(out) == 0 && good;
    const struct df_cl_source source = { .name = unit->path, .text = text, .bytes = n, .options = unit->flags };
    const struct df_functions functions = { .opencl_source = &source };
    if (good && ops->count(NULL) && ops->load(0, &functions, 1, true, &error) != DF_OK) {
        dfc_error("%s", error.text);
        dfc_note("without a driver (OCL_ICD_VENDORS=none) it would be compiled when the program starts");
        good = false;
    }
    dfc_list_free(&files);
    free(text);
    return good;
}

struct compilation {
    struct dfc_build_unit *unit;
    char *entry;                        /* in the cache; NULL: none */
};

/* Makes the job of a unit. false: its object was in the cache. */
static bool needs_compiling(const struct dfc_program *p, struct dfc_build_unit *unit, struct dfc_job *job,
                            struct compilation *of)
{
    *job = (struct dfc_job){ .log = unit->log };
    *of = (struct compilation){ .unit = unit };
    command(p, unit, &job->argv);
    if (dfc_is_cached(p))
        of->entry = dfc_object_entry(p, unit, &job->argv);
    if (!of->entry || !dfc_object_get(p, unit, of->entry))
        return true;
    unit->was_cached = true;
    free(of->entry);
    dfc_list_free(&job->argv);
    *job = (struct dfc_job){ 0 };
    return false;
}

bool dfc_units_compile(struct dfc_program *p)
{
    struct dfc_job *jobs = calloc(p->n_units, sizeof *jobs);
    struct compilation *of = calloc(p->n_units, sizeof *of);
    size_t n = 0;
    bool good = jobs && of;
    if (!good)
        no_memory();
    for (size_t i = 0; good && i < p->n_units; i++)
        if (p->units[i].kind != DFC_CODE_OBJECT && needs_compiling(p, &p->units[i], &jobs[n], &of[n]))
            n++;
    for (size_t i = 0; i < n; i++)
        good &= of[i].unit->kind != DFC_CODE_CUDA || dfc_nvcc_takes(&jobs[i].argv);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const bool runs = good;
    if (runs)
        dfc_jobs_run(jobs, n, cores > 1 ? (unsigned)cores : 1);
    for (size_t i = 0; i < n; i++) {
        bool done = runs && compiled(p, of[i].unit, &jobs[i]) && (of[i].unit->kind != DFC_CODE_OPENCL || opencl_compiles(of[i].unit));
        of[i].unit->cpu_s = jobs[i].cpu_s;
        if (done && of[i].entry)
            dfc_object_put(p, of[i].unit, of[i].entry);
        good &= done;
        if (i + 1 == n && of[i].entry)
            dfc_cache_trim(of[i].entry);
        free(of[i].entry);
        dfc_list_free(&jobs[i].argv);
    }
    for (size_t i = 0; good && i < p->n_units; i++)
        good = dfc_hide_main(p, &p->units[i]);
    free(jobs);
    free(of);
    return good;
}
