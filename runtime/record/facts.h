/* facts.h - facts: everything on which a program's outputs depend, as names and values. The program hash (digest.h)
 * tells whether two runs agree; facts tell in what they differ. Journals, chunks and the HELLO of a rank contain them.
 *
 * Kinds:    `arg` and `param` (--NAME); the identity of the program, as stored by dfc (compiler/build/identity.h): `dfc`, `compiler`, `flags`, `file`,
 *           `library`; `loaded` (program/loaded.h); `kernel` (a hash of its code), `node` (its extents; none if the graph has more than 256 nodes). Unknown
 *           kinds are kept and compared like the others, so later versions may add some.
 * Text:     KIND NAME VALUE, one per line; the value may contain blanks, and its line breaks are escaped.
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
/* Returns the same as text, for another rank; malloc'ed; NULL: no memory. */
char *dfr_facts_of(const struct df_graph *graph, const union df_scalar *args);

/* Adds a fact and takes ownership of the three strings. Returns false without memory, also if one of them is NULL. */
bool dfr_fact_add(struct dfr_facts *facts, char *kind, char *name, char *value);
/* Returns the value of a fact for the content of a file, "N bytes HASH", or "unreadable" if that is no regular file that can be read. malloc'ed; NULL: no
 * memory. */
char *dfr_fact_content(const char *path);
void dfr_fact_write(FILE *to, const struct dfr_fact *fact);
/* Parses a line and adds its fact. Returns false if it has none, or without memory. */
bool dfr_fact_read(struct dfr_facts *facts, const char *text);

/* Writes all facts as text, one per line; malloc'ed; NULL: no memory. And adds the facts of such a text of n bytes; false: no memory, or a wrong line. */
char *dfr_facts_text(const struct dfr_facts *facts);
bool dfr_facts_read(struct dfr_facts *facts, const char *text, size_t n);

/* Writes the first differences of the first kind that has any. Returns false if there are none. */
enum dfr_facts_of {
    DFR_THEN_NOW,                       /* "--us was '3000', and is '3001' now" */
    DFR_HERE_THERE,                     /* "--us is '3000' on rank 0, and '3001' there" */
    DFR_ONE_OTHER                       /* "--us is '3000' in one, and '3001' in the other" */
};
bool dfr_facts_differ(const struct dfr_facts *then, const struct dfr_facts *now, enum dfr_facts_of of, char *text, size_t size);

#endif
