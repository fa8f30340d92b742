/* generate.h - generates C for CPUs, and CUDA C++ and OpenCL C for GPUs, from kernels that are written as formulas.
 *
 *   generate.c   the file of a program's formulas; equal kernels share their code.
 *   kernel.c     the functions of one kernel.
 *   generate_gpu.c   those of one kernel for GPUs.
 *   analyse.c    what is known of a formula's nodes before anything is printed.
 *   floats.c     between which numbers floats lie.
 *   known.c      what is known where a value is printed: residues of rows, for one.
 *   expr.c       the text of one value.
 *   place.c      the texts of indices and reads.
 *   reduce.c     reductions as loops.
 *   few_terms.c  texts for each small number of terms.
 *   rows.c       functions of rows, and who calls them.
 *   columns.c    values that columns share.
 *   gathers.c    elements that are read at computed places.
 *   shared.c     values that rows share: functions of two rows, and values kept for later rows.
 *   siblings.c     formulas that one row function computes.
 *   one_pass.c   histograms and running sums: one pass over the data.
 *   slow.c       formulas that leave the fast ways (slow.h).
 *
 * Room:     compiler/generate/ knows compiler/formula/ and compiler/proof/. It runs no compiler and reads no file.
 * Needs:    a kernel whose reads are proved to be in bounds or have borders (compiler/proof/).
 * Text:     the file includes <df.h>, <df_formula.h> and, for exp and the like, <df_math.h>. It is compiled once per
 *           instruction-set level of the processor, each time with a different macro DF_LEVEL(name).
 * Function: the entry point of a kernel is a df_function (df.h) named DF_LEVEL(df_formula_NAME). It sets rounding to
 *           nearest with denormal numbers enabled, and restores the previous mode on return.
 * Rows:     each formula is a *stage*: a function that computes one row of its port, or some columns of it. Formulas
 *           that differ only in constants after the column, such as o[y, x, 0] and o[y, x, 1], form one stage, so that
 *           what they share is computed once.
 *                df_row0_NAME(dimensions, scalars, T *row, const T *df_PORT_0, …, const T *port, …, y, df_from, df_to)
 *           computes columns df_from … df_to - 1 of the row that begins at `row`. Each df_PORT_i is the first element of a row
 *           that the stage reads. It may be anywhere in memory, so a fused group can pass rows from its ring buffers. Which rows
 *           these are (port, position relative to y, border) is in dfg_stage.rows (gen.h). Ports that are read in other ways
 *           (tables of data, reductions over everything) are passed whole.
 *           A formula whose neighbouring rows read the same rows also has df_rows0_NAME: it writes the row y, and y + 1 at df_next,
 *           so that compilers compute the common part once.
 *           A formula whose sum contains a value that pairs of elements share (shared.c) also has df_half0_NAME and df_shared0_NAME:
 *           the first computes half of these values for a row, the second reads them and otherwise equals df_row0_NAME.
 *           df_row… may only be called for columns from df_low to df_high - 1, where every read is inside its row; df_edge… has
 *           the same parameters and computes any columns, with borders. dfg_print_bounds() prints the computation of these two
 *           numbers, dfg_print_calls() the calls of both. For a row outside of its port the caller substitutes another row, or
 *           one filled with the border's number.
 * Memory:   texts live in an arena of the call and are freed with it.
 * Output:   the same input gives the same bytes. The caller checks the FILE for errors.
 */
#ifndef DFG_GENERATE_H
#define DFG_GENERATE_H

#include <stdio.h>

#include "compiler/formula/formula.h"

/* A kernel to print, or a group that has the ports of one. */
struct dfg_kernel {
    const char *name;                   /* unique in the file; letters, digits and _ */
    const struct dff_kernel *formulas;
};

struct dfg_level {                      /* of a processor's instructions */
    const char *name;                   /* the file's functions end with _NAME then */
    const char *flags;                  /* of gcc and clang, with blanks between them */
    unsigned least;                     /* what df_isa_level() (df.h) gives at least if the processor has them */
};
/* Level 0 is what every processor has, and needs none of these. Each level has the instructions of those before it. NULL: there
 * are no more levels on this architecture. */
const struct dfg_level *dfg_level(unsigned number);
#define DFG_MOST_LEVELS 3u              /* there are at most so many */

/* The largest extent that the code of a kernel takes. 0: no memory. */
int64_t dfg_limit(const struct dff_kernel *formulas);

struct dff_gpu_code;
/* Finds what the GPU code of a kernel does beyond its formulas (compiler/count/count.h): its launches, and what its tiles compute and read again. The caller
 * gives room for a number by formula and one by port of the signature. false: no memory. */
bool dfg_gpu_code(const struct dff_kernel *formulas, double *computed, double *read, struct dff_gpu_code *code);

/* How the texts are printed. */
struct dfg_print {
    const char *stem;                   /* names the .df, and with "_formulas" the file */
    const struct dfl_sink *sink;        /* names files for #line; NULL: no #line */
    bool gpu;                           /* CUDA C++: the file includes <df_formula_gpu.h>, and a kernel's df_function is named df_formula_NAME_gpu. It is
                                         * compiled with --fmad=false --ftz=false --prec-div=true --prec-sqrt=true */
    bool opencl;                        /* with gpu, and without split. There are two texts then: STEM_formulas_opencl.c, C with a df_function df_formula_NAME_opencl for each
                                         * kernel; and STEM_formulas.cl, OpenCL C that is compiled with -cl-fp32-correctly-rounded-divide-sqrt */
    bool split;                         /* a file for each kernel with much code, to be compiled at the same time and found in a cache; else one */
};
struct dfg_printed {                    /* a kernel that was printed */
    size_t part, lines;                 /* part: in which text; lines: of its code there */
    double cpu_s;                       /* CPU time that printing it took */
};
struct dfg_texts {
    char **text;                        /* of STEM_formulas.c, STEM_formulas1.c, …; the first has all small kernels, and is there if there are none, too */
    size_t n;
    struct dfg_printed *kernels;        /* as many as were printed, in their order */
};

/* Prints the files. false: no memory. dfg_texts_free() is called in either case. */
bool dfg_print(const struct dfg_print *how, const struct dfg_kernel *kernels, size_t n, struct dfg_texts *texts);
void dfg_texts_free(struct dfg_texts *texts);

#endif
