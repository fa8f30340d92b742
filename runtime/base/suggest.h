/* suggest.h - "did you mean": finds the name closest to a misspelled one. It depends on no other file, so the front end (dsl/) uses it, too: for
 * names in .df files, for options of dfc and of programs, and for policies, nodes and stages that they name. */
#ifndef DF_SUGGEST_H
#define DF_SUGGEST_H

/* The closest name so far. Start with { .name = … }. A candidate is close if its optimal string alignment distance
 * (insert, delete, replace, swap neighbours) is at most a third of the name's length. Letters in the wrong case, however many, count as one
 * distance, and are close in names of any length. Of equally close ones the first stays. Names longer than 255 bytes are neither suggested nor corrected. */
struct dfr_suggestion {
    const char *name;                   /* as written */
    const char *closest;                /* NULL: no candidate is close */
    unsigned distance;                  /* of the closest */
};

void dfr_suggest(struct dfr_suggestion *suggestion, const char *candidate);

#endif
