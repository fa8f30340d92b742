/* expect.h - what a syntax error expected, between the file that words the error and the one that adds a hint. Private
 * to dsl/. */
#ifndef DFL_EXPECT_H
#define DFL_EXPECT_H

#include "dsl/reader.h"

enum { DFL_MOST_EXPECTED = 64 };

/* By the names that parser.y gives tokens, or phrases for several of them: "a statement", "an expression". */
struct dfl_expectation {
    const char *names[DFL_MOST_EXPECTED];
    size_t n;
};

bool dfl_expected(const struct dfl_expectation *e, const char *name);

/* hint.c: says how it is written instead, where what was written looks like a usual mistake. `e` as it was shown. */
void dfl_expect_hint(struct dfl_reader *r, const char *after, const char *found, const struct dfl_expectation *e);

#endif
