/* sources.h - a program's own sources in one block, and the front end run on them again with other values of dynamic
 * params.
 *
 * Pack:     everything that dfc was given, so that the same compilation can be repeated: -D definitions, -I folders,
 *           every file with its path. The same inputs give the same bytes. Files are served from the pack by the path
 *           that they were read from; a program reads none from disk.
 * Memory:   dfc_sources_pack() returns a block that the caller frees.
 * Errors:   dfc_sources_pack() fails only if memory runs out. dfc_replanner returns DF_E_FORMAT (not a valid pack),
 *           DF_E_ARGUMENT (the sources do not allow these values; the diagnostics went to stderr) or DF_E_MEMORY.
 */
#ifndef DFC_SOURCES_H
#define DFC_SOURCES_H

#include "compiler/front/front.h"
#include "runtime/graph/plan.h"

bool dfc_sources_pack(const struct dfc_front *front, const struct dfc_define *defines, size_t n_defines,
                      unsigned char **bytes, size_t *size);

/* For df_program.replanner and df_library.replanner: reads a pack that dfc_sources_pack() wrote, and makes the graph for other values. */
extern const struct df_replanner dfc_replanner;

#endif
