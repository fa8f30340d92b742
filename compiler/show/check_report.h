/* check_report.h - prints what `dfc check` derived: a line for each promise, what prevents those that are refused, the changes that would make them hold, and the
 * machines that would do.
 */
#ifndef DFC_CHECK_REPORT_H
#define DFC_CHECK_REPORT_H

#include "partition/promise/promise.h"
#include "runtime/base/report_table.h"

struct dfc_check_report {
    const char *path;
    const struct dfp_problem *problem;
    const char *policy;
    const struct dfp_derived *derived;
    char limit[320];                    /* what limits the rate; "": it is not refused */
    const struct dfp_remedy *remedies, *machines;
    unsigned n_remedies, n_machines;
    bool asked_machines;
};

/* false: no memory. */
bool dfc_check_print(const struct dfc_check_report *report, enum dfr_form form, FILE *out);

#endif
