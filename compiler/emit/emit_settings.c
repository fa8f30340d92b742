/* emit_settings.c - prints for emit_library.c the settings that a library session accepts in addition to the options of
 * every program: the file's args and dynamic params, each with description and default. They appear as a comment in the
 * library's header, and as JSON in its signature.
 */
#include "compiler/emit/emit.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/message.h"
#include "runtime/base/text.h"

struct setting {
    const char *name, *help;
    enum df_scalar_type type;
    bool has_default;
    const char *str;                    /* the default, of its type */
    int64_t i;
    double f;
};

/* The i-th of the graph's args and then of its dynamic params. false: it has no more. */
static bool setting_at(const struct df_graph *g, uint32_t i, struct setting *s)
{
    if (i < g->n_args) {
        const struct df_arg *arg = &g->args[i];
        *s = (struct setting){ df_graph_string(g, arg->name), df_graph_string(g, arg->help), (enum df_scalar_type)arg->type,
                               arg->has_default != 0, df_graph_string(g, arg->str), arg->i, arg->f };
        return true;
    }
    if (i - g->n_args >= g->n_params)
        return false;
    const struct df_param *param = &g->params[i - g->n_args];
    *s = (struct setting){ df_graph_string(g, param->name), df_graph_string(g, param->help), DF_S_I64, true, "", param->value, 0 };
    return true;
}

static void emit_number(FILE *out, const struct setting *s)
{
    if (s->type == DF_S_F32 || s->type == DF_S_F64)
        fprintf(out, "%.*g", s->type == DF_S_F32 ? 7 : 15, s->f);
    else
        fprintf(out, "%lld", (long long)s->i);
}

/* ---- in a comment ---- */

/* Prints a text, which may not end the comment. */
static void emit_in_comment(FILE *out, const char *text)
{
    char shown[1024];
    dfr_shown(shown, sizeof shown, text, strlen(text));
    for (const char *p = shown; *p; p++)
        fprintf(out, "%c%s", *p, p[0] == '*' && p[1] == '/' ? " " : "");
}

void dfc_emit_settings_comment(FILE *out, const struct df_graph *g)
{
    struct setting s;
    for (uint32_t i = 0; setting_at(g, i, &s); i++) {
        fprintf(out, "%s *     --%s=%s  ", i ? "" : " *\n * GRAPH_open also takes:\n", s.name, df_scalar_name(s.type));
        emit_in_comment(out, s.help);
        fputs(*s.help ? " (" : "(", out);
        fputs(!s.has_default ? "must be given" : s.type == DF_S_STR ? "default \"" : "default ", out);
        if (s.has_default && s.type == DF_S_STR) {
            emit_in_comment(out, s.str);
            fputc('"', out);
        } else if (s.has_default) {
            emit_number(out, &s);
        }
        fputs(")\n", out);
    }
}

/* ---- as JSON ---- */

static void emit_json(FILE *out, const struct df_graph *g)
{
    struct setting s;
    fputc('[', out);
    for (uint32_t i = 0; setting_at(g, i, &s); i++) {
        fprintf(out, "%s{\"name\": \"%s\", \"type\": \"%s\", \"help\": ", i ? ", " : "", s.name, df_scalar_name(s.type));
        dfr_text_json(out, s.help);
        if (s.has_default) {
            fputs(", \"default\": ", out);
            if (s.type == DF_S_STR)
                dfr_text_json(out, s.str);
            else
                emit_number(out, &s);
        }
        fputc('}', out);
    }
    fputc(']', out);
}

void dfc_emit_settings_json(FILE *out, const struct df_graph *g)
{
    char *json = NULL;
    size_t size;
    FILE *to = open_memstream(&json, &size);
    if (to)
        emit_json(to, g);
    if (!dfr_text_close(to, &json))
        fputs("\"\n#error \"there was no memory for the text\"\n\"", out);
    for (const char *p = json; p && *p; p++)        /* two '?' might begin a trigraph */
        fprintf(out, "%s%c", strchr("\"\\?", *p) ? "\\" : "", *p);
    free(json);
}
