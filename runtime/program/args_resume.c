/* args_resume.c - the options of runs that can be resumed or make a chunk (docs/clusters.md), and which others do not go with them. */
#include <stdlib.h>
#include <string.h>

#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/engine/log.h"

static int set_name(const char **to, const char *name, const char *text, const char *what, struct df_error *error)
{
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "--%s needs the name of a %s", name, what);
    *to = text;
    return DF_OK;
}

static int set_journal(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    line->journal = true;
    return text ? set_name(&line->resume.journal, name, text, "file", error) : DF_OK;
}

static int set_resume(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->journal = line->resume.resume = true;
    return DF_OK;
}

static int set_accept(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->resume.accept = true;
    return DF_OK;
}

static int set_spool(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return set_name(&line->resume.spool, name, text, "folder", error);
}

static int set_out(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return set_name(&line->resume.chunk, name, text, "file", error);
}

static int set_grace(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (dfr_parse_seconds(text, &line->resume.grace_s))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not a time; write a number with ms, s, min or h, as in 30s", name, text);
}

static int set_checkpoint(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    line->checkpoint = true;
    if (dfr_parse_seconds(text, &line->resume.checkpoint_s))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not a time; write a number with ms, s, min or h, as in 30s", name, text);
}

/* A number, or two with ':' between them. */
int dfr_set_waves(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    const char *colon = strchr(text, ':');
    char first[32];
    int64_t from;
    line->range = colon;
    if (!colon)
        return dfr_parse_count(name, text, INT64_MAX, &line->options.waves, error);
    if ((size_t)(colon - text) >= sizeof first || colon == text || !colon[1] || strchr(colon + 1, ':'))
        return dfr_error(error, DF_E_ARGUMENT, "--%s=%s: write two wave numbers, as in 100:200", name, text);
    memcpy(first, text, (size_t)(colon - text));
    first[colon - text] = '\0';
    int rc = dfr_parse_int(name, first, &from, error);
    if (rc == DF_OK)
        rc = dfr_parse_count(name, colon + 1, INT64_MAX, &line->options.waves, error);
    if (rc == DF_OK && (from < 0 || from >= line->options.waves))
        return dfr_error(error, DF_E_ARGUMENT, "--%s=%s: the first wave is 0 or more, and less than the second number", name, text);
    line->resume.first = from;
    return rc;
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
    if (line->checkpoint && !line->journal)
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
    { "journal", "[FILE]", "write down what is done, so that --resume can go on with it (default: PROGRAM.journal); SIGTERM and SIGUSR1 end such a "
      "run with status 75", set_journal, 0 },
    { "resume", NULL, "go on where the journal ends; if there is none, begin one", set_resume, 0 },
    { "accept-changed", NULL, "with --resume: go on although inputs were changed, removed or added, or files of waves that are done; these waves stay as they are", set_accept, 0 },
    { "grace", "TIME", "how long waves in flight may take after SIGTERM or, with a journal, another signal that ends the run (default 30s)", set_grace, 0 },
    { "checkpoint", "TIME", "how often accs are written beside the journal, so that --resume need not compute them from the first wave on (default 60s)",
      set_checkpoint, 0 },
    { "spool", "DIR", "keep there what inputs give that can be read only once, such as pipes", set_spool, 0 },
    { "out", "FILE", "with --waves=A:B: write what the waves A to B-1 give to this file; 'dfc merge' puts such files together", set_out, 0 },
    { NULL, NULL, NULL, NULL, 0 }
};
