/* args.c - parses the command line of a generated program (args.h), for df_main() and for the options of a library's
 * session. The options are listed in tables, one for each theme, in the files named after the themes. Parsing, --help,
 * spelling suggestions, and the list of names that args may not have, which the compiler checks, all use these tables
 * (base/option.h).
 */
#include "runtime/program/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"
#include "runtime/graph/expr.h"
#include "runtime/base/suggest.h"

/* ---- options ---- */

const struct dfr_options dfr_program_options[] = {
    { dfr_options_run, 0 }, { dfr_options_device, 0 }, { dfr_options_resume, 0 }, { dfr_options_cluster, 0 }, { dfr_options_inspect, 0 }, { dfr_options_live, 0 }, { 0 }
};

const char *dfr_option_name(size_t i)
{
    for (const struct dfr_options *table = dfr_program_options; table->rows; table++)
        for (const struct dfr_option *row = table->rows; row->text || row->name; row++)
            if (row->name && row->text && i-- == 0)
                return row->name + 2;
    return NULL;
}

/* ---- the graph's args and params ---- */

static int parse_int(const char *name, const char *text, int64_t *value, struct df_error *error)
{
    char *end;
    errno = 0;
    long long i = strtoll(text, &end, 10);
    if (end == text || *end || strchr(" \t\n", *text))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not an integer", name, text);
    if (errno)
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s does not fit in 64 bits", name, text);
    *value = i;
    return DF_OK;
}

static int parse_arg(const struct df_arg *arg, const char *name, const char *text, union df_scalar *value,
                     struct df_error *error)
{
    struct df_number number = { .kind = DF_KIND_STR, .s = text };
    struct df_error inner;
    if (arg->type == DF_S_I32 || arg->type == DF_S_I64) {
        number.kind = DF_KIND_I64;
        int rc = parse_int(name, text, &number.i, error);
        if (rc != DF_OK)
            return rc;
    } else if (arg->type != DF_S_STR) {
        char *end;
        number.kind = DF_KIND_F64;
        errno = 0;
        number.f = strtod(text, &end);
        if (end == text || *end || strchr(" \t\n", *text))
            return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not a number", name, text);
        if (errno == ERANGE && (number.f > 1 || number.f < -1))
            return dfr_error(error, DF_E_ARGUMENT, "--%s: %s does not fit in %s", name, text, df_scalar_name(arg->type));
    }
    if (df_number_to_scalar(number, (enum df_scalar_type)arg->type, value, &inner) != DF_OK)
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s", name, inner.text);
    return DF_OK;
}

static union df_scalar default_of(const struct df_graph *g, const struct df_arg *arg)
{
    union df_scalar value = { .i64 = 0 };
    switch (arg->type) {
    case DF_S_I32: value.i32 = (int32_t)arg->i; break;
    case DF_S_I64: value.i64 = arg->i; break;
    case DF_S_F32: value.f32 = (float)arg->f; break;
    case DF_S_F64: value.f64 = arg->f; break;
    case DF_S_STR: value.str = df_graph_string(g, arg->str); break;
    }
    return value;
}

static const char *suggest(const struct df_graph *g, const char *name)
{
    struct dfr_suggestion suggestion = { .name = name };
    const char *option;
    for (size_t i = 0; (option = dfr_option_name(i)); i++)
        dfr_suggest(&suggestion, option);
    for (uint32_t i = 0; i < g->n_args; i++)
        dfr_suggest(&suggestion, df_graph_string(g, g->args[i].name));
    for (uint32_t i = 0; i < g->n_params; i++)
        dfr_suggest(&suggestion, df_graph_string(g, g->params[i].name));
    return suggestion.closest;
}

/* ---- the command line ---- */

struct parser {
    const struct df_graph *g;
    const char *const *params;          /* as dfr_args_parse() gets them */
    int argc, i;
    char **argv;
    char name[256];                     /* of the option at argv[i], without dashes */
    const char *text;                   /* what followed '=', or NULL */
    struct dfr_command_line *line;
    bool *given;                        /* by number of the arg: it was given */
    struct df_error *error;
};

/* Sets p->text to the option's value: what follows '=', else the next word. */
static int take_value(struct parser *p)
{
    if (p->text)
        return DF_OK;
    if (p->i + 1 == p->argc || !strncmp(p->argv[p->i + 1], "--", 2))
        return dfr_error(p->error, DF_E_ARGUMENT, "--%s needs a value", p->name);
    p->text = p->argv[++p->i];
    return DF_OK;
}

static int parse_unknown(struct parser *p)
{
    const char *closest = suggest(p->g, p->name);
    for (const char *const *param = p->params; param && *param; param++)
        if (!strcmp(p->name, *param))
            return dfr_error(p->error, DF_E_ARGUMENT, "--%s: '%s' is a compile-time param: compile with 'dfc -D %s=%s', or "
                             "declare it dynamic", p->name, p->name, p->name, p->text ? p->text : "VALUE");
    if (closest)
        return dfr_error(p->error, DF_E_ARGUMENT, "unknown option '--%s'; did you mean '--%s'?", p->name, closest);
    return dfr_error(p->error, DF_E_ARGUMENT, "unknown option '--%s'; --help lists the options", p->name);
}

/* A word that does not begin as an option does: perhaps one without its dashes. */
static int parse_word(struct parser *p, const char *word)
{
    const char *name = word + strspn(word, "-");
    const size_t n = strcspn(name, "=");
    const char *closest = NULL;
    if (!strncmp(word, "-D", 2))
        return dfr_error(p->error, DF_E_ARGUMENT, "'-D' is an option of dfc: 'dfc -D NAME=VALUE FILE.df' compiles with another value of a param; "
                         "args and dynamic params are '--NAME=VALUE'");
    if (n > 0 && n < sizeof p->name) {
        memcpy(p->name, name, n);
        p->name[n] = '\0';
        closest = suggest(p->g, p->name);
    }
    if (closest && ((n > 1 && name[n]) || !strcmp(closest, p->name)))
        return dfr_error(p->error, DF_E_ARGUMENT, "unexpected argument '%s'; did you mean '--%s%s'?", word, closest, name + n);
    return dfr_error(p->error, DF_E_ARGUMENT, "unexpected argument '%s'; --help lists the options", word);
}

static int parse_option(struct parser *p)
{
    const struct df_graph *g = p->g;
    for (uint32_t i = 0; i < g->n_args; i++)
        if (!strcmp(p->name, df_graph_string(g, g->args[i].name))) {
            int rc = take_value(p);
            p->given[i] = true;
            return rc == DF_OK ? parse_arg(&g->args[i], p->name, p->text, &p->line->args[i], p->error) : rc;
        }
    for (uint32_t i = 0; i < g->n_params; i++)
        if (!strcmp(p->name, df_graph_string(g, g->params[i].name))) {
            int rc = take_value(p);
            return rc == DF_OK ? parse_int(p->name, p->text, &p->line->params[i], p->error) : rc;
        }
    return parse_unknown(p);
}

static int parse_all(struct parser *p)
{
    const struct df_graph *g = p->g;
    for (p->i = 1; p->i < p->argc; p->i++) {
        const char *word = p->argv[p->i];
        bool known;
        int rc = dfr_option_take(dfr_program_options, p->line, p->argc, p->argv, &p->i, &known, p->error);
        if (rc != DF_OK)
            return rc;
        if (known)
            continue;
        if (strncmp(word, "--", 2) || !word[2])
            return parse_word(p, word);
        size_t n = strcspn(word + 2, "=");
        if (n >= sizeof p->name)
            return dfr_error(p->error, DF_E_ARGUMENT, "unknown option '%.40s...'; --help lists the options", word);
        memcpy(p->name, word + 2, n);
        p->name[n] = '\0';
        p->text = word[2 + n] ? word + 3 + n : NULL;
        rc = parse_option(p);
        if (rc != DF_OK)
            return rc;
    }
    if (p->line->help || p->line->version)
        return DF_OK;
    if (p->line->stats_path && !p->line->stats)
        p->line->stats = DFR_STATS_TEXT;
    int rc = dfr_inspect_together(&p->line->options, p->error);
    if (rc == DF_OK)
        rc = dfr_devices_together(&p->line->options, p->error);
    if (rc == DF_OK)
        rc = dfr_resume_together(p->line, p->error);
    if (rc == DF_OK)
        rc = dfr_cluster_together(g, p->line, p->error);
    if (rc == DF_OK)
        rc = dfr_live_together(g, p->line, p->error);
    if (rc == DF_OK)
        rc = dfr_replay_together(p->line, p->error);
    if (rc != DF_OK)
        return rc;
    for (uint32_t i = 0; i < g->n_args; i++)
        if (p->given[i] && p->line->replay)
            return dfr_error(p->error, DF_E_ARGUMENT, "--%s: the file of --replay says what it is", df_graph_string(g, g->args[i].name));
    for (uint32_t i = 0; i < g->n_args; i++)
        if (!p->given[i] && !g->args[i].has_default && !p->line->replay)
            return dfr_error(p->error, DF_E_ARGUMENT, "--%s=%s must be given: it has no default",
                             df_graph_string(g, g->args[i].name), df_scalar_name(g->args[i].type));
    return dfr_outputs_together(g, p->line, p->error);
}

int dfr_args_parse(const struct df_graph *g, const char *const *params, int argc, char **argv,
                   struct dfr_command_line *line, struct df_error *error)
{
    struct dfr_command_line made = { 0 };
    struct parser p = { .g = g, .params = params, .argc = argc, .argv = argv, .line = &made, .error = error };
    df_options_default(&made.options);
    made.resume.grace_s = 30;
    made.args = calloc((size_t)g->n_args + 1, sizeof *made.args);
    made.params = calloc((size_t)g->n_params + 1, sizeof *made.params);
    made.dumps = calloc((size_t)argc + 1, sizeof *made.dumps);
    made.record_jobs = calloc((size_t)argc + 1, sizeof *made.record_jobs);
    p.given = calloc((size_t)g->n_args + 1, sizeof *p.given);
    bool memory = made.args && made.params && made.dumps && made.record_jobs && p.given;
    for (uint32_t i = 0; memory && i < g->n_args; i++)
        made.args[i] = default_of(g, &g->args[i]);
    for (uint32_t i = 0; memory && i < g->n_params; i++)
        made.params[i] = g->params[i].value;
    int rc = memory ? parse_all(&p) : dfr_error_memory(error);
    free(p.given);
    if (rc != DF_OK) {
        dfr_args_free(&made);
        return rc;
    }
    for (uint32_t i = 0; i < g->n_params; i++)
        made.params_changed |= made.params[i] != g->params[i].value;
    made.options.args = made.args;
    made.options.dumps = made.dumps;
    made.options.record_jobs = made.record_jobs;
    *line = made;
    return DF_OK;
}

void dfr_args_free(struct dfr_command_line *line)
{
    free(line->args);
    free(line->params);
    free(line->dumps);
    free(line->record_jobs);
    free(line->own_journal);
    line->own_journal = NULL;
    free(line->resume_command);
    free(line->journal_command);
    line->resume_command = line->journal_command = NULL;
    line->args = NULL;
    line->params = NULL;
    line->dumps = NULL;
    line->record_jobs = NULL;
}

/* ---- help ---- */

static int help_line(FILE *out, const char *name, const char *value, const char *help)
{
    char dashed[280];
    snprintf(dashed, sizeof dashed, "--%s", name);
    return dfr_help_line(out, dashed, value, help);
}

/* What --help says of an arg or a param: its description, if it has one, and its default. value: NULL if it has none. It is printed
 * as it is, with all its blanks, which dfr_help_words() would not do. */
static void help_value(const struct df_graph *g, uint32_t name, const char *type, uint32_t help, const char *value, const char *quote, FILE *out)
{
    const char *text = df_graph_string(g, help);
    int at = help_line(out, df_graph_string(g, name), type, text);
    if (*text)
        at = dfr_help_words(out, at, value ? "(default" : "(must be given)");
    else
        fputs(value ? "default" : "must be given", out);
    if (value)
        fprintf(out, " %s%s%s%s", quote, value, quote, *text ? ")" : "");
    fputc('\n', out);
}

static void help_arg(const struct df_graph *g, const struct df_arg *arg, FILE *out)
{
    char number[64];
    const char *text = number, *quote = "";
    if (arg->type == DF_S_STR) {
        text = df_graph_string(g, arg->str);
        quote = "\"";
    } else if (arg->type == DF_S_F32 || arg->type == DF_S_F64) {
        snprintf(number, sizeof number, "%.*g", arg->type == DF_S_F32 ? 7 : 15, arg->f);
    } else {
        snprintf(number, sizeof number, "%lld", (long long)arg->i);
    }
    help_value(g, arg->name, df_scalar_name(arg->type), arg->help, arg->has_default ? text : NULL, quote, out);
}

static void help_param(const struct df_graph *g, const struct df_param *param, FILE *out)
{
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)param->value);
    help_value(g, param->name, "i64", param->help, number, "", out);
}

void dfr_args_help(const struct df_graph *g, const char *program, FILE *out)
{
    fprintf(out, "Usage: %s [--option[=value] ...]\n", program);
    if (g->n_args)
        fprintf(out, "\nArguments of this graph:\n");
    for (uint32_t i = 0; i < g->n_args; i++)
        help_arg(g, &g->args[i], out);
    if (g->n_params)
        fprintf(out, "\nSizes of this graph:\n");
    for (uint32_t i = 0; i < g->n_params; i++)
        help_param(g, &g->params[i], out);
    dfr_options_help(out, dfr_program_options);
}
