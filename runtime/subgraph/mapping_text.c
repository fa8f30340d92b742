/* mapping_text.c - reads mappings as text (mapping_text.h), for rank 0 of a run with pipeline stages, mapping.c and partition/stages/. */
#include "runtime/subgraph/mapping_text.h"

#include <stdio.h>
#include <string.h>

#define MOST_SHOWN 60                   /* bytes of a name in a message */

struct word {
    const char *at;
    uint32_t n;
};

struct reader {
    const struct dfr_map_words *words;
    const char *line, *end, *next;      /* the line that is read, its end, and the place in it */
    uint32_t number;
    struct dfr_map_read *m;
    uint32_t stages;                    /* that have been read, or need not stand here */
    struct dfr_map_wrong *wrong;
    bool fed;                           /* a line 'feeding' has been read */
    struct word named[DFR_MOST_PROCESSORS]; /* if names are free */
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
    *r->wrong = (struct dfr_map_wrong){ .line = r->number, .col = col, .end_col = col + (word.n ? word.n : 1) };
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

static bool may_be_missing(const struct reader *r, uint32_t stage)
{
    return r->words->optional && r->words->optional[stage];
}

static bool read_stage(struct reader *r, struct word word)
{
    char hint[200];
    uint32_t n = find(word, r->words->stages, r->words->n_stages);
    if (n == r->words->n_stages)
        return unknown(r, word, "stage", r->words->stages, n);
    while (r->stages < n && may_be_missing(r, r->stages))
        r->stages++;
    if (n < r->stages)
        return refuse(r, word, "stage '", "' stands here a second time, or too late", "stages stand in the order of the pipeline, each once");
    if (n == r->stages) {
        r->m->group_of_stage[r->stages++] = r->m->n_groups;
        return true;
    }
    snprintf(hint, sizeof hint, "stage '%.150s' comes before it", r->words->stages[r->stages]);
    return refuse(r, word, "stage '", "' stands here too early", hint);
}

/* The first stage of the group that has no replicas, or r->stages. */
static uint32_t find_serial(const struct reader *r)
{
    uint32_t n = 0;
    while (n < r->stages && (r->m->group_of_stage[n] != r->m->n_groups || !r->words->serial || !r->words->serial[n]))
        n++;
    return n;
}

/* The number of the processor. If their names are free, a new one has the next number. */
static uint32_t find_processor(struct reader *r, struct word word)
{
    const struct dfr_map_words *w = r->words;
    uint32_t p = 0;
    if (w->processors)
        return find(word, w->processors, w->n_processors);
    while (p < r->m->n_named && !(r->named[p].n == word.n && memcmp(r->named[p].at, word.at, word.n) == 0))
        p++;
    if (p == r->m->n_named && p < w->n_processors)
        r->named[r->m->n_named++] = word;
    return p;
}

static bool read_processors(struct reader *r)
{
    char hint[200];
    uint32_t n = 0, g = r->m->n_groups;
    for (struct word word = next_word(r); word.n; word = next_word(r)) {
        if (is(word, ":"))
            return refuse(r, word, "a second '", "' in a line", "a line is 'STAGE …: PROCESSOR …'");
        uint32_t p = find_processor(r, word);
        if (p == r->words->n_processors && r->words->processors)
            return unknown(r, word, "processor", r->words->processors, p);
        if (p == r->words->n_processors) {
            snprintf(hint, sizeof hint, r->words->too_many, (unsigned)p);
            return refuse(r, word, "processor '", "' is one too many", hint);
        }
        if (r->m->group_of[p] != DFR_NO_GROUP)
            return refuse(r, word, "processor '", "' has stages already", "a processor stands once in a mapping");
        if (n == 1 && find_serial(r) < r->stages) {
            snprintf(hint, sizeof hint, "stage '%.60s' keeps something from wave to wave, so it has no replicas",
                     r->words->stages[find_serial(r)]);
            return refuse(r, word, "processor '", "' is one too many", hint);
        }
        r->m->group_of[p] = g;
        n++;
    }
    return n ? true : refuse(r, (struct word){ r->next, 0 }, "a processor is missing behind ':'", "", "");
}

static bool read_group(struct reader *r, struct word word)
{
    bool any = false;
    for (; word.n && !is(word, ":"); word = next_word(r), any = true)
        if (!read_stage(r, word))
            return false;
    if (!word.n)
        return refuse(r, word, "':' is missing", "", "a line is 'STAGE …: PROCESSOR …'");
    if (!any)
        return refuse(r, word, "a stage is missing before '", "'", "a line is 'STAGE …: PROCESSOR …'");
    if (!read_processors(r))
        return false;
    r->m->n_groups++;
    return true;
}

static bool read_line(struct reader *r)
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
    if (r->fed)
        return refuse(r, word, "'", "' stands here a second time", "a mapping says once how replicas are fed");
    r->fed = true;
    r->m->by_demand = is(second, "demand");
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

static void begin(const struct dfr_map_words *words, struct dfr_map_read *m)
{
    *m = (struct dfr_map_read){ .by_demand = false };
    for (uint32_t n = 0; n < DFR_MOST_STAGES; n++)
        m->group_of_stage[n] = DFR_NO_GROUP;
    for (uint32_t p = 0; p < words->n_processors; p++)
        m->group_of[p] = DFR_NO_GROUP;
}

bool dfr_map_read(const struct dfr_map_words *words, const char *text, size_t size, struct dfr_map_read *read, struct dfr_map_wrong *wrong)
{
    struct reader r = { .words = words, .line = text, .m = read, .wrong = wrong };
    const char *end = text + size;
    begin(words, read);
    for (const char *line = text, *behind; line < end; line = behind + 1) {
        behind = memchr(line, '\n', (size_t)(end - line));
        behind = behind ? behind : end;
        r.line = r.next = line;
        r.end = end_of_words(line, behind);
        r.number++;
        if (!read_line(&r))
            return false;
    }
    while (r.stages < words->n_stages && may_be_missing(&r, r.stages))
        r.stages++;
    if (r.stages < words->n_stages) {
        r.next = r.line;
        r.number += !r.number;
        refuse(&r, (struct word){ r.line, 0 }, "a stage has no processor: '", "'", "each stage stands in one line");
        snprintf(wrong->message, sizeof wrong->message, "stage '%.*s' has no processor", MOST_SHOWN, words->stages[r.stages]);
        return false;
    }
    return true;
}
