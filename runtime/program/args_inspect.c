/* args_inspect.c - the options that inspect a run or replay a job (docs/debugging.md), and the options that exclude them, for args.c. */
#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"

static int set_dump(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfr_command_line *line = field;
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "%s needs the name of a node", option->name);
    line->dumps[line->options.n_dumps++] = text;
    return DF_OK;
}

static int set_record_job(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfr_command_line *line = field;
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "%s needs the name of a node, or 'failed'", option->name);
    line->record_jobs[line->options.n_record_jobs++] = text;
    return DF_OK;
}

int dfr_inspect_together(const struct df_options *o, struct df_error *error)
{
    const char *inspects = o->check_variants ? "--check"  : o->n_dumps          ? "--dump"
                           : o->n_record_jobs ? "--record-job"
                           : o->poison       ? "--poison" : o->watchdog_s > 0   ? "--watchdog"
                           : o->serial       ? "--serial" : NULL;
    const char *orders = o->serial ? "--serial" : o->check_variants ? "--check" : NULL;
    const char *other = o->policy ? "--policy" : o->workers > 1 ? "--workers" : o->inflight > 1 ? "--inflight"
                        : o->gpu_jobs > 1 ? "--gpu-jobs" : NULL;

    if (o->on_late != DF_LATE_COUNT && o->device == DF_DEVICE_SIM)
        return dfr_error(error, DF_E_ARGUMENT, "--on-late: 'dfc check' derives latencies in virtual time, and --device=sim is that");
    if (inspects && o->device == DF_DEVICE_SIM)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no kernel is called in the virtual time of --device=sim",
                         inspects);
    if (o->check_variants && o->device == DF_DEVICE_NONE)
        return dfr_error(error, DF_E_ARGUMENT, "--check: gpu variants need a device, and --device=none is given");
    if (orders && other)
        return dfr_error(error, DF_E_ARGUMENT, "%s runs one job at a time in a fixed order: it does not go with %s",
                         orders, other);
    if (o->learn && (o->check_variants || o->n_dumps || o->n_record_jobs || o->poison))
        return dfr_error(error, DF_E_ARGUMENT, "--learn: with %s a job takes longer than its kernel", inspects);
    if (o->dump_dir && o->n_dumps == 0 && o->n_record_jobs == 0)
        return dfr_error(error, DF_E_ARGUMENT, "--dump-dir: no --dump says what to write there");
    return DF_OK;
}

int dfr_replay_together(const struct dfr_command_line *line, struct df_error *error)
{
    const struct df_options *o = &line->options;
    const char *other = o->device == DF_DEVICE_SIM ? "--device=sim" : o->rehearse != 0 ? "--rehearse" : o->check_variants ? "--check" : o->serial ? "--serial"
                        : o->n_dumps ? "--dump" : o->n_record_jobs ? "--record-job" : o->learn ? "--learn" : line->cluster ? "--cluster"
                        : line->journal ? "--journal" : line->resume.resume ? "--resume" : line->resume.chunk ? "--out" : o->waves >= 0 ? "--waves"
                        : line->stats != DFR_STATS_NONE ? "--stats" : o->trace_path ? "--trace" : line->on_error ? "--on-error" : line->bad_files_path ? "--bad-files" : NULL;

    return line->replay && other ? dfr_error(error, DF_E_ARGUMENT, "--replay runs one job, and does not go with %s", other) : DF_OK;
}

const struct dfr_option dfr_options_inspect[] = {
    DFR_HEADING("Looking into a run"),
    { "--serial", NULL, "one job at a time, one wave at a time, in topological order", DFR_FIELD(FLAG, struct dfr_command_line, options.serial) },
    { "--check", "variants", "run cpu and gpu variants on the same inputs, and say how they differ", DFR_FIELD(WORD, struct dfr_command_line, options.check_variants), .first = 1, DFR_PROGRAM },
    { "--dump", "NODE[:WAVE]", "write what the node makes as NODE.PORT.WAVE.npy; '*' stands for any text", DFR_SET_ALL(set_dump), DFR_PROGRAM },
    { "--dump-dir", "DIR", "the folder that --dump and --record-job write to (default: here)", DFR_FIELD(NAME, struct dfr_command_line, options.dump_dir) },
    { "--record-job", "NODE[:WAVE]|failed", "write what a job of the node gets and makes as NODE.WAVE.job, or a job that fails; 'dfc replay' runs it again",
      DFR_SET_ALL(set_record_job), DFR_PROGRAM },
    { "--replay", "FILE.job", "run the job of this file alone, and compare its outputs with the recorded ones", DFR_FIELD(NAME, struct dfr_command_line, replay), DFR_PROGRAM },
    { "--poison", NULL, "fill memory that holds nothing with NaN and 0xa5; fail if a result stays so", DFR_FIELD(FLAG, struct dfr_command_line, options.poison) },
    { "--watchdog", "TIME", "if a job runs longer (as in 30s), name it and what waits for it; then end",
      DFR_FIELD(SECONDS, struct dfr_command_line, options.watchdog_s), DFR_PROGRAM },
    { 0 }
};
