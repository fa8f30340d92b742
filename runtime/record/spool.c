/* spool.c - reads pipes into files before the first wave (spool.h), for --spool (resumable.c). */
#include "runtime/record/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/engine/log.h"
#include "runtime/record/digest.h"
#include "runtime/record/journal.h"
#include "runtime/record/written.h"

/* PROGRAM-dev-stdin. NULL: no memory. */
static char *spool_name(const char *input)
{
    char *name;
    if (asprintf(&name, "%s-%s", dfr_program_name(), input + (input[0] == '/')) < 0)
        return NULL;
    for (char *p = name; *p; p++)
        *p = *p == '/' ? '-' : *p;
    return name;
}

/* FOLDER/PROGRAM-dev-stdin. NULL: no memory. */
static char *spool_path(const char *folder, const char *input)
{
    char *name = spool_name(input), *path = NULL;
    if (name && asprintf(&path, "%s/%s", folder, name) < 0)
        path = NULL;
    free(name);
    return path;
}

static int spool_file(const char *input, const char *path, struct df_error *error)
{
    struct dfr_output to;
    int rc = dfr_output_open(&to, path, error);
    if (rc != DF_OK)
        return rc;
    FILE *from = fopen(input, "r");
    if (from)
        rc = dfr_copy_bytes(from, to.file, INT64_MAX, error);
    if (!from || ferror(from))
        rc = dfr_error(error, DF_E_IO, "cannot read '%s': %s", input, strerror(errno));
    else if (rc == DF_E_IO)
        rc = DF_OK;                     /* closing tells of it, with the file's name */
    if (from)
        fclose(from);
    int closed = dfr_output_close(&to, rc == DF_OK, error);
    return rc != DF_OK ? rc : closed;
}

/* Sets the args whose value is `input`. Gives how many there are; -1: no memory. */
static int replace(const struct df_graph *g, const union df_scalar *given, union df_scalar *args, const char *input, const char *path)
{
    int n = 0;
    for (uint32_t i = 0; i < g->n_args; i++)
        if (g->args[i].type == DF_S_STR && !strcmp(given[i].str, input)) {
            args[i].str = strdup(path);
            n = args[i].str && n >= 0 ? n + 1 : -1;
        }
    return n;
}

static int spool_input(const struct df_graph *g, const union df_scalar *given, const char *input, const char *folder,
                       union df_scalar *args, struct df_error *error)
{
    if (!folder)
        return dfr_error(error, DF_E_REFUSED, "'%s' can be read only once, so a run that reads it cannot be resumed: --spool=DIR keeps in a file what "
                         "it gives", input);
    char *path = spool_path(folder, input);
    int n = path ? replace(g, given, args, input, path) : -1;
    int status = n < 0 ? dfr_error_memory(error)
                 : n == 0 ? dfr_error(error, DF_E_REFUSED, "--spool: '%s' is no arg's value: a list or a pattern names it, or the program; give it as an "
                                     "arg of its own", input)
                          : spool_file(input, path, error);
    free(path);
    return status;
}

static union df_scalar *copy_args(const struct df_graph *g, const union df_scalar *given)
{
    union df_scalar *own = malloc(((size_t)g->n_args + 1) * sizeof *own);
    if (own && g->n_args)
        memcpy(own, given, g->n_args * sizeof *own);
    return own;
}

/* Sets the args whose inputs the journal's run has copied. */
static int take_kept(const struct df_graph *g, const union df_scalar *given, const char *journal, union df_scalar **own)
{
    for (uint32_t i = 0; i < g->n_args; i++) {
        char *name = g->args[i].type == DF_S_STR && given[i].str ? spool_name(given[i].str) : NULL, *path = name ? dfr_journal_input(journal, name) : NULL;
        free(name);
        if (!path)
            continue;
        if (!*own)
            *own = copy_args(g, given);
        if (!*own) {
            free(path);
            return DF_E_MEMORY;
        }
        (*own)[i].str = path;
    }
    return DF_OK;
}

int dfr_spool(const struct df_graph *g, const union df_scalar *given, const char *folder, const char *journal, union df_scalar **args,
              struct df_error *error)
{
    struct dfr_inputs inputs;
    union df_scalar *own = NULL;
    if (journal && take_kept(g, given, journal, &own) != DF_OK)
        return dfr_error_memory(error);
    int status = dfr_inputs_find(g, own ? own : given, &inputs, error);
    if (status != DF_OK) {
        dfr_spool_free(g, given, own);
        return status;
    }
    for (size_t i = 0; i < inputs.n && status == DF_OK; i++) {
        if (!inputs.files[i].pipe)
            continue;
        own = own ? own : copy_args(g, given);
        status = own ? spool_input(g, given, inputs.files[i].path, folder, own, error) : dfr_error_memory(error);
    }
    dfr_inputs_free(&inputs);
    if (status != DF_OK) {
        dfr_spool_free(g, given, own);
        return status;
    }
    *args = own;
    return DF_OK;
}

void dfr_spool_free(const struct df_graph *g, const union df_scalar *given, union df_scalar *args)
{
    for (uint32_t i = 0; args && i < g->n_args; i++)
        if (g->args[i].type == DF_S_STR && args[i].str != given[i].str)
            free((char *)args[i].str);
    free(args);
}
