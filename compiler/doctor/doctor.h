/* doctor.h - the checks of `dfc doctor`, and the list of their findings.
 *
 * Room:     compiler/doctor/ inspects the machine for everything that programs of dfc need. It measures no speed (that
 *           is `dfc probe`) and reads no graph. Each look_*.c holds the checks under one heading.
 * Memory:   a list owns its texts, but for those that are named `const`.
 * Threads:  one at a time.
 * Errors:   a check that fails is a finding, too. A list whose `failed` is set ran out of memory.
 */
#ifndef DFC_DOCTOR_H
#define DFC_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "runtime/base/intern.h"

enum dfc_health {
    DFC_WELL,                           /* there, and it works as far as was tried */
    DFC_ABSENT,                         /* not there; the rest of dfc does without */
    DFC_BROKEN                          /* there and does not work, or dfc cannot do without it */
};

struct dfc_look {
    const char *heading, *what;         /* "to build programs", "C compiler" */
    enum dfc_health health;
    const char *means;                  /* what does not work without it; NULL: nothing is lost */
    const char *remedy;                 /* a line to type, or what to do; NULL: none is known */
};

struct dfc_finding {
    struct dfc_look look;               /* if it is well, its `means` and `remedy` are NULL */
    char *found;                        /* one line without its end */
};

struct dfc_findings {
    struct dfr_array items;             /* struct dfc_finding */
    bool failed;
};

/* Adds what was looked for, and what was found there, made as by printf. */
void dfc_found(struct dfc_findings *list, const struct dfc_look *look, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const struct dfc_finding *dfc_finding_at(const struct dfc_findings *list, uint32_t i);
void dfc_findings_free(struct dfc_findings *list);
void dfc_findings_text(FILE *out, const struct dfc_findings *list, const char *version);
void dfc_findings_json(FILE *out, const struct dfc_findings *list, const char *version);

/* The looks, by heading. With `quick` no program is built or run but those that say their version. */
void dfc_look_machine(struct dfc_findings *list);
void dfc_look_build(struct dfc_findings *list, bool quick);
void dfc_look_libraries(struct dfc_findings *list);
void dfc_look_cluster(struct dfc_findings *list);
void dfc_look_places(struct dfc_findings *list);

/* ---- for the looks ---- */

/* The first line of what a program prints on both outputs that holds `word` ("": the first that is not empty), without
 * blanks around it. malloc'ed. NULL: the program is not there, fails, or prints no such line. */
char *dfc_doctor_says(char *const *argv, const char *word);
/* How many GPUs CUDA's driver shows, and which CUDA it supports (1000 * major + 10 * minor). -1: there is no driver that
 * answers. */
int dfc_doctor_gpus(int *supports);

#endif
