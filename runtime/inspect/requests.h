/* requests.h - which jobs options such as --dump=NODE[:WAVE] select, and the names of the files that are written of them. dump.c and record_job.c use it.
 *
 * Requests: the path of a node as messages show it ("main/blur", "main/segment[3]/open"), or a pattern in which each
 *           '*' matches any text; for one wave or for all.
 * Memory:   dfr_requests_destroy() frees what dfr_requests_create() returned. The texts and the option's name are borrowed.
 * Threads:  dfr_requests_want() and dfr_requests_met() may be called from any worker.
 */
#ifndef DFR_REQUESTS_H
#define DFR_REQUESTS_H

#include "runtime/graph/graph.h"

struct dfr_requests;

/* What can be named: nodes that have outputs, or nodes that call a kernel. */
enum dfr_requests_of { DFR_REQUESTS_OUTPUTS, DFR_REQUESTS_CALLS };

/* DF_E_ARGUMENT for a request that names no such node. */
int dfr_requests_create(const struct df_graph *graph, const char *option, enum dfr_requests_of of, const char *const *texts, unsigned n,
                        struct dfr_requests **requests, struct df_error *error);
void dfr_requests_destroy(struct dfr_requests *requests); /* NULL is allowed */

bool dfr_requests_want(const struct dfr_requests *requests, uint32_t node, int64_t wave);
/* Notes that a file was written for a job. Then dfr_requests_unmet() gives request i if nothing was written for it, else NULL. */
void dfr_requests_met(struct dfr_requests *requests, uint32_t node, int64_t wave);
const char *dfr_requests_unmet(const struct dfr_requests *requests, unsigned i);

/* DF_E_IO if the folder cannot be written to. */
int dfr_requests_folder(const char *folder, struct df_error *error);
/* Writes the node's path with '.' for '/' (names contain no '.'), and returns its length; 0: it does not fit. */
size_t dfr_requests_stem(const struct df_graph *graph, uint32_t node, char *stem, size_t size);

#endif
