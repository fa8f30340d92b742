/* recorded.h - an open output file, as shared by the functions that kernels call (kernel_outputs.c) and the record of the run (outputs.c). Private to both. */
#ifndef DFR_RECORDED_H
#define DFR_RECORDED_H

#include "runtime/base/output.h"
#include "runtime/record/outputs.h"

struct dfr_appending;                   /* the record of an appended file */

struct dfr_recorded {
    struct dfr_outputs *outputs;        /* NULL: nothing is recorded */
    struct dfr_appending *appending;    /* NULL: the file is none that can be resumed */
    struct dfr_written file;            /* as it is now; the path is the kernel's, and who opened the file frees it */
    int64_t round;                      /* in which it was opened, by place in the run */
};

/* The call's node is to write this file. A failure if another node of the run has said so. What is no regular file, such as a pipe, may
 * be written by many. Two links to one file are not seen, nor is any file behind the first 4,096 of a run. */
int dfr_output_claim(struct df_call *call, const char *path, struct df_error *error);
/* Opens recorded->file, of which the caller has set path and `appended`, for the job. After an error nothing is open. */
int dfr_recorded_open(struct dfr_outputs *outputs, struct df_call *call, struct dfr_output *to, struct dfr_recorded *recorded, int *begins,
                      struct df_error *error);
/* The job has written. DF_OK, or DF_FAILED with the reason in the call. */
int dfr_recorded_pause(struct dfr_recorded *recorded, struct df_call *call, FILE *file);
/* Closes the file. If its wave does not count yet (held.h), it is complete, and gets its name later. */
int dfr_recorded_close(struct dfr_recorded *recorded, struct dfr_output *to, bool keep, struct df_error *error);

#endif
