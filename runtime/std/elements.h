/* elements.h - the kernels of std/ exist for several types of element. EACH_… calls a macro with the name, the C type
 * and the number of each. kernels.sh writes the declarations for the same names.
 *
 * Room:     runtime/std/ holds what programs import by "std/io.df": kernels that read and write files; filters, "std/fft.df"; products of matrices,
 *           "std/blas.df". dfc compiles these files into each program that uses them. They know df.h and df_io.h alone.
 */
#ifndef STD_ELEMENTS_H
#define STD_ELEMENTS_H

#define EACH_ELEMENT(MACRO)                                                                                      \
    MACRO(u8, uint8_t, DF_U8)                                                                                    \
    MACRO(u16, uint16_t, DF_U16)                                                                                 \
    MACRO(i32, int32_t, DF_I32)                                                                                  \
    MACRO(i64, int64_t, DF_I64)                                                                                  \
    MACRO(f16, df_f16, DF_F16)                                                                                   \
    MACRO(f32, float, DF_F32)                                                                                    \
    MACRO(f64, double, DF_F64)

static const size_t element_bytes[DF_N_ELEMS] = { [DF_U8] = 1,  [DF_U16] = 2, [DF_I32] = 4, [DF_I64] = 8,
                                                  [DF_F16] = 2, [DF_F32] = 4, [DF_F64] = 8 };

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
