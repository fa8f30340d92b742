/* text_width.c - character widths, in thousandths of the font size: svg.c and all charts of the compiler measure their
 * text with it (text_width.h).
 */
#include "partition/draw/text_width.h"

#include <string.h>

#define FIRST ' '
#define LAST '~'

/* The greater of DejaVu Sans's and Liberation Sans's advance, rounded up; Helvetica and Arial have Liberation's. */
static const unsigned short widths[2][LAST - FIRST + 1] = {
    { 318, 401, 460,  838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337,
      637, 637, 637,  637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 557,
      1016, 685, 687, 723, 771, 667, 611, 778, 752, 295, 500, 667, 558, 863, 749, 788,
      667, 788, 723,  667, 611, 732, 685, 989, 686, 667, 686, 391, 337, 391, 838, 557,
      500, 613, 635,  550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612,
      635, 635, 412,  521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838 },
    { 349, 457, 521,  838, 696, 1002, 873, 307, 458, 458, 523, 838, 380, 416, 380, 366,
      696, 696, 696,  696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 611,
      1000, 774, 763, 734, 831, 684, 684, 821, 837, 373, 557, 775, 638, 996, 837, 851,
      733, 851, 771,  721, 683, 813, 774, 1104, 771, 725, 726, 458, 366, 458, 838, 557,
      500, 675, 716,  593, 716, 679, 436, 716, 712, 343, 343, 666, 343, 1042, 712, 688,
      716, 716, 494,  596, 479, 712, 652, 924, 646, 652, 583, 712, 366, 712, 838 },
};
static const unsigned short other[2] = { 1100, 1200 }; /* of other letters; hardly one is wider */

double dfp_text_width(const char *text, double size, bool bold)
{
    unsigned long sum = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= FIRST && c <= LAST) {
            sum += widths[bold][c - FIRST];
        } else if (strncmp(text, "\u00a0", 2) == 0) { /* a space that breaks no line */
            sum += widths[bold][0];
        } else if (c < 0x80 || c >= 0xc0) { /* other bytes continue a character */
            sum += other[bold];
        }
    }
    return (double)sum / 1000 * size;
}
