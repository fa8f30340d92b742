/* emit.h - prints the C and CUDA C of a program, from the graph and the declarations of its kernels. compiler/build/
 * calls it.
 *
 *   emit_spell.c    how C spells what a graph declares: types, signatures, arguments, #line.
 *   emit_header.c   NAME.df.h.
 *   emit_c.c        NAME.c.
 *   emit_cuda.c     NAME_gpu.cu.
 *   emit_unit.c     the unit of one file of the user's.
 *   emit_launch.c   launches of bare __global__ functions.
 *   emit_opencl.c   the unit of one .cl file.
 *   emit_device.c   addresses of device code.
 *   emit_opencl_formulas.c  STEM_formulas_opencl.c.
 *   emit_python.c   the Python module of a library
 *   emit_slow.c     which formulas are slow, and what would help (emit_slow.h).
 *   emit_library.c  the functions and the header of a library, and how other programs find it.
 *
 * Room:     compiler/emit/ knows the front end's result and messages. It runs no compiler and decides nothing about the
 *           graph.
 * Output:   the same input gives the same bytes. The caller checks the FILE for errors.
 */
#ifndef DFC_EMIT_H
#define DFC_EMIT_H

#include <stdio.h>

#include "compiler/front/front.h"
#include "compiler/tools/spawn.h"
#include "compiler/types/paths.h"

/* What precedes NAME_cpu in the name of a variant's function: "" for a function in a file; "df_inline_" or "df_target_"
 * for a generated one. */
const char *dfc_variant_prefix(const struct dfl_variant *variant);
/* Prints `int PREFIXNAME_cpu(struct df_call *call, …)` without a ';'. mutable_inputs: `in` ports are not const. */
void dfc_emit_signature(FILE *out, const struct df_graph *graph, uint32_t kernel, const char *prefix, bool gpu,
                        bool mutable_inputs);
/* Prints such a function's prototype with its ';'. The names stand in comments, where no macro can change them. */
void dfc_emit_prototype(FILE *out, const struct df_graph *graph, uint32_t kernel, const char *prefix, bool gpu,
                        bool mutable_inputs);
/* Prints the prototype of PREFIXOPEN, a variant's open function. */
void dfc_emit_open_prototype(FILE *out, const struct df_graph *graph, uint32_t kernel, const char *prefix,
                             const char *open);
/* Prints what takes away the macros that have the names of the kernel's dimensions, ports and scalars, and what puts
 * them back. Both print whole lines. */
void dfc_emit_names_free(FILE *out, const struct df_graph *graph, uint32_t kernel);
void dfc_emit_names_back(FILE *out, const struct df_graph *graph, uint32_t kernel);
/* Prints `(void)NAME;` for each argument of such a function, because its body may not use them all. */
void dfc_emit_unused(FILE *out, const struct df_graph *graph, uint32_t kernel, bool gpu);
/* Prints the function that holds the inline code of a variant. linkage: "static ", "extern \"C\" " or "". */
void dfc_emit_inline(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                     const struct dfl_variant *variant, bool gpu, const char *linkage);
/* Includes the headers that inline code has. */
void dfc_emit_inline_headers(FILE *out);

/* Errors for macros that stand for words of C. They come before any header that uses these words. */
void dfc_emit_keywords(FILE *out);

struct dfc_emit_gpu {                   /* which gpu variants are compiled */
    bool code;                          /* those for CUDA, or for the emulator */
    bool emulated;                      /* for the emulator (--emu-gpu-code) */
    bool opencl;                        /* formulas for OpenCL devices */
};

/* Prints NAME.df.h, NAME.c and NAME_gpu.cu; NAME is `stem`. n_levels: formulas are compiled for the levels below it
 * (dfg_level()). catches: some unit has what dfc_emit_catch() prints. */
void dfc_emit_header(FILE *out, const struct dfc_front *front, const char *stem);
void dfc_emit_c(FILE *out, const struct dfc_front *front, const char *stem, unsigned n_levels, const struct dfc_emit_gpu *gpu, bool catches);
void dfc_emit_cuda(FILE *out, const struct dfc_front *front, const char *stem);
/* emit_catch.c: the end of a unit in C++ that catches the exceptions of all kernels; and for the program's C what declares it. */
void dfc_emit_catch(FILE *out);
void dfc_emit_catch_prototype(FILE *out);
/* Is the variant inline code in a generated unit? It is not, if the code stands with a source file: then it is in that
 * file's unit, after the file's text, and may use all that the file has. */
bool dfc_code_is_generated(const struct dfl_variant *variant);
/* Is some cpu variant, or some gpu variant, such code? */
bool dfc_has_inline(const struct dfc_front *front, bool gpu);
/* Ports that the declaration has, which variants that are written take. Scratch of formulas is behind them. */
unsigned dfc_n_declared_ports(const struct df_graph *g, const struct df_kernel *kernel);
/* What C calls a kernel. */
const char *dfc_emit_name(const struct dfc_front *front, const struct dfc_kernel_code *code);
/* Do formulas give the code of the kernel for CPUs or GPUs, because no such variant is written? That of some kernel? */
bool dfc_is_formula(const struct dfc_kernel_code *code, bool gpu);
bool dfc_has_formulas(const struct dfc_front *front, bool gpu);
/* And for OpenCL devices? Of some kernel? */
bool dfc_is_opencl_formula(const struct dfc_kernel_code *code);
bool dfc_has_opencl_formulas(const struct dfc_front *front);
/* Prints STEM_formulas.c or STEM_formulas.cu, that code; with `split` also STEM_formulas1.c and so on (generate.h). false: no memory.
 * dfg_texts_free() is called in either case. */
struct dfg_texts;
bool dfc_emit_formulas(struct dfg_texts *texts, const struct dfc_front *front, const char *stem, bool gpu, bool split);
/* Makes the texts of the formulas for OpenCL devices (struct dfg_print). false: no memory. dfg_texts_free() is called in either case. */
bool dfc_emit_opencl_formulas(struct dfg_texts *texts, const struct dfc_front *front, const char *stem);
/* emit_opencl_formulas.c: the OpenCL C of these texts with all that it includes; the headers are in `folder`. malloc'ed; NULL: no memory, or reported. And the unit with these
 * texts, of which this is one. */
char *dfc_opencl_formulas_text(const struct dfg_texts *texts, const char *stem, const char *folder);
void dfc_emit_opencl_unit(FILE *out, const struct dfg_texts *texts, const char *stem, const char *text);
/* Prints a header for one C file: the prototypes of all kernels without bounds that name the file in their declarations, whether the program calls them
 * or not. So it is the same in all programs that import a file of std/. */
void dfc_emit_file_header(FILE *out, const struct dfc_front *front, const char *path);
/* Is this the file that the variant names? */
bool dfc_variant_is_of(const struct dfc_kernel_code *code, const struct dfl_variant *variant, const char *file);
/* Prints the unit of a user's file: the header of that name, the file's text, and the calls of its functions that `cpu "file": f(…)`
 * asks for. cxx: it is C++ or CUDA. gpu: gpu variants are compiled. false: reported. */
bool dfc_emit_unit(FILE *out, const struct dfc_front *front, const char *header, const char *path, bool cxx,
                   bool gpu);
/* Prints the unit of a .cl file. Returns false if that was reported, or if there is no memory. */
bool dfc_emit_opencl(FILE *out, const struct dfc_front *front, const char *header, const char *path);
/* Prints the text that drivers get, and adds the files that it includes. Returns false if that was reported, or if there is no memory. */
bool dfc_emit_opencl_text(FILE *out, const char *path, struct dfc_list *files);
/* emit_opencl_prototypes.c: prints the file's kernels as C without bodies. Returns false if that was reported, or if there is no memory. */
bool dfc_emit_opencl_prototypes(FILE *out, const char *path);
/* Prints a text as a string of C, on lines as it has. */
void dfc_emit_string(FILE *out, const char *text, size_t n);
/* Prints declarations of what the units of .cl files have of the kernel, or what struct df_functions is to have of it. */
void dfc_emit_opencl_functions(FILE *out, const struct dfc_kernel_code *code, const char *name, bool declares);
/* Reads a user's file without its byte order mark. Returns false if that was reported. The caller frees the text in either case. */
bool dfc_emit_read(const char *path, char **text);
/* Prints the call of the function PREFIXNAME_cpu or PREFIXNAME_gpu, from the parameters of a df_function. */
void dfc_emit_call(FILE *out, const struct df_graph *g, uint32_t kernel, const char *prefix, bool gpu);
/* The i-th name of a kernel: dimensions, ports, scalars. NULL: it has no more. */
const char *dfc_emit_name_of(const struct df_graph *g, uint32_t kernel, unsigned i);
/* Prints the arguments of a call: as written; if none were written, `first` and then those of a prototype. */
void dfc_emit_arguments(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_variant *variant, const char *first);
/* Prints what computes the arguments that are expressions, at the beginning of a function that makes the call, and
 * before such functions the helpers for it. The job fails if an integer overflows or is divided by zero. */
void dfc_emit_argument_values(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                              const struct dfl_variant *variant);
void dfc_emit_argument_prelude(FILE *out);
/* emit_launch.c: prints the body of a function that launches a __global__ one, and what such bodies need before
 * them. */
void dfc_emit_launch(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                     const struct dfl_variant *variant);
void dfc_emit_launch_prelude(FILE *out);
/* emit_device.c. Is the gpu variant compiled by nvcc, so that its unit has code for devices? NULL has none. */
bool dfc_has_device_code(const struct dfl_variant *gpu);
/* Prints `const void *df_device_NAME(void)`, which gives a __global__ function of the kernel's gpu variant or of its
 * unit (struct df_functions); and, once in a unit, what such functions need before them. */
void dfc_emit_device(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code);
void dfc_emit_device_prelude(FILE *out);
/* Prints the definition of a local `program` (struct df_program), in a function's body. */
void dfc_emit_program(FILE *out, const struct dfc_front *front, bool emu_gpu_code);
/* emit_library.c: the functions of front->exports; the header STEM.h; the names of all functions, as a version script or one
 * a line. `source` is the name of the .df. */
void dfc_emit_library(FILE *out, const struct dfc_front *front, bool emu_gpu_code);
void dfc_emit_library_header(FILE *out, const struct dfc_front *front, const char *stem, const char *source);
void dfc_emit_exports(FILE *out, const struct dfc_front *front, bool script);

/* emit_settings.c: the args and dynamic params of the graph, as lines of a comment of C, and as an array of JSON inside a string of C. */
void dfc_emit_settings_comment(FILE *out, const struct df_graph *g);
void dfc_emit_settings_json(FILE *out, const struct df_graph *g);
/* STEM.pc and STEMConfig.cmake for the library `file`, beside them. needs: what a program links with it. */
void dfc_emit_pkg_config(FILE *out, const char *stem, const char *file, const char *source,
                         const struct dfc_list *needs);
/* May a graph of a Python module have this name? */
bool dfc_python_name(const char *name);
/* text: graphs.py, which is read to its end. */
void dfc_emit_python(FILE *out, const struct dfc_front *front, const char *stem, const char *file, const char *source,
                     FILE *text);
void dfc_emit_cmake(FILE *out, const char *stem, const char *file, const char *source, bool archive,
                    const struct dfc_list *needs);
/* For a function in an object file, where no compiler can ask for its type: prints a prototype by the names of the
 * arguments, and the call. It goes into the main unit. */
void dfc_emit_object_target(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                            const struct dfl_variant *variant, bool gpu);

#endif
