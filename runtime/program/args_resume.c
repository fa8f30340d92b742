/* args_resume.c - the options of runs that can be resumed or produce a chunk (docs/clusters.md), and the options that exclude them, for args.c; and --waves'
 * two forms, for args_run.c.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"
#include "runtime/engine/log.h"

#define CHECKPOINT_S 60
#define LOCK_S 5                        /* the ranks of an mpirun that was killed end within that */

static int set_journal(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfr_command_line *line = field;
    line->journal = true;
    if (text && !*text)
        return dfr_error(error, DF_E_ARGUMENT, "%s needs a name, and this one is empty", option->name);
    line->resume.journal = text ? text : line->resume.journal;
    return DF_OK;
}

/* A number, or two with ':' between them. */
int dfr_set_waves(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfr_command_line *line = field;
    const char *colon = strchr(text, ':');
    char first[32];
    uint64_t from = 0, end;
    line->range = colon;
    if (colon && ((size_t)(colon - text) >= sizeof first || colon == text || !colon[1] || strchr(colon + 1, ':')))
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: write two wave numbers, as in 100:200", option->name, text);
    snprintf(first, sizeof first, "%.*s", colon ? (int)(colon - text) : 1, colon ? text : "0");
    int rc = dfr_option_count(option->name, first, 0, INT64_MAX, &from, error);
    if (rc == DF_OK)
        rc = dfr_option_count(option->name, colon ? colon + 1 : text, 1, INT64_MAX, &end, error);
    if (rc != DF_OK)
        return rc;
    if (from >= end)
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: the first wave is 0 or more, and less than the second number", option->name, text);
    line->resume.first = (int64_t)from;
    line->options.waves = (int64_t)end;
    return DF_OK;
}

/* The journal that has no other name. NULL: no memory. */
static char *default_journal(void)
{
    char *path;
    return asprintf(&path, "%s.journal", dfr_program_name()) < 0 ? NULL : path;
}

int dfr_resume_together(struct dfr_command_line *line, struct df_error *error)
{
    const struct dfr_resumable_options *r = &line->resume;
    const bool checkpoint = line->resume.checkpoint_s > 0;
    line->journal |= line->resume.resume;
    line->resume.lock_s = line->cluster ? LOCK_S : 0;
    line->resume.checkpoint_s = checkpoint ? line->resume.checkpoint_s : CHECKPOINT_S;
    const char *wants = line->journal ? "--journal" : "--out";
    if (line->range != (r->chunk != NULL))
        return dfr_error(error, DF_E_ARGUMENT, r->chunk ? "--out: --waves=A:B says which waves the chunk has"
                                                        : "--waves=A:B makes a chunk: --out=FILE says where");
    if (line->journal && r->chunk)
        return dfr_error(error, DF_E_ARGUMENT, "--out: a chunk has no journal; if it was not made to its end, it is made again");
    if (r->accept && !r->resume)
        return dfr_error(error, DF_E_ARGUMENT, "--accept-changed: it is for runs with --resume");
    if (r->spool && !line->journal && !r->chunk)
        return dfr_error(error, DF_E_ARGUMENT, "--spool: it is for runs with --journal or --resume");
    if (checkpoint && !line->journal)
        return dfr_error(error, DF_E_ARGUMENT, "--checkpoint: it is for runs with --journal or --resume");
    if (!line->journal && !r->chunk)
        return DF_OK;
    if (line->options.device == DF_DEVICE_SIM || line->options.rehearse != 0)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no kernel is called with %s", wants,
                         line->options.rehearse != 0 ? "--rehearse" : "--device=sim");
    if (line->options.learn)
        return dfr_error(error, DF_E_ARGUMENT, "--learn: with %s a run may have a part of the waves only", wants);
    if (line->journal && !r->journal && !(line->resume.journal = line->own_journal = default_journal()))
        return dfr_error_memory(error);
    return DF_OK;
}

const struct dfr_option dfr_options_resume[] = {
    DFR_HEADING("Resuming a run, and chunks of it"),
    { "--journal", "[FILE]", "write down what is done, so that --resume can go on with it (default: PROGRAM.journal); SIGTERM and SIGUSR1 end such a "
      "run with status 75", DFR_SET_ALL(set_journal), DFR_PROGRAM },
    { "--resume", NULL, "go on where the journal ends; if there is none, begin one", DFR_FIELD(FLAG, struct dfr_command_line, resume.resume), DFR_PROGRAM },
    { "--accept-changed", NULL, "with --resume: go on although inputs were changed, removed or added, or files of waves that are done; these waves stay as they are", DFR_FIELD(FLAG, struct dfr_command_line, resume.accept) },
    { "--grace", "TIME", "how long waves in flight may take after SIGTERM or, with a journal, another signal that ends the run (default 30s)", DFR_FIELD(SECONDS, struct dfr_command_line, resume.grace_s) },
    { "--checkpoint", "TIME", "how often accs are written beside the journal, so that --resume need not compute them from the first wave on (default 60s)",
      DFR_FIELD(SECONDS, struct dfr_command_line, resume.checkpoint_s) },
    { "--spool", "DIR", "keep there what inputs give that can be read only once, such as pipes", DFR_FIELD(NAME, struct dfr_command_line, resume.spool) },
    { "--out", "FILE", "with --waves=A:B: write what the waves A to B-1 give to this file; 'dfc merge' puts such files together", DFR_FIELD(NAME, struct dfr_command_line, resume.chunk), DFR_PROGRAM },
    { 0 }
};
