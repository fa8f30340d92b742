/* svg.c - lays out a drawing with Graphviz's dot, in this process, and writes it as SVG: a plan for compiler/commands/cmd_partition.c, a mapping for mapping.c.
 *
 * Text:     is measured by text_width.h, in place of Graphviz's plugin, which measures with this machine's fonts. So
 *           the same drawing has the same bytes on every machine, and its text fits in a reader's font.
 * Errors:   Graphviz writes its messages to stderr. Here they are collected, and reported only if the layout fails.
 * Memory:   there is one context for the process, which is never freed.
 * Room:     Graphviz ends the process if an allocation fails. So nothing is laid out if the process may not have the address space that the layout takes.
 */
#include <graphviz/gvc.h>
#include <graphviz/gvplugin_textlayout.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "partition/draw/picture.h"
#include "partition/draw/text_width.h"
#include "runtime/base/error.h"

#define START_BYTES ((size_t)64 << 20)  /* Graphviz, its plugins and a small layout */
#define NODE_BYTES ((size_t)32 << 10)   /* more than a layout takes for each */

static char complaint[256];             /* global, as Graphviz's hook has no argument: one picture at a time */
static GVC_t *context;

static int keep_complaint(char *message)
{
    size_t used = strlen(complaint);
    strncat(complaint, message, sizeof complaint - used - 1);
    for (char *end = strchr(complaint, '\n'); end; end = strchr(end, '\n'))
        *end = ' ';                     /* each complaint is a line, and the error is one line */
    return 0;
}

/* ---- the measure of text, as a plugin that Graphviz prefers to its own ---- */

static boolean measure(textspan_t *span, char **font)
{
    const textfont_t *f = span->font;
    span->layout = NULL;
    span->free_layout = NULL;
    span->size.x = dfp_text_width(span->str, f->size, f->flags & HTML_BF);
    span->size.y = 1.2 * f->size;
    span->yoffset_centerline = 0.1 * f->size;
    span->yoffset_layout = 0;
    if (font)
        *font = NULL;                   /* no file of a font */
    return 1;
}

static gvtextlayout_engine_t engine = { measure };
static gvplugin_installed_t measures[] = { { 0, "textlayout", 1000, &engine, NULL }, { 0, NULL, 0, NULL, NULL } };
static gvplugin_api_t offers[] = { { API_textlayout, measures }, { (api_t)0, NULL } };
static gvplugin_library_t library = { "dfc", offers };
static const lt_symlist_t plugins[] = { { "gvplugin_dfc_LTX_library", &library }, { NULL, NULL } };

/* ---- layout ---- */

/* Could the process get that much memory now? Nothing is touched. */
static bool has_room(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

static int render(Agraph_t *g, char **text, size_t *size, struct df_error *error)
{
    char *data = NULL;
    unsigned length = 0;
    if (gvLayout(context, g, "dot"))
        return dfr_error(error, DF_E_IO, "Graphviz cannot lay out the picture: %s",
                         complaint[0] ? complaint : "it does not say why");
    int failed = gvRenderData(context, g, "svg", &data, &length);
    gvFreeLayout(context, g);
    if (failed || !data)
        return dfr_error(error, DF_E_IO, "Graphviz cannot write SVG: %s",
                         complaint[0] ? complaint : "it does not say why");
    char *copy = malloc((size_t)length + 1);
    if (copy) {
        memcpy(copy, data, length);
        copy[length] = '\0';
    }
    gvFreeRenderData(data);
    if (!copy)
        return dfr_error_memory(error);
    *text = copy;
    *size = length;
    return DF_OK;
}

int dfp_svg_of(Agraph_t *g, char **text, size_t *size, struct df_error *error)
{
    size_t bytes = START_BYTES + (size_t)agnnodes(g) * NODE_BYTES;
    if (!has_room(bytes))
        return dfr_error(error, DF_E_MEMORY, "out of memory: Graphviz needs %zu MiB of address space to lay out "
                         "the picture; DOT can be written without", bytes >> 20);
    complaint[0] = '\0';
    agusererrf previous = agseterrf(keep_complaint);
    if (!context)
        context = gvContextPlugins(plugins, 1);
    int code = context ? render(g, text, size, error)
                       : dfr_error(error, DF_E_IO, "Graphviz does not start: %s", complaint);
    agseterrf(previous);
    return code;
}

int dfp_draw_svg(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_drawing *how, char **text,
                 size_t *size, bool *summarised, struct df_error *error)
{
    struct dfp_picture picture;
    int code = dfp_picture_make(problem, plan, how, &picture, error);
    if (code)
        return code;
    code = dfp_svg_of(picture.g, text, size, error);
    agclose(picture.g);
    if (!code)
        *summarised = picture.summarised;
    return code;
}
