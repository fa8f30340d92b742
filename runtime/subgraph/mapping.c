/* mapping.c - mappings of stages to ranks, what becomes of them if ranks die, and their bytes and text (mapping.h): rank 0 (ranks/rank0_stages.c) makes and
 * sends them, the other ranks read them. */
#include "runtime/subgraph/mapping.h"

#include <stdio.h>
#include <string.h>

uint32_t dfr_mapping_ranks(const struct dfr_mapping *m, uint32_t group, uint32_t *ranks)
{
    uint32_t n = 0;
    for (uint32_t rank = 1; rank < m->n_ranks; rank++)
        if (m->group_of_rank[rank] == group) {
            if (ranks)
                ranks[n] = rank;
            n++;
        }
    return n;
}

static uint32_t count_stages(const struct dfr_mapping *m, uint32_t group)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < m->n_stages; s++)
        n += m->group_of_stage[s] == group;
    return n;
}

/* The stages of `group` are those of group `to` from now on, and its ranks those of nobody. Groups behind it move up. */
static void dissolve(struct dfr_mapping *m, uint32_t group, uint32_t to)
{
    for (uint32_t s = 0; s < m->n_stages; s++) {
        uint32_t *of = &m->group_of_stage[s];
        *of = *of == group ? to : *of;
        *of -= *of != DFR_NO_GROUP && *of > group;
    }
    for (uint32_t rank = 0; rank < m->n_ranks; rank++) {
        uint32_t *of = &m->group_of_rank[rank];
        *of = *of == group ? DFR_NO_GROUP : *of;
        *of -= *of != DFR_NO_GROUP && *of > group;
    }
    m->n_groups--;
}

void dfr_mapping_of_text(const struct dfr_map_read *read, uint32_t n_stages, int n_ranks, const bool *on_first, struct dfr_mapping *m)
{
    *m = (struct dfr_mapping){ .by_demand = read->by_demand, .n_stages = n_stages, .n_ranks = (uint32_t)n_ranks, .n_groups = read->n_groups };
    for (uint32_t s = 0; s < n_stages; s++)
        m->group_of_stage[s] = on_first[s] ? DFR_NO_GROUP : read->group_of_stage[s];
    m->group_of_rank[0] = DFR_NO_GROUP;
    for (uint32_t rank = 1; rank < m->n_ranks; rank++)
        m->group_of_rank[rank] = read->group_of[rank - 1];
    for (uint32_t g = m->n_groups; g-- > 0;)
        if (count_stages(m, g) == 0)
            dissolve(m, g, DFR_NO_GROUP);
}

void dfr_mapping_by_turns(uint32_t n_stages, int n_ranks, const bool *on_first, struct dfr_mapping *m)
{
    const uint32_t n_others = (uint32_t)n_ranks - 1;
    uint32_t n = 0, k = 0;

    for (uint32_t s = 0; s < n_stages; s++)
        n += !on_first[s];
    *m = (struct dfr_mapping){ .by_demand = 1, .n_stages = n_stages, .n_ranks = (uint32_t)n_ranks, .n_groups = n < n_others ? n : n_others };
    for (uint32_t s = 0; s < n_stages; s++)
        m->group_of_stage[s] = on_first[s] ? DFR_NO_GROUP : k++ * m->n_groups / n;
    m->group_of_rank[0] = DFR_NO_GROUP;
    for (uint32_t rank = 1; rank < m->n_ranks; rank++)
        m->group_of_rank[rank] = m->n_groups ? (rank - 1) % m->n_groups : DFR_NO_GROUP;
}

static uint32_t find_spare(const struct dfr_mapping *m, const bool *live)
{
    for (uint32_t rank = 1; rank < m->n_ranks; rank++)
        if (live[rank] && m->group_of_rank[rank] == DFR_NO_GROUP)
            return rank;
    return 0;
}

bool dfr_mapping_without(const struct dfr_mapping *m, const bool *live, struct dfr_mapping *next)
{
    *next = *m;
    for (uint32_t rank = 1; rank < m->n_ranks; rank++)
        next->group_of_rank[rank] = live[rank] ? m->group_of_rank[rank] : DFR_NO_GROUP;
    for (uint32_t g = 0; g < next->n_groups; g++) {
        uint32_t spare = dfr_mapping_ranks(next, g, NULL) == 0 ? find_spare(next, live) : 0;
        if (spare)
            next->group_of_rank[spare] = g;
    }
    for (uint32_t g = next->n_groups; g-- > 0;)
        if (dfr_mapping_ranks(next, g, NULL) == 0 && next->n_groups > 1)
            dissolve(next, g, g > 0 ? g - 1 : 1);
    return dfr_mapping_ranks(next, 0, NULL) > 0;
}

bool dfr_mapping_is_valid(const struct dfr_mapping *m)
{
    uint32_t last = 0;

    if (m->n_stages > DFR_MOST_STAGES || m->n_ranks > DFR_MOST_PROCESSORS + 1 || m->n_groups > m->n_stages || m->by_demand > 1)
        return false;
    for (uint32_t s = 0; s < m->n_stages; s++) {
        if (m->group_of_stage[s] == DFR_NO_GROUP)
            continue;
        if (m->group_of_stage[s] < last || m->group_of_stage[s] >= m->n_groups)
            return false;
        last = m->group_of_stage[s];
    }
    for (uint32_t rank = 0; rank < m->n_ranks; rank++)
        if (m->group_of_rank[rank] != DFR_NO_GROUP && (rank == 0 || m->group_of_rank[rank] >= m->n_groups))
            return false;
    for (uint32_t g = 0; g < m->n_groups; g++)
        if (count_stages(m, g) == 0 || dfr_mapping_ranks(m, g, NULL) == 0)
            return false;
    return m->n_groups > 0;
}

/* ---- bytes ---- */

enum { HEAD_NUMBERS = 4 };

size_t dfr_mapping_bytes(const struct dfr_mapping *m)
{
    return (HEAD_NUMBERS + (size_t)m->n_stages + m->n_ranks) * sizeof(uint32_t);
}

void dfr_mapping_pack(const struct dfr_mapping *m, void *bytes)
{
    const uint32_t head[HEAD_NUMBERS] = { m->by_demand, m->n_stages, m->n_ranks, m->n_groups };
    char *at = bytes;

    memcpy(at, head, sizeof head);
    memcpy(at + sizeof head, m->group_of_stage, m->n_stages * sizeof *m->group_of_stage);
    memcpy(at + sizeof head + m->n_stages * sizeof *m->group_of_stage, m->group_of_rank, m->n_ranks * sizeof *m->group_of_rank);
}

bool dfr_mapping_unpack(const void *bytes, size_t size, uint32_t n_stages, int n_ranks, struct dfr_mapping *m)
{
    uint32_t head[HEAD_NUMBERS];
    const char *at = bytes;

    if (size < sizeof head)
        return false;
    memcpy(head, at, sizeof head);
    *m = (struct dfr_mapping){ .by_demand = head[0], .n_stages = head[1], .n_ranks = head[2], .n_groups = head[3] };
    if (m->n_stages != n_stages || m->n_ranks != (uint32_t)n_ranks || n_stages > DFR_MOST_STAGES || m->n_ranks > DFR_MOST_PROCESSORS + 1 ||
        size != dfr_mapping_bytes(m))
        return false;
    memcpy(m->group_of_stage, at + sizeof head, n_stages * sizeof *m->group_of_stage);
    memcpy(m->group_of_rank, at + sizeof head + n_stages * sizeof *m->group_of_stage, m->n_ranks * sizeof *m->group_of_rank);
    return dfr_mapping_is_valid(m);
}

/* ---- text ---- */

static void append(char *text, size_t size, const char *word)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s", word);
}

static void append_group(const struct dfr_mapping *m, uint32_t g, const char *const *stages, char *text, size_t size)
{
    char number[16];
    const char *before = g > 0 ? "; " : "";

    for (uint32_t s = 0; s < m->n_stages; s++)
        if (m->group_of_stage[s] == g) {
            append(text, size, before);
            append(text, size, stages[s]);
            before = " ";
        }
    append(text, size, dfr_mapping_ranks(m, g, NULL) > 1 ? ": ranks" : ": rank");
    for (uint32_t rank = 1; rank < m->n_ranks; rank++)
        if (m->group_of_rank[rank] == g) {
            snprintf(number, sizeof number, " %u", (unsigned)rank);
            append(text, size, number);
        }
}

void dfr_mapping_text(const struct dfr_mapping *m, const char *const *stages, char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t g = 0; g < m->n_groups; g++)
        append_group(m, g, stages, text, size);
}
