/* map_text.c - writes and reads mappings as text. */
#include "partition/stages/map_text.h"

#include <string.h>

#define MOST_SHOWN 60                   /* bytes of a name in a message */

void dfp_map_write(const struct dfp_pipeline *l, const struct dfp_mapping *m, const struct dfp_map_names *names, FILE *out)
{
    fprintf(out, "feeding %s\n", l->feeding == DFP_BY_DEMAND ? "demand" : "order");
    for (uint32_t g = 0; g < m->n_groups; g++) {
        for (uint32_t n = m->first[g]; n < m->first[g + 1]; n++)
            fprintf(out, "%s%s", n > m->first[g] ? " " : "", names->stages[n]);
        fputc(':', out);
        for (uint32_t p = 0; p < l->n_processors; p++)
            if (m->group_of[p] == g)
                fprintf(out, " %s", names->processors[p]);
        fputc('\n', out);
    }
}

/* ---- reading ---- */

struct word {
    const char *at;
    uint32_t n;
};

struct reader {
    const struct dfp_pipeline *l;
    const struct dfp_map_names *names;
    const char *line, *end, *next;      /* the line that is read, its end, and the place in it */
    uint32_t number;
    struct dfp_mapping *m;
    uint32_t stages;                    /* that have been read */
    struct dfp_map_wrong *wrong;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line, or ":", or nothing at its end (n 0). */
static struct word next_word(struct reader *r)
{
    while (r->next < r->end && is_space(*r->next))
        r->next++;
    const char *at = r->next;
    while (r->next < r->end && !is_space(*r->next) && *r->next != ':')
        r->next++;
    if (r->next == at && at < r->end)
        r->next++;                      /* the colon */
    return (struct word){ at, (uint32_t)(r->next - at) };
}

static bool is(struct word word, const char *text)
{
    return word.n == strlen(text) && memcmp(word.at, text, word.n) == 0;
}

/* Says where and what: the word, between two texts. */
static bool refuse(struct reader *r, struct word word, const char *before, const char *behind, const char *hint)
{
    uint32_t col = (uint32_t)(word.at - r->line) + 1, shown = word.n < MOST_SHOWN ? word.n : MOST_SHOWN;
    *r->wrong = (struct dfp_map_wrong){ .line = r->number, .col = col, .end_col = col + (word.n ? word.n : 1) };
    snprintf(r->wrong->word_text, sizeof r->wrong->word_text, "%.*s", (int)shown, word.at);
    snprintf(r->wrong->message, sizeof r->wrong->message, "%s%s%s", before, r->wrong->word_text, behind);
    snprintf(r->wrong->hint, sizeof r->wrong->hint, "%s", hint);
    return false;
}

static bool unknown(struct reader *r, struct word word, const char *what, const char *const *names, uint32_t n)
{
    char before[40];
    snprintf(before, sizeof before, "there is no %s '", what);
    refuse(r, word, before, "'", "");
    r->wrong->word = r->wrong->word_text;
    r->wrong->names = names;
    r->wrong->n_names = n;
    return false;
}

static uint32_t find(struct word word, const char *const *names, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !is(word, names[i]))
        i++;
    return i;
}

static bool read_stage(struct reader *r, struct word word)
{
    char hint[200];
    uint32_t n = find(word, r->names->stages, r->l->n_stages);
    if (n == r->l->n_stages)
        return unknown(r, word, "stage", r->names->stages, n);
    if (n < r->stages)
        return refuse(r, word, "stage '", "' stands here a second time, or too late", "stages stand in the order of the pipeline, each once");
    if (n == r->stages) {
        r->stages++;
        return true;
    }
    snprintf(hint, sizeof hint, "stage '%.150s' comes before it", r->names->stages[r->stages]);
    return refuse(r, word, "stage '", "' stands here too early", hint);
}

/* The first stage of the group that has no replicas, or r->stages. */
static uint32_t find_serial(const struct reader *r)
{
    uint32_t n = r->m->first[r->m->n_groups];
    while (n < r->stages && !r->l->serial[n])
        n++;
    return n;
}

static bool read_processors(struct reader *r)
{
    char hint[200];
    uint32_t n = 0, g = r->m->n_groups;
    for (struct word word = next_word(r); word.n; word = next_word(r)) {
        uint32_t p = find(word, r->names->processors, r->l->n_processors);
        if (is(word, ":"))
            return refuse(r, word, "a second '", "' in a line", "a line is 'STAGE …: PROCESSOR …'");
        if (p == r->l->n_processors)
            return unknown(r, word, "processor", r->names->processors, p);
        if (r->m->group_of[p] != DFP_NO_GROUP)
            return refuse(r, word, "processor '", "' has stages already", "a processor stands once in a mapping");
        if (n == 1 && find_serial(r) < r->stages) {
            snprintf(hint, sizeof hint, "stage '%.60s' keeps something from wave to wave, so it has no replicas",
                     r->names->stages[find_serial(r)]);
            return refuse(r, word, "processor '", "' is one too many", hint);
        }
        r->m->group_of[p] = g;
        n++;
    }
    return n ? true : refuse(r, (struct word){ r->next, 0 }, "a processor is missing behind ':'", "", "");
}

static bool read_group(struct reader *r, struct word word)
{
    uint32_t first = r->stages;
    for (; word.n && !is(word, ":"); word = next_word(r))
        if (!read_stage(r, word))
            return false;
    if (!word.n)
        return refuse(r, word, "':' is missing", "", "a line is 'STAGE …: PROCESSOR …'");
    if (r->stages == first)
        return refuse(r, word, "a stage is missing before '", "'", "a line is 'STAGE …: PROCESSOR …'");
    r->m->first[r->m->n_groups] = first;
    if (!read_processors(r))
        return false;
    r->m->n_groups++;
    return true;
}

static bool read_line(struct reader *r, enum dfp_feeding *feeding)
{
    struct word word = next_word(r);
    const char *behind = r->next;
    if (!word.n)
        return true;
    struct word second = next_word(r);
    bool group = memchr(r->line, ':', (size_t)(r->end - r->line)); /* a stage may be called "feeding" */
    if (!is(word, "feeding") || group || r->m->n_groups || !second.n) {
        r->next = behind;
        return read_group(r, word);
    }
    if (!is(second, "order") && !is(second, "demand"))
        return refuse(r, second, "'", "' is no way of feeding", "'feeding order' or 'feeding demand'");
    *feeding = is(second, "order") ? DFP_IN_ORDER : DFP_BY_DEMAND;
    second = next_word(r);
    return second.n ? refuse(r, second, "'", "' is one word too many", "") : true;
}

/* Where a comment begins: at a '#' with nothing or a space before it, so that names may hold one. */
static const char *end_of_words(const char *line, const char *end)
{
    for (const char *at = line; at < end; at++)
        if (*at == '#' && (at == line || is_space(at[-1])))
            return at;
    return end;
}

bool dfp_map_read(const struct dfp_pipeline *l, const struct dfp_map_names *names, const char *text, size_t size,
                  struct dfp_mapping *mapping, enum dfp_feeding *feeding, struct dfp_map_wrong *wrong)
{
    struct reader r = { .l = l, .names = names, .line = text, .m = mapping, .wrong = wrong };
    const char *end = text + size;
    *feeding = DFP_IN_ORDER;
    mapping->n_groups = 0;
    for (uint32_t p = 0; p < l->n_processors; p++)
        mapping->group_of[p] = DFP_NO_GROUP;
    for (const char *line = text, *behind; line < end; line = behind + 1) {
        behind = memchr(line, '\n', (size_t)(end - line));
        behind = behind ? behind : end;
        r.line = r.next = line;
        r.end = end_of_words(line, behind);
        r.number++;
        if (!read_line(&r, feeding))
            return false;
    }
    if (r.stages < l->n_stages) {
        r.next = r.line;
        r.number += !r.number;
        refuse(&r, (struct word){ r.line, 0 }, "a stage has no processor: '", "'", "each stage stands in one line");
        snprintf(wrong->message, sizeof wrong->message, "stage '%.*s' has no processor", MOST_SHOWN, names->stages[r.stages]);
        return false;
    }
    mapping->first[mapping->n_groups] = l->n_stages;
    return true;
}
