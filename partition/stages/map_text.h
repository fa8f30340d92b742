/* map_text.h - the text form of a mapping, which people can edit and runs can read; the format is in runtime/subgraph/mapping_text.h.
 * `dfc map` writes and reads it (compiler/cluster/map_command.c), and prints with it what the tuner decided (compiler/cluster/drift_report.c).
 *
 * Memory:   the names are the caller's.
 */
#ifndef DFP_MAP_TEXT_H
#define DFP_MAP_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "partition/stages/pipeline.h"
#include "runtime/subgraph/mapping_text.h"

struct dfp_map_names {
    const char *const *stages, *const *processors;
};

void dfp_map_write(const struct dfp_pipeline *pipeline, const struct dfp_mapping *mapping, const struct dfp_map_names *names, FILE *out);
/* Groups of several stages may have replicas in a text, whatever the pipeline says. false: *wrong says why; *mapping and *feeding are not
 * usable. */
bool dfp_map_read(const struct dfp_pipeline *pipeline, const struct dfp_map_names *names, const char *text, size_t size,
                  struct dfp_mapping *mapping, enum dfp_feeding *feeding, struct dfr_map_wrong *wrong);

#endif
