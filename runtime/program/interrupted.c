/* interrupted.c - handles an interrupt (Ctrl-C, SIGTERM) of a run without a journal (interrupted.h), for program_main.c: waits for the waves in flight, and
 * says what was written and how to go on. */
#include "runtime/program/interrupted.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/interrupt.h"
#include "runtime/base/status_line.h"
#include "runtime/base/text.h"
#include "runtime/base/unfinished.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/log.h"
#include "runtime/start/run_impl.h"
#include "runtime/threads/clock.h"

enum { MOST_NAMES = 8 };
#define LOOK_S 0.05                     /* a signal is noticed after that, at the latest */

/* ---- the command line ---- */

/* `dfc run` has made this program, and removes it: its own command line is told in place of the program's name. */
static const char *command_of_dfc(const char *program)
{
    const char *path = getenv("DFC_RUN_PROGRAM"), *command = getenv("DFC_RUN_COMMAND");
    return path && command && !strcmp(path, program) ? command : NULL;
}

/* What is added in another form, or does not go with a journal. */
static bool is_left_out(const char *word)
{
    static const char *const words[] = { "--journal", "--resume", "--accept-changed", "--learn", "--passes" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i]))
            return true;
    return !strncmp(word, "--passes=", 9);
}

char *dfr_command_line_text(int argc, char *const *argv, const char *added)
{
    char *text = NULL;
    size_t size;
    FILE *out = argc > 0 ? open_memstream(&text, &size) : NULL;
    const char *ranks = getenv("OMPI_COMM_WORLD_SIZE"), *dfc = argc > 0 ? command_of_dfc(argv[0]) : NULL;
    if (!out)
        return NULL;
    if (ranks && strcmp(ranks, "1") != 0)
        fprintf(out, "mpirun -n %s ", ranks);
    if (dfc)
        fputs(dfc, out);
    else
        dfr_shell_word(out, argv[0]);
    for (int i = 1; i < argc; i++) {
        if (is_left_out(argv[i])) {
            i += !strcmp(argv[i], "--passes"); /* its value is a word of its own */
            continue;
        }
        fputc(' ', out);
        dfr_shell_word(out, argv[i]);
    }
    fprintf(out, " %s", added);
    return dfr_text_close(out, &text);
}

/* ---- waiting ---- */

static void say_asked(const struct dfr_command_line *line, bool ends_early, bool limited)
{
    char limit[48] = "";
    if (limited)
        snprintf(limit, sizeof limit, ", for %g s at most", line->resume.grace_s);
    dfr_status_clear();
    dfr_say("%s: %s%s; %s again ends at once", dfr_signal_name(dfr_asked()),
            ends_early ? "waiting for the waves in flight" : "stopping; the waves go by several times, so none is complete yet", limit,
            dfr_asked() == SIGINT ? "Ctrl-C" : "a signal");
}

void dfr_interrupted_join(struct df_run *run, const struct dfr_command_line *line)
{
    const bool tells = line->options.log_level >= DF_LOG_WARNING;
    bool asked = false;
    double until_s = 0;
    while (!dfr_run_join_for(run, LOOK_S)) {
        if (!asked && dfr_asked()) {
            asked = true;
            until_s = dfr_clock_s() + line->resume.grace_s;
            const bool early = dfr_engine_end_early(run);
            if (tells)
                say_asked(line, early, dfr_asked() == SIGTERM);
            if (!early)
                dfr_engine_fail(run, DF_E_STOPPED, "the run was stopped by %s", dfr_signal_name(dfr_asked()));
        }
        /* Who sends SIGTERM may use SIGKILL next. A person who types Ctrl-C needs no limit. */
        if (asked && dfr_asked() == SIGTERM && dfr_clock_s() > until_s) {
            if (tells)
                dfr_say("%s: waves have not ended in time; files that were not complete are removed", dfr_signal_name(dfr_asked()));
            dfr_unfinished_end(dfr_asked());
        }
    }
}

/* ---- what is left ---- */

/* The first lines, and how many others there are. */
static void say_lines(char *lines, const char *what)
{
    unsigned n = 0;
    char *rest = lines;
    for (const char *name; (name = strsep(&rest, "\n")) && *name; n++)
        if (n < MOST_NAMES)
            dfr_say("'%s' %s", name, what);
    if (n > MOST_NAMES)
        dfr_say("and so on: %u more files", n - MOST_NAMES);
}

int dfr_interrupted_tell(struct dfr_early *e, const struct dfr_command_line *line, int status, struct df_error *error)
{
    const int asked = dfr_asked();
    const bool tells = asked && line->options.log_level >= DF_LOG_WARNING, stopped = asked && status == DF_E_STOPPED;
    if (tells && status == DF_OK)
        dfr_say("%s came when the last waves were in flight: the run is complete", dfr_signal_name(asked));
    else if (tells && stopped && e->is_early)
        dfr_say("stopped by %s after %lld wave%s%s", dfr_signal_name(asked), (long long)e->waves, e->waves == 1 ? "" : "s",
                e->final_left ? "; what comes after the last wave is not computed" : "");
    else if (tells && stopped)
        dfr_say("stopped by %s; no wave is complete, so nothing is kept", dfr_signal_name(asked));
    if (tells && stopped) {
        if (e->parts)
            say_lines(e->parts, "has what these waves wrote");
        if (atomic_load(&e->wave_files))
            dfr_say("files of single waves are complete");
        if (e->removed)
            say_lines(e->removed, "was not complete and is not written");
        if (line->journal_command && line->options.rehearse == 0)
            fprintf(stderr, "%s: a run with a journal can go on after a stop: %s\n", dfr_program_name(), line->journal_command);
    }
    free(e->parts);
    free(e->removed);
    if (stopped)
        error->text[0] = '\0';          /* it is told */
    return status;
}
