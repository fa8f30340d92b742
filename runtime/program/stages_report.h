/* stages_report.h - prints what each rank did with its pipeline stages (ranks/stage_rows.h), as text or JSON. ranks_report.c calls it. */
#ifndef DF_STAGES_REPORT_H
#define DF_STAGES_REPORT_H

#include <stdio.h>

#include "runtime/ranks/figures.h"

/* A line for each rank and group of stages, and one for each group of all ranks together. */
void dfr_report_stages_text(const struct dfr_figures *figures, FILE *out);
/* A member "stages" of a JSON object that has others before it: of a rank; of all ranks together. */
void dfr_report_stages_json(const struct dfr_stage_rows *rows, FILE *out);
void dfr_report_stages_sum_json(const struct dfr_figures *figures, FILE *out);

#endif
