/* checkpoint.h - checkpoints: files with the accs of a run after some waves, from which another run continues (df_options.accs). resumable.c writes and reads
 * them, spans.c the parts of ranks.
 *
 * File:     A header line `dfc accs 1 program HASH waves N values N digest D`, then the accs in rising order of their value numbers. Each acc is its value number
 *           and its size, 8 bytes each, and its bytes. D covers everything after the header. HASH is the program hash including the inputs (digest.h).
 * Parts:    If several ranks own the accs of a graph, each is at a different wave (spans.h). Then each node that changes accs has its own file, which contains
 *           only its accs: dfr_accs_part_path().
 * Writing:  The file appears atomically, and is on the disk when the call returns. No wave may be in flight. Accs that a device has changed are fetched first.
 * Threads:  one at a time.
 * Errors:   DF_E_IO, DF_E_MEMORY. A file that is damaged or belongs to another program counts as missing.
 */
#ifndef DFR_CHECKPOINT_H
#define DFR_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

struct dfr_accs {                       /* what a file has */
    int64_t waves;                      /* 0: none */
    const void **values;                /* by value of the graph; NULL: no acc */
    void *file;                         /* where these lie */
};

struct dfr_acc {
    uint32_t value;
    const void *data;
    uint64_t bytes;
};

/* Has what devices alone hold copied to the host, and waits for it, until a time at most (dfr_clock_s()). false: something is not there yet, or the run has
 * stopped. The run is fed, and no wave is in flight. */
bool dfr_accs_fetch(struct df_run *run, double until_s);
/* All accs are on the host. number: by value of the run's graph, rising: its number in the whole graph, of which the run has all accs; NULL: it is the whole
 * graph. */
int dfr_accs_write(const struct df_run *run, const uint32_t *number, const char *path, uint64_t program, int64_t waves, struct df_error *error);

/* With what a run begins that goes on: of each node's accs the file that has the most waves. */
struct dfr_accs_found {
    const void **values;                /* by value of the graph; NULL there: as declared. NULL: all are */
    int64_t *first;                     /* by node: the wave with which it goes on; 0: it has no accs, or these are as declared */
    int64_t least, most;                /* of the nodes with accs */
    struct dfr_accs *files;             /* by node, and last the one that has all accs */
};
/* Reads the file that has all accs, if its waves are done, and those of parts, which may be ahead of what is done. Files that cannot be read count as missing.
 * DF_E_MEMORY. Call dfr_accs_found_free() also after an error. */
int dfr_accs_find(const char *path, const struct df_graph *graph, uint64_t program, int64_t done, struct dfr_accs_found *found, struct df_error *error);
void dfr_accs_found_free(const struct df_graph *graph, struct dfr_accs_found *found);

/* The file for the accs of this node beside PATH. malloc'ed; NULL: out of memory. */
char *dfr_accs_part_path(const char *path, const struct df_graph *graph, uint32_t node);
/* Writes n accs, by rising number of their values. */
int dfr_accs_write_part(const char *path, uint64_t program, int64_t waves, const struct dfr_acc *accs, uint32_t n, struct df_error *error);
/* Removes such a file and its incomplete copy, which a killed process may have left. Returns 0, or errno if one of them still exists. */
int dfr_accs_remove(const char *path);
/* The same for the files of all nodes. */
int dfr_accs_remove_parts(const char *path, const struct df_graph *graph);

#endif
