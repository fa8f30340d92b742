/* option.c - implements option tables: finds rows, parses values of all types, and prints --help (option.h). dfc's commands (compiler/options/), programs
 * (program/args.c) and libraries (library/options.c) use it. */
#include "runtime/base/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/base/text.h"

#define HELP_COLUMN 24                  /* where texts begin */
#define HELP_WIDTH 100

/* ---- rows ---- */

static bool is_end(const struct dfr_option *row)
{
    return !row->name && !row->text;
}

static bool is_long(const struct dfr_option *row)
{
    return row->name[1] == '-';
}

static bool is_optional(const struct dfr_option *row)
{
    return row->value && row->value[0] == '[';
}

/* Is the word this option, in one of the forms --name, --name=VALUE, -x and -xVALUE? */
static bool is_option(const struct dfr_option *row, const char *word)
{
    size_t n = row->name ? strlen(row->name) : 0;
    return n > 0 && strncmp(word, row->name, n) == 0 && (!word[n] || (is_long(row) ? word[n] == '=' : row->value != NULL));
}

/* *table: that has the row. */
static const struct dfr_option *find(const struct dfr_options *tables, const char *word, const struct dfr_options **table)
{
    for (; tables->rows; tables++)
        for (const struct dfr_option *row = tables->rows; !is_end(row); row++)
            if (is_option(row, word)) {
                *table = tables;
                return row;
            }
    return NULL;
}

const struct dfr_option *dfr_option_find(const struct dfr_options *tables, const char *word)
{
    return find(tables, word, &tables);
}

const struct dfr_option *dfr_option_at(const struct dfr_options *tables, size_t i)
{
    for (const struct dfr_options *t = tables; t->rows; t++)
        for (const struct dfr_option *row = t->rows; !is_end(row); row++)
            if ((!row->name || dfr_option_find(tables, row->name) == row) && i-- == 0)
                return row;
    return NULL;
}

/* ---- values ---- */

static void store(void *field, size_t size, uint64_t number)
{
    if (size == sizeof(uint64_t))
        *(uint64_t *)field = number;
    else if (size == sizeof(uint32_t))
        *(uint32_t *)field = (uint32_t)number;
    else
        *(unsigned char *)field = (unsigned char)number;
}

int dfr_option_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *count, struct df_error *error)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n < least || n > most)
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: a whole number from %llu to %llu is expected", name, text, (unsigned long long)least,
                         (unsigned long long)most);
    *count = n;
    return DF_OK;
}

/* The number of the text among words such as "auto|on|off". DF_E_ARGUMENT: it is none of them, and the closest one is named. */
int dfr_option_word(const struct dfr_option *row, const char *words, const char *text, uint64_t *number, struct df_error *error)
{
    struct dfr_suggestion best = { .name = text };
    char all[256] = "", one[64][32];
    unsigned n = 0;
    for (const char *word = words, *end; *word && n < 64; word = end + (*end == '|')) {
        end = word + strcspn(word, "|");
        snprintf(one[n], sizeof *one, "%.*s", (int)(end - word), word);
        if (strcmp(text, one[n]) == 0) {
            *number = n;
            return DF_OK;
        }
        dfr_suggest(&best, one[n]);
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", n > 0 ? ", " : "", one[n]);
        n++;
    }
    return dfr_error(error, DF_E_ARGUMENT, "%s=%s: %s%s is expected%s%s%s", row->name, text, n > 1 ? "one of " : "", all,
                     best.closest ? "; did you mean '" : row->hint ? row->hint : "", best.closest ? best.closest : "", best.closest ? "'?" : "");
}

int dfr_option_devices(const struct dfr_option *row, const char *text, uint32_t *kinds, struct df_error *error)
{
    const bool several = strchr(text, ',');
    *kinds = 0;
    for (const char *at = text;; at++) {
        char word[64];
        uint64_t kind;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        int status = several ? dfr_option_word(row, "emu|cuda|opencl", word, &kind, error) : DF_OK;
        if (status == DF_OK)
            status = dfr_option_word(row, row->words, word, &kind, error);
        if (status != DF_OK)
            return status;
        if (*kinds >> kind & 1)
            return dfr_error(error, DF_E_ARGUMENT, "%s=%s: a kind is named twice", row->name, text);
        *kinds |= 1u << kind;
        at += strcspn(at, ",");
        if (!*at)
            return DF_OK;
    }
}

int dfr_option_set_devices(void *field, const struct dfr_option *row, const char *text, struct df_error *error)
{
    uint32_t kinds;
    int status = dfr_option_devices(row, text, &kinds, error);
    if (status == DF_OK)
        *(const char **)field = text;
    return status;
}

bool dfr_option_lists(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && strncmp(at, word, n) == 0)
            return true;
    return false;
}

static int read_seconds(const struct dfr_option *row, const char *text, double *seconds, struct df_error *error)
{
    char *end;
    double alone = row->first ? strtod(text, &end) : 0;
    if (alone > 0 && alone < 1e9 && !*end)
        *seconds = alone;
    else if (!dfr_parse_seconds(text, seconds))
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: a time is expected, such as 500ms, 30s or 2min%s", row->name, text,
                         row->first ? "; a number without a unit is in seconds" : "");
    return DF_OK;
}

static int add_name(const char ***names, size_t *n, const char *name, struct df_error *error)
{
    const char **grown = realloc(*names, (*n + 1) * sizeof *grown);
    if (!grown)
        return dfr_error_memory(error);
    *names = grown;
    grown[(*n)++] = name;
    return DF_OK;
}

/* record: what the row's table fills; text: NULL if there is none. */
static int set(const struct dfr_option *row, char *record, const char *text, struct df_error *error)
{
    void *field = record + row->at;
    const char *words = row->words ? row->words : row->value;
    uint64_t n = 0;
    int status = DF_OK;
    switch (row->type) {
    case DFR_TYPE_NONE:
        return DF_OK;
    case DFR_TYPE_FLAG:
        store(field, row->size, 1);
        return DF_OK;
    case DFR_TYPE_SPELLING:
        *(const char **)field = row->name;
        return DF_OK;
    case DFR_TYPE_COUNT:
        if (row->words && strcmp(text, row->words) == 0)
            n = row->first;
        else
            status = dfr_option_count(row->name, text, row->least, row->most, &n, error);
        if (status != DF_OK && row->words)
            return dfr_error(error, DF_E_ARGUMENT, "%s=%s: '%s' or a whole number from %llu to %llu is expected", row->name, text, row->words,
                             (unsigned long long)row->least, (unsigned long long)row->most);
        break;
    case DFR_TYPE_BYTES:
        if (!dfr_parse_size(text, &n))
            status = dfr_error(error, DF_E_ARGUMENT, "%s=%s: a size is expected, such as 512MiB or 6GiB; a number without a unit is in bytes, at least %d", row->name,
                               text, DFR_LEAST_BYTES);
        break;
    case DFR_TYPE_SECONDS:
        return read_seconds(row, text, field, error);
    case DFR_TYPE_WORD:
        status = dfr_option_word(row, words, text, &n, error);
        n += row->first;
        break;
    case DFR_TYPE_ON_OFF:
        status = dfr_option_word(row, "on|off", text, &n, error);
        n = !n;
        break;
    case DFR_TYPE_ONE_OF:
        if ((status = dfr_option_word(row, words, text, &n, error)) == DF_OK && row->set)
            return row->set(field, row, text, error);
        if (status == DF_OK)
            *(const char **)field = text;
        return status;
    case DFR_TYPE_TEXT:
    case DFR_TYPE_NAME:
        *(const char **)field = text;
        return DF_OK;
    case DFR_TYPE_NAMES:
        return add_name(field, (size_t *)(void *)(record + row->least), text, error);
    case DFR_TYPE_SET:
        return row->set(field, row, text, error);
    }
    if (status == DF_OK)
        store(field, row->size, n);
    return status;
}

/* ---- words of a command line ---- */

/* *text: the option's value, what follows its name, else the next word. NULL: it has none. A next word that looks like an option is none, unless any text
 * may be a value, or the option is one as in -o. */
static int take_value(const struct dfr_option *row, int argc, char **argv, int *i, const char **text, struct df_error *error)
{
    const char *word = argv[*i], *behind = word + strlen(row->name);
    *text = *behind ? behind + is_long(row) : NULL;
    if (!row->value)
        return *text ? dfr_error(error, DF_E_ARGUMENT, "%s takes no value", row->name) : DF_OK;
    if (*behind == '=' && !is_long(row))
        return dfr_error(error, DF_E_ARGUMENT, "%s: no '=' stands between %s and its value: write '%s %s'", word, row->name, row->name, behind + 1);
    if (!*text && !is_optional(row)) {
        if (*i + 1 >= argc || (is_long(row) && row->type != DFR_TYPE_TEXT && strncmp(argv[*i + 1], "--", 2) == 0))
            return dfr_error(error, DF_E_ARGUMENT, "%s needs a value", row->name);
        *text = argv[++*i];
    }
    if (*text && !**text && (row->type == DFR_TYPE_NAME || row->type == DFR_TYPE_NAMES))
        return dfr_error(error, DF_E_ARGUMENT, "%s needs a name, and this one is empty", row->name);
    return DF_OK;
}

int dfr_option_take(const struct dfr_options *tables, void *record, int argc, char **argv, int *i, bool *known, struct df_error *error)
{
    const char *text;
    const struct dfr_option *row = find(tables, argv[*i], &tables);
    *known = row;
    int status = row ? take_value(row, argc, argv, i, &text, error) : DF_OK;
    return row && status == DF_OK ? set(row, (char *)record + tables->at, text, error) : status;
}

/* ---- help ---- */

int dfr_help_words(FILE *out, int at, const char *text)
{
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (at > HELP_COLUMN && at + 1 + n > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        } else if (at > HELP_COLUMN) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", n, text);
        at += n;
        text += n;
        text += strspn(text, " ");
    }
    return at;
}

int dfr_help_line(FILE *out, const char *name, const char *value, const char *text)
{
    char left[300];
    int n;
    if (value && value[0] == '[')
        n = snprintf(left, sizeof left, "  %s[=%.*s]", name, (int)strlen(value) - 2, value + 1);
    else
        n = snprintf(left, sizeof left, "  %s%s%s", name, !value ? "" : name[1] == '-' ? "=" : " ", value ? value : "");
    if (n < HELP_COLUMN)
        fprintf(out, "%-*s", HELP_COLUMN, left);
    else
        fprintf(out, "%s\n%*s", left, HELP_COLUMN, "");
    return dfr_help_words(out, HELP_COLUMN, text);
}

void dfr_options_help(FILE *out, const struct dfr_options *tables)
{
    const struct dfr_option *row;
    for (size_t i = 0; (row = dfr_option_at(tables, i)); i++)
        if (!row->name) {
            fprintf(out, "\n%s:\n", row->text);
        } else if (row->text) {
            int at = dfr_help_line(out, row->name, row->value, row->text);
            if (row->more)
                row->more(out, at);
            fputc('\n', out);
        }
}
