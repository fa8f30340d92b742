/* test_passes.c - which node is in which pass, what is kept of the waves for later passes, and how many passes fit in a memory.
 *
 *     a -> mid -> back.part[k] <- b        the parts change rows of an acc; a join makes the whole of them; sink is final
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/graph/builder.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/platform.h"

enum { ROWS = 10, N = 300 };
enum { TOKEN = 1216 };                  /* 300 numbers of 4 bytes, in whole lines */
enum { PART = ROWS * N * 4, READ = 2 * TOKEN, TOKENS = 3 * READ }; /* tokens that are there beside the parts of a pass */

static struct df_error error;

#define OK(call) \
    do { \
        if ((call) != DF_OK) \
            fail_msg("%s", error.text); \
    } while (0)

static uint32_t add_kernel(struct df_builder *b, const char *name, const char *modes, unsigned traits)
{
    struct df_port_desc ports[3];
    struct df_kernel_desc desc = { .name = name, .ports = ports, .traits = traits };
    uint8_t split[3] = { 0 };
    struct df_kernel_info info = { .file = "passes.df", .line = 1, .split = split };
    uint32_t kernel;

    for (; modes[desc.n_ports]; desc.n_ports++) {
        enum df_mode mode = modes[desc.n_ports] == 'i' || modes[desc.n_ports] == 'I' ? DF_IN
                            : modes[desc.n_ports] == 'o' ? DF_OUT : DF_ACC;
        split[desc.n_ports] = mode == DF_ACC;
        ports[desc.n_ports] = (struct df_port_desc){ "p", mode, DF_F32, modes[desc.n_ports] == 'I' || mode == DF_ACC ? 2 : 1 };
    }
    OK(df_builder_kernel(b, &desc, &kernel, &error));
    OK(df_builder_kernel_info(b, kernel, &info, &error));
    return kernel;
}

/* Ports of rank 1 have N elements, those of rank 2 so many rows of N. part: NULL for what is not divided. */
static uint32_t add_node(struct df_builder *b, uint32_t kernel, const char *modes, uint64_t rows, const struct df_part_rows *part)
{
    uint64_t port_dims[3][DF_MAX_RANK] = { { 0 } }, port_rows[3] = { 0 };
    struct df_node_desc desc = { .kernel = kernel, .port_dims = (const uint64_t (*)[DF_MAX_RANK])port_dims, .hint_class = -1,
                                 .part = part, .port_rows = port_rows };
    uint32_t node;

    for (unsigned p = 0; modes[p]; p++) {
        bool whole = modes[p] == 'I' || modes[p] == 'a';
        port_dims[p][0] = whole ? rows : N;
        port_dims[p][1] = N;
        port_rows[p] = part && modes[p] == 'a' ? part->first : 0;
    }
    OK(df_builder_node_desc(b, &desc, &node, &error));
    return node;
}

struct traits {
    unsigned a, b, mid;
};

static void add_parts(struct df_builder *b, uint32_t mid, uint32_t other, uint32_t n)
{
    uint32_t back = add_kernel(b, "back", "iia", 0), sink = add_node(b, add_kernel(b, "sink", "I", 0), "I", n * ROWS, NULL);
    uint32_t parts[8], join;
    uint64_t first[8], rows[8], dims[] = { n * ROWS, N };
    const struct df_node_desc of = { .hint_class = -1 };
    const struct df_ranges whole = { .name = "back.vol.join", .elem = DF_F32, .rank = 2, .n = n, .dims = dims, .first = first,
                                     .rows = rows, .of = &of };

    for (uint32_t k = 0; k < n; k++) {
        const struct df_part_rows part = { .first = k * ROWS, .rows = ROWS, .whole = n * ROWS, .number = k, .n = n };
        first[k] = part.first;
        rows[k] = ROWS;
        parts[k] = add_node(b, back, "iia", ROWS, &part);
        OK(df_builder_connect(b, mid, 0, parts[k], 0, &error));
        OK(df_builder_connect(b, other, 0, parts[k], 1, &error));
    }
    if (n > 1) {
        OK(df_builder_join(b, &whole, parts, 0, "vol", &join, &error));
        OK(df_builder_connect(b, join, 0, sink, 0, &error));
    } else {
        OK(df_builder_connect(b, parts[0], 0, sink, 0, &error));
    }
}

static struct df_graph *make(struct traits traits, uint32_t n_parts)
{
    struct df_builder *b = df_builder_new("passes");
    struct df_graph *g = NULL;
    uint32_t a = add_node(b, add_kernel(b, "a", "o", traits.a), "o", 0, NULL);
    uint32_t other = add_node(b, add_kernel(b, "b", "o", traits.b), "o", 0, NULL);
    uint32_t mid = add_node(b, add_kernel(b, "mid", "io", traits.mid), "io", 0, NULL);

    OK(df_builder_connect(b, a, 0, mid, 0, &error));
    add_parts(b, mid, other, n_parts);
    OK(df_builder_finish(b, &g, &error));
    df_builder_free(b);
    return g;
}

/* number: of the part; 0 for what is not divided. */
static uint32_t node_of(const struct df_graph *g, const char *kernel, uint32_t number)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (strcmp(df_graph_string(g, g->kernels[g->nodes[v].kernel].name), kernel) == 0 &&
            (g->nodes[v].part == DF_NONE || g->parts[g->nodes[v].part].number == number))
            return v;
    fail_msg("no node %s", kernel);
    return 0;
}

/* ---- the pass of each node ---- */

static void test_parts(void **state)
{
    static const uint32_t in_1[8] = { 0 }, in_3[8] = { 0, 0, 0, 1, 1, 1, 2, 2 }, in_5[8] = { 0, 0, 1, 1, 2, 3, 3, 4 },
                          in_8[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    static const struct {
        uint32_t passes;
        const uint32_t *want;
    } cases[] = { { 1, in_1 }, { 3, in_3 }, { 5, in_5 }, { 8, in_8 }, { 20, in_8 } };
    struct df_graph *g = make((struct traits){ 0 }, 8);
    struct dfr_again again;

    (void)state;
    OK(dfr_again_find(g, NULL, &again, &error));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (uint32_t k = 0; k < 8; k++)
            assert_int_equal(dfr_passes_of(g, node_of(g, "back", k), cases[c].passes, &again), cases[c].want[k]);
        assert_int_equal(dfr_passes_of(g, node_of(g, "a", 0), cases[c].passes, &again), 0);
        assert_int_equal(dfr_passes_of(g, node_of(g, "sink", 0), cases[c].passes, &again), 0);
        assert_int_equal(dfr_passes_of(g, node_of(g, "back.vol.join", 0), cases[c].passes, &again), DF_NONE);
    }
    assert_int_equal(dfr_passes_most(g), 8);
    dfr_again_free(&again);
    df_graph_free(g);
}

/* ---- what comes again ---- */

/* The letters of `kept` and `called` are the first ones of nodes: whose value is kept, and who fires in each pass. */
static void assert_again(struct traits traits, const char *given, uint64_t read_bytes, const char *kept, const char *called)
{
    static const char *const names[] = { "a", "b", "mid" };
    struct df_graph *g = make(traits, 8);
    uint8_t *memory = calloc(g->n_nodes, 1);
    struct dfr_again again;

    memory[node_of(g, "a", 0)] = strchr(given, 'a') != NULL;
    memory[node_of(g, "b", 0)] = strchr(given, 'b') != NULL;
    OK(dfr_again_find(g, *given ? memory : NULL, &again, &error));
    for (size_t i = 0; i < 3; i++) {
        uint32_t v = node_of(g, names[i], 0);
        assert_int_equal(again.kept[g->nodes[v].first_out], strchr(kept, names[i][0]) != NULL);
        assert_int_equal(again.called[v], strchr(called, names[i][0]) != NULL);
        assert_int_equal(dfr_passes_of(g, v, 4, &again), strchr(called, names[i][0]) ? DF_NONE : 0);
    }
    assert_int_equal(again.read_bytes, read_bytes);
    assert_int_equal(again.kept_bytes, strlen(kept) * TOKEN);
    dfr_again_free(&again);
    df_graph_free(g);
    free(memory);
}

static void test_again(void **state)
{
    const unsigned again = DF_RESTART;

    (void)state;
    assert_again((struct traits){ 0 }, "", READ, "bm", "");
    assert_again((struct traits){ .a = again }, "", READ, "b", "am");
    assert_again((struct traits){ .b = again }, "", READ, "m", "b");
    assert_again((struct traits){ .a = again | DF_STREAM, .b = again | DF_ORDERED }, "", READ, "", "abm");
    assert_again((struct traits){ .a = DF_STREAM, .b = DF_ORDERED }, "", READ, "bm", "");
    assert_again((struct traits){ .a = again, .b = again, .mid = DF_ORDERED }, "", READ, "m", "b");
    assert_again((struct traits){ .b = DF_ONCE }, "", TOKEN, "m", "");
    assert_again((struct traits){ .a = again, .b = DF_ONCE }, "", TOKEN, "", "am");
    assert_again((struct traits){ 0 }, "b", READ, "m", "b");
    assert_again((struct traits){ 0 }, "a", READ, "b", "am");
    assert_again((struct traits){ .b = again }, "a", READ, "", "abm");
}

static void test_room(void **state)
{
    struct df_graph *g = make((struct traits){ .b = DF_RESTART }, 8);
    struct dfr_again again;
    struct df_error why = { "" };

    (void)state;
    OK(dfr_again_find(g, NULL, &again, &error));
    assert_int_equal(dfr_again_bytes(&again, 0), 0);
    assert_int_equal(dfr_again_bytes(&again, 50), 50 * TOKEN);
    assert_true(dfr_again_bytes(&again, INT64_MAX) == UINT64_MAX);
    OK(dfr_again_admit(g, &again, 50, 50 * TOKEN, &error));
    assert_int_equal(dfr_again_admit(g, &again, 50, 50 * TOKEN - 1, &why), DF_E_REFUSED);
    assert_string_equal(why.text, "the parts of an acc do not fit in a device's memory together, and to keep what they read of 50 waves for the "
                        "later passes takes 59.4 KiB of host memory, of which 59.4 KiB may be used; 'restart' at the source of 'main/mid' "
                        "keeps nothing, more device memory takes fewer passes, and --passes=1 copies the acc in each wave");
    assert_int_equal(dfr_again_admit(g, &again, INT64_MAX, UINT64_MAX - 1, &why), DF_E_REFUSED);
    dfr_again_free(&again);
    df_graph_free(g);
}

/* ---- how many passes ---- */

static uint32_t choose(const struct df_graph *g, uint64_t bytes, int64_t waves, uint32_t asked)
{
    struct df_platform p;

    df_platform_default(&p, 1);
    p.units[1].memory_bytes = bytes;
    return dfr_passes_choose(g, &p, waves, asked);
}

static void test_memory(void **state)
{
    static const struct {
        uint64_t parts;                 /* of the largest pass */
        uint32_t passes, one_byte_less; /* with room for so many; with one byte less than that */
    } cases[] = { { 8, 1, 2 }, { 4, 2, 3 }, { 3, 3, 4 }, { 2, 4, 8 }, { 1, 8, 1 } };
    struct df_graph *g = make((struct traits){ 0 }, 8);

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t bytes = cases[c].parts * PART + TOKENS;
        assert_int_equal(choose(g, bytes, 2, 0), cases[c].passes);
        assert_int_equal(choose(g, bytes - 1, 2, 0), cases[c].one_byte_less);
        assert_int_equal(choose(g, bytes, 1, 0), 1);
    }
    assert_int_equal(choose(g, TOKENS - 1, 2, 0), 1);   /* no number helps */
    assert_int_equal(choose(g, 0, 2, 0), 1);            /* its memory is not known */
    assert_int_equal(choose(g, 2 * PART + TOKENS, 2, 1), 1);
    assert_int_equal(choose(g, 8 * PART + TOKENS, 1, 5), 5);
    assert_int_equal(choose(g, 8 * PART + TOKENS, 2, 20), 8);
    df_graph_free(g);
}

static void test_devices(void **state)
{
    struct df_graph *g = make((struct traits){ 0 }, 8), *undivided = make((struct traits){ 0 }, 1);
    struct df_platform p;

    (void)state;
    df_platform_default(&p, 2);
    p.units[0].memory_bytes = PART;                     /* the host does not count */
    p.units[1].memory_bytes = 8 * PART + TOKENS;
    assert_int_equal(dfr_passes_choose(g, &p, 2, 0), 1);
    p.units[2].memory_bytes = 4 * PART + TOKENS;        /* the least of them does */
    assert_int_equal(dfr_passes_choose(g, &p, 2, 0), 2);
    p.units[2].unified = 1;
    assert_int_equal(dfr_passes_choose(g, &p, 2, 0), 1);
    assert_int_equal(dfr_passes_most(undivided), 0);
    p.units[1].memory_bytes = 1;
    assert_int_equal(dfr_passes_choose(undivided, &p, 2, 0), 1);
    assert_int_equal(dfr_passes_choose(undivided, &p, 2, 3), 1);
    df_graph_free(undivided);
    df_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),  cmocka_unit_test(test_again),   cmocka_unit_test(test_room),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
