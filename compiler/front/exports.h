/* exports.h - the graphs that a library exports. Private to compiler/front/. */
#ifndef DFC_EXPORTS_H
#define DFC_EXPORTS_H

#include "compiler/types/frontend.h"

/* Fills the unit's `exports`: the graphs that options->exported names, or the graphs of the main file that have ports.
 * false: reported. */
bool dfc_choose_exports(struct dfc_unit *u);

#endif
