/* build_flags.c - decides for build_units.c and build_link.c which of the user's compiler flags apply to which step:
 * flags that the .df gives to one file reach its compiler and, where they matter for linking, the linker; flags of
 * --cflags and --cc are withheld from formula units and the linker if they could change results. It also determines
 * whether the flags decide on debug information, for build_link.c and object_cache.c. The front end has already checked
 * flags in the .df (declare/code_flags.c).
 */
#include "compiler/build/build_program.h"

#include <stdlib.h>
#include <string.h>

/* What follows the first of `beginnings` that the word begins with; *n is that one's length. NULL: with none. */
static const char *after_one_of(const char *word, const char *const *beginnings, size_t *n)
{
    for (; *beginnings; beginnings++) {
        *n = strlen(*beginnings);
        if (strncmp(word, *beginnings, *n) == 0)
            return word + *n;
    }
    return NULL;
}

void dfc_flags_add(const struct dfc_build_unit *unit, struct dfc_list *argv)
{
    static const char *const folders[] = { "-I", "-iquote", "-isystem", "-idirafter", NULL };
    struct dfc_list words = { 0 };
    dfc_list_add_words(&words, unit->flags);
    for (size_t i = 0; i < words.n; i++) {
        size_t n = 0;
        const char *folder = after_one_of(words.items[i], folders, &n);
        char *path = folder && *folder ? dfc_path_join(unit->dir, folder) : NULL;
        if (path)
            dfc_list_add(argv, "%.*s%s", (int)n, words.items[i], path);
        else
            dfc_list_add(argv, "%s", words.items[i]);
        argv->failed |= folder && *folder && !path;
        free(path);
    }
    argv->failed |= words.failed;
    dfc_list_free(&words);
}

/* Does the compiler that links need this option too, because of a library that comes with it? */
static bool is_for_linking_too(const char *word)
{
    static const char *const beginnings[] = { "-fopenmp", "-fopenacc", "-fsanitize", "-fprofile", "--coverage",
                                              "-coverage", "-pthread", "-flto", "-ftree-parallelize-loops", "-fgnu-tm",
                                              "-stdlib=", NULL };
    size_t n;
    return after_one_of(word, beginnings, &n) != NULL;
}

/* nvcc takes options of its host compiler as -Xcompiler=-fopenmp,-O3, or in a word after -Xcompiler. */
static void add_host_options(const char *word, struct dfc_list *argv)
{
    static const char *const beginnings[] = { "-Xcompiler=", "--compiler-options=", NULL };
    size_t n;
    const char *list = after_one_of(word, beginnings, &n);
    for (list = list ? list : word; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (is_for_linking_too(list))
            dfc_list_add(argv, "%.*s", (int)n, list);
    }
}

void dfc_flags_keep_for_linking(const struct dfc_list *flags, struct dfc_list *argv)
{
    for (size_t i = 0; i < flags->n; i++)
        if (is_for_linking_too(flags->items[i]))
            dfc_list_add(argv, "%s", flags->items[i]);
}

void dfc_flags_add_for_linking(const struct dfc_program *p, struct dfc_list *argv)
{
    for (size_t u = 0; u < p->n_units; u++) {
        struct dfc_list words = { 0 };
        dfc_list_add_words(&words, p->units[u].flags);
        for (size_t i = 0; i < words.n; i++)
            if (p->units[u].kind == DFC_CODE_CUDA)
                add_host_options(words.items[i], argv);
            else if (p->units[u].kind != DFC_CODE_OPENCL && is_for_linking_too(words.items[i]))
                dfc_list_add(argv, "%s", words.items[i]);
        argv->failed |= words.failed;
        dfc_list_free(&words);
    }
}

/* ---- flags that change what code means ---- */

static bool is_one_of(const char *word, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(word, *names) == 0)
            return true;
    return false;
}

/* A formula has the same bits under all flags of the user's. So its units get no other flags than these; others may come with any compiler,
 * and a macro can change anything. dfc's own macros are for tests. */
static bool is_for_formulas(const char *word)
{
    static const char *const beginnings[] = {
        "-g", "-pipe", "-v", "-fsanitize", "-fno-sanitize", "-fprofile", "-fno-profile", "--coverage", "-coverage", "-ftest-coverage", "-flto", "-fno-lto", "-ffat-lto",
        "-fno-fat-lto", "-pthread", "-fPI", "-fpi", "-fno-PI", "-fno-pi", "-no-pie", "-fomit-frame-pointer", "-fno-omit-frame-pointer", "-fstack-", "-fno-stack-",
        "-fcf-protection", "-fno-plt", "-fsemantic-", "-fno-semantic-", "-fdebug", "-ffile-prefix-map", "-fdiagnostics", "-fno-diagnostics", "-fasynchronous-unwind",
        "-fno-asynchronous-unwind", "-funwind-tables", "-frandom-seed", "-fdata-sections", "-ffunction-sections", "-fvisibility", "-falign-", "-fno-align-",
        "-funroll-", "-fno-unroll-", "-ftree-", "-fno-tree-", "-fvect-cost", "-fsimd-cost", "-finline", "-fno-inline", "-m", "-B", "--sysroot", "-isysroot",
        "--target", "-target", "-specs", "--gcc-", "-save-temps", "-DDF_", NULL };
    static const char *const meanings[] = { "-mfpmath", "-mpc", "-mllvm", "-mlong-double", "-mabi", "-mdaz-ftz", "-mrecip", "-mms-bitfields", "-mregparm", "-mrtd", NULL };
    size_t n;
    return after_one_of(word, beginnings, &n) && !after_one_of(word, meanings, &n);
}

/* Returns true if the option's argument is the next word. */
static bool takes_next(const char *word)
{
    static const char *const names[] = { "-B", "-isysroot", "--sysroot", "-target", NULL };
    return is_one_of(word, names);
}

void dfc_flags_add_for_formulas(const struct dfc_list *flags, size_t from, struct dfc_list *argv)
{
    bool taken = true;                  /* the words before the first option are a compiler and what is put before it */
    for (size_t i = from; i < flags->n; i++) {
        const char *word = flags->items[i];
        bool option = word[0] == '-', keep = option ? is_for_formulas(word) : taken && from == 0;
        keep |= from == 0 && strncmp(word, "--", 2) == 0; /* an option of a compiler wrapper */
        if (keep || (!option && taken && i > from && takes_next(flags->items[i - 1])))
            dfc_list_add(argv, "%s", word);
        taken = keep;
    }
}

bool dfc_takes_macro_or_file(const char *nvcc_flag)
{
    static const char *const names[] = { "-D", "--define-macro", "-U", "--undefine-macro", "-include", "--pre-include", NULL };
    return is_one_of(nvcc_flag, names);
}

bool dfc_is_about_meaning(const char *nvcc_flag)
{
    static const char *const beginnings[] = { "-use_fast_math", "--use_fast_math", "-D", "--define-macro", "-U", "--undefine-macro", "-include", "--pre-include", NULL };
    static const char *const ours[] = { "-DDF_", NULL };
    size_t n;
    return after_one_of(nvcc_flag, beginnings, &n) && !after_one_of(nvcc_flag, ours, &n);
}

/* For these a compiler links code that runs before main(), or when a library is loaded. It sets denormal numbers to zero, or the precision of the
 * x87 unit, in the thread that runs it: that of all code of the process. */
static bool changes_arithmetic(const char *word)
{
    static const char *const names[] = { "-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-mdaz-ftz", "-mpc32", "-mpc64", "-mpc80", NULL };
    return is_one_of(word, names);
}

void dfc_flags_add_but_arithmetic(const struct dfc_list *flags, struct dfc_list *argv)
{
    for (size_t i = 0; i < flags->n; i++)
        if (!changes_arithmetic(flags->items[i]))
            dfc_list_add(argv, "%s", flags->items[i]);
        else if (strcmp(flags->items[i], "-Ofast") == 0)
            dfc_list_add(argv, "-O3");  /* link-time optimisation asks for it */
}

/* ---- debug information ---- */

/* -g, -g3, -ggdb and the like; a sanitizer's reports name lines. nvcc's -gencode is something else. With -s the linker
 * leaves out more, and gcc hands it over before any -Wl. */
static bool decides_on_debug(const struct dfc_list *words)
{
    static const char *const beginnings[] = { "-g", "-fsanitize", "-Xcompiler=-g", NULL };
    size_t n;
    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->items[i];
        if (strcmp(word, "-s") == 0 ||
            (after_one_of(word, beginnings, &n) && strncmp(word, "-gencode", strlen("-gencode")) != 0))
            return true;
    }
    return false;
}

bool dfc_flags_decide_on_debug(const struct dfc_program *p)
{
    const struct dfc_list *const lists[] = { &p->tools.cc, &p->tools.cxx, &p->tools.c_flags, &p->tools.cu_flags };
    bool decided = false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        decided |= decides_on_debug(lists[i]);
    for (size_t u = 0; !decided && u < p->n_units; u++) {
        struct dfc_list words = { 0 };
        dfc_list_add_words(&words, p->units[u].flags);
        decided = words.failed || decides_on_debug(&words);
        dfc_list_free(&words);
    }
    return decided;
}
