/* picture_file.h - output files for pictures: SVG, or PNG if the file's name ends in .png. The commands that draw open
 * them: compare, gantt, partition and simulate in compiler/commands/, map and scale in compiler/cluster/.
 *
 * PNG:      converted by rsvg-convert (Debian: librsvg2-bin). Without it nothing is written, and the error says what to
 *           install. Pictures with a side above DFC_MOST_PIXELS are scaled down.
 * Threads:  one at a time.
 * Errors:   functions return false after they have reported an error. The file is replaced atomically.
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
