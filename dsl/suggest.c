/* suggest.c - "did you mean": the closest of a list of names. */
#include "dsl/diag.h"

#include <string.h>

enum { LONGEST = 255 };

/* Optimal string alignment distance (insert, delete, replace, swap neighbours), or limit + 1 where it is more than
 * `limit`. Lengths are at most LONGEST. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb, unsigned limit)
{
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= nb; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned least = row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
            if (best < least)
                least = best;
        }
        if (least > limit + 1) /* a swap may still step down by one */
            return limit + 1;
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[nb] <= limit ? above[nb] : limit + 1;
}

const char *dfl_suggest(const char *name, const char *const *names, size_t n)
{
    size_t length = strlen(name);
    if (length < 2 || length > LONGEST)
        return NULL;
    unsigned limit = length == 2 ? 1 : (unsigned)(length / 3);
    const char *closest = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(names[i]);
        size_t gap = other > length ? other - length : length - other;
        if (other > LONGEST || gap > limit)
            continue;
        unsigned d = distance(name, length, names[i], other, limit);
        if (d == 0)
            return names[i];
        if (d <= limit && (!closest || d < limit + 1)) {
            closest = names[i];
            limit = d - 1; /* only a closer one replaces it; the first of equals stays */
            if (limit == 0)
                return closest;
        }
    }
    return closest;
}
