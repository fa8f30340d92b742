/* test_mapping.c - mappings that lose ranks, that nobody wrote, as bytes and as text; stages that the graph says; what each place of a small graph has, and what goes from place to place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/subgraph/groups.h"
#include "runtime/subgraph/marked_stages.h"

static const char *const names[] = { "a", "b", "c", "d" };

/* Reads a text for four stages and so many ranks. */
static struct dfr_mapping mapping_of(const char *text, int n_ranks, const bool *on_first)
{
    static const bool none[4] = { false };
    const struct dfr_map_words words = { .stages = names, .n_stages = 4, .optional = on_first, .n_processors = (uint32_t)n_ranks - 1, .too_many = "%u" };
    struct dfr_map_read read;
    struct dfr_map_wrong wrong;
    struct dfr_mapping m;

    if (!dfr_map_read(&words, text, strlen(text), &read, &wrong))
        fail_msg("%s", wrong.message);
    dfr_mapping_of_text(&read, 4, n_ranks, on_first ? on_first : none, &m);
    assert_true(dfr_mapping_is_valid(&m));
    return m;
}

static const char *text_of(const struct dfr_mapping *m)
{
    static char text[200];
    dfr_mapping_text(m, names, text, sizeof text);
    return text;
}

static void test_text(void **state)
{
    const bool on_first[4] = { true, false, false, true };

    (void)state;
    struct dfr_mapping m = mapping_of("a: x\nb c: y z\nd: w", 6, NULL);
    assert_string_equal(text_of(&m), "a: rank 1; b c: ranks 2 3; d: rank 4");
    assert_false(m.by_demand);
    m = mapping_of("feeding demand\na: x\nb: y\nc: z\nd: w", 6, on_first);
    assert_string_equal(text_of(&m), "b: rank 2; c: rank 3"); /* ranks 1 and 4 are spare */
    assert_true(m.by_demand);
    m = mapping_of("b: y\nc: z", 3, on_first);
    assert_string_equal(text_of(&m), "b: rank 1; c: rank 2");
}

static void test_fed_twice(void **state)
{
    static const char text[] = "feeding order\nfeeding demand\na: x\nb: y\nc: z\nd: w";
    const struct dfr_map_words words = { .stages = names, .n_stages = 4, .n_processors = 5, .too_many = "%u" };
    struct dfr_map_read read;
    struct dfr_map_wrong wrong;

    (void)state;
    assert_false(dfr_map_read(&words, text, strlen(text), &read, &wrong));
    assert_string_equal(wrong.message, "'feeding' stands here a second time");
    assert_int_equal(wrong.line, 2);
    assert_int_equal(wrong.col, 1);
}

static const char *by_turns(int n_ranks, const char *on_first)
{
    bool first[4];
    struct dfr_mapping m;

    for (unsigned s = 0; s < 4; s++)
        first[s] = on_first[s] == '0';
    dfr_mapping_by_turns(4, n_ranks, first, &m);
    assert_int_equal(dfr_mapping_is_valid(&m), strchr(on_first, '-') != NULL);
    assert_true(m.by_demand);
    return text_of(&m);
}

static void test_by_turns(void **state)
{
    (void)state;
    assert_string_equal(by_turns(5, "----"), "a: rank 1; b: rank 2; c: rank 3; d: rank 4");
    assert_string_equal(by_turns(4, "0-0-"), "b: ranks 1 3; d: rank 2");
    assert_string_equal(by_turns(7, "---0"), "a: ranks 1 4; b: ranks 2 5; c: ranks 3 6");
    assert_string_equal(by_turns(3, "----"), "a b: rank 1; c d: rank 2");
    assert_string_equal(by_turns(4, "----"), "a b: rank 1; c: rank 2; d: rank 3");
    assert_string_equal(by_turns(2, "-0--"), "a c d: rank 1");
    assert_string_equal(by_turns(3, "0000"), "");
}

static void lose(struct dfr_mapping *m, const char *live, const char *expected)
{
    bool lives[8] = { false };
    struct dfr_mapping next;

    for (; *live; live++)
        lives[*live - '0'] = true;
    assert_int_equal(dfr_mapping_without(m, lives, &next), expected != NULL);
    if (!expected)
        return;
    assert_true(dfr_mapping_is_valid(&next));
    assert_string_equal(text_of(&next), expected);
    *m = next;
}

static void test_lost(void **state)
{
    (void)state;
    const struct dfr_mapping whole = mapping_of("a: x\nb: y z\nc: u\nd: w", 7, NULL);
    struct dfr_mapping m = whole;
    lose(&m, "123456", "a: rank 1; b: ranks 2 3; c: rank 4; d: rank 5");
    lose(&m, "12456", "a: rank 1; b: rank 2; c: rank 4; d: rank 5");    /* another replica goes on */
    lose(&m, "1456", "a: rank 1; b: rank 6; c: rank 4; d: rank 5");     /* a spare rank */
    lose(&m, "156", "a: rank 1; b c: rank 6; d: rank 5");               /* the group before it */
    lose(&m, "56", "a b c: rank 6; d: rank 5");                         /* the first one: the group behind it */
    lose(&m, "6", "a b c d: rank 6");
    lose(&m, "", NULL);
    m = whole;
    lose(&m, "3", "a b c d: rank 3");
    m = whole;
    lose(&m, "23456", "a: rank 6; b: ranks 2 3; c: rank 4; d: rank 5");
}

static void test_bytes(void **state)
{
    const struct dfr_mapping m = mapping_of("a: x\nb: y z\nc d: u", 6, NULL);
    const size_t size = dfr_mapping_bytes(&m);
    unsigned char *bytes = malloc(size);
    struct dfr_mapping back;
    unsigned refused = 0;

    (void)state;
    assert_non_null(bytes);
    dfr_mapping_pack(&m, bytes);
    assert_true(dfr_mapping_unpack(bytes, size, 4, 6, &back));
    assert_string_equal(text_of(&back), "a: rank 1; b: ranks 2 3; c d: rank 4");
    assert_false(dfr_mapping_unpack(bytes, size - 1, 4, 6, &back));
    assert_false(dfr_mapping_unpack(bytes, 3, 4, 6, &back));
    assert_false(dfr_mapping_unpack(bytes, size, 5, 6, &back));
    assert_false(dfr_mapping_unpack(bytes, size, 4, 5, &back));
    for (size_t i = 0; i < size; i++) {     /* what is read is valid, whatever came */
        bytes[i] ^= 7;
        if (dfr_mapping_unpack(bytes, size, 4, 6, &back))
            assert_true(dfr_mapping_is_valid(&back));
        else
            refused++;
        bytes[i] ^= 7;
    }
    assert_true(refused > size / 2);
    free(bytes);
}

/* stream -> A -> B -> C -> ordered sink; the sink reads the stream, too, and C what A makes. */
static void test_places(void **state)
{
    struct dfr_stages stages;
    struct dfr_groups groups;
    struct dfr_parts parts;
    struct df_error error;
    struct dfr_mapping m = { .n_stages = 3, .n_ranks = 4, .n_groups = 3, .group_of_stage = { 0, 1, 2 }, .group_of_rank = { DFR_NO_GROUP, 0, 1, 2 } };
    bool on_first[DFR_MOST_STAGES];
    struct rig r;

    (void)state;
    rig_begin(&r, 10);
    struct rig_out s = rig_node(&r, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING), a = rig_node(&r, RIG_ADD1, 1, s, RIG_NOTHING);
    struct rig_out b = rig_node(&r, RIG_ADD1, 2, a, RIG_NOTHING), c = rig_node(&r, RIG_ADD2, 3, b, a);
    rig_sink(&r, RIG_ORDERED, c);
    rig_sink(&r, RIG_ORDERED, s);
    rig_end(&r);
    for (uint32_t v = 0; v < r.graph->n_nodes; v++)
        ((struct df_node *)r.graph->nodes)[v].ordinal = v + 1;
    assert_int_equal(dfr_stages_find(r.graph, &stages, &error), DF_OK);
    assert_int_equal(stages.n, 6);
    assert_int_equal(dfr_groups_on_first(r.graph, &stages, on_first, &error), DF_OK);
    m.n_stages = stages.n;
    for (uint32_t n = 0, g = 0; n < stages.n; n++)
        m.group_of_stage[n] = on_first[n] ? DFR_NO_GROUP : g++;
    assert_int_equal(dfr_groups_make(r.graph, &stages, &m, &groups, &error), DF_OK);
    assert_int_equal(groups.place[s.node], 0);
    assert_int_equal(groups.place[a.node], 1);
    assert_int_equal(groups.place[b.node], 2);
    assert_int_equal(groups.place[c.node], 3);
    const uint32_t first_out[] = { r.graph->nodes[s.node].first_out, r.graph->nodes[a.node].first_out, r.graph->nodes[b.node].first_out,
                                   r.graph->nodes[c.node].first_out };
    const uint8_t last[] = { 1, 3, 3, 4 };  /* the stream's own way to the sink is rank 0's */
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(groups.last[first_out[i]], last[i]);
    assert_true(dfr_groups_passes(&groups, 1, first_out[1]));
    assert_false(dfr_groups_passes(&groups, 2, first_out[1]));
    /* the middle group reads A, and gives what it makes */
    assert_int_equal(dfr_groups_view(&groups, 1, &parts, &error), DF_OK);
    assert_true(parts.n_ports < r.graph->n_values);
    assert_int_equal(parts.ports[parts.port_of[first_out[1]]].to >> DFR_BODY & 1, 1);
    assert_int_equal(parts.ports[parts.port_of[first_out[2]]].from, DFR_BODY);
    assert_int_equal(parts.ports[parts.port_of[first_out[2]]].value, first_out[2]);
    assert_int_equal(parts.cuts[DFR_BODY].n_given, 1);
    dfr_parts_free(&parts);
    assert_int_equal(dfr_groups_view(&groups, DFR_NO_GROUP, &parts, &error), DF_OK);
    assert_int_equal(parts.place[b.node], DFR_BODY);
    assert_int_equal(parts.port_of[first_out[1]], DF_NONE); /* it stays in BODY */
    dfr_parts_free(&parts);
    dfr_groups_free(&groups);
    dfr_stages_free(&stages);
    rig_free(&r);
}

/* stream -> A (5) -> B -> C (9) -> ordered sink, and stream -> D (5) -> E -> sink. B stands between stages, E behind them; D is of A's stage. */
static void test_marked(void **state)
{
    struct dfr_stages stages;
    struct df_error error;
    struct rig r;

    (void)state;
    rig_begin(&r, 10);
    struct rig_out s = rig_node(&r, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING), a = rig_node(&r, RIG_ADD1, 1, s, RIG_NOTHING);
    struct rig_out b = rig_node(&r, RIG_ADD1, 2, a, RIG_NOTHING), c = rig_node(&r, RIG_ADD1, 3, b, RIG_NOTHING);
    struct rig_out d = rig_node(&r, RIG_ADD1, 4, s, RIG_NOTHING), e = rig_node(&r, RIG_ADD1, 5, d, RIG_NOTHING);
    rig_sink(&r, RIG_ORDERED, c);
    rig_sink(&r, RIG_ORDERED, e);
    rig_end(&r);
    assert_false(dfr_stages_marked(r.graph));
    struct df_node *nodes = (struct df_node *)r.graph->nodes;
    nodes[a.node].stage = nodes[d.node].stage = 5 + 1;
    nodes[c.node].stage = 9 + 1;
    nodes[s.node].flags |= DF_NODE_ONCE;        /* as a node would be that fires before all: it has no stage, and makes none */
    assert_int_equal(dfr_stages_find(r.graph, &stages, &error), DF_OK);
    assert_int_equal(stages.n, 2);
    assert_string_equal(stages.names[0], "@5");
    assert_int_equal(stages.stage_of[s.node], DFR_NO_STAGE);
    dfr_stages_free(&stages);
    nodes[s.node].flags &= (uint16_t)~DF_NODE_ONCE;
    assert_true(dfr_stages_marked(r.graph));
    assert_int_equal(dfr_stages_find(r.graph, &stages, &error), DF_OK);
    assert_int_equal(stages.n, 2);
    assert_string_equal(stages.names[0], "@5");
    assert_string_equal(stages.names[1], "@9");
    const uint32_t nodes_of[] = { s.node, a.node, b.node, c.node, d.node, e.node };
    const uint32_t expected[] = { DFR_STAGE_BEFORE, 0, DFR_STAGE_BEFORE, 1, 0, DFR_STAGE_BEHIND };
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(stages.stage_of[nodes_of[i]], expected[i]);
    dfr_stages_free(&stages);
    nodes[c.node].stage = DF_MAX_STAGES + 1;
    assert_false(df_graph_check(r.graph, &error));
    nodes[c.node].stage = DF_MAX_STAGES;
    assert_true(df_graph_check(r.graph, &error));
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_text), cmocka_unit_test(test_fed_twice), cmocka_unit_test(test_by_turns), cmocka_unit_test(test_lost), cmocka_unit_test(test_bytes), cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_marked) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
