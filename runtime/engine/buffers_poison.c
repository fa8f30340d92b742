/* buffers_poison.c - --poison for results in the caller's memory: fills their locations before anything can write them,
 * and checks them when the results should be there. engine.c calls it when a wave, or what fires once, begins and ends.
 * The locations are computed here from the wave alone, independently of the engine, so a result that was written to a
 * wrong address is detected, too.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/engine/buffers.h"
#include "runtime/engine/ending.h"
#include "runtime/graph/poison.h"

#define LEAST_BYTES 4u                  /* a shorter integer may well be what --poison fills memory with */

/* Flags as DFR_N_PHASE: when the buffer's token is made. An acc is complete after the last wave. */
static uint32_t phase_of(const struct df_run *run, uint32_t value)
{
    return df_value_is_acc(run->graph, value) ? DFR_N_ONCE | DFR_N_FINAL
                                              : run->firing.nodes[run->graph->values[value].producer].flags & DFR_N_PHASE;
}

static unsigned char byte_of(const struct df_graph *g, uint32_t value)
{
    return dfr_poison_byte((enum df_elem)dfr_out_port(g, g->values[value].producer, g->values[value].slot)->elem);
}

static bool is_result(const struct df_run *run, uint32_t i, uint32_t phase)
{
    const struct dfr_buffers *b = run->memory.buffers;
    return b->lent[b->value[i]] == &b->of[i] && !b->of[i].given && phase_of(run, b->value[i]) == phase;
}

void dfr_buffers_poison(const struct df_run *run, uint32_t phase, int64_t round)
{
    const struct dfr_buffers *b = run->memory.buffers;
    int64_t wave = phase ? 0 : dfr_skips_wave(&run->skips, round);

    for (uint32_t i = 0; b && run->options.poison && i < b->n; i++)
        if (is_result(run, i, phase))
            memset(dfm_lent_at(&b->of[i], wave), byte_of(run->graph, b->value[i]), run->graph->values[b->value[i]].bytes);
}

static bool is_unwritten(const struct df_run *run, uint32_t i, uint32_t slot, int64_t wave)
{
    const struct dfr_buffers *b = run->memory.buffers;
    const unsigned char *token = dfm_lent_at(&b->of[i], wave);
    uint32_t value = b->value[i];
    uint64_t bytes = run->extents ? dfr_extents_bytes(run->extents, value, slot) : run->graph->values[value].bytes;
    unsigned char byte = byte_of(run->graph, value);

    return bytes >= (byte == dfr_poison_byte(DF_F32) ? 1 : LEAST_BYTES) && token[0] == byte && memcmp(token, token + 1, bytes - 1) == 0;
}

void dfr_buffers_find_unwritten(struct df_run *run, uint32_t phase, uint32_t slot, int64_t round)
{
    const struct dfr_buffers *b = run->memory.buffers;
    int64_t wave = phase ? 0 : dfr_skips_wave(&run->skips, round);
    char text[160];

    for (uint32_t i = 0; b && run->options.poison && i < b->n; i++) {
        const struct df_value *value = &run->graph->values[b->value[i]];
        if (!is_result(run, i, phase) || (!phase && dfr_skips_empty(&run->skips, slot, b->value[i])) || !is_unwritten(run, i, slot, wave))
            continue;
        snprintf(text, sizeof text, "nothing has written output '%.64s': it has only what --poison fills memory with",
                 df_graph_string(run->graph, dfr_out_port(run->graph, value->producer, value->slot)->name));
        dfr_engine_fail_job(run, dfr_job(slot, value->producer), round, text);
        return;
    }
}
