/* kernel_text.h - prints existing functions (prototypes.h) as kernel declarations, for `dfc wrap`. What a prototype
 * cannot tell is marked with '?', which the compiler rejects until the user has filled it in. Guesses from names are
 * marked as such. commands/cmd_wrap.c calls it; the functions below that roles.c and ctype_text.c define are for
 * kernel_text.c.
 *
 * Text:     the same input gives the same bytes. The caller checks the FILE for errors.
 */
#ifndef DFC_KERNEL_TEXT_H
#define DFC_KERNEL_TEXT_H

#include <stdio.h>

#include "compiler/wrap/prototypes.h"

struct dfc_wrapped_file {
    const char *path;                   /* as the .df will name it */
    const char *flags;                  /* with which it is compiled; NULL: none */
    bool is_source;                     /* false: an object or archive */
    bool is_opencl;                     /* its functions are kernels, which are launched as they are */
};

/* Returns why no kernel can call the function as it is; NULL: one can. `why` is a buffer for generated texts. */
enum { DFC_WHY_BYTES = 400 };
const char *dfc_kernel_refused(const struct dfc_function *f, const struct dfc_wrapped_file *file,
                               char why[DFC_WHY_BYTES]);
/* Prints the declaration of a function that is not refused, under a comment with its prototype. false: no memory. */
bool dfc_kernel_print(FILE *out, const struct dfc_function *f, const struct dfc_wrapped_file *file);
/* Prints, as a comment, that a function is rejected, and what the user could write, given `all` functions of the file. */
void dfc_kernel_print_refused(FILE *out, const struct dfc_function *f, const struct dfc_wrapped_file *file,
                              const char *why, const struct dfc_function *all);

/* ---- shared by this room's files ---- */

/* roles.c: what a parameter becomes. */
enum dfc_role_kind { DFC_ROLE_PORT, DFC_ROLE_DIMENSION, DFC_ROLE_SCALAR, DFC_ROLE_TEXT, DFC_ROLE_LOCAL };
struct dfc_role {
    enum dfc_role_kind kind;
    const struct dfc_ctype *elem;       /* port: its number; NULL: unknown (void) */
    unsigned rank;                      /* port: 1 … 4 extents, each a name, a number or NULL for "not known" */
    struct dfc_extent { const char *name; long number; } extents[4];
    bool guessed;                       /* port: names were guessed */
};
/* Fills roles[n_parameters] of a function that is not refused. */
void dfc_roles(const struct dfc_function *f, bool is_opencl, struct dfc_role *roles);

/* ctype_text.c: the kernel language's name of a number, as a port's element and as a scalar. NULL: there is none. */
const char *dfc_ctype_elem(const struct dfc_ctype *type);
const char *dfc_ctype_scalar(const struct dfc_ctype *type);
/* Prints "const float *a" for a type and a name, as C or C++ spells it; name "" prints only the type. DFC_SPELL_ALONE: as
 * C spells it where none of the file's types is declared, so an enum is an int. */
enum dfc_spelling { DFC_SPELL_C, DFC_SPELL_CXX, DFC_SPELL_ALONE };
void dfc_ctype_print(FILE *out, const struct dfc_ctype *type, const char *name, enum dfc_spelling spelling);
/* Prints "float dot(const float *a, int n)"; if it is to stand alone, without the parameters' names. */
void dfc_prototype_print(FILE *out, const struct dfc_function *f, const char *name, enum dfc_spelling spelling);

#endif
