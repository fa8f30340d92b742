/* no_graphviz.c - what a dfc without Graphviz's layout says of SVG. It is linked in place of partition/draw/svg.c into
 * the dfc that is carried to a machine with an older glibc than Graphviz's libraries need. DOT is written as ever.
 */
#include "partition/draw/draw.h"
#include "partition/draw/picture.h"
#include "runtime/base/error.h"

static int refuse(struct df_error *error)
{
    return dfr_error(error, DF_E_IO, "this dfc was made without Graphviz: write DOT (-o FILE.dot), and lay it out elsewhere");
}

int dfp_svg_of(Agraph_t *g, char **text, size_t *size, struct df_error *error)
{
    (void)g, (void)text, (void)size;
    return refuse(error);
}

int dfp_draw_svg(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_drawing *how, char **text,
                 size_t *size, bool *summarised, struct df_error *error)
{
    (void)problem, (void)plan, (void)how, (void)text, (void)size, (void)summarised;
    return refuse(error);
}
