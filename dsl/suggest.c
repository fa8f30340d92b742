/* suggest.c - "did you mean" for a list of names. */
#include "dsl/diag.h"
#include "runtime/suggest.h"

const char *dfl_suggest(const char *name, const char *const *names, size_t n)
{
    struct dfr_suggestion suggestion = { .name = name };
    for (size_t i = 0; i < n; i++)
        dfr_suggest(&suggestion, names[i]);
    return suggestion.closest;
}
