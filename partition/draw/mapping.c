/* mapping.c - draws a pipeline's mapping, as DOT or SVG, for `dfc map`: its groups from left to right, each with its processors. The slowest group has a frame
 * in the colour of a critical path. Idle processors are listed below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/draw/picture.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

enum { MOST_SHOWN = 12 };               /* processors of a group with a line of their own */

struct stages {
    const struct dfp_stages_drawing *d;
    double group_s[DFP_MOST_STAGES], time_s[DFP_MOST_PROCESSORS], period_s;
    Agraph_t *g;
};

/* From white to a blue on which black text is legible. */
static void busy_colour(double share, char colour[12])
{
    int light = (int)lround(255 - 70 * fmin(fmax(share, 0), 1));
    snprintf(colour, 12, "#%02X%02XFF", (unsigned char)(light - 20), (unsigned char)light);
}

/* The share of the time that a processor is busy: the groups beside it may keep it waiting. */
static double busy(const struct stages *s, uint32_t p)
{
    uint32_t g = s->d->mapping->group_of[p], n = 0;
    for (uint32_t q = 0; q < s->d->pipeline->n_processors; q++)
        n += s->d->mapping->group_of[q] == g;
    if (s->d->pipeline->feeding == DFP_BY_DEMAND) /* all replicas alike, each as quick as it is */
        return s->group_s[g] / s->period_s;
    return s->time_s[p] / (n * s->period_s);
}

static void put_processor(FILE *out, const struct stages *s, uint32_t p)
{
    char colour[12], text[16];
    double share = busy(s, p);
    busy_colour(share, colour);
    fprintf(out, "<TR><TD ALIGN=\"LEFT\" BGCOLOR=\"%s\">", colour);
    dfp_label_text(out, s->d->processors[p]);
    fprintf(out, "</TD><TD ALIGN=\"RIGHT\" BGCOLOR=\"%s\">%s</TD><TD ALIGN=\"RIGHT\" BGCOLOR=\"%s\">%.0f %% busy</TD></TR>", colour,
            dfr_text_seconds(s->time_s[p], text, sizeof text), colour, 100 * share);
}

static void put_group(FILE *out, const struct stages *s, uint32_t g)
{
    const struct dfp_mapping *m = s->d->mapping;
    char text[16];
    uint32_t n = 0;
    bool slowest = s->group_s[g] >= s->period_s;
    fprintf(out, "<TABLE BORDER=\"%d\" COLOR=\"%s\" CELLBORDER=\"0\" CELLSPACING=\"1\" CELLPADDING=\"3\">", slowest ? 3 : 1,
            slowest ? DFP_CHAIN_COLOUR : "#909090");
    for (uint32_t stage = m->first[g]; stage < m->first[g + 1]; stage++) {
        fputs("<TR><TD COLSPAN=\"3\" ALIGN=\"LEFT\"><B>", out);
        dfp_label_text(out, s->d->stages[stage]);
        fputs("</B></TD></TR>", out);
    }
    fprintf(out, "<TR><TD COLSPAN=\"3\" ALIGN=\"LEFT\">a wave every %s</TD></TR>", dfr_text_seconds(s->group_s[g], text, sizeof text));
    for (uint32_t p = 0; p < s->d->pipeline->n_processors; p++)
        if (m->group_of[p] == g && n++ < MOST_SHOWN)
            put_processor(out, s, p);
    if (n > MOST_SHOWN)
        fprintf(out, "<TR><TD COLSPAN=\"3\" ALIGN=\"LEFT\">and %u more</TD></TR>", (unsigned)(n - MOST_SHOWN));
    fputs("</TABLE>", out);
}

static Agnode_t *add_group(const struct stages *s, uint32_t g)
{
    char title[32];
    struct dfp_label label;
    snprintf(title, sizeof title, "group %u", (unsigned)g);
    Agnode_t *node = dfp_picture_node(s->g, title);
    if (!node || !dfp_label_begin(&label))
        return NULL;
    put_group(label.out, s, g);
    dfp_set(node, "shape", "plain");
    return dfp_label_end(&label, s->g, node) ? node : NULL;
}

static bool add_arc(const struct stages *s, Agnode_t *from, Agnode_t *to, double bytes)
{
    char text[16], words[40];
    Agedge_t *arc = agedge(s->g, from, to, NULL, 1);
    if (!arc)
        return false;
    snprintf(words, sizeof words, "%s", bytes > 0 ? dfr_text_bytes((uint64_t)bytes, text, sizeof text) : "");
    dfp_set(arc, "label", words);
    return true;
}

static bool add_groups(const struct stages *s)
{
    Agnode_t *last = NULL;
    for (uint32_t g = 0; g < s->d->mapping->n_groups; g++) {
        Agnode_t *node = add_group(s, g);
        if (!node || (last && !add_arc(s, last, node, s->d->pipeline->bytes[s->d->mapping->first[g]])))
            return false;
        last = node;
    }
    return true;
}

static bool add_title(const struct stages *s)
{
    struct dfp_label label;
    char text[16];
    uint32_t idle = 0;
    if (!dfp_label_begin(&label))
        return false;
    fputs("<B>", label.out);
    dfp_label_text(label.out, s->d->title);
    fprintf(label.out, "</B><BR ALIGN=\"LEFT\"/>a wave every %s, %.4g waves/s; fed %s; red frame: what takes longest<BR ALIGN=\"LEFT\"/>",
            dfr_text_seconds(s->period_s, text, sizeof text), 1 / s->period_s,
            s->d->pipeline->feeding == DFP_BY_DEMAND ? "by demand" : "in order");
    for (uint32_t p = 0; p < s->d->pipeline->n_processors; p++) {
        if (s->d->mapping->group_of[p] != DFP_NO_GROUP)
            continue;
        if (idle < MOST_SHOWN) {
            fputs(idle ? ", " : "idle: ", label.out);
            dfp_label_text(label.out, s->d->processors[p]);
        }
        idle++;
    }
    if (idle > MOST_SHOWN)
        fprintf(label.out, " and %u more", (unsigned)(idle - MOST_SHOWN));
    fputs(idle ? "<BR ALIGN=\"LEFT\"/>" : "", label.out);
    return dfp_label_end(&label, s->g, s->g);
}

int dfp_draw_stages(const struct dfp_stages_drawing *drawing, bool svg, char **text, size_t *size, struct df_error *error)
{
    struct stages *s = calloc(1, sizeof *s);
    if (!s)
        return dfr_error_memory(error);
    s->d = drawing;
    s->period_s = dfp_mapping_period_s(drawing->pipeline, drawing->mapping, s->group_s);
    dfp_mapping_times(drawing->pipeline, drawing->mapping, s->time_s);
    s->g = dfp_picture_open("mapping");
    int code = DF_E_MEMORY;
    if (s->g) {
        dfp_set(s->g, "rankdir", "LR");
        if (add_groups(s) && add_title(s))
            code = svg ? dfp_svg_of(s->g, text, size, error) : dfp_dot_of(s->g, text, size, error);
        else
            dfr_error_memory(error);
        agclose(s->g);
    } else {
        dfr_error_memory(error);
    }
    free(s);
    return code;
}
