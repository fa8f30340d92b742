/* expect.h - the set of tokens that the parser expected at a syntax error. expect.c phrases the message, hint.c adds a
 * hint. Private to dsl/.
 */
#ifndef DFL_EXPECT_H
#define DFL_EXPECT_H

#include "dsl/reader.h"

enum { DFL_MOST_EXPECTED = 64 };

/* What was expected, by the names that parser.y gives tokens, or as phrases for several of them: "a statement", "an
 * expression". */
struct dfl_expectation {
    const char *names[DFL_MOST_EXPECTED];
    size_t n;
};

bool dfl_expected(const struct dfl_expectation *e, const char *name);

/* hint.c: if the text looks like a common mistake, prints how it is written correctly. `e` is the expectation as printed. */
void dfl_expect_hint(struct dfl_reader *r, const char *after, const char *found, const struct dfl_expectation *e);

/* hint_formula.c: the same for errors in formulas and tables. false: the error is elsewhere. */
bool dfl_expect_hint_formula(struct dfl_reader *r, const char *after, const char *found,
                             const struct dfl_expectation *e);

/* hint_formula.c: if `after` is the word of a statement of C or of graphs (for, if, else) in the place of a formula,
 * reports that in place of the token. */
bool dfl_expect_statement(struct dfl_reader *r, const char *after);

/* If the word before the token is a word of the language misspelt, reports that in place of the token. */
bool dfl_expect_misspelt(struct dfl_reader *r, const char *after, const struct dfl_expectation *e);

#endif
