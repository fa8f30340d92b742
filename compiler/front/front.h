/* front.h - the front end as one call: sources in, a checked immutable graph out. dfc calls it, and programs with
 * dynamic params, which contain it, call it on their own sources with other values: they get the same graph and the
 * same messages as dfc would.
 *
 * Room:     compiler/front/ knows the rooms of the front end and the estimates of profiles/estimate/. It is linked into
 *           programs, so it must not need compiler/load/ and the rooms after it.
 * Memory:   dfc_front_run() returns a result that dfc_front_free() frees, including the graph.
 * Threads:  one at a time.
 * Errors:   every error in the sources is reported to the sink, and the call returns false. Nothing is printed
 *           elsewhere.
 * Files:    are read through `read`, so that a program can serve them from its own image.
 */
#ifndef DFC_FRONT_H
#define DFC_FRONT_H

#include "compiler/declare/platform_decl.h"
#include "compiler/types/program.h"

/* Runs the front end. *front is set only if true is given. */
bool dfc_front_run(struct dfl_sink *sink, const struct dfc_front_options *options, struct dfc_front **front);
void dfc_front_free(struct dfc_front *front);
/* Do its files declare that param, arg or type? */
bool dfc_front_has_name(const struct dfc_front *front, const char *name);

#endif
