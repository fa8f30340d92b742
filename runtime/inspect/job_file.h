/* job_file.h - one job as a file: what its kernel was called with, and its outputs. --record-job writes it (record_job.c), --replay (program/replay.c)
 * and `dfc replay` (compiler/commands/cmd_replay.c) read it.
 *
 * Format:   rows of base/bytes.h behind a magic number with the version, and a digest of all that follows. The file is replaced atomically.
 * Ports:    in the order of the kernel's declaration. `got` is what an in, inout or acc port held before the call, `made` what an out, inout or acc port
 *           held after it. tmp ports have neither.
 * Memory:   dfr_job_read() allocates what dfr_job_free() returns; texts and data borrow from it. A job that is to be written borrows everything.
 * Errors:   DF_E_IO, DF_E_MEMORY; DF_E_FORMAT for a file that is no recorded job, is of another version, or is damaged. No file is trusted.
 */
#ifndef DFR_JOB_FILE_H
#define DFR_JOB_FILE_H

#include "runtime/graph/graph.h"

enum { DFR_JOB_UNENDED = -1 };          /* `code` of a job that had not ended when the file was written: its kernel crashed, or did not return */

enum dfr_job_token_is { DFR_JOB_NONE, DFR_JOB_EMPTY, DFR_JOB_THERE };

struct dfr_job_token {
    enum dfr_job_token_is is;
    uint64_t extents[DF_MAX_RANK];      /* of this wave; the rest is 0, and so are data and bytes, unless it is there */
    const void *data;                   /* dense by these extents */
    uint64_t bytes;
};

struct dfr_job_port {
    const char *name;
    uint32_t mode, elem, rank;
    struct dfr_job_token got, made;
};

struct dfr_job_value {
    const char *name;
    enum df_scalar_type type;
    union df_scalar value;
};

enum dfr_job_values_of { DFR_JOB_ARGS, DFR_JOB_PARAMS, DFR_JOB_DIMS, DFR_JOB_SCALARS, DFR_JOB_LISTS };

struct dfr_job_values {
    struct dfr_job_value *items;
    uint32_t n;
};

struct dfr_job {
    const char *program, *source;       /* absolute paths, of the program and of the graph's .df file; "" if unknown */
    const char *node, *kernel, *variant; /* variant: "cpu", or the back end of the device that ran it */
    int64_t wave;                       /* as df_wave() gives it */
    int code;                           /* what the kernel returned, or DFR_JOB_UNENDED */
    const char *message;                /* of a job that failed */
    uint64_t code_hash[2];              /* as of the kernel */
    struct dfr_job_values lists[DFR_JOB_LISTS];
    bool has_state;                     /* df_state() had been called before this job */
    const void *state;
    uint64_t state_bytes;
    struct dfr_job_port *ports;
    uint32_t n_ports;
    unsigned char *file;                /* of a job that was read */
};

int dfr_job_write(const struct dfr_job *job, const char *path, struct df_error *error);
int dfr_job_read(const char *path, struct dfr_job *job, struct df_error *error);
void dfr_job_free(struct dfr_job *job); /* of dfr_job_read(), also a failed one */

#endif
