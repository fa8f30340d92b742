/* outputs.h - the record of the files that kernels write through df_io.h, in a run that can be resumed, makes a chunk, or computes waves for another rank.
 * kernel_outputs.c opens and closes files through it; resumable.c creates it for a record or a chunk, ranks/replica_waves.c on a rank.
 *
 * Words:    An *appended* file (df_output_append()) is shared by all waves, each of which adds to it. Any other file is *whole*: a single wave writes all of it.
 * Resume:   Files have the name PATH.part until they are complete. The record keeps the length of each appended file after every wave.
 *           dfr_outputs_sync() flushes what the first waves have written and returns these lengths. A resumed run truncates the files to them.
 * Chunk:    No file gets its name. The output of all nodes is collected as entries (written.h) in an unnamed scratch file, and dfr_outputs_chunk() copies them in
 *           order.
 * Held:     On a rank whose results another rank accepts, the files of nodes with @worker get their names when their wave is accepted (held.h). Other files
 *           are written as in a run without a record.
 * Memory:   the caller's from dfr_outputs_create() to dfr_outputs_free().
 * Threads:  any. dfr_outputs_sync() may be called while kernels write.
 */
#ifndef DFR_OUTPUTS_H
#define DFR_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/df_io.h"
#include "runtime/record/written.h"

/* chunk: NULL for a run that can be resumed; else the path of the chunk, beside which scratch files lie. */
int dfr_outputs_create(const char *chunk, struct dfr_outputs **outputs, struct df_error *error);
bool dfr_outputs_is_chunk(const struct dfr_outputs *outputs);
/* Creates a record whose files are held; `held` is borrowed. */
struct dfr_held;
int dfr_outputs_create_held(struct dfr_held *held, struct dfr_outputs **outputs, struct df_error *error);
void dfr_outputs_free(struct dfr_outputs *outputs);

/* Maps the node numbers of a part of the graph to those of the whole graph: files that the part's kernels write are recorded under the latter. At most two parts;
 * `part` and `node` are borrowed. */
void dfr_outputs_part(struct dfr_outputs *outputs, const struct df_graph *part, const uint32_t *node);

/* Before the run: sets the state from which an appended file continues. */
int dfr_outputs_before(struct dfr_outputs *outputs, const struct dfr_written *file, struct df_error *error);

/* Flushes to disk what kernels have written in the waves before `waves`, which have ended. Returns in *files all appended files, as they were after these waves, and
 * the whole files that no earlier call has returned. The caller frees the list, also after an error. */
int dfr_outputs_sync(struct dfr_outputs *outputs, int64_t waves, struct dfr_written_list *files, struct df_error *error);

/* The appended file has all its tokens: gives it its name. Nothing happens if it has that already. */
int dfr_outputs_finish(const struct dfr_written *file, struct df_error *error);

/* In the folders where whole files were written: removes what ranks of that program have left that were killed (held.h). */
void dfr_outputs_sweep(struct dfr_outputs *outputs, uint64_t hash);

/* Is the path written directly, because it is something that cannot be cut? The first such path of this run; NULL: none. */
const char *dfr_outputs_direct(struct dfr_outputs *outputs);

/* After the run: writes the entries of all nodes, in their order, to `to`. */
int dfr_outputs_chunk(struct dfr_outputs *outputs, FILE *to, struct df_error *error);

/* Before the run: can the files be made that sinks of std/io will write? A file or folder without permission would else be told after the work: DF_E_IO, with
 * the node. Of a path with %d the first wave's file is looked at. A folder that is not there may be made by a kernel, so it is no error; *missing is the first such
 * path of a node that writes after the last wave (malloc'ed), or NULL. Nodes with @worker are left out: they write on other machines. */
int dfr_outputs_check(const struct df_graph *graph, const union df_scalar *args, char **missing, struct df_error *error);

/* Finds the sink of std/ that writes this file, in any wave if its path has a %d. *node: DF_NONE if there is none. */
int dfr_outputs_writer(const struct df_graph *graph, const union df_scalar *args, const char *path, uint32_t *node, struct df_error *error);

#endif
