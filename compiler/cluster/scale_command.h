/* scale_command.h - the command `dfc scale`; main.c lists it. */
#ifndef DFC_SCALE_COMMAND_H
#define DFC_SCALE_COMMAND_H

#include "compiler/options/option.h"

extern const struct dfc_command dfc_command_scale;

#endif
