/* program_platform.h - the implementation of df_program.read_platform. It reports errors in the file to stderr as dfc
 * does.
 */
#ifndef DFC_PROGRAM_PLATFORM_H
#define DFC_PROGRAM_PLATFORM_H

#include "runtime/graph/platform.h"

int dfc_program_platform(const char *path, struct df_platform *platform, struct df_error *error);

#endif
