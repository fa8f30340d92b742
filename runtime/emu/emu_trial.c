/* emu_trial.c - reading what an emulated GPU is to do wrong (see emu_trial.h). */
#include "runtime/emu/emu_trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

#define MOST_SLOW 1000

static const char *const call_names[DF_EMU_CALLS] = {
    [DF_EMU_OPEN] = "open",     [DF_EMU_ALLOC] = "alloc", [DF_EMU_COPY] = "copy",
    [DF_EMU_LAUNCH] = "launch", [DF_EMU_EVENT] = "event", [DF_EMU_WAIT] = "wait",
    [DF_EMU_QUERY] = "query",   [DF_EMU_LATE_COPY] = "late-copy", [DF_EMU_LATE_LAUNCH] = "late-launch",
};

const char *dfr_emu_call_name(enum df_emu_call call)
{
    return call_names[call];
}

bool dfr_emu_trial_is_set(const struct df_emu_trial *trial)
{
    for (int c = 0; c < DF_EMU_CALLS; c++)
        if (trial->fail[c] > 0)
            return true;
    return trial->slow_factor > 0 || trial->reorder_seed > 0;
}

/* A whole number from 1 that ends at *end. */
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

static bool read_call(const char *text, size_t length, enum df_emu_call *call)
{
    for (int c = 0; c < DF_EMU_CALLS; c++)
        if (strlen(call_names[c]) == length && memcmp(call_names[c], text, length) == 0) {
            *call = (enum df_emu_call)c;
            return true;
        }
    return false;
}

bool dfr_emu_trial_fail(const char *text, struct df_emu_trial *trial, struct df_error *error)
{
    for (;;) {
        size_t length = strcspn(text, ":,");
        enum df_emu_call call;
        uint64_t number;

        if (!read_call(text, length, &call)) {
            char names[128] = "";
            for (int c = 0; c < DF_EMU_CALLS; c++)
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", c ? ", " : "", call_names[c]);
            dfr_error(error, DF_E_ARGUMENT, "nothing called '%.*s' can fail; there are: %s", (int)length, text, names);
            return false;
        }
        if (text[length] != ':' || !read_number(text + length + 1, &text, &number) || (*text && *text != ',')) {
            dfr_error(error, DF_E_ARGUMENT, "which %s is to fail is given like '%s:3'", call_names[call],
                      call_names[call]);
            return false;
        }
        trial->fail[call] = number;
        if (*text++ == '\0')
            return true;
    }
}

bool dfr_emu_trial_slow(const char *text, struct df_emu_trial *trial, struct df_error *error)
{
    char *end;
    double factor = strtod(text, &end);
    unsigned long device = 0;
    bool chosen = *end == ':';

    if (chosen && end[1] >= '0' && end[1] <= '9')
        device = strtoul(end + 1, &end, 10);
    if (strchr(" \t\n+-", *text) || *end || !(factor >= 1 && factor <= MOST_SLOW) || device >= DF_MAX_UNITS) {
        dfr_error(error, DF_E_ARGUMENT, "'%s' is neither a factor from 1 to %d nor, as in 4:1, a factor and a device",
                  text, MOST_SLOW);
        return false;
    }
    trial->slow_factor = factor;
    trial->slow_device = chosen ? (int)device : -1;
    return true;
}

bool dfr_emu_trial_reorder(const char *text, struct df_emu_trial *trial, struct df_error *error)
{
    const char *end;
    uint64_t seed;

    if (!read_number(text, &end, &seed) || *end) {
        dfr_error(error, DF_E_ARGUMENT, "'%s' is no seed: a whole number from 1", text);
        return false;
    }
    trial->reorder_seed = seed;
    return true;
}
