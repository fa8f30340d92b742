/* test_draw.c - pictures: the DOT is read back with libcgraph, the SVG is checked as XML, and both against the graph.
 */
#include <graphviz/cgraph.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/draw/draw.h"
#include "partition/draw/picture.h"
#include "partition/draw/text_width.h"
#include "partition/planner/plan_report.h"
#include "sample_graph.h"

#define MS SAMPLE_MS
#define MB SAMPLE_MB

typedef int draw_function(const struct dfp_problem *, const struct df_plan *, const struct dfp_drawing *, char **, size_t *, bool *,
                          struct df_error *);

static struct df_plan *make_plan(const struct sample *s)
{
    struct dfp_options options;
    struct df_plan *plan = NULL;
    struct df_error e = { "" };
    dfp_options_default(&options);
    if (dfp_plan_make(&s->problem, "gp-thesis", &options, &plan, &e) != DF_OK)
        fail_msg("%s", e.text);
    return plan;
}

static const char *choices;             /* that the next pictures tell of */

static char *draw_path(draw_function *function, const struct sample *s, const struct df_plan *plan, bool waits,
                       bool summary)
{
    char *text = NULL;
    size_t size = 0;
    bool summarised;
    struct df_error e = { "" };
    if (function(&s->problem, plan, &(struct dfp_drawing){ waits, choices }, &text, &size, &summarised, &e) != DF_OK)
        fail_msg("%s", e.text);
    assert_int_equal(strlen(text), size);
    assert_int_equal(summarised, summary);
    return text;
}

static char *draw(draw_function *function, const struct sample *s, const struct df_plan *plan, bool summary)
{
    return draw_path(function, s, plan, false, summary);
}

static Agraph_t *read_dot(const char *text)
{
    Agraph_t *g = agmemread((char *)text);
    assert_non_null(g);
    return g;
}

static const char *get(void *object, const char *name)
{
    const char *value = agget(object, (char *)name);
    return value ? value : "";
}

/* The sample of most tests: main/init, main/outer[1,2]/inner#2/… and names that need escaping. */
static void nested_sample(struct sample *s)
{
    uint32_t outer, inner;
    struct df_error e;
    sample_begin(s, 2, 1);
    assert_int_equal(df_builder_scope(s->builder, 0, "outer", 0, (int32_t[]){ 1, 2 }, 2, &outer, &e), DF_OK);
    assert_int_equal(df_builder_scope(s->builder, outer, "inner", 2, NULL, 0, &inner, &e), DF_OK);
    uint32_t empty;
    assert_int_equal(df_builder_scope(s->builder, 0, "unused", 0, NULL, 0, &empty, &e), DF_OK);
    uint32_t d = sample_node(s, "init", 0, NAN, MB, 0, NULL);
    s->scope = inner;
    s->hint = DF_CLASS_GPU;
    uint32_t a = sample_node(s, "a", 2 * MS, 1 * MS, MB / 2, 2, (uint32_t[]){ d, d });
    s->hint = -1;
    s->scope = outer;
    uint32_t b = sample_node(s, "quote\"<b>&\\N{x|y}", 1.2 * MS, NAN, MB, 1, &a);
    s->scope = 0;
    sample_node(s, "fetch", 0, NAN, 0, 2, (uint32_t[]){ b, d });
    sample_end(s);
}

/* ---- DOT ---- */

/* What a drawing of all nodes has. */
struct drawn {
    unsigned arcs, cut, waits, heavy_nodes, heavy_arcs, labels;
};

static bool has_colour(void *object, const char *colour)
{
    return strcmp(get(object, "color"), colour) == 0;
}

static void look_at_arc(Agedge_t *edge, Agnode_t *from, struct drawn *drawn)
{
    bool heavy = has_colour(edge, DFP_CHAIN_COLOUR), cut = !strcmp(get(edge, "style"), "dashed");
    drawn->labels += *get(edge, "label") != '\0';
    if (heavy) {                        /* it joins two of the path */
        assert_true(has_colour(from, DFP_CHAIN_COLOUR));
        assert_true(has_colour(aghead(edge), DFP_CHAIN_COLOUR));
    }
    if (!strcmp(get(edge, "style"), "dotted")) { /* for a worker */
        assert_true(heavy);
        drawn->waits++;
        return;
    }
    assert_true(heavy || cut == has_colour(edge, DFP_CUT_COLOUR));
    assert_int_equal(cut, strcmp(get(from, "fillcolor"), get(aghead(edge), "fillcolor")) != 0);
    drawn->arcs++;
    drawn->cut += cut;
    drawn->heavy_arcs += heavy;
}

static struct drawn look_at(const struct sample *s, const struct df_plan *plan, bool waits)
{
    struct drawn drawn = { 0 };
    char *text = draw_path(dfp_draw_dot, s, plan, waits, false), *again = draw_path(dfp_draw_dot, s, plan, waits, false);
    assert_string_equal(text, again);
    Agraph_t *g = read_dot(text);
    assert_int_equal(agnnodes(g), s->graph->n_nodes);
    for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
        char name[200];
        df_node_name(s->graph, v, name, sizeof name);
        Agnode_t *node = agnode(g, name, 0);
        assert_non_null(node);
        assert_string_equal(get(node, "fillcolor"), dfp_unit_colour(plan->place[v]));
        assert_non_null(strstr(get(node, "label"), "<B>"));
        drawn.heavy_nodes += has_colour(node, DFP_CHAIN_COLOUR);
        for (Agedge_t *edge = agfstout(g, node); edge; edge = agnxtout(g, edge))
            look_at_arc(edge, node, &drawn);
    }
    agclose(g);
    free(text);
    free(again);
    return drawn;
}

/* Waits are drawn only if they are asked for. Without them the heavy nodes are a path of dependencies. */
static void dot_shows_every_node_and_arc(void **state)
{
    (void)state;
    unsigned all_waits = 0;
    for (uint32_t seed = 1; seed <= 5; seed++) {
        struct sample s;
        struct dfp_report report;
        sample_random(&s, seed, 11 * seed * seed, 2, seed % 3, false);
        struct df_plan *plan = make_plan(&s);
        assert_int_equal(dfp_report_make(&s.problem, plan, &report, NULL), DF_OK);
        struct drawn path = look_at(&s, plan, false), chain = look_at(&s, plan, true);
        assert_int_equal(path.waits, 0);
        assert_true(path.heavy_nodes > 0 && path.heavy_arcs >= path.heavy_nodes - 1);
        assert_int_equal(path.arcs, report.n_arcs);
        assert_int_equal(path.cut, report.cut_arcs);
        assert_int_equal(path.labels, s.graph->n_nodes <= DFP_DRAW_LABELLED_NODES ? report.n_arcs : 0);
        assert_int_equal(chain.arcs, report.n_arcs);
        assert_int_equal(chain.cut, report.cut_arcs);
        assert_true(chain.waits < chain.heavy_nodes);
        all_waits += chain.waits;
        dfr_plan_free(plan);
        sample_free(&s);
    }
    assert_true(all_waits > 0);
}

/* The path is the longest: checked by a search of all paths from the end, on graphs with few of them. */
static double longest_to(const struct sample *s, const struct dfp_model *model, const uint16_t *place, uint32_t v)
{
    const struct df_graph *g = s->graph;
    double before_s = 0, time_s = dfp_model_time_s(model, v, place[v]);
    for (uint32_t i = g->nodes[v].first_in; i < g->nodes[v].first_in + df_node_n_in(g, v); i++) {
        const struct df_value *value = &g->values[g->in_value[i]];
        before_s = fmax(before_s, longest_to(s, model, place, value->producer) +
                                      dfp_copy_time_s(&s->platform, place[value->producer], place[v], value->bytes));
    }
    return before_s + (isnan(time_s) ? 0 : time_s);
}

static void the_path_is_the_longest(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct sample s;
        struct dfp_model model;
        uint32_t chain[20], n_chain;
        double length_s, longest_s = 0;
        sample_random(&s, seed, 20, 2, seed % 3, false);
        struct df_plan *plan = make_plan(&s);
        assert_int_equal(dfp_model_init(&model, &s.problem, NULL), DF_OK);
        assert_int_equal(dfp_dependency_chain(&model, plan->place, chain, &n_chain, &length_s, NULL), DF_OK);
        for (uint32_t v = 0; v < s.graph->n_nodes; v++)
            longest_s = fmax(longest_s, longest_to(&s, &model, plan->place, v));
        assert_true(fabs(length_s - longest_s) <= 1e-12 * longest_s);
        assert_in_range(n_chain, 1, 20);
        assert_true(fabs(longest_to(&s, &model, plan->place, chain[0]) - length_s) <= 1e-12 * longest_s);
        assert_int_equal(df_node_n_in(s.graph, chain[n_chain - 1]), 0);
        dfr_plan_free(plan);
        sample_free(&s);
    }
}

/* The largest graphs that are drawn with all words, and with all nodes, and those with one node more. */
static void larger_graphs_are_drawn_with_less(void **state)
{
    (void)state;
    static const struct { uint32_t n; bool labels, summary; } cases[] = {
        { DFP_DRAW_LABELLED_NODES, true, false }, { DFP_DRAW_LABELLED_NODES + 1, false, false },
        { DFP_DRAW_MAX_NODES, false, false }, { DFP_DRAW_MAX_NODES + 1, false, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample s;
        sample_begin(&s, 1, 1);
        uint32_t last = sample_node(&s, "init", 0, NAN, MB, 0, NULL);
        for (uint32_t k = 1; k < cases[i].n; k++)
            last = sample_node(&s, "step", 2 * MS, 1 * MS, MB, 1, &last);
        sample_end(&s);
        struct df_plan *plan = make_plan(&s);
        char *text = draw(dfp_draw_svg, &s, plan, cases[i].summary);
        assert_int_equal(strstr(text, ">cpu 2 ms, gpu 1 ms</text>") != NULL, cases[i].labels);
        assert_int_equal(strstr(text, ">\u00a0\u00a0977 KiB</text>") != NULL, cases[i].labels);
        assert_non_null(strstr(text, "font-weight=\"bold\""));
        free(text);
        dfr_plan_free(plan);
        sample_free(&s);
    }
}

/* Every letter has a width, no letter of another alphabet is left out, and bold is wider. */
static void text_has_a_width(void **state)
{
    (void)state;
    for (char c = ' '; c <= '~'; c++) {
        const char text[] = { c, '\0' };
        double plain = dfp_text_width(text, 10, false), bold = dfp_text_width(text, 10, true);
        assert_true(plain > 2 && plain < 11 && bold >= 2 && bold < 12);
    }
    assert_true(dfp_text_width("gemm[3,1]", 10, true) > dfp_text_width("gemm[3,1]", 10, false));
    assert_true(fabs(dfp_text_width("ab", 20, false) - 2 * dfp_text_width("ab", 10, false)) < 1e-9);
    assert_true(dfp_text_width("\u00a0", 10, false) == dfp_text_width(" ", 10, false));
    assert_true(dfp_text_width("\u00e9", 10, false) == 11);
    assert_true(dfp_text_width("\u6587\u6587", 10, true) == 24);
    assert_true(dfp_text_width("", 10, false) == 0);
}

static void dot_labels_clusters_and_weights(void **state)
{
    (void)state;
    struct sample s;
    nested_sample(&s);
    struct df_plan *plan = make_plan(&s);
    char *text = draw(dfp_draw_dot, &s, plan, false);
    Agraph_t *g = read_dot(text);
    Agraph_t *outer = agsubg(g, "cluster_1", 0), *inner = agsubg(outer, "cluster_2", 0);
    assert_non_null(outer);
    assert_non_null(inner);
    assert_null(agsubg(g, "cluster_3", 0));     /* nothing in it */
    assert_string_equal(get(outer, "label"), "outer[1,2]");
    assert_string_equal(get(inner, "label"), "inner#2");
    assert_int_equal(agnnodes(outer), 2);
    assert_int_equal(agnnodes(inner), 1);
    Agnode_t *a = agnode(inner, "main/outer[1,2]/inner#2/a#2", 0), *init = agnode(g, "main/init#1", 0);
    assert_non_null(a);
    assert_string_equal(get(a, "label"), "<B>a#2</B><BR/>cpu 2 ms, gpu 1 ms @gpu");
    assert_string_equal(get(init, "label"), "<B>init#1</B>");
    assert_string_equal(get(init, "shape"), "ellipse");
    Agedge_t *edge = agedge(g, init, a, NULL, 0);
    assert_non_null(edge);
    assert_string_equal(get(edge, "label"), "\u00a0\u00a0977 KiB\\r\u00a0\u00a02 ms\\r");
    assert_string_equal(get(edge, "edgetooltip"), "977 KiB, 2 ms");
    assert_int_equal(agnedges(g), 4);           /* a reads init's output twice: one arc */
    Agnode_t *odd = agnode(outer, "main/outer[1,2]/quote\"<b>&\\N{x|y}#3", 0);
    assert_non_null(odd);
    assert_string_equal(get(odd, "label"), "<B>quote&quot;&lt;b&gt;&amp;\\\\N{x|y}#3</B><BR/>cpu 1.2 ms");
    const char *legend = get(g, "label");
    assert_non_null(strstr(legend, ">gpu0<"));
    assert_non_null(strstr(legend, "Cut: 2 of 4 arcs"));
    assert_non_null(strstr(legend, "Predicted makespan of one wave: 5.7 ms"));
    assert_non_null(strstr(legend, "4 nodes"));
    agclose(g);
    free(text);
    dfr_plan_free(plan);
    sample_free(&s);
}

static void the_legend_says_when_one_unit_is_faster(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t last = sample_node(&s, "init", 0, NAN, MB, 0, NULL);
    for (int i = 0; i < 10; i++)
        last = sample_node(&s, "step", 50 * MS, 1 * MS, MB, 1, &last);
    sample_end(&s);
    struct df_plan *plan = NULL;
    struct dfp_options options;
    dfp_options_default(&options);
    assert_int_equal(dfp_plan_make(&s.problem, "all-cpu", &options, &plan, NULL), DF_OK);
    char *text = draw(dfp_draw_dot, &s, plan, false);
    assert_non_null(strstr(text, "all on gpu0 is predicted 41.7x faster (12 ms)"));
    free(text);
    dfr_plan_free(plan);
    assert_int_equal(dfp_plan_make(&s.problem, "all-gpu", &options, &plan, NULL), DF_OK);
    text = draw(dfp_draw_dot, &s, plan, false);
    assert_null(strstr(text, "faster"));
    free(text);
    dfr_plan_free(plan);
    text = draw(dfp_draw_dot, &s, NULL, false); /* the graph alone */
    assert_null(strstr(text, "placed by"));
    assert_null(strstr(text, DFP_CUT_COLOUR));
    free(text);
    sample_free(&s);
}

static void the_legend_tells_of_parts(void **state)
{
    (void)state;
    struct sample s;
    nested_sample(&s);
    struct df_plan *plan = make_plan(&s);
    char word[200];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    char *long_line = NULL;
    assert_true(asprintf(&long_line, "divided: a<b in 2 parts, why\n\n%s %s part by part\n", word, "and then a word, and another, and a third one; "
                         "so that the line goes on behind what there is room for in a legend, and is broken") > 0);
    choices = long_line;
    char *text = draw(dfp_draw_dot, &s, plan, false);
    Agraph_t *g = read_dot(text);
    const char *legend = get(g, "label");
    assert_non_null(strstr(legend, ">divided: a&lt;b in 2 parts, why<"));
    const char *at = strstr(legend, word);
    assert_non_null(at);
    assert_int_equal(at[strlen(word)], '<');    /* a word is not broken */
    assert_non_null(strstr(at, ">and then a word, and another, and a third one; so that the line goes on behind what there is room for in a<"));
    assert_non_null(strstr(at, ">legend, and is broken part by part<"));
    agclose(g);
    free(text);
    choices = NULL;
    text = draw(dfp_draw_dot, &s, plan, false);
    assert_null(strstr(text, "divided"));
    free(text);
    free(long_line);
    dfr_plan_free(plan);
    sample_free(&s);
}

/* ---- SVG ---- */

/* Tags balance, attributes are quoted, every & begins an entity. Enough to catch a label that was not escaped. */
static void check_xml(const char *text)
{
    char open[64][32];
    unsigned depth = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '&') {
            size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789#x");
            assert_true(n && at[1 + n] == ';');
        }
        assert_int_not_equal(*at, '>');
        if (*at != '<')
            continue;
        if (!strncmp(at, "<!--", 4)) {
            at = strstr(at, "-->") + 2;
            continue;
        }
        if (at[1] == '?' || at[1] == '!') {
            at = strchr(at, '>');
            continue;
        }
        bool closes = at[1] == '/';
        size_t n = strcspn(at + 1 + closes, " \n/>");
        assert_in_range(n, 1, 31);
        if (closes) {
            assert_true(depth > 0);
            depth--;
            assert_true(strlen(open[depth]) == n && !memcmp(open[depth], at + 2, n));
        } else {
            assert_true(depth < 64);
            memcpy(open[depth], at + 1, n);
            open[depth++][n] = '\0';
        }
        bool quoted = false;
        for (at++; *at && (quoted || *at != '>'); at++) {
            quoted ^= *at == '"';
            assert_int_not_equal(*at, '<');
        }
        assert_int_equal(*at, '>');
        if (!closes && at[-1] == '/')
            depth--;
    }
    assert_int_equal(depth, 0);
}

static void svg_is_well_formed_and_whole(void **state)
{
    (void)state;
    struct sample s;
    nested_sample(&s);
    struct df_plan *plan = make_plan(&s);
    char *text = draw(dfp_draw_svg, &s, plan, false);
    check_xml(text);
    assert_non_null(strstr(text, "<svg"));
    assert_non_null(strstr(text, "<title>main/init#1</title>"));
    assert_non_null(strstr(text, "<title>main/outer[1,2]/inner#2/a#2</title>"));
    assert_non_null(strstr(text, "<title>cluster_1</title>"));
    assert_non_null(strstr(text, ">outer[1,2]</text>"));
    assert_non_null(strstr(text, ">cpu 2 ms, gpu 1 ms @gpu</text>"));
    assert_non_null(strstr(text, "quote&quot;&lt;b&gt;&amp;\\N{x|y}#3</text>"));
    assert_non_null(strstr(text, "Predicted makespan of one wave"));
    free(text);
    dfr_plan_free(plan);
    sample_free(&s);
}

static void svg_has_every_node(void **state)
{
    (void)state;
    struct sample s;
    sample_random(&s, 3, 100, 2, 1, false);
    struct df_plan *plan = make_plan(&s);
    char *text = draw(dfp_draw_svg, &s, plan, false), *again = draw(dfp_draw_svg, &s, plan, false);
    assert_string_equal(text, again);
    check_xml(text);
    unsigned nodes = 0;
    for (const char *at = text; (at = strstr(at, "class=\"node\"")); at++)
        nodes++;
    assert_int_equal(nodes, s.graph->n_nodes);
    free(text);
    free(again);
    dfr_plan_free(plan);
    sample_free(&s);
}

/* ---- the summary ---- */

static unsigned count_in_label(Agnode_t *node)
{
    unsigned count = 0;
    const char *label = get(node, "label"), *line = NULL;
    for (const char *at = label; (at = strstr(at, "<TR><TD>")); at++) /* the last row: the name and a bar are above */
        line = at;
    assert_non_null(line);
    assert_int_equal(sscanf(line, "<TR><TD>%u node", &count), 1);
    return count;
}

/* The parts of the bar are as wide as the units' shares, so that together they are as wide as the bar. */
static void check_bar(Agnode_t *node)
{
    double width = 0, part;
    unsigned parts = 0;
    for (const char *at = get(node, "label"); (at = strstr(at, "<TD FIXEDSIZE")); at++, parts++) {
        assert_int_equal(sscanf(at, "<TD FIXEDSIZE=\"TRUE\" WIDTH=\"%lf\"", &part), 1);
        width += part;
    }
    assert_in_range(parts, 1, 3);
    assert_true(fabs(width - 150) <= 2 * parts);
}

/* `groups` 0: any number up to 60. */
static void check_summary(const struct sample *s, int groups, const char *note)
{
    struct df_plan *plan = make_plan(s);
    char *text = draw(dfp_draw_dot, s, plan, true);
    Agraph_t *g = read_dot(text);
    unsigned sum = 0;
    if (groups)
        assert_int_equal(agnnodes(g), groups);
    assert_in_range(agnnodes(g), 1, 60);
    assert_in_range(agnedges(g), 1, 3 * agnnodes(g));
    for (Agnode_t *node = agfstnode(g); node; node = agnxtnode(g, node)) {
        sum += count_in_label(node);
        check_bar(node);
    }
    assert_int_equal(sum, s->graph->n_nodes);
    if (!strstr(get(g, "label"), note))
        fail_msg("'%s' does not say '%s'", get(g, "label"), note);
    agclose(g);
    free(text);
    text = draw(dfp_draw_svg, s, plan, true);
    check_xml(text);
    free(text);
    dfr_plan_free(plan);
}

static void large_nested(struct sample *s, uint32_t instances, uint32_t each)
{
    struct df_error e;
    sample_begin(s, 2, 1);
    uint32_t last = sample_node(s, "init", 0, NAN, MB, 0, NULL);
    for (uint32_t i = 0; i < instances; i++) {
        int32_t index = (int32_t)i;
        assert_int_equal(df_builder_scope(s->builder, 0, i % 2 ? "odd" : "even", 0, &index, 1, &s->scope, &e), DF_OK);
        for (uint32_t k = 0; k < each; k++)
            last = sample_node(s, "step", 3 * MS, 1 * MS, MB, 1, &last);
    }
    sample_end(s);
}

static void large_graphs_are_summarised(void **state)
{
    (void)state;
    struct sample s;
    large_nested(&s, 20, 200);          /* by instance, and init by itself */
    check_summary(&s, 21, "nested graphs and kernels");
    sample_free(&s);
    large_nested(&s, 200, 20);          /* by name: even, odd, init */
    check_summary(&s, 3, "nested graphs and kernels");
    sample_free(&s);
    sample_random(&s, 4, 4000, 2, 1, false); /* no nested graphs */
    check_summary(&s, 0, "bands of levels");
    sample_free(&s);
}

/* ---- numbers ---- */

static void numbers_have_three_digits(void **state)
{
    (void)state;
    static const struct {
        double s;
        const char *text;
    } times[] = {
        { 0, "0 s" },         { 1.5, "1.5 s" },   { 0.0012, "1.2 ms" },   { 0.00025, "250 us" }, { 1e-9, "1 ns" },
        { 12.345, "12.3 s" }, { 0.99996, "1 s" }, { 123456, "123456 s" }, { 9.996e-3, "10 ms" }, { NAN, "0 s" },
    };
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {
        { 0, "0 B" },         { 1, "1 B" },            { 1023, "1023 B" },       { 1024, "1 KiB" },
        { 4194304, "4 MiB" }, { 1600000, "1.53 MiB" }, { UINT64_MAX, "16 EiB" }, { 1048575, "1 MiB" },
    };
    char buffer[32];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_string_equal(dfp_text_time(buffer, times[i].s), times[i].text);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_string_equal(dfp_text_bytes(buffer, sizes[i].bytes), sizes[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_shows_every_node_and_arc),
        cmocka_unit_test(the_path_is_the_longest),
        cmocka_unit_test(larger_graphs_are_drawn_with_less),
        cmocka_unit_test(text_has_a_width),
        cmocka_unit_test(dot_labels_clusters_and_weights),
        cmocka_unit_test(the_legend_says_when_one_unit_is_faster),
        cmocka_unit_test(the_legend_tells_of_parts),
        cmocka_unit_test(svg_is_well_formed_and_whole),
        cmocka_unit_test(svg_has_every_node),
        cmocka_unit_test(large_graphs_are_summarised),
        cmocka_unit_test(numbers_have_three_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
