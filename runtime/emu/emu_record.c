/* emu_record.c - recordings of the emulated GPU: commands of one stream that are kept, and enqueued again by each
 * replay. device.h's record and replay operations lead here. Like a CUDA Graph, a replay costs one launch. Unlike
 * with a CUDA Graph, it calls the host code again, because here the cpu variant is the kernel.
 */
#include <stdlib.h>

#include "runtime/emu/emu.h"
#include "runtime/base/error.h"

struct dfr_recording {
    uint32_t n, capacity;
    bool failed;                        /* there was no memory for a command */
    struct dfr_emu_command *commands;
};

void dfr_emu_record(struct dfr_recording *r, const struct dfr_emu_command *command)
{
    if (r->n == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : 8;
        struct dfr_emu_command *commands = realloc(r->commands, capacity * sizeof *commands);
        r->failed = r->failed || commands == NULL;
        if (commands == NULL)
            return;
        r->commands = commands;
        r->capacity = capacity;
    }
    r->commands[r->n] = *command;
    r->commands[r->n].follows = r->n > 0;
    r->n++;
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
    emu->streams[stream].recording = r;
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
    if (r->failed) {
        dfr_emu_recording_destroy(device, r);
        return dfr_error_memory(error);
    }
    *recording = r;
    return DF_OK;
}

int dfr_emu_replay(struct dfr_device *device, struct dfr_recording *r, uint32_t stream, struct df_error *error)
{
    int status = DF_OK;
    for (uint32_t i = 0; i < r->n && status == DF_OK; i++)
        status = dfr_emu_repeat((struct dfr_emu_device *)device, &r->commands[i], stream, error);
    return status;
}

void dfr_emu_recording_destroy(struct dfr_device *device, struct dfr_recording *r)
{
    (void)device;
    free(r->commands);
    free(r);
}
