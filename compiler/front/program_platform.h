/* program_platform.h - what goes into df_program.read_platform. Mistakes in the file are reported to stderr as dfc
 * reports them. */
#ifndef DFC_PROGRAM_PLATFORM_H
#define DFC_PROGRAM_PLATFORM_H

#include "runtime/graph/platform.h"

int dfc_program_platform(const char *path, struct df_platform *platform, struct df_error *error);

#endif
