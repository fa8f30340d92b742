/* elements.h - helpers for kernels of std/ that exist for several element types: elements.def lists the types for C,
 * and kernels.sh generates the declarations.
 *
 * Room:     runtime/std/ holds what programs import by "std/io.df": kernels that read and write files; filters, "std/fft.df"; products of matrices,
 *           "std/blas.df". dfc compiles these files into each program that uses them. They know df.h, df_io.h and df_formula.h alone.
 */
#ifndef STD_ELEMENTS_H
#define STD_ELEMENTS_H

static const size_t element_bytes[DF_N_ELEMS] = {
#define DF_ELEMENT(ID, name, type, bytes, ...) bytes,
#include "elements.def"
};

/* A token as the functions behind the kernels see it. */
struct token {
    enum df_elem elem;
    unsigned rank;
    size_t *extents;
    unsigned decided;                   /* bit i: extents[i] is a bound at first, and the file says how large it is */
};

static inline size_t token_bytes(const struct token *token)
{
    size_t bytes = element_bytes[token->elem];
    for (unsigned i = 0; i < token->rank; i++)
        bytes *= token->extents[i];
    return bytes;
}

/* Does the token have these extents? A stream whose extents have bounds may have others in each wave. */
static inline int same_extents(const struct token *token, const size_t *extents)
{
    for (unsigned i = 0; i < token->rank; i++)
        if (token->extents[i] != extents[i])
            return 0;
    return 1;
}

#endif
