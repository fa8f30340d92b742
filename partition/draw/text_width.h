/* text_width.h - how wide a text is in a picture, whatever fonts this machine or the reader's has.
 *
 * A picture names several fonts, and its reader's machine takes the first that it has. So each character counts as wide
 * as it is in the widest of the common ones: DejaVu Sans, Verdana, Liberation Sans, Helvetica and Arial. In all of them a
 * text then stays inside the box that was made for it. The same text has the same width on every machine.
 */
#ifndef DFP_TEXT_WIDTH_H
#define DFP_TEXT_WIDTH_H

#include <stdbool.h>

#define DFP_FONTS "DejaVu Sans,Verdana,Helvetica,Arial,sans-serif"

/* In the unit of `size`, which is the size of the font. The text is UTF-8. */
double dfp_text_width(const char *text, double size, bool bold);

#endif
