/* live_record.h - the file of --record: the frames of live sources that jobs took, so that a run on them (--play) has the same bytes. live.c writes and reads it.
 *
 * Format:   The line "dfc record 1", a line "BYTES NODE" for each live source, and an empty line. Then for each wave, and in it for each source, eight bytes with
 *           the kernel's code (DF_OK, DF_SKIP) and the bytes of its outputs. All frames of a source are of one size, so a frame's place is known from its wave.
 * Waves:    The file ends with the last wave for which all sources have given a frame, also after a failure.
 * Threads:  write() and read() from any thread; of one source and wave one at a time.
 */
#ifndef DFR_LIVE_RECORD_H
#define DFR_LIVE_RECORD_H

#include "runtime/graph/graph.h"

struct dfr_live_record;

/* One of the paths is NULL. DF_E_IO; DF_E_ARGUMENT: the file is no record, is cut off, or is one of another graph. */
int dfr_live_record_open(const struct df_graph *graph, const char *record_path, const char *play_path, struct dfr_live_record **record, struct df_error *error);
/* Without `keep` no file is written. NULL is closed already. */
int dfr_live_record_close(struct dfr_live_record *record, bool keep, struct df_error *error);

bool dfr_live_record_plays(const struct dfr_live_record *record);
/* The frame of live source `i` for this wave, at ports[] of its kernel. Returns 0, or an errno. */
int dfr_live_record_write(struct dfr_live_record *record, uint32_t i, int64_t wave, int code, void *const *ports);
/* *code: what the kernel returned; DF_END: there is no such wave. */
int dfr_live_record_read(struct dfr_live_record *record, uint32_t i, int64_t wave, int *code, void *const *ports);

#endif
