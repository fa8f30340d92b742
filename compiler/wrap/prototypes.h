/* prototypes.h - the functions of an object file or archive, read from its debug information (DWARF): names,
 * parameters, types. kernel_text.h prints them as kernel declarations.
 *
 * Room:     compiler/wrap/ knows dsl/arena.h, messages and names of files. It runs no compiler and knows no graph.
 * Memory:   everything in a struct dfc_prototypes belongs to its arena.
 */
#ifndef DFC_PROTOTYPES_H
#define DFC_PROTOTYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "dsl/arena.h"

enum dfc_ctype_kind {
    DFC_CTYPE_VOID,
    DFC_CTYPE_SIGNED, DFC_CTYPE_UNSIGNED, DFC_CTYPE_FLOAT, DFC_CTYPE_BOOL, DFC_CTYPE_CHAR, DFC_CTYPE_ENUM, /* numbers */
    DFC_CTYPE_POINTER, DFC_CTYPE_REFERENCE, DFC_CTYPE_ARRAY, DFC_CTYPE_STRUCT, DFC_CTYPE_FUNCTION, DFC_CTYPE_OTHER
};

struct dfc_ctype {                      /* typedefs are followed to what they stand for */
    enum dfc_ctype_kind kind;
    bool is_const;
    bool is_atomic;                     /* of an OpenCL kernel: in memory of the work-group (emit_opencl_prototypes.c) */
    bool is_exact;                      /* a number: its type is the one that a port's or scalar's C type is */
    unsigned size_bytes;
    long extent;                        /* array: its elements; 0: not known when it is compiled */
    const char *name;                   /* of a number, enum, struct or class, as C or C++ spells it */
    bool is_alias;                      /* the name is a typedef's, or a word of C: no "struct" or "enum" goes before it */
    const struct dfc_ctype *of;         /* what is pointed or referred to; an array's element; NULL: none of these */
    const struct dfc_ctype *number;     /* of a struct of n_numbers equal numbers and nothing else, and of a complex */
    unsigned n_numbers;                 /* number: which one; else NULL and 0 */
};

static inline bool dfc_ctype_is_number(const struct dfc_ctype *type)
{
    return type->kind >= DFC_CTYPE_SIGNED && type->kind <= DFC_CTYPE_ENUM;
}

struct dfc_parameter {
    const char *name;                   /* never NULL */
    const struct dfc_ctype *type;
    struct dfc_parameter *next;
};

struct dfc_function {
    const char *name, *qualified;       /* "scale", "image::scale" */
    const char *symbol;                 /* what the linker calls it */
    const char *header;                 /* the header that it stands in; NULL: the source itself */
    unsigned line;
    bool is_cxx, is_external, is_variadic;
    bool is_member;                     /* it needs an object */
    unsigned overload;                  /* 0, or which one of several with this name it is, from 1 */
    unsigned n_parameters;
    struct dfc_parameter *parameters;
    const struct dfc_ctype *result;     /* never NULL */
    struct dfc_function *next;
};

struct dfc_prototypes {
    struct dfl_arena *arena;
    struct dfc_function *functions;     /* in the order of their lines, those of headers last */
    const char *globals;                /* names of variables that functions may share, "a, b"; NULL: none */
    const char *header_globals;         /* those of headers */
};

/* Reads the functions that `object` defines in the files it was compiled from, the system's headers left out. An object without
 * debug information is an error, unless dfc made it of a source, which then has no function. false: reported. The caller
 * frees with dfc_prototypes_free(), whatever is given.
 *
 * It is there only if dfc was built with libdw; else its address is NULL. */
bool dfc_prototypes_read(const char *object, bool is_source, struct dfc_prototypes *prototypes) __attribute__((weak));
void dfc_prototypes_free(struct dfc_prototypes *prototypes);

#endif
