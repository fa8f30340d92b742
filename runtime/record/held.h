/* held.h - output files of waves that another rank has yet to accept: those of nodes with @worker on a rank (docs/clusters.md). outputs.c opens and closes
 * them; ranks/replica_waves.c settles them.
 *
 * Files:    Until its wave is accepted a file lies in a hidden directory (a *room*) beside its destination, under a name that contains the wave's number. When
 *           the wave is accepted, the file is renamed, and copies of the same file and wave that other ranks have left in the room, because they died,
 *           are removed. If the wave is rejected, the file is removed.
 * Rounds:   A rank may compute a wave twice. So files are identified by their round in the run, not by the wave's number.
 * Room:     One per program, with its arguments, in each directory. Ranks that share the directory share the room.
 * Threads:  any.
 * Errors:   DF_E_IO, DF_E_MEMORY, with a message for the user.
 */
#ifndef DFR_HELD_H
#define DFR_HELD_H

#include "runtime/base/output.h"
#include "runtime/graph/graph.h"

/* Do nodes with @worker write files? */
bool dfr_held_writes(const struct df_graph *graph);

struct dfr_folder {                     /* of a list in which each path is once */
    struct dfr_folder *next;
    bool marked;
    char path[];
};
/* Returns the folder whose path are these n bytes, which is added if it is new. NULL: no memory. */
struct dfr_folder *dfr_folder_note(struct dfr_folder **list, const char *path, size_t n);
void dfr_folders_free(struct dfr_folder *list);

struct dfr_held;

/* hash: of the program. syncs: a file that has its name is on the disk. */
int dfr_held_create(uint64_t hash, bool syncs, struct dfr_held **held, struct df_error *error);
/* No wave counts any more: removes the files that got no name, and those that are closed later. all: every wave has ended, so nothing in the rooms is of use,
 * and they are removed, too. */
void dfr_held_clear(struct dfr_held *held, bool all);
/* The same, and frees the memory, which nobody uses any more. */
void dfr_held_free(struct dfr_held *held, bool all);

/* Removes the room of that program in a folder, "" or ending in '/', with what is in it: what ranks that were killed have left. */
void dfr_held_sweep(const char *folder, uint64_t hash);

int dfr_held_open(struct dfr_held *held, const char *path, int64_t wave, struct dfr_output *to, struct df_error *error);
/* The file is complete. */
int dfr_held_close(struct dfr_held *held, int64_t wave, int64_t round, struct dfr_output *to, struct df_error *error);

/* The round has ended, and its wave counts or not. *stored: its files have their names; false if one of them is gone, because another rank has
 * done the wave meanwhile. */
int dfr_held_settle(struct dfr_held *held, int64_t round, bool counts, bool *stored, struct df_error *error);

#endif
