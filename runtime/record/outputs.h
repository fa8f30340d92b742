/* outputs.h - where the files go that kernels write by df_io.h, in a run that can be resumed or that makes a chunk.
 *
 * Words:    An *appended* file (df_output_append()) gets something in each wave, and is one file for all. Other files are whole: one
 *           for each wave, or one of all waves.
 * Resumed:  Files are PATH.part until they are complete. Of an appended file it is noted how long it was after each wave.
 *           dfr_outputs_sync() writes down what the first waves have written, and says how long the files were then. What is
 *           behind that is cut off by the run that goes on.
 * Chunk:    No file gets its name. What each node has written is collected in order, as entries of a file without a name
 *           (written.h): dfr_outputs_chunk().
 * Held:     On a rank whose waves another rank accepts, what nodes with @worker write in a wave gets its name when that wave is accepted
 *           (held.h). Other files are written as if there were no such record.
 * Memory:   the caller's from dfr_outputs_create() to dfr_outputs_free(). Paths in what is given belong to the outputs.
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
/* The record of files that are held; `held` is borrowed. */
struct dfr_held;
int dfr_outputs_create_held(struct dfr_held *held, struct dfr_outputs **outputs, struct df_error *error);
void dfr_outputs_free(struct dfr_outputs *outputs);

/* Files that kernels of this part of a graph write are told by other numbers of their nodes: by node of the part. At most two parts;
 * `part` and `node` are borrowed. */
void dfr_outputs_part(struct dfr_outputs *outputs, const struct df_graph *part, const uint32_t *node);

/* Before the run: the file goes on like this. */
int dfr_outputs_before(struct dfr_outputs *outputs, const struct dfr_written *file, struct df_error *error);

/* All that kernels have written in the waves before `waves`, which have ended, is on the disk when this returns. *files: all that are appended to, as they were
 * then, and the whole ones that were not given before. The caller frees it, also after an error. */
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
