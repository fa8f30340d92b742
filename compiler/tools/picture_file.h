/* picture_file.h - a picture that is written as SVG, and becomes PNG if its file's name ends so.
 *
 * PNG:      rsvg-convert makes it (Debian's librsvg2-bin). Without it nothing is written, and the error says what to
 *           install. No side is longer than DFC_MOST_PIXELS; a larger picture is made smaller.
 * Threads:  one at a time.
 * Errors:   false, after they have reported why. The file appears whole or not at all.
 */
#ifndef DFC_PICTURE_FILE_H
#define DFC_PICTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "compiler/tools/output_file.h"

#define DFC_MOST_PIXELS 8000            /* viewers and browsers open it; 8000 x 8000 takes 256 MB there */

struct dfc_picture {
    FILE *file;                         /* takes the SVG */
    struct dfc_output output;
    bool png;
    char *svg;                          /* of a PNG */
    size_t size;
};

bool dfc_picture_open(struct dfc_picture *picture, const char *path);
/* keep false: nothing is written. */
bool dfc_picture_close(struct dfc_picture *picture, bool keep);
/* Opens a picture, writes the text, and closes it. */
bool dfc_picture_write(const char *path, const char *text, size_t size);

#endif
