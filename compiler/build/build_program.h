/* build_program.h - internal interface of the build, shared by the files of compiler/build/: from a loaded graph to a
 * linked program.
 *
 *   build_program.c  the steps, in order.
 *   build_tools.c    finds compilers, CUDA toolkit and libraries on this machine.
 *   build_units.c    the list of translation units, and their compilation.
 *   build_flags.c    which user flags apply to which step.
 *   build_main.c     user files that have a main() of their own.
 *   build_link.c     the link line, and what linker errors mean.
 *   build_data.c     the image and identity that a program carries.
 *   build_library.c  the link of a library, with its header and packages.
 *   build_deps.c     -MD.
 *   identity.c       the facts on which the program's results depend (identity.h).
 *   object_cache.c   the cache of compiled objects (object_cache.h).
 *   program_cache.c  the cache of linked programs (program_cache.h).
 *   cache_store.c    the storage of both caches (cache_store.h).
 *   timing.c         --timing.
 *   gpu_arch.c       the architectures for which CUDA code is compiled.
 *   compiler/emit/   the generated source text.
 *
 * Memory:   dfc_units_free() and dfc_tools_free() free what a program's units and tools hold.
 * Output:   builds are reproducible: no temporary path, time or order of completion reaches the program. The exception
 *           is relocatable device code, because nvcc derives symbol names from the unit's path.
 */
#ifndef DFC_BUILD_PROGRAM_H
#define DFC_BUILD_PROGRAM_H

#include "compiler/build/make_program.h"
#include "compiler/generate/generate.h"
#include "compiler/tools/messages.h"
#include "compiler/tools/output_file.h"
#include "compiler/tools/spawn.h"
#include "compiler/types/paths.h"

/* ---- compilers ---- */

struct dfc_tools {
    struct dfc_list cc, cxx, nvcc;      /* the command, and flags that were named with it; nvcc is empty if there is
                                         * none */
    struct dfc_list c_flags;            /* for every C and C++ unit: -O -g --cflags, sanitizers, pkg-config */
    size_t n_own_flags;                 /* the first of them, which are dfc's own; the others are the user's */
    struct dfc_list cu_flags;
    bool relocatable;                   /* they ask for relocatable device code, which is linked in a step of its own */
    struct dfc_list link_flags;         /* pkg-config and -l */
    const char *include, *lib;          /* dfc_home_… */
    char *toolkit;                      /* folder of the CUDA toolkit; NULL: none */
    const char *no_gpu_code;            /* why gpu variants cannot be compiled; NULL: they can */
};
/* Finds the compilers, and the toolkit and libraries that the front end's result needs. false: reported. */
bool dfc_tools_find(struct dfc_tools *tools, const struct dfc_common *common, const struct dfc_build_options *options,
                    const struct dfc_front *front);
void dfc_tools_free(struct dfc_tools *tools);
/* The file that a command's name means: itself if it holds a slash, else the first such file in $PATH. malloc'ed; NULL:
 * none. */
char *dfc_find_program(const char *name);
/* nvcc runs its steps through a shell, with names in double quotes. Returns false if an argument would be expanded there; reported. */
bool dfc_nvcc_takes(const struct dfc_list *argv);
/* Is it nvcc's -dc, which means -rdc=true, and which only compiling takes? */
bool dfc_is_device_c(const char *flag);

/* ---- units ---- */

struct dfc_build_unit {
    enum dfc_code_kind kind;
    char *path;                         /* the user's file; NULL: the unit is wholly generated */
    const struct dfg_level *level;      /* of STEM_formulas.c or a further one; NULL: the unit is another one */
    size_t part;                        /* which of these files */
    bool gpu_formulas, opencl_formulas; /* it is STEM_formulas.cu, STEM_formulas_opencl.c */
    bool of_std;                        /* a C file of std/: the unit is the same in every program, so they share its object in the cache */
    const char *flags, *dir;            /* what the .df gives to that file's compiler (NULL: nothing), and its folder */
    char *source, *object, *log, *deps; /* in the work folder; if the user's file is an object, `object` is that file */
    bool was_cached;                    /* its object came from the cache */
    double cpu_s;                       /* CPU time that compiling it took */
};

enum dfc_gpu_code { DFC_GPU_NONE, DFC_GPU_EMULATED, DFC_GPU_CUDA }; /* EMULATED: as C and C++, for the emulated GPU */

struct dfc_program {
    const struct dfc_common *common;
    struct dfc_loaded *loaded;
    const struct dfc_build_options *options;
    const char *output;
    struct dfc_tools tools;
    const char *stem;                   /* "sum" of sum.df */
    struct df_plan *plan;               /* NULL: the program carries none */
    char *work;                         /* folder of generated files */
    struct dfg_texts formulas[3];       /* for CPUs, GPUs, and OpenCL devices */
    bool opencl;                        /* formulas are compiled for OpenCL devices, too */
    enum dfc_gpu_code gpu_code;         /* of gpu variants and formulas */
    struct dfc_build_unit *units;
    size_t n_units;
    const struct dfc_build_unit *catcher; /* the unit that catches exceptions; NULL: none is C++ */
    char *data;                         /* data.s in the work folder; NULL: not written yet */
    unsigned n_levels;                  /* for which formulas are compiled (dfg_level()) */
    bool takes_for_vectors;             /* the C compiler takes a flag with which it makes vectors of more loops of formulas */
    double link_cpu_s;                  /* CPU time that linking took */
    bool was_cached;                    /* the program came from the cache, and nothing was linked */
    const struct dfg_level *here;       /* the only one, in place of level 0, for a program that runs here; NULL: all are compiled */
};

/* Is what is compiled and linked kept, and taken from there? --keep wants the compilers' own files. */
bool dfc_is_cached(const struct dfc_program *p);
/* Does the C or C++ compiler take these flags, with blanks between them? It is asked with an empty file, after the work folder was made. */
bool dfc_takes_flags(const struct dfc_program *p, const struct dfc_list *compiler, const char *flags);
/* Lists the units and writes their sources into the work folder. false: reported. */
bool dfc_units_make(struct dfc_program *p);
/* Lists one unit, which is the user's file as it stands. false: reported. */
bool dfc_units_make_alone(struct dfc_program *p, const char *path);
/* Compiles all units, as many at a time as there are cores. false: reported. */
bool dfc_units_compile(struct dfc_program *p);
void dfc_units_free(struct dfc_program *p);

/* ---- what is special about one unit ---- */

/* Adds the flags that the .df gives to the unit's file. Folders after -I are looked for beside the .df. */
void dfc_flags_add(const struct dfc_build_unit *unit, struct dfc_list *argv);
/* Adds those flags that count when linking, too: -fopenmp, -fsanitize and the like. The second: of what the .df gives to
 * all units. */
void dfc_flags_keep_for_linking(const struct dfc_list *flags, struct dfc_list *argv);
/* Adds a compiler's command and flags to the line that links, without those by which it would change what the process computes. */
void dfc_flags_add_but_arithmetic(const struct dfc_list *flags, struct dfc_list *argv);
/* Adds those of the user's flags, from number `from` on, that a unit of formulas gets: they change how it is compiled, and not what it means. */
void dfc_flags_add_for_formulas(const struct dfc_list *flags, size_t from, struct dfc_list *argv);
/* Can nvcc's flag change what formulas mean? */
bool dfc_is_about_meaning(const char *nvcc_flag);
/* Returns true if the flag's argument, a macro or a file, is the next word. */
bool dfc_takes_macro_or_file(const char *nvcc_flag);
void dfc_flags_add_for_linking(const struct dfc_program *p, struct dfc_list *argv);
/* Does any flag, dfc's -g or another, ask for debug information or a sanitizer, or for no symbols at all (-s)? */
bool dfc_flags_decide_on_debug(const struct dfc_program *p);
/* Does the source, as it is written, seem to have a main()? */
bool dfc_may_have_main(const char *source);
/* If the unit's object or archive has a main(), replaces it by a copy in the work folder where that is local. false:
 * reported. */
bool dfc_hide_main(const struct dfc_program *p, struct dfc_build_unit *unit);

/* Is there a unit of that kind? If one is C++, the C++ compiler links. */
bool dfc_has_unit(const struct dfc_program *p, enum dfc_code_kind kind);
/* Links the units to a program at `path`. false: reported. */
bool dfc_link(struct dfc_program *p, const char *path);
/* Writes p->data, which has the image that is in the work folder and the identity. The units are compiled. false: reported. */
bool dfc_data_write(struct dfc_program *p);
/* Adds it to a command that links. */
void dfc_data_add(const struct dfc_program *p, struct dfc_list *argv);
/* Adds the existing prerequisites of a make rule that a compiler has written. Returns false if it cannot be read. */
bool dfc_prerequisites(const char *rule, struct dfc_list *files);
/* Writes a rule that dfc_prerequisites() reads. false: it cannot be written. */
bool dfc_write_prerequisites(const char *rule, const struct dfc_list *files);
/* Returns whether it is a header of the C library, of a compiler or of the CUDA toolkit. */
bool dfc_is_system_header(const struct dfc_program *p, const char *path);
/* build_link.c, for build_library.c: the line that links all to `all.o` in the work folder; the libraries that the
 * product needs and does not have in itself; and a line that is run, with what it says printed. Gives its exit status; -1:
 * it could not be run, which is reported. `said` takes its errors. */
void dfc_link_relocatable(const struct dfc_program *p, struct dfc_list *argv);
void dfc_link_needs(const struct dfc_program *p, struct dfc_list *words);
int dfc_run_linker(const struct dfc_list *argv, char **said);

/* ---- libraries ---- */

enum { DFC_LIBRARY_FILES = 4 };
struct dfc_library_files {              /* header, pkg-config file, CMake package, Python module if asked for */
    struct dfc_output output[DFC_LIBRARY_FILES];
    size_t n;                           /* that are open */
};
/* Writes them, under temporary names. false: reported. Close them in either case. */
bool dfc_library_open(const struct dfc_program *p, struct dfc_library_files *files);
bool dfc_library_close(struct dfc_library_files *files, bool keep);
const char *dfc_library_file(const struct dfc_program *p); /* the library's name without its folder */
char *dfc_library_exports(const struct dfc_program *p, bool script); /* a file of its symbols; malloc'ed; NULL: reported */
bool dfc_link_archive(const struct dfc_program *p, const char *path);

/* --timing: prints how long each kernel of formulas took to generate, each file to compile, and the link; and the total of a build
 * that began at the moment `began`. */
struct dfc_moment {
    double elapsed_s;
    double own_s, tools_s;              /* CPU time of dfc, and of the tools that it has run */
};
struct dfc_moment dfc_moment_now(void);
void dfc_print_timing(FILE *out, const struct dfc_program *p, struct dfc_moment began);

/* -MD: writes OUTPUT.d. false: reported. */
bool dfc_write_dependencies(const struct dfc_program *p);

#endif
