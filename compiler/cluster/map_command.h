/* map_command.h - the command `dfc map`; main.c lists it. */
#ifndef DFC_MAP_COMMAND_H
#define DFC_MAP_COMMAND_H

#include "compiler/options/option.h"

extern const struct dfc_command dfc_command_map;

#endif
