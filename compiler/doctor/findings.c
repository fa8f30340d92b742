/* findings.c - the list of findings of `dfc doctor`: the look_*.c files add to it and read other programs' output,
 * commands/cmd_doctor.c prints it as text or JSON.
 */
#include "compiler/doctor/doctor.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tools/spawn.h"
#include "runtime/base/report_table.h"
#include "runtime/base/text.h"

enum { WHAT_WIDTH = 18 };

static const char *const words[] = { [DFC_WELL] = "ok", [DFC_ABSENT] = "absent", [DFC_BROKEN] = "BROKEN" };

void dfc_found(struct dfc_findings *list, const struct dfc_look *look, const char *format, ...)
{
    struct dfc_finding *made = dfr_array_add(&list->items, sizeof *made, 1);
    va_list args;
    va_start(args, format);
    if (!made || vasprintf(&made->found, format, args) < 0) {
        list->items.n -= made != NULL;
        list->failed = true;
    } else {
        made->look = *look;
        if (look->health == DFC_WELL)
            made->look.means = made->look.remedy = NULL;
    }
    va_end(args);
}

const struct dfc_finding *dfc_finding_at(const struct dfc_findings *list, uint32_t i)
{
    return &((const struct dfc_finding *)list->items.items)[i];
}

void dfc_findings_free(struct dfc_findings *list)
{
    for (uint32_t i = 0; i < list->items.n; i++)
        free(dfc_finding_at(list, i)->found);
    dfr_array_free(&list->items);
}

static void print_continued(FILE *out, const char *text)
{
    fprintf(out, "  %-7s%-*s %s\n", "", WHAT_WIDTH, "", text);
}

void dfc_findings_text(FILE *out, const struct dfc_findings *list, const char *version)
{
    const char *heading = NULL;
    size_t n[3] = { 0 };
    fprintf(out, "dfc %s\n", version);
    for (uint32_t i = 0; i < list->items.n; i++) {
        const struct dfc_look *look = &dfc_finding_at(list, i)->look;
        if (!heading || strcmp(heading, look->heading) != 0)
            fprintf(out, "\n%s\n", look->heading);
        heading = look->heading;
        n[look->health]++;
        fprintf(out, "  %-7s%-*s %s\n", words[look->health], WHAT_WIDTH, look->what, dfc_finding_at(list, i)->found);
        if (look->means)
            print_continued(out, look->means);
        if (look->remedy)
            print_continued(out, look->remedy);
    }
    fprintf(out, "\n%zu ok, %zu absent, %zu broken\n", n[DFC_WELL], n[DFC_ABSENT], n[DFC_BROKEN]);
}

void dfc_findings_json(FILE *out, const struct dfc_findings *list, const char *version)
{
    static const char *const healths[] = { [DFC_WELL] = "ok", [DFC_ABSENT] = "absent", [DFC_BROKEN] = "broken" };
    static const struct dfr_column columns[] = {
        DFR_COLUMN(NULL, "health", TEXT), DFR_COLUMN(NULL, "heading", TEXT), DFR_COLUMN(NULL, "what", TEXT), DFR_COLUMN(NULL, "found", TEXT),
        DFR_COLUMN(NULL, "means", TEXT, .null = true), DFR_COLUMN(NULL, "remedy", TEXT, .null = true),
    };
    struct dfr_report_table table = { .pad = " " };
    fputs("{ \"dfc\": ", out);
    dfr_text_json(out, version);
    fputs(", \"findings\": [", out);
    dfr_report_table_begin(&table, out, DFR_FORM_JSON, DFR_COLUMNS(columns));
    for (uint32_t i = 0; i < list->items.n; i++) {
        const struct dfc_look *look = &dfc_finding_at(list, i)->look;
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(healths[look->health]), DFR_STR(look->heading), DFR_STR(look->what), DFR_STR(dfc_finding_at(list, i)->found),
            DFR_STR(look->means), DFR_STR(look->remedy) });
    }
    fputs("\n] }\n", out);
}

/* ---- what programs say ---- */

static char *line_with(char *text, const char *word)
{
    char *rest = NULL;
    for (char *line = text ? strtok_r(text, "\r\n", &rest) : NULL; line; line = strtok_r(NULL, "\r\n", &rest)) {
        while (isspace((unsigned char)*line))
            line++;
        if (*line && strstr(line, word)) {
            for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]);)
                line[--n] = '\0';
            return strdup(line);
        }
    }
    return NULL;
}

char *dfc_doctor_says(char *const *argv, const char *word)
{
    char *out = NULL, *err = NULL, *line = NULL;
    if (dfc_run_tool(argv, &out, &err) == 0 && !(line = line_with(out, word)))
        line = line_with(err, word);
    free(out);
    free(err);
    return line;
}
