/* dump.h - --dump=NODE[:WAVE]: writes the tokens of selected nodes to files that NumPy reads. inspect.c calls it.
 *
 * Requests: those of requests.h. Every output of the node is written, after the job that produced it.
 * Files:    DIR/NODE.PORT.WAVE.npy, with '.' for each '/' in the node's path (names contain no '.'). Files are replaced
 *           atomically.
 * Memory:   dfr_dump_destroy() frees what dfr_dump_create() returned. The texts of requests are borrowed.
 * Threads:  dfr_dump_wants() and dfr_dump_write() may be called from any worker.
 */
#ifndef DFR_DUMP_H
#define DFR_DUMP_H

#include "runtime/graph/graph.h"

struct dfr_dump;

/* DF_E_ARGUMENT for a request that names no node with outputs; DF_E_IO if the folder cannot be written to. */
int dfr_dump_create(const struct df_graph *graph, const char *const *requests, unsigned n_requests, const char *folder,
                    struct dfr_dump **dump, struct df_error *error);
void dfr_dump_destroy(struct dfr_dump *dump);

bool dfr_dump_wants(const struct dfr_dump *dump, uint32_t node, int64_t wave);

/* Returns whether a request may write to the existing file `path`. */
bool dfr_dump_writes_to(const struct dfr_dump *dump, const char *path);

/* Writes one output of a job. `memory` is on the host, and dense by these extents; NULL: those of the graph. */
int dfr_dump_write(struct dfr_dump *dump, uint32_t node, int64_t wave, uint32_t out_slot, const uint64_t *extents,
                   const void *memory, struct df_error *error);

/* Request `i` if nothing was written for it, else NULL. Called after the run. */
const char *dfr_dump_unmet(const struct dfr_dump *dump, unsigned i);

#endif
