/* text_width.h - estimates the width of a text in a picture, independently of the fonts of this machine and of the reader's.
 *
 * A picture names several fonts, and a viewer uses the first that is installed. So each character is taken to be as wide as in the widest of the common ones
 * (DejaVu Sans, Verdana, Liberation Sans, Helvetica and Arial), and the text fits its box in all of them. A text has the same width on every machine.
 */
#ifndef DFP_TEXT_WIDTH_H
#define DFP_TEXT_WIDTH_H

#include <stdbool.h>

#define DFP_FONTS "DejaVu Sans,Verdana,Helvetica,Arial,sans-serif"

/* In the unit of `size`, which is the size of the font. The text is UTF-8. */
double dfp_text_width(const char *text, double size, bool bold);

#endif
