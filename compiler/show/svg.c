/* svg.c - the drawing primitives of all charts of the room and of compiler/cluster: axes, texts, colours and keys
 * (svg.h).
 */
#include "compiler/show/svg.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/text.h"

#define KEY_SIZE 12.0                   /* of the text of a key */

const char *const dfc_colours[DFC_COLOURS] = { "#6FC3F2", "#D98200", "#2A9A75", "#F4E85C", "#E3A6C9", "#C8684A",
                                               "#8F8BDA", "#C5E59A", "#A98556", "#A4DDD8", "#C3A0E0", "#F8D5C2" };

void dfc_svg_begin(FILE *out, double width, double height)
{
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"" DFP_FONTS "\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", width, height,
            width, height);
}

void dfc_svg_text(FILE *out, double x, double y, double size, const char *anchor, const char *colour,
                  const char *words)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">", x, y, size, anchor,
            colour);
    dfr_text_xml(out, words);
    fputs("</text>\n", out);
}

double dfc_svg_step(double rough)
{
    double power = pow(10, floor(log10(rough)));
    return rough <= power ? power : rough <= 2 * power ? 2 * power : rough <= 5 * power ? 5 * power : 10 * power;
}

/* ---- colours ---- */

bool dfc_palette_make(struct dfc_palette *palette, const double *weight, uint32_t n_names)
{
    *palette = (struct dfc_palette){ .colour = malloc(((size_t)n_names + 1) * sizeof *palette->colour) };
    if (!palette->colour)
        return false;
    for (uint32_t i = 0; i < n_names; i++)
        palette->colour[i] = DFC_COLOURS;
    for (; palette->n < DFC_COLOURS; palette->n++) {
        uint32_t most = n_names;
        for (uint32_t i = 0; i < n_names; i++)
            if (palette->colour[i] == DFC_COLOURS && weight[i] > 0 && (most == n_names || weight[i] > weight[most]))
                most = i;
        if (most == n_names)
            break;
        palette->colour[most] = palette->n;
        palette->by_rank[palette->n] = most;
    }
    for (uint32_t i = 0; i < n_names; i++)
        palette->others |= weight[i] > 0 && palette->colour[i] == DFC_COLOURS;
    return true;
}

void dfc_palette_free(struct dfc_palette *palette)
{
    free(palette->colour);
    palette->colour = NULL;
}

const char *dfc_palette_colour(const struct dfc_palette *palette, uint32_t name)
{
    uint32_t colour = palette->colour[name];
    return colour < DFC_COLOURS ? dfc_colours[colour] : DFC_OTHER_COLOUR;
}

/* ---- keys ---- */

void dfc_svg_key(FILE *out, double left, double right, double *x, double *y, const char *colour, const char *name)
{
    double width = 19 + dfp_text_width(name, KEY_SIZE, false);
    if (*x > left && *x + width > right) {
        *x = left;
        *y += DFC_KEY_LINE;
    }
    if (out) {
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\" fill=\"%s\"/>", *x, *y - 10, colour);
        dfc_svg_text(out, *x + 19, *y, KEY_SIZE, "start", "#222222", name);
    }
    *x += width + 18;
}
