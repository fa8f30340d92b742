/* chart.h - a bar chart of times as SVG, sorted from fast to slow: bars up to the median, whiskers from minimum to
 * maximum, the value above. If there are predictions, a hollow bar stands to the left of each, and a legend explains
 * the two. `dfc compare` (commands/cmd_compare.c) draws with it.
 *
 * Output:   as svg.h says.
 * Errors:   false: no memory. The caller checks the FILE.
 */
#ifndef DFC_CHART_H
#define DFC_CHART_H

#include <stdbool.h>
#include <stdio.h>

struct dfc_bar {
    const char *label;                  /* below the bar; any text, escaped here */
    const char *note;                   /* smaller, below the label; NULL: none */
    double value_s, least_s, most_s;    /* least <= value <= most */
    int highlight;                      /* the best one */
    int uncertain;                      /* drawn paler, "~" before the value */
    double predicted_s;                 /* used if the chart has predictions */
};

struct dfc_chart {
    const char *title, *subtitle;       /* subtitle may be NULL */
    const char *footnote;               /* NULL: none */
    const char *measured, *predicted;   /* the legend's words for the filled and the hollow bars; predicted NULL: no
                                         * predictions, and no legend */
    const struct dfc_bar *bars;
    unsigned n_bars;
};

bool dfc_chart_write(FILE *out, const struct dfc_chart *chart);

#endif
