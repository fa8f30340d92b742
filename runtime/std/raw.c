/* raw.c - files that hold the elements of tokens and nothing else, in this machine's byte order. */
#include "arrays.h"

static const int counts_tokens = 0;

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

static void begin_output(FILE *file, const struct token *token, int64_t n)
{
    (void)file, (void)token, (void)n;
}

#define RAW(ELEM, TYPE, NUMBER) ARRAYS(raw, ELEM, TYPE, NUMBER)
EACH_ELEMENT(RAW)
