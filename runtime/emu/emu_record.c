/* emu_record.c - implements device.h's record and replay for the emulated GPU, for emu.c's table: the commands of one stream are kept, and each replay enqueues
 * them again. Like a CUDA Graph, a replay costs one launch. Unlike with a CUDA Graph, it calls the host code again, because here the cpu variant is the kernel.
 *
 * One engine executes all launches, so unordered parts run one after another, in the order of the recording; a reordering device draws a random permitted order
 * for each replay.
 */
#include <stdlib.h>

#include "runtime/base/array.h"
#include "runtime/emu/emu.h"
#include "runtime/base/error.h"

struct dfr_recording {
    uint32_t n;
    size_t capacity;
    bool failed;                        /* there was no memory for a command */
    struct dfr_emu_command *commands;
    uint32_t n_parts, first[DFR_RECORDED_PARTS + 1], after[DFR_RECORDED_PARTS]; /* first: of each part's commands */
    uint64_t random;                    /* state of the draws; 0: it does not reorder */
};

void dfr_emu_record(struct dfr_recording *r, const struct dfr_emu_command *command)
{
    if (DFR_ARRAY_ROOM(r->commands, r->n, r->capacity))
        r->commands[r->n++] = *command;
    else
        r->failed = true;
}

int dfr_emu_record_begin(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    struct dfr_emu_device *emu = (struct dfr_emu_device *)device;
    struct dfr_recording *r;

    if (stream >= emu->n_streams || emu->streams[stream].recording != NULL)
        return dfr_error(error, DF_E_ARGUMENT, "%s: stream %u cannot be recorded", emu->name, stream);
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return dfr_error_memory(error);
    if (emu->trial.reorder_seed > 0)
        r->random = emu->trial.reorder_seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    emu->streams[stream].recording = r;
    return DF_OK;
}

int dfr_emu_record_part(struct dfr_device *device, uint32_t stream, uint32_t part, uint32_t after,
                        struct df_error *error)
{
    struct dfr_emu_device *emu = (struct dfr_emu_device *)device;
    struct dfr_recording *r = stream < emu->n_streams ? emu->streams[stream].recording : NULL;

    if (r == NULL || part != r->n_parts || part >= DFR_RECORDED_PARTS || (uint64_t)after >> part != 0)
        return dfr_error(error, DF_E_ARGUMENT, "%s: stream %u cannot record part %u", emu->name, stream, part);
    r->first[part] = part == 0 ? 0 : r->n;
    r->after[part] = after;
    r->n_parts++;
    return DF_OK;
}

int dfr_emu_record_end(struct dfr_device *device, uint32_t stream, struct dfr_recording **recording,
                       struct df_error *error)
{
    struct dfr_emu_device *emu = (struct dfr_emu_device *)device;
    struct dfr_recording *r = stream < emu->n_streams ? emu->streams[stream].recording : NULL;

    if (r == NULL)
        return dfr_error(error, DF_E_ARGUMENT, "%s: stream %u is not being recorded", emu->name, stream);
    emu->streams[stream].recording = NULL;
    if (r->n_parts == 0)                /* what is recorded without parts is one */
        r->n_parts = 1;
    r->first[r->n_parts] = r->n;
    if (r->failed) {
        dfr_emu_recording_destroy(device, r);
        return dfr_error_memory(error);
    }
    *recording = r;
    return DF_OK;
}

/* The part whose command is next, of those that have commands left and follow none that has: the first one, or any. */
static uint32_t choose_part(struct dfr_recording *r, const uint32_t *at)
{
    uint32_t left = 0, best = 0, n_able = 0;

    for (uint32_t p = 0; p < r->n_parts; p++)
        left |= (uint32_t)(at[p] < r->first[p + 1]) << p;
    for (uint32_t p = 0; p < r->n_parts; p++) {
        if (!(left >> p & 1) || r->after[p] & left)
            continue;
        n_able++;
        if (n_able == 1 || (r->random != 0 && dfr_emu_draw(&r->random) % n_able == 0))
            best = p;
    }
    return best;
}

int dfr_emu_replay(struct dfr_device *device, struct dfr_recording *r, uint32_t stream, struct df_error *error)
{
    uint32_t at[DFR_RECORDED_PARTS];    /* by part: its next command */
    int status = DF_OK;

    for (uint32_t p = 0; p < r->n_parts; p++)
        at[p] = r->first[p];
    for (uint32_t i = 0; i < r->n && status == DF_OK; i++) {
        struct dfr_emu_command command = r->commands[at[choose_part(r, at)]++];
        command.follows = i > 0;
        status = dfr_emu_repeat((struct dfr_emu_device *)device, &command, stream, error);
    }
    return status;
}

void dfr_emu_recording_destroy(struct dfr_device *device, struct dfr_recording *r)
{
    (void)device;
    free(r->commands);
    free(r);
}
