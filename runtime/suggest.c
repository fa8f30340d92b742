/* suggest.c - finding the closest name by Levenshtein's distance. */
#include "runtime/suggest.h"

#include <string.h>

#define LONGEST 63

/* Lengths are at most LONGEST. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[LONGEST + 1];
    size_t n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1]; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

void dfr_suggest(struct dfr_suggestion *suggestion, const char *candidate)
{
    size_t length = strlen(suggestion->name);
    if (length < 2 || length > LONGEST || strlen(candidate) > LONGEST)
        return;
    unsigned d = distance(suggestion->name, candidate);
    if (d <= length / 3 + 1 && d < length && (!suggestion->closest || d < suggestion->distance)) {
        suggestion->closest = candidate;
        suggestion->distance = d;
    }
}
