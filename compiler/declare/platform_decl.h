/* platform_decl.h - reads declared platforms (machines), in a graph's .df file or in a file of their own. decl.c and
 * cluster_decl.c convert declarations with it; load/load_cmd.c, commands/cmd_probe.c and the platforms of programs
 * (front/program_platform.c) read files.
 *
 * Errors:   functions return false after they have reported every error to the sink.
 */
#ifndef DFC_PLATFORM_DECL_H
#define DFC_PLATFORM_DECL_H

#include <stdbool.h>

#include "compiler/types/program.h"
#include "dsl/parse.h"
#include "runtime/graph/platform.h"

struct dfc_unit;

/* Converts a declaration, whose values may hold params of the unit. */
bool dfc_platform_convert(struct dfc_unit *u, const struct dfl_platform *ast, struct df_platform *platform);
/* Reads a file that declares a platform. Its values may hold params of the same file, and `defines` (-D) replace those.
 * What else is in the file does not matter; imports are not followed. */
bool dfc_platform_read(struct dfl_sink *sink, const char *path, const struct dfc_define *defines, size_t n_defines,
                       struct df_platform *platform);
/* Does such a file declare that param? Reports nothing. */
bool dfc_platform_has_param(const char *path, const char *name);

#endif
