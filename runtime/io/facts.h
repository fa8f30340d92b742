/* facts.h - what the outputs of a program depend on, by name and value. The program hash (digest.h) says whether two runs are the same; facts say in what they
 * differ. A journal has those of its run.
 *
 * Kinds:    `arg` and `param` (--NAME); then the identity of the program, as dfc has stored it (compiler/build/identity.h): `dfc`, `compiler`, `flags`, `file`,
 *           `library`, and `loaded` (program/loaded.h); `kernel` (a hash of its code), `node` (its extents; none if the graph has more than 256 nodes). A kind that a reader does not know is kept
 *           and compared like the others, so later versions may add some.
 * Text:     KIND NAME VALUE, one line; the value may have blanks, and its line breaks are escaped.
 * Memory:   the caller's, from dfr_facts_find() or the first dfr_fact_read() to dfr_facts_free().
 */
#ifndef DFR_FACTS_H
#define DFR_FACTS_H

#include "runtime/graph/graph.h"

#include <stdio.h>

struct dfr_fact {
    char *kind, *name, *value;
};

struct dfr_facts {
    struct dfr_fact *items;
    size_t n, room;
};

int dfr_facts_find(const struct df_graph *graph, const union df_scalar *args, struct dfr_facts *facts, struct df_error *error);
void dfr_facts_free(struct dfr_facts *facts);
/* The same as text, for another rank; malloc'ed; NULL: no memory. */
char *dfr_facts_of(const struct df_graph *graph, const union df_scalar *args);

/* Adds a fact. Takes the three texts; a NULL among them, or false: no memory. */
bool dfr_fact_add(struct dfr_facts *facts, char *kind, char *name, char *value);
void dfr_fact_write(FILE *to, const struct dfr_fact *fact);
/* Adds the fact that the text has. false: it has none, or there is no memory. */
bool dfr_fact_read(struct dfr_facts *facts, const char *text);

/* All facts, a line each; malloc'ed; NULL: no memory. And the facts of such a text of n bytes; false: no memory, or a line has none. */
char *dfr_facts_text(const struct dfr_facts *facts);
bool dfr_facts_read(struct dfr_facts *facts, const char *text, size_t n);

/* Writes the first differences of the first kind that has any. false: there are none. */
enum dfr_facts_of {
    DFR_THEN_NOW,                       /* "--us was '3000', and is '3001' now" */
    DFR_HERE_THERE,                     /* "--us is '3000' on rank 0, and '3001' there" */
    DFR_ONE_OTHER                       /* "--us is '3000' in one, and '3001' in the other" */
};
bool dfr_facts_differ(const struct dfr_facts *then, const struct dfr_facts *now, enum dfr_facts_of of, char *text, size_t size);

#endif
