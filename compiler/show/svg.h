/* svg.h - drawing primitives that all charts of this room and of compiler/cluster/ share: page, text, colours, legend
 * keys, axis ticks.
 *
 * Colours:  the first five are distinguishable with any colour vision, and in greyscale; black text is legible on all
 *           of them.
 * Text:     fits where it is measured to fit, in any reader's font (partition/draw/text_width.h).
 * Output:   plain SVG 1.1 with no script, font or file of its own; the same input gives the same bytes.
 * Errors:   the caller checks the FILE.
 */
#ifndef DFC_SVG_H
#define DFC_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "partition/draw/text_width.h"

#define DFC_COLOURS 12
#define DFC_OTHER_COLOUR "#b9b9b9"      /* of all that have none of their own */
#define DFC_PATH_COLOUR "#b00020"
#define DFC_KEY_LINE 20.0               /* from one line of keys to the next */

extern const char *const dfc_colours[DFC_COLOURS];

/* Begins a picture on white paper; it ends with "</svg>\n". */
void dfc_svg_begin(FILE *out, double width, double height);
/* anchor: "start", "middle" or "end". */
void dfc_svg_text(FILE *out, double x, double y, double size, const char *anchor, const char *colour,
                  const char *words);
/* The least of 1, 2 or 5 times a power of ten that is not below `rough`. */
double dfc_svg_step(double rough);

/* Gives the DFC_COLOURS names with the greatest weights above 0 a colour each. */
struct dfc_palette {
    uint32_t *colour;                   /* by name: its place in by_rank, or DFC_COLOURS */
    uint32_t by_rank[DFC_COLOURS], n;
    bool others;                        /* names with a weight got none */
};
bool dfc_palette_make(struct dfc_palette *palette, const double *weight, uint32_t n_names); /* false: no memory */
void dfc_palette_free(struct dfc_palette *palette);
const char *dfc_palette_colour(const struct dfc_palette *palette, uint32_t name);

/* Writes a coloured box and its name from *x on. If the line ends at `right`, it begins another at `left` first. out
 * NULL: only *x and *y are moved. */
void dfc_svg_key(FILE *out, double left, double right, double *x, double *y, const char *colour, const char *name);

#endif
