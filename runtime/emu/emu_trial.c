/* emu_trial.c - parses the faults that the emulated GPUs are to inject (emu_trial.h), from the environment or from a
 * test. emu.c asks for them when it opens a device, and for the names of calls. */
#include "runtime/emu/emu_trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

#define MOST_SLOW 1000
#define VARIABLE DFR_EMU_TRIAL_VARIABLE ": " /* begins each message */

static const char *const call_names[DFR_EMU_CALLS] = {
    [DFR_EMU_CALL_OPEN] = "open",     [DFR_EMU_CALL_ALLOC] = "alloc", [DFR_EMU_CALL_COPY] = "copy",
    [DFR_EMU_CALL_LAUNCH] = "launch", [DFR_EMU_CALL_EVENT] = "event", [DFR_EMU_CALL_WAIT] = "wait",
    [DFR_EMU_CALL_QUERY] = "query",   [DFR_EMU_CALL_LATE_COPY] = "late-copy",
    [DFR_EMU_CALL_LATE_LAUNCH] = "late-launch",
};

const char *dfr_emu_call_name(enum dfr_emu_call call)
{
    return call_names[call];
}

/* Reads a whole number from 1. *end: what follows it. */
static bool read_number(const char *text, const char **end, uint64_t *number)
{
    char *after;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &after, 10);
    *end = after;
    return errno == 0 && *number > 0;
}

static bool read_call(const char *text, size_t length, enum dfr_emu_call *call)
{
    for (int c = 0; c < DFR_EMU_CALLS; c++)
        if (strlen(call_names[c]) == length && memcmp(call_names[c], text, length) == 0) {
            *call = (enum dfr_emu_call)c;
            return true;
        }
    return false;
}

/* "copy:3" */
static int read_fail(const char *text, struct dfr_emu_trial *trial, struct df_error *error)
{
    size_t length = strcspn(text, ":");
    enum dfr_emu_call call;
    uint64_t number;

    if (!read_call(text, length, &call)) {
        char names[128] = "";
        for (int c = 0; c < DFR_EMU_CALLS; c++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", c ? ", " : "", call_names[c]);
        return dfr_error(error, DF_E_ARGUMENT, VARIABLE "nothing called '%.*s' can fail; there are: %s", (int)length,
                         text, names);
    }
    if (text[length] != ':' || !read_number(text + length + 1, &text, &number) || *text)
        return dfr_error(error, DF_E_ARGUMENT, VARIABLE "which %s is to fail is given like '%s:3'", call_names[call],
                         call_names[call]);
    trial->fail[call] = number;
    return DF_OK;
}

/* "2.5", or "4:1": device 1 alone. */
static int read_slow(const char *text, struct dfr_emu_trial *trial, struct df_error *error)
{
    char *end;
    double factor = strtod(text, &end);
    unsigned long device = 0;
    bool chosen = *end == ':';

    if (chosen && end[1] >= '0' && end[1] <= '9')
        device = strtoul(end + 1, &end, 10);
    if (strchr(" \t\n+-", *text) || *end || !(factor >= 1 && factor <= MOST_SLOW) || device >= DF_MAX_UNITS)
        return dfr_error(error, DF_E_ARGUMENT,
                         VARIABLE "'%s' is neither a factor from 1 to %d nor, as in 4:1, a factor and a device", text,
                         MOST_SLOW);
    trial->slow_factor = factor;
    trial->slow_device = chosen ? (int)device : -1;
    return DF_OK;
}

static int read_reorder(const char *text, struct dfr_emu_trial *trial, struct df_error *error)
{
    const char *end;
    uint64_t seed;

    if (!read_number(text, &end, &seed) || *end)
        return dfr_error(error, DF_E_ARGUMENT, VARIABLE "'%s' is no seed: a whole number from 1", text);
    trial->reorder_seed = seed;
    return DF_OK;
}

/* ---- all of the text ---- */

static int read_item(const char *item, struct dfr_emu_trial *trial, struct df_error *error)
{
    if (strncmp(item, "fail=", 5) == 0)
        return read_fail(item + 5, trial, error);
    if (strncmp(item, "slow=", 5) == 0)
        return read_slow(item + 5, trial, error);
    if (strncmp(item, "reorder=", 8) == 0)
        return read_reorder(item + 8, trial, error);
    return dfr_error(error, DF_E_ARGUMENT,
                     VARIABLE "'%s' is none of fail=CALL:N, slow=FACTOR[:GPU] and reorder=SEED", item);
}

int dfr_emu_trial_parse(const char *text, struct dfr_emu_trial *trial, struct df_error *error)
{
    *trial = (struct dfr_emu_trial){ 0 };
    for (;;) {
        char item[64];
        size_t length = strcspn(text, ",");
        int status;

        snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item), text);
        status = read_item(item, trial, error);
        if (status != DF_OK)
            return status;
        text += length;
        if (*text++ == '\0')
            return DF_OK;
    }
}

static const struct dfr_emu_trial *used; /* a test's own; NULL: the environment counts */

void dfr_emu_trial_use(const struct dfr_emu_trial *trial)
{
    used = trial;
}

int dfr_emu_trial_now(struct dfr_emu_trial *trial, struct df_error *error)
{
    const char *text = getenv(DFR_EMU_TRIAL_VARIABLE);

    *trial = used ? *used : (struct dfr_emu_trial){ 0 };
    return used || !text || !*text ? DF_OK : dfr_emu_trial_parse(text, trial, error);
}
