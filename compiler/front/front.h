/* front.h - the front end as one call: sources in, checked immutable graph out. Used by dfc, and linked into programs
 * that have dynamic params (they elaborate their own sources again with other values: the same code, the same
 * messages).
 *
 * Memory:   dfc_front_run() gives a result that dfc_front_free() returns; the graph inside is the result's.
 * Threads:  one at a time.
 * Errors:   everything wrong with the sources is reported to the sink; false then. Nothing is printed elsewhere.
 * Files:    are read through `read`, so that a program can serve them from its own image.
 */
#ifndef DFC_FRONT_H
#define DFC_FRONT_H

#include "compiler/declare/platform_decl.h"
#include "compiler/types/program.h"

bool dfc_front_run(struct dfl_sink *sink, const struct dfc_front_options *options, struct dfc_front **front);
void dfc_front_free(struct dfc_front *front);

#endif
