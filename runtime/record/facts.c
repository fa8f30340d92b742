/* facts.c - collects, parses and compares facts (facts.h): of a program for dfc (compiler/build/) and program/loaded.c, of a run for ranks, the journal and
 * chunks, which say in what two runs differ. */
#include "runtime/record/facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"
#include "runtime/record/digest.h"
#include "runtime/record/written.h"

enum { MOST_NODES = 256, MOST_TOLD = 3 };

/* ---- finding ---- */

bool dfr_fact_add(struct dfr_facts *f, char *kind, char *name, char *value)
{
    if (!DFR_ARRAY_ROOM(f->items, f->n, f->room) || !kind || !name || !value) {
        free(kind);
        free(name);
        free(value);
        return false;
    }
    f->items[f->n++] = (struct dfr_fact){ kind, name, value };
    return true;
}

char *dfr_fact_content(const char *path)
{
    struct df_error why;
    struct dfr_content content;
    char *text = NULL;
    if (dfr_content_digest(path, 0, INT64_MAX, &content, &why) != DF_OK)
        return strdup("unreadable");
    return asprintf(&text, "%" PRId64 " bytes %016" PRIx64, content.n, content.digest) < 0 ? NULL : text;
}

/* As the command line takes it. malloc'ed; NULL: no memory. */
static char *arg_text(const struct df_graph *g, uint32_t i, const union df_scalar *args)
{
    const struct df_arg *a = &g->args[i];
    char *text = NULL;
    int n = 0;
    switch (a->type) {
    case DF_S_I32: n = asprintf(&text, "%" PRId32, args ? args[i].i32 : (int32_t)a->i); break;
    case DF_S_I64: n = asprintf(&text, "%" PRId64, args ? args[i].i64 : a->i); break;
    case DF_S_F32: n = asprintf(&text, "%.9g", args ? (double)args[i].f32 : (double)(float)a->f); break;
    case DF_S_F64: n = asprintf(&text, "%.17g", args ? args[i].f64 : a->f); break;
    default: n = asprintf(&text, "%s", args ? args[i].str : df_graph_string(g, a->str)); break;
    }
    return n < 0 ? NULL : text;
}

static char *extents_text(const struct df_graph *g, uint32_t v)
{
    const uint64_t *dims = g->dims + g->works[g->nodes[v].work].first_dim;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (unsigned i = 0; i < g->kernels[g->nodes[v].kernel].n_dims; i++)
        fprintf(out, "%s%" PRIu64, i ? ", " : "", dims[i]);
    return dfr_text_close(out, &text);
}

static bool is_used(const struct df_graph *g, uint32_t kernel)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (g->nodes[v].kernel == kernel)
            return true;
    return false;
}

static bool find(const struct df_graph *g, const union df_scalar *args, struct dfr_facts *f)
{
    char name[256], value[32];
    bool good = true;
    for (uint32_t i = 0; good && i < g->n_args; i++)
        good = dfr_fact_add(f, strdup("arg"), strdup(df_graph_string(g, g->args[i].name)), arg_text(g, i, args));
    for (uint32_t i = 0; good && i < g->n_params; i++) {
        snprintf(value, sizeof value, "%" PRId64, g->params[i].value);
        good = dfr_fact_add(f, strdup("param"), strdup(df_graph_string(g, g->params[i].name)), strdup(value));
    }
    if (good && g->identity)
        good = dfr_facts_read(f, g->identity, strlen(g->identity));
    for (uint32_t k = 0; good && k < g->n_kernels; k++) {
        if (!is_used(g, k))             /* an import declares many */
            continue;
        snprintf(value, sizeof value, "%016" PRIx64, dfr_hash(0, g->kernels[k].code_hash, sizeof g->kernels[k].code_hash));
        good = dfr_fact_add(f, strdup("kernel"), strdup(df_graph_string(g, g->kernels[k].name)), strdup(value));
    }
    for (uint32_t v = 0; good && g->n_nodes <= MOST_NODES && v < g->n_nodes; v++) {
        df_node_name(g, v, name, sizeof name);
        good = strchr(name, ' ') || dfr_fact_add(f, strdup("node"), strdup(name), extents_text(g, v));
    }
    return good;
}

int dfr_facts_find(const struct df_graph *g, const union df_scalar *args, struct dfr_facts *facts, struct df_error *error)
{
    *facts = (struct dfr_facts){ 0 };
    if (find(g, args, facts))
        return DF_OK;
    dfr_facts_free(facts);
    return dfr_error_memory(error);
}

void dfr_facts_free(struct dfr_facts *facts)
{
    for (size_t i = 0; i < facts->n; i++) {
        free(facts->items[i].kind);
        free(facts->items[i].name);
        free(facts->items[i].value);
    }
    free(facts->items);
    *facts = (struct dfr_facts){ 0 };
}

/* ---- as text ---- */

void dfr_fact_write(FILE *to, const struct dfr_fact *fact)
{
    fprintf(to, "%s %s ", fact->kind, fact->name);
    dfr_path_write(to, fact->value);
}

bool dfr_fact_read(struct dfr_facts *facts, const char *text)
{
    const char *name = strchr(text, ' '), *value = name ? strchr(name + 1, ' ') : NULL;
    if (!value || name == text || value == name + 1)
        return false;
    return dfr_fact_add(facts, strndup(text, (size_t)(name - text)), strndup(name + 1, (size_t)(value - name - 1)), dfr_path_read(value + 1));
}

char *dfr_facts_text(const struct dfr_facts *facts)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < facts->n; i++) {
        dfr_fact_write(out, &facts->items[i]);
        fputc('\n', out);
    }
    return dfr_text_close(out, &text);
}

char *dfr_facts_of(const struct df_graph *g, const union df_scalar *args)
{
    struct dfr_facts facts;
    char *text = dfr_facts_find(g, args, &facts, NULL) == DF_OK ? dfr_facts_text(&facts) : NULL;
    dfr_facts_free(&facts);
    return text;
}

bool dfr_facts_read(struct dfr_facts *facts, const char *text, size_t n)
{
    bool good = true;
    for (const char *end = text + n; good && text < end;) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((line_end ? line_end : end) - text);
        char *one = strndup(text, length);
        good = one && (!*one || dfr_fact_read(facts, one));
        free(one);
        text += length + 1;
    }
    return good;
}

/* ---- comparing ---- */

/* Returns the fact of this kind and name, or NULL. Two runs of one program have it at the same index, so that is tried first. */
static const struct dfr_fact *look_up(const struct dfr_facts *facts, const struct dfr_fact *wanted, size_t at)
{
    for (size_t i = 0; i < facts->n; i++) {
        const struct dfr_fact *f = &facts->items[(at + i) % facts->n];
        if (!strcmp(f->kind, wanted->kind) && !strcmp(f->name, wanted->name))
            return f;
    }
    return NULL;
}

/* The wording of differences, by enum dfr_facts_of: of values, extents and hashes, and of facts that only one side has. */
static const struct words {
    const char *value, *extents, *hash, *only_then, *only_now;
} words[] = {
    { "was '%.90s', and is '%.90s' now", "had extents %.80s, and has %.80s now", "has changed", "is not there any more", "was not there" },
    { "is '%.90s' on rank 0, and '%.90s' there", "has extents %.80s on rank 0, and %.80s there", "differs from rank 0's", "is on rank 0 only", "is not on rank 0" },
    { "is '%.90s' in one, and '%.90s' in the other", "has extents %.80s in one, and %.80s in the other", "differs", "is in one only", "is in one only" },
};

/* Writes one difference. then NULL: the fact is new; now NULL: it is gone. */
static void describe(FILE *out, const struct dfr_fact *then, const struct dfr_fact *now, const struct words *w)
{
    const struct dfr_fact *any = then ? then : now;
    const bool option = !strcmp(any->kind, "arg") || !strcmp(any->kind, "param"), code = !strcmp(any->kind, "kernel");
    if (option)
        fprintf(out, "--%.80s ", any->name);
    else if (!strcmp(any->kind, any->name))
        fprintf(out, "%s ", any->kind);
    else
        fprintf(out, "%s%s '%.80s' ", code && then && now ? "the code of " : "", strcmp(any->kind, "loaded") ? any->kind : "the shared library", any->name);
    if (!now)
        fputs(w->only_then, out);
    else if (!then)
        fputs(w->only_now, out);
    else if (code || !strcmp(any->kind, "file") || !strcmp(any->kind, "library") || !strcmp(any->kind, "loaded"))
        fputs(w->hash, out);
    else
        fprintf(out, strcmp(any->kind, "node") ? w->value : w->extents, then->value, now->value);
}

/* Writes the differences of one kind, and returns how many there are. */
static unsigned differ_in(const char *kind, const struct dfr_facts *then, const struct dfr_facts *now, const struct words *w, FILE *out)
{
    unsigned n = 0;
    for (unsigned both = 0; both < 2; both++) {
        const struct dfr_facts *from = both ? now : then, *to = both ? then : now;
        for (size_t i = 0; i < from->n; i++) {
            const struct dfr_fact *f = &from->items[i], *other = strcmp(f->kind, kind) ? NULL : look_up(to, f, i);
            if (strcmp(f->kind, kind) != 0 || (other && (both || !strcmp(f->value, other->value))))
                continue;
            if (n < MOST_TOLD) {
                fputs(n ? "; " : "", out);
                describe(out, both ? NULL : f, both ? f : other, w);
            }
            n++;
        }
    }
    if (n > MOST_TOLD)
        fprintf(out, "; and %u more", n - MOST_TOLD);
    return n;
}

bool dfr_facts_differ(const struct dfr_facts *then, const struct dfr_facts *now, enum dfr_facts_of of, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    unsigned n = 0;
    if (!out)
        return false;
    for (unsigned both = 0; both < 2; both++)   /* kinds in the order in which they come */
        for (size_t i = 0; n == 0 && i < (both ? now : then)->n; i++) {
            const char *kind = (both ? now : then)->items[i].kind;
            if (i == 0 || strcmp(kind, (both ? now : then)->items[i - 1].kind) != 0)
                n = differ_in(kind, then, now, &words[of], out);
        }
    fclose(out);
    text[size - 1] = '\0';
    return n > 0;
}
