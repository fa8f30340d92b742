/* npy.c - the sources and sinks of std/npy.df, compiled into programs that import it: read and write arrays in NumPy's
 * .npy format. An array with a token's shape is one wave; with one more leading extent, that is the number of waves.
 * Files are written in the same way: a single wave has the token's shape, several get a leading extent.
 */
#include "arrays.h"

static const int says_extents = 1;

/* Tokens without elements have no bytes, so the size of the file does not bound their number. */
#define MOST_EMPTY 1000000

static int wrong_type(struct df_call *call, const char *path, enum df_elem in_file, enum df_elem wanted)
{
    char has[8], wants[8];
    df_extents_text(has, sizeof has, in_file, 0, NULL);
    df_extents_text(wants, sizeof wants, wanted, 0, NULL);
    return df_fail(call, "'%s' holds %s, and the token %s: a kernel ..._npy_%s reads it", path, has, wants, has);
}

static int begin_file(struct df_call *call, const char *path, FILE *file, const struct token *token, int64_t *n)
{
    struct df_npy npy;
    if (df_npy_read(call, path, file, &npy) != DF_OK)
        return DF_FAILED;
    if (npy.elem != token->elem)
        return wrong_type(call, path, npy.elem, token->elem);
    int waves = npy.rank == token->rank + 1;
    if (npy.rank != token->rank && !waves)
        return df_fail(call, "'%s' has %u extents, and the token has %u (one more would be the waves)", path, npy.rank,
                       token->rank);
    if (df_extents_take(call, path, npy.elem, token->rank, token->decided, token->extents, npy.extents + waves) != DF_OK)
        return DF_FAILED;
    uint64_t tokens = waves ? npy.extents[0] : 1;
    if (token_bytes(token) == 0 && tokens > MOST_EMPTY)
        return df_fail(call, "the header of '%s' says %llu tokens without elements, and at most %d are read", path, (unsigned long long)tokens, MOST_EMPTY);
    int64_t size = size_of(file), header = ftell(file), bytes = (int64_t)token_bytes(token);
    if (tokens > INT64_MAX || (size >= 0 && bytes > 0 && (uint64_t)((size - header) / bytes) < tokens))
        return df_fail(call, "'%s' is cut off: its header says %llu tokens of %lld bytes, and %lld bytes are there", path,
                       (unsigned long long)tokens, (long long)bytes, (long long)(size - header));
    *n = (int64_t)tokens;
    return DF_OK;
}

static void begin_output(FILE *file, const struct token *token, int64_t zeros)
{
    struct df_npy npy = { .elem = token->elem };
    if (zeros > 1)
        npy.extents[npy.rank++] = (uint64_t)zeros;
    for (unsigned i = 0; i < token->rank; i++)
        npy.extents[npy.rank++] = token->extents[i];
    df_npy_write(file, &npy);
}

/* Arrays of different sizes. */
#define UP_TO(NAME, TYPE, NUMBER, RANK, EXTENTS, ...)                                                                \
    int read_npy_up_to_##NAME##_cpu(struct df_call *call, EXTENTS, TYPE *v, const char *path)                        \
    {                                                                                                                \
        size_t *const decided[] = { __VA_ARGS__ };                                                                   \
        return read_up_to(call, &(struct token){ NUMBER, RANK, (size_t[RANK]){ 0 }, (1u << RANK) - 1 }, v, path, decided); \
    }
#define NPY(ELEM, TYPE, NUMBER)                                                                                      \
    ARRAYS(npy, ELEM, TYPE, NUMBER)                                                                                  \
    UP_TO(ELEM, TYPE, NUMBER, 1, size_t *n, n)                                                                       \
    UP_TO(ELEM##_2d, TYPE, NUMBER, 2, size_t *h COMMA size_t *w, h, w)                                               \
    UP_TO(ELEM##_3d, TYPE, NUMBER, 3, size_t *d COMMA size_t *h COMMA size_t *w, d, h, w)                            \
    UP_TO(ELEM##_4d, TYPE, NUMBER, 4, size_t *t COMMA size_t *d COMMA size_t *h COMMA size_t *w, t, d, h, w)

static int read_up_to(struct df_call *call, const struct token *token, void *v, const char *path, size_t *const *decided)
{
    for (unsigned i = 0; i < token->rank; i++)
        token->extents[i] = *decided[i];
    int status = read_array(call, token, v, path);
    for (unsigned i = 0; i < token->rank; i++)
        *decided[i] = token->extents[i];
    return status;
}

#define DF_ELEMENT(ID, name, type, ...) NPY(name, type, DF_##ID)
#include "elements.def"
