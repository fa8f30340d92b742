/* test_report_table.c - the tables of reports as text, CSV and JSON: which columns are printed, their widths and sides, and missing values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "runtime/base/report_table.h"

static void assert_printed(struct dfr_report_table *table, enum dfr_form form, const struct dfr_column *columns, unsigned n,
                           void (*add_rows)(struct dfr_report_table *table), const char *expected)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    dfr_report_table_begin(table, out, form, columns, n);
    add_rows(table);
    assert_true(dfr_report_table_end(table));
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void add_words(struct dfr_report_table *table)
{
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_STR("gp"), DFR_STR("~1.5"), DFR_STR("12345") });
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_STR("dmda-long"), DFR_STR("2"), DFR_STR("é") });
}

static void cells_line_up(void **state)
{
    (void)state;
    static const struct dfr_column columns[] = { DFR_COLUMN("policy", NULL, TEXT), DFR_COLUMN("median", NULL, TEXT), DFR_COLUMN("µs", NULL, TEXT) };
    assert_printed(&(struct dfr_report_table){ 0 }, DFR_FORM_TEXT, DFR_COLUMNS(columns), add_words, "policy     median     µs\n"
                                                                                                  "gp           ~1.5  12345\n"
                                                                                                  "dmda-long       2      é\n");
}

static void add_all_types(struct dfr_report_table *table)
{
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_STR("a,\"b"), DFR_NUM(3), DFR_NUM(1536), DFR_NUM(0.0015), DFR_NUM(1.25), DFR_NUM(0.975),
                                                           DFR_NUM(0.5), DFR_NUM(-0.025), DFR_NUM(1.25), DFR_NUM(2), DFR_NUM(1234.5) });
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_STR("c"), DFR_MISSING, DFR_MISSING, DFR_NUM(NAN), DFR_MISSING, DFR_MISSING, DFR_MISSING,
                                                           DFR_MISSING, DFR_MISSING, DFR_MISSING, DFR_NUM(INFINITY) });
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_MISSING, DFR_NUM(1), DFR_NUM(1), DFR_NUM(1), DFR_NUM(1), DFR_NUM(1), DFR_NUM(1), DFR_NUM(1),
                                                           DFR_NUM(1), DFR_NUM(1), DFR_NUM(1) });
}

static void a_table_is_text_csv_and_json(void **state)
{
    (void)state;
    static const struct dfr_column columns[] = {
        DFR_COLUMN("name", "name", TEXT), DFR_COLUMN("n", "n", COUNT), DFR_COLUMN("bytes", NULL, BYTES), DFR_COLUMN("time", "time_s", SECONDS),
        DFR_COLUMN("plan", "plan_ms", MILLISECONDS, .digits = 1), DFR_COLUMN("busy", "busy", SHARE, .digits = 1), DFR_COLUMN("of %", "of", PERCENT, .digits = 1),
        DFR_COLUMN("more", "more", CHANGE, .digits = 1, .only = DFR_ONLY_TEXT | DFR_ONLY_CSV), DFR_COLUMN(NULL, "factor", FACTOR),
        DFR_COLUMN("gain", NULL, GAIN, .digits = 2), DFR_COLUMN("rate", "rate", RATE),
    };
    static const char *const expected[] = {
        [DFR_FORM_TEXT] = "name  n     bytes     time    plan     busy   of %      more   gain  rate\n"
                          "a,\"b  3  1.50 KiB  1.50 ms  1.2 ms   97.5 %   50.0    -2.5 %  2.00x  1234\n"
                          "c     -         -        -       -        -      -         -      -     -\n"
                          "-     1       1 B   1.00 s  1.0 ms  100.0 %  100.0  +100.0 %  1.00x     1\n",
        [DFR_FORM_CSV] = "name,n,time_s,plan_ms,busy,of,more,factor,rate\n"
                         "\"a,\"\"b\",3,0.0015,1.250,0.975,0.5,-0.025,1.25,1234.5\n"
                         "c,,,,,,,,inf\n"
                         ",1,1,1.000,1,1,1,1,1\n",
        [DFR_FORM_JSON] = "\n    {\"name\": \"a,\\\"b\", \"n\": 3, \"time_s\": 0.0015, \"plan_ms\": 1.250, \"busy\": 0.975, \"of\": 0.5, \"factor\": 1.25, \"rate\": 1234.5}"
                          ",\n    {\"name\": \"c\"}"
                          ",\n    {\"n\": 1, \"time_s\": 1, \"plan_ms\": 1.000, \"busy\": 1, \"of\": 1, \"factor\": 1, \"rate\": 1}",
    };
    for (unsigned form = 0; form < 3; form++)
        assert_printed(&(struct dfr_report_table){ 0 }, form, DFR_COLUMNS(columns), add_all_types, expected[form]);
}

/* ---- which columns, how wide, to which side ---- */

#define DEVICES DFR_ONLY_OWN
#define PEERS (2 * DFR_ONLY_OWN)
static const struct dfr_column sums[] = {
    DFR_COLUMN("rank", "rank", COUNT, .width = 5), DFR_COLUMN("host", "host", TEXT, .width = -6), DFR_COLUMN("jobs", "jobs", COUNT, .width = 6, .null = true),
    DFR_COLUMN("copies", "copies", COUNT, .only = DEVICES), DFR_COLUMN("sent", "sent", COUNT, .only = DEVICES | PEERS),
};

static void add_sums(struct dfr_report_table *table)
{
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_NUM(1), DFR_STR("b"), DFR_MISSING, DFR_NUM(7), DFR_NUM(8) });
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_NUM_AS(0, "all"), DFR_STR(""), DFR_NUM_AS(1234567, ""), DFR_NUM(7), DFR_NUM(8) });
}

static void columns_have_widths_and_sides(void **state)
{
    (void)state;
    assert_printed(&(struct dfr_report_table){ 0 }, DFR_FORM_TEXT, DFR_COLUMNS(sums), add_sums, " rank  host      jobs\n"
                                                                                              "    1  b            -\n"
                                                                                              "  all\n");
    assert_printed(&(struct dfr_report_table){ 0 }, DFR_FORM_CSV, DFR_COLUMNS(sums), add_sums, "rank,host,jobs\n1,b,\n0,,1234567\n");
}

static void columns_are_for_those_who_ask(void **state)
{
    (void)state;
    assert_printed(&(struct dfr_report_table){ .shown = PEERS }, DFR_FORM_CSV, DFR_COLUMNS(sums), add_sums, "rank,host,jobs\n1,b,\n0,,1234567\n");
    assert_printed(&(struct dfr_report_table){ .shown = DEVICES }, DFR_FORM_CSV, DFR_COLUMNS(sums), add_sums,
                   "rank,host,jobs,copies\n1,b,,7\n0,,1234567,7\n");
    assert_printed(&(struct dfr_report_table){ .shown = DEVICES | PEERS }, DFR_FORM_TEXT, DFR_COLUMNS(sums), add_sums,
                   " rank  host      jobs  copies  sent\n"
                   "    1  b            -       7     8\n"
                   "  all                       7     8\n");
}

static void objects_stand_in_a_line_or_are_continued(void **state)
{
    (void)state;
    assert_printed(&(struct dfr_report_table){ .inline_rows = true }, DFR_FORM_JSON, DFR_COLUMNS(sums), add_sums,
                   "{\"rank\": 1, \"host\": \"b\", \"jobs\": null}, {\"rank\": 0, \"host\": \"\", \"jobs\": 1234567}");
    assert_printed(&(struct dfr_report_table){ .open_rows = true, .pad = " " }, DFR_FORM_JSON, sums, 1, add_sums, "\n    { \"rank\": 1 ,\n    { \"rank\": 0 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_line_up),
        cmocka_unit_test(a_table_is_text_csv_and_json),
        cmocka_unit_test(columns_have_widths_and_sides),
        cmocka_unit_test(columns_are_for_those_who_ask),
        cmocka_unit_test(objects_stand_in_a_line_or_are_continued),
    };
    return cmocka_run_group_tests_name("report_table", tests, NULL, NULL);
}
