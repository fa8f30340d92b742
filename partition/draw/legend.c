/* legend.c - adds for picture.c the table above a picture: load per unit, the cut, predicted times, and the decisions about parts and passes. It is the label
 * of the drawing, so that the layout reserves space for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/draw/picture.h"

#define WIDE 110                        /* bytes of a line of text; a longer one is broken */

static void put_line(FILE *out, const char *text, const char *colour)
{
    fprintf(out, "<TR><TD ALIGN=\"LEFT\"><FONT COLOR=\"%s\">", colour);
    dfp_label_text(out, text);
    fputs("</FONT></TD></TR>", out);
}

static void put_unit(FILE *out, const struct dfp_picture *picture, uint32_t u)
{
    const struct df_unit *unit = &picture->model.problem->platform->units[u];
    const struct dfp_evaluation *e = &picture->report.evaluation;
    char load[32];
    double whole_s = e->makespan_s * unit->workers;
    fprintf(out, "<TR><TD BGCOLOR=\"%s\">", dfp_unit_colour(u));
    dfp_label_text(out, unit->name);
    fprintf(out, "</TD><TD ALIGN=\"RIGHT\">%u node%s</TD><TD ALIGN=\"RIGHT\">load %s</TD>", (unsigned)e->nodes[u],
            e->nodes[u] == 1 ? "" : "s", dfp_text_time(load, e->busy_s[u]));
    fprintf(out, "<TD ALIGN=\"RIGHT\">%u worker%s, %.0f %% busy</TD></TR>", (unsigned)unit->workers,
            unit->workers == 1 ? "" : "s", whole_s > 0 ? 100 * e->busy_s[u] / whole_s : 0.0);
}

static void put_plan(FILE *out, const struct dfp_picture *picture)
{
    const struct dfp_report *report = &picture->report;
    const struct dfp_evaluation *e = &report->evaluation;
    char text[256], remark[128], bytes[32], time[32];
    fputs("<TR><TD ALIGN=\"LEFT\"><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"1\" CELLPADDING=\"2\">", out);
    for (uint32_t u = 0; u < picture->model.n_units; u++)
        put_unit(out, picture, u);
    fputs("</TABLE></TD></TR>", out);
    snprintf(text, sizeof text, "Cut: %u of %u arcs (heavy, dashed), %s, %s of transfers", (unsigned)report->cut_arcs,
             (unsigned)report->n_arcs, dfp_text_bytes(bytes, e->cut_bytes), dfp_text_time(time, e->cut_s));
    put_line(out, text, DFP_CUT_COLOUR);
    if (picture->n_chain) {
        size_t n = (size_t)snprintf(text, sizeof text, "Critical path: %u node%s", (unsigned)picture->n_chain,
                                    picture->n_chain == 1 ? "" : "s");
        if (picture->waits)
            snprintf(text + n, sizeof text - n, " (dark red; dotted: waits for its worker)");
        else
            snprintf(text + n, sizeof text - n, ", %s of dependencies (dark red)",
                     dfp_text_time(time, picture->chain_s));
        put_line(out, text, DFP_CHAIN_COLOUR);
    }
    dfp_text_remark(remark, picture->model.problem, report);
    snprintf(text, sizeof text, "Predicted makespan of one wave: %s%s%s", dfp_text_time(time, e->makespan_s),
             remark[0] ? "; " : "", remark);
    put_line(out, text, "black");
}

/* The end of a line that begins here: at its end, or, if it has more than WIDE bytes, at a space. */
static char *line_end(char *line)
{
    size_t n = strcspn(line, "\n"), end = n;
    if (n > WIDE)
        for (end = WIDE; end > 0 && line[end] != ' '; end--)
            ;
    return line + (end > 0 ? end : strcspn(line, " \n"));
}

/* false: no memory. */
static bool put_choices(FILE *out, const char *choices)
{
    char *text = strdup(choices);
    for (char *line = text, *end; line && *line; line = end) {
        end = line_end(line);
        if (*end)
            *end++ = '\0';
        if (*line)
            put_line(out, line, "black");
    }
    free(text);
    return text != NULL;
}

static bool put_table(FILE *out, const struct dfp_picture *picture)
{
    const struct dfp_problem *problem = picture->model.problem;
    char text[400];
    fputs("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"1\" CELLPADDING=\"2\">", out);
    fputs("<TR><TD ALIGN=\"LEFT\"><B>", out);
    snprintf(text, sizeof text, "%s: %u nodes", problem->graph->name, (unsigned)problem->graph->n_nodes);
    dfp_label_text(out, text);
    if (picture->plan) {
        snprintf(text, sizeof text, ", placed by %s on platform %s", picture->plan->policy, problem->platform->name);
        dfp_label_text(out, text);
    }
    fputs("</B></TD></TR>", out);
    if (picture->plan)
        put_plan(out, picture);
    const bool good = !picture->choices || put_choices(out, picture->choices);
    if (picture->note[0])
        put_line(out, picture->note, "#404040");
    fputs("</TABLE>", out);
    return good;
}

bool dfp_picture_legend(struct dfp_picture *picture)
{
    struct dfp_label label;
    if (!dfp_label_begin(&label))
        return false;
    const bool good = put_table(label.out, picture);
    dfp_set(picture->g, "labelloc", "t");
    dfp_set(picture->g, "labeljust", "l");
    return dfp_label_end(&label, picture->g, picture->g) && good;
}
