/* suggest.h - "did you mean": the closest of some names, for what a program is told at run time. (The compiler's own
 * diagnostics have theirs in dsl/, which knows nobody.)
 */
#ifndef DF_SUGGEST_H
#define DF_SUGGEST_H

/* The best so far; start with { .name = … }. Names longer than 63 bytes are neither suggested nor corrected. */
struct dfr_suggestion {
    const char *name;                   /* as written */
    const char *closest;                /* NULL: none is close */
    unsigned distance;
};

void dfr_suggest(struct dfr_suggestion *suggestion, const char *candidate);

#endif
