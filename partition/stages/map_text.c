/* map_text.c - writes and reads mappings as text: `dfc map` writes them for its --use and for runs on ranks
 * (map_text.h).
 */
#include "partition/stages/map_text.h"

#include <string.h>

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

bool dfp_map_read(const struct dfp_pipeline *l, const struct dfp_map_names *names, const char *text, size_t size,
                  struct dfp_mapping *mapping, enum dfp_feeding *feeding, struct dfr_map_wrong *wrong)
{
    const struct dfr_map_words words = { .stages = names->stages, .n_stages = l->n_stages, .serial = l->serial, .processors = names->processors,
                                         .n_processors = l->n_processors };
    struct dfr_map_read read;
    if (!dfr_map_read(&words, text, size, &read, wrong))
        return false;
    *feeding = read.by_demand ? DFP_BY_DEMAND : DFP_IN_ORDER;
    mapping->n_groups = read.n_groups;
    for (uint32_t n = l->n_stages; n-- > 0;)
        mapping->first[read.group_of_stage[n]] = n;
    mapping->first[read.n_groups] = l->n_stages;
    for (uint32_t p = 0; p < l->n_processors; p++)
        mapping->group_of[p] = read.group_of[p] == DFR_NO_GROUP ? DFP_NO_GROUP : read.group_of[p];
    return true;
}
