/* sources.h - a program's own sources, and the front end run on them again with other values of dynamic params.
 *
 * Pack:     what dfc was given, so that the same run can be made again: -D definitions, -I folders, every file with its
 *           path. Same inputs, same bytes. Files go by the paths that they were read from; a program reads no disk for
 *           them.
 * Memory:   dfc_sources_pack() gives a block that the caller frees.
 * Errors:   dfc_sources_pack() fails on memory only. dfc_replanner: DF_E_FORMAT (not a pack), DF_E_ARGUMENT (the
 *           sources do not allow these values: the diagnostics went to stderr), DF_E_MEMORY.
 */
#ifndef DFC_SOURCES_H
#define DFC_SOURCES_H

#include "compiler/front/front.h"
#include "runtime/graph/plan.h"

bool dfc_sources_pack(const struct dfc_front *front, const struct dfc_define *defines, size_t n_defines,
                      unsigned char **bytes, size_t *size);

/* Reads a pack that dfc_sources_pack() wrote. */
extern const struct df_replanner dfc_replanner;

#endif
