/* map_text.h - a mapping as text, which a person can write and a run can read.
 *
 *   # anything
 *   feeding demand
 *   load: fast.0
 *   segment extract: fast.1
 *   rank: slow.0 slow.1 slow.2
 *
 * Lines:    a line for each group, in the order of the stages: the names of its stages, a colon, those of its processors. `feeding`,
 *           `order` or `demand`, says how replicas get their waves; it is the first line, and `order` if there is none. A
 *           '#' that begins a word makes the rest of the line a comment. Blank lines count for nothing.
 * Names:    hold neither white space nor ':', and do not begin with '#'.
 * Memory:   the names are the caller's.
 */
#ifndef DFP_MAP_TEXT_H
#define DFP_MAP_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "partition/stages/stages.h"

struct dfp_map_names {
    const char *const *stages, *const *processors;
};

/* What is wrong with a text, and where. */
struct dfp_map_wrong {
    uint32_t line, col, end_col;        /* from 1; end_col is behind the last byte */
    char message[200], hint[200];       /* hint may be empty */
    const char *word;                   /* an unknown name: of whom (`names`, of n) it may be a mistyping; else NULL */
    const char *const *names;
    uint32_t n_names;
    char word_text[64];
};

void dfp_map_write(const struct dfp_pipeline *pipeline, const struct dfp_mapping *mapping, const struct dfp_map_names *names, FILE *out);
/* Groups of several stages may have replicas in a text, whatever the pipeline says. false: *wrong says why; *mapping and *feeding are not
 * usable. */
bool dfp_map_read(const struct dfp_pipeline *pipeline, const struct dfp_map_names *names, const char *text, size_t size,
                  struct dfp_mapping *mapping, enum dfp_feeding *feeding, struct dfp_map_wrong *wrong);

#endif
