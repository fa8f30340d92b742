/* args_inspect.c - the options that look into a run (docs/debugging.md), and which others do not go with them. */
#include <string.h>

#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

static int set_check(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (strcmp(text, "variants"))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: nothing called '%s' can be checked; there is: variants", name,
                         text);
    line->options.check_variants = 1;
    return DF_OK;
}

static int set_dump(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "--%s needs the name of a node", name);
    line->dumps[line->options.n_dumps++] = text;
    return DF_OK;
}

static int set_dump_dir(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "--%s needs the name of a folder", name);
    line->options.dump_dir = text;
    return DF_OK;
}

static int set_watchdog(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (dfr_parse_seconds(text, &line->options.watchdog_s))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not a time; write a number with ms, s, min or h, as in 30s",
                     name, text);
}

int dfr_inspect_together(const struct df_options *o, struct df_error *error)
{
    const char *inspects = o->check_variants ? "--check"  : o->n_dumps          ? "--dump"
                           : o->poison       ? "--poison" : o->watchdog_s > 0   ? "--watchdog"
                           : o->serial       ? "--serial" : NULL;
    const char *orders = o->serial ? "--serial" : o->check_variants ? "--check" : NULL;
    const char *other = o->policy ? "--policy" : o->workers > 1 ? "--workers" : o->inflight > 1 ? "--inflight"
                        : o->gpu_jobs > 1 ? "--gpu-jobs" : NULL;

    if (inspects && o->device == DF_DEVICE_SIM)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no kernel is called in the virtual time of --device=sim",
                         inspects);
    if (o->check_variants && o->device == DF_DEVICE_NONE)
        return dfr_error(error, DF_E_ARGUMENT, "--check: gpu variants need a device, and --device=none is given");
    if (orders && other)
        return dfr_error(error, DF_E_ARGUMENT, "%s runs one job at a time in a fixed order: it does not go with %s",
                         orders, other);
    if (o->learn && (o->check_variants || o->n_dumps || o->poison))
        return dfr_error(error, DF_E_ARGUMENT, "--learn: with %s a job takes longer than its kernel", inspects);
    if (o->dump_dir && o->n_dumps == 0)
        return dfr_error(error, DF_E_ARGUMENT, "--dump-dir: no --dump says what to write there");
    return DF_OK;
}

const struct dfr_option dfr_options_inspect[] = {
    { "serial", NULL, "one job at a time, one wave at a time, in topological order", DFR_FLAG(serial) },
    { "check", "variants", "run cpu and gpu variants on the same inputs, and say how they differ", set_check, 0 },
    { "dump", "NODE[:WAVE]", "write what the node makes as NODE.PORT.WAVE.npy; '*' stands for any text", set_dump, 0 },
    { "dump-dir", "DIR", "the folder that --dump writes to (default: here)", set_dump_dir, 0 },
    { "poison", NULL, "fill memory that holds nothing with NaN and 0xa5; fail if a result stays so", DFR_FLAG(poison) },
    { "watchdog", "TIME", "if a job runs longer (as in 30s), name it and what waits for it; then end",
      set_watchdog, 0 },
    { NULL, NULL, NULL, NULL, 0 }
};
