/* mapping_text.h - reads a mapping that is written as text: a line for each group of stages.
 *
 *   # anything
 *   feeding demand
 *   load: fast.0
 *   segment extract: fast.1
 *   rank: slow.0 slow.1 slow.2
 *
 * Lines:    a line for each group, in the order of the stages: the names of its stages, a colon, those of its processors. `feeding`,
 *           `order` or `demand`, says how replicas get their waves; it is the first line, it stands there once, and `order` if there is none. A
 *           '#' that begins a word makes the rest of the line a comment. Blank lines count for nothing.
 * Names:    hold neither white space nor ':', and do not begin with '#'.
 * Memory:   names and text are the caller's.
 * Threads:  reentrant.
 */
#ifndef DFR_MAP_READ_H
#define DFR_MAP_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/subgraph/pipeline_stages.h"

#define DFR_MOST_PROCESSORS 512u
#define DFR_NO_GROUP UINT32_MAX

/* What may stand in a text. */
struct dfr_map_words {
    const char *const *stages;
    uint32_t n_stages;
    const bool *serial;                 /* by stage: it has no replicas; NULL: all may have some */
    const bool *optional;               /* by stage: it need not stand there; NULL: each must */
    const char *const *processors;      /* NULL: any names; the first has number 0, and so on */
    uint32_t n_processors;              /* at most */
    const char *too_many;               /* the hint if there are more with any names: a format of their number, %u */
};

struct dfr_map_read {
    bool by_demand;
    uint32_t n_groups, n_named;         /* n_named: processors, if their names are free */
    uint32_t group_of_stage[DFR_MOST_STAGES]; /* DFR_NO_GROUP: it does not stand there */
    uint32_t group_of[DFR_MOST_PROCESSORS]; /* by processor; DFR_NO_GROUP: it has nothing to do */
};

/* What is wrong with a text, and where. */
struct dfr_map_wrong {
    uint32_t line, col, end_col;        /* from 1; end_col is behind the last byte */
    char message[200], hint[200];       /* hint may be empty */
    const char *word;                   /* an unknown name: of whom (`names`, of n) it may be a mistyping; else NULL */
    const char *const *names;
    uint32_t n_names;
    char word_text[64];
};

/* Groups of several stages may have replicas in a text. false: *wrong says why, and *read is not usable. */
bool dfr_map_read(const struct dfr_map_words *words, const char *text, size_t size, struct dfr_map_read *read, struct dfr_map_wrong *wrong);

#endif
