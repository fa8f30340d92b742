/* suggest.h - "did you mean": the closest of some names. A leaf: it knows nobody, so the compiler's front end uses it
 * too. */
#ifndef DF_SUGGEST_H
#define DF_SUGGEST_H

/* The best so far; start with { .name = … }. Close is at most a third of the name's length in optimal string
 * alignment distance (insert, delete, replace, swap neighbours); of equals the first stays. Names longer than 255 bytes
 * are neither suggested nor corrected. */
struct dfr_suggestion {
    const char *name;                   /* as written */
    const char *closest;                /* NULL: none is close */
    unsigned distance;                  /* of the closest */
};

void dfr_suggest(struct dfr_suggestion *suggestion, const char *candidate);

#endif
