/* dot.c - writes a drawing as DOT text, for Graphviz's tools and for editors: a plan for compiler/commands/cmd_compile.c and
 * compiler/commands/cmd_partition.c, a mapping for mapping.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "partition/draw/picture.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

int dfp_dot_of(Agraph_t *g, char **text, size_t *size, struct df_error *error)
{
    char *buffer = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&buffer, &length);
    const bool good = out && agwrite(g, out) == 0;
    if (!dfr_text_close(out, &buffer) || !good) {
        free(buffer);
        return dfr_error_memory(error);
    }
    *text = buffer;
    *size = length;
    return DF_OK;
}

int dfp_draw_dot(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_drawing *how, char **text,
                 size_t *size, bool *summarised, struct df_error *error)
{
    struct dfp_picture picture;
    int code = dfp_picture_make(problem, plan, how, &picture, error);
    if (code)
        return code;
    code = dfp_dot_of(picture.g, text, size, error);
    agclose(picture.g);
    if (!code)
        *summarised = picture.summarised;
    return code;
}
