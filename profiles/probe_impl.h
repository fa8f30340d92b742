/* probe_impl.h - what the files of the probe share. */
#ifndef DFW_PROBE_IMPL_H
#define DFW_PROBE_IMPL_H

#include "profiles/profiles.h"

/* A name of the language made of any text: letters, digits and single underscores, no digit first, never empty. */
void dfw_identifier(char *to, size_t size, const char *from);

#endif
