/* dot.c - writes a drawing as DOT text, for Graphviz's tools and for editors. */
#include <stdio.h>
#include <stdlib.h>

#include "partition/draw/picture.h"
#include "runtime/base/error.h"

int dfp_draw_dot(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_drawing *how, char **text,
                 size_t *size, bool *summarised, struct df_error *error)
{
    struct dfp_picture picture;
    int code = dfp_picture_make(problem, plan, how, &picture, error);
    if (code)
        return code;
    char *buffer = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&buffer, &length);
    bool good = out && agwrite(picture.g, out) == 0;
    if (out)
        good = fclose(out) == 0 && good;
    agclose(picture.g);
    if (!good) {
        free(buffer);
        return dfr_error_memory(error);
    }
    *text = buffer;
    *size = length;
    *summarised = picture.summarised;
    return DF_OK;
}
