/* suggest.c - finds the closest name (suggest.h) for messages of the compiler and of programs about an unknown one. */
#include "runtime/base/suggest.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 255 };

/* Optimal string alignment distance (insert, delete, replace, swap neighbours). Gives limit + 1 if the distance is more
 * than `limit`. Lengths are at most LONGEST. */
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
        if (least > limit + 1) /* a swap may still take one off */
            return limit + 1;
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[nb] <= limit ? above[nb] : limit + 1;
}

void dfr_suggest(struct dfr_suggestion *s, const char *candidate)
{
    size_t length = strlen(s->name), other = strlen(candidate);
    if (length > LONGEST || other > LONGEST || (s->closest && s->distance == 0))
        return;
    if (strcasecmp(s->name, candidate) == 0) {
        const unsigned d = strcmp(s->name, candidate) != 0;
        if (!s->closest || s->distance > d) {
            s->closest = candidate;
            s->distance = d;
        }
        return;
    }
    if (length < 2)
        return;
    /* Only a closer candidate replaces the one that was found. */
    unsigned limit = s->closest ? s->distance - 1 : length == 2 ? 1 : (unsigned)(length / 3);
    if ((other > length ? other - length : length - other) > limit)
        return;
    unsigned d = distance(s->name, length, candidate, other, limit);
    if (d <= limit) {
        s->closest = candidate;
        s->distance = d;
    }
}
