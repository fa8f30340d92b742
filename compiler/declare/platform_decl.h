/* platform_decl.h - the declaration of a platform, in a graph's .df or in a file of its own.
 *
 * Errors:   functions give false after they have reported to the sink everything that is wrong.
 */
#ifndef DFC_PLATFORM_DECL_H
#define DFC_PLATFORM_DECL_H

#include <stdbool.h>

#include "dsl/parse.h"
#include "runtime/graph/platform.h"

bool dfc_platform_convert(struct dfl_sink *sink, const struct dfl_platform *ast, struct df_platform *platform);
/* Reads a file that holds one or more `platform` declarations and gives the first. What else is in the file does not
 * matter. */
bool dfc_platform_read(struct dfl_sink *sink, const char *path, struct df_platform *platform);

#endif
