/* spans.h - the parts of accs, divided among ranks, and their checkpoints: what the accs of each part were after some waves, in files on the first rank. For
 * ranks/rank0_parts.c.
 *
 * Files:    one for each node that changes a part (dfr_accs_part_path()), because the ranks are at different waves. What one process has written is read, too, if
 *           it has more waves. The record's writer writes them, because a disk may take longer than the first rank may be silent.
 * Spans:    A *span* is a range of parts that one rank has at a time. Its accs are as the waves before `waves` have left them. If a run begins, spans have
 *           as many parts as others, or one more. If it goes on, parts that are at the same wave are divided so: there may be other ranks than before.
 * Memory:   what is to be written is held until it is. Spans hold their messages.
 * Threads:  one thread makes these calls.
 * Errors:   DF_E_IO of the writer is told by the next call. A file that cannot be read counts as missing.
 */
#ifndef DFR_SPANS_H
#define DFR_SPANS_H

#include "runtime/link/message.h"
#include "runtime/subgraph/share.h"

struct dfr_span {
    uint32_t first, end;                /* parts */
    int64_t waves;
    struct dfr_message *accs;           /* a message whose values begin with the accs of the span; NULL: they are as declared */
    bool given, whole;                  /* a rank has it; there are no more waves for it */
};

/* Divides the parts among n_ranks that compute. path: of the files; NULL: none is read. *spans: malloc'ed. */
int dfr_spans_make(const struct dfr_shared *shared, uint32_t n_ranks, const char *path, uint64_t program, struct dfr_span **spans, uint32_t *n_spans,
                   struct df_error *error);
void dfr_spans_free(struct dfr_span *spans, uint32_t n_spans);
/* How many accs the parts of a span have. */
uint32_t dfr_span_accs(const struct dfr_shared *shared, const struct dfr_span *span);

struct dfr_writer;
struct dfr_checkpoints {                /* where checkpoints go; what it points to is borrowed until the writer has ended */
    struct dfr_writer *writer;
    const struct dfr_shared *shared;
    const char *path;                   /* NULL: none are written */
    uint64_t program;
};
/* Has the writer write the accs of the span, which is held. What waits of an older wave is not written any more. */
int dfr_span_write(const struct dfr_checkpoints *to, const struct dfr_span *span, struct df_error *error);

#endif
