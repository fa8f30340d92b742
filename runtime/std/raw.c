/* raw.c - the sources and sinks of std/raw.df, compiled into programs that import it: files that hold only the elements
 * of tokens, without a header, in this machine's byte order. */
#include "arrays.h"

static const int says_extents = 0;

static int begin_file(struct df_call *call, const char *path, FILE *file, const struct token *token, int64_t *n)
{
    int64_t size = size_of(file), bytes = (int64_t)token_bytes(token);
    uint64_t extents[DF_MAX_RANK];
    char text[96];
    *n = size < 0 ? -1 : size / bytes;
    if (size < 0 || (size > 0 && size % bytes == 0))
        return DF_OK;
    for (unsigned i = 0; i < token->rank; i++)
        extents[i] = token->extents[i];
    return df_fail(call, "'%s' has %lld bytes, and a token %s has %lld", path, (long long)size,
                   df_extents_text(text, sizeof text, token->elem, token->rank, extents), (long long)bytes);
}

static void begin_output(FILE *file, const struct token *token, int64_t zeros)
{
    (void)file, (void)token, (void)zeros;
}

/* Elements from byte `at` on, such as those of a header. */
static int load_part(struct df_call *call, const struct token *token, void *v, const char *path, int64_t at)
{
    FILE *file;
    if (at < 0)
        return df_fail(call, "'%s' is to be read from byte %lld on", path, (long long)at);
    if (df_file_open(call, path, &file) != DF_OK)
        return DF_FAILED;
    const size_t bytes = token_bytes(token);
    int status = DF_OK;
    if (fseeko(file, (off_t)at, SEEK_SET) != 0 || fread(v, 1, bytes, file) != bytes)
        status = df_fail(call, "'%s' has no %zu bytes from byte %lld on", path, bytes, (long long)at);
    fclose(file);
    return status;
}

#define RAW(ELEM, TYPE, NUMBER)                                                                                      \
    ARRAYS(raw, ELEM, TYPE, NUMBER)                                                                                  \
    int load_raw_at_##ELEM##_cpu(struct df_call *call, size_t n, TYPE *v, const char *path, int64_t at)              \
    {                                                                                                                \
        return load_part(call, &(struct token){ NUMBER, 1, (size_t[]){ n } }, v, path, at);                          \
    }
#define DF_ELEMENT(ID, name, type, ...) RAW(name, type, DF_##ID)
#include "elements.def"
