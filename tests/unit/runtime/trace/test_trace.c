/* test_trace.c - traces whose events overlap: they are written as several rows, in none of which two events overlap, and all events are there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample_graph.h"
#include "runtime/trace/trace.h"

#define US 1e-6

struct written {
    unsigned rows, events;
    char names[8][64];
    unsigned row_of[64], thread[8], sort[8]; /* by event in the order of the file: its thread */
    double begin[64], end[64];
};

/* Writes a row of jobs of which event i begins and ends at times[2 * i] and times[2 * i + 1], in microseconds; as a part if `part`. */
static void write_and_read(const double *times, unsigned n, bool part, struct written *w)
{
    char *text = NULL, path[] = "/tmp/dfc-trace-XXXXXX";
    size_t size;
    struct sample s;
    struct dfr_trace *trace;
    const char *const units[] = { "host", "card" };
    const int fd = part ? -1 : mkstemp(path);
    FILE *file = part ? open_memstream(&text, &size) : fdopen(fd, "r");
    sample_begin(&s, 1, 1);
    sample_node(&s, "work", 1e-3, 1e-3, 0, 0, NULL);
    sample_end(&s);
    assert_int_equal(dfr_trace_create(2, 64, &trace, NULL), DF_OK);
    struct dfr_trace_row *row = dfr_trace_row(trace, 1);
    row->process = 1;
    strcpy(row->name, "card compute");
    for (unsigned i = 0; i < n; i++)
        dfr_trace_add(row, 0, i, times[2 * i] * US, times[2 * i + 1] * US, 0);
    if (part)
        dfr_trace_write_part(trace, s.graph, &(struct dfr_trace_part){ .file = file, .process = 3, .first_row = 40, .name = "rank 3 " });
    else
        assert_int_equal(dfr_trace_write(trace, s.graph, units, 2, 0, path, NULL), DF_OK);
    dfr_trace_destroy(trace);
    sample_free(&s);
    fclose(file);
    file = part ? fmemopen(text, size, "r") : fopen(path, "r");
    memset(w, 0, sizeof *w);
    for (char line[512]; fgets(line, sizeof line, file);) {
        const char *tid = strstr(line, "\"tid\":"), *ts = strstr(line, "\"ts\":"), *dur = strstr(line, "\"dur\":"), *name = strstr(line, "\"args\":{\"name\":\"");
        if (strstr(line, "thread_name")) {
            w->thread[w->rows] = (unsigned)strtoul(tid + 6, NULL, 10);
            snprintf(w->names[w->rows++], sizeof *w->names, "%.*s", (int)strcspn(name + 16, "\""), name + 16);
        } else if (strstr(line, "sort_index")) {
            w->sort[w->rows - 1] = (unsigned)strtoul(strstr(line, "\"sort_index\":") + 13, NULL, 10);
        } else if (strstr(line, "\"ph\":\"X\"")) {
            w->row_of[w->events] = (unsigned)strtoul(tid + 6, NULL, 10);
            w->begin[w->events] = strtod(ts + 5, NULL);
            w->end[w->events] = w->begin[w->events] + strtod(dur + 6, NULL);
            w->events++;
        }
    }
    fclose(file);
    free(text);
    if (!part)
        unlink(path);
    for (unsigned i = 0; i < w->events; i++)
        for (unsigned j = 0; j < w->events; j++)
            assert_true(i == j || w->row_of[i] != w->row_of[j] || w->begin[i] >= w->end[j] - 0.6 || w->begin[j] >= w->end[i] - 0.6);
    assert_int_equal(w->events, n);
}

static void events_apart_are_one_row(void **state)
{
    (void)state;
    const double times[] = { 0, 10, 10, 20, 19.8, 30, 100, 101 }, backwards[] = { 30, 40, 20, 30, 5, 9 }; /* and by less than times are exact */
    struct written w;
    write_and_read(times, 4, false, &w);
    assert_int_equal(w.rows, 1);
    assert_string_equal(w.names[0], "card compute");
    write_and_read(backwards, 3, false, &w);
    assert_int_equal(w.rows, 1);
    write_and_read(NULL, 0, false, &w);
    assert_int_equal(w.rows, 1);
}

static void jobs_of_several_streams_are_several_rows(void **state)
{
    (void)state;
    const double times[] = { 2, 5, 0, 10, 6, 12, 11, 20, 3, 11 }; /* as they end */
    struct written w;
    for (int part = 0; part < 2; part++) {
        write_and_read(times, 5, part, &w);
        assert_int_equal(w.rows, 3);
        assert_string_equal(w.names[0], part ? "rank 3 card compute" : "card compute");
        assert_string_equal(w.names[1], part ? "rank 3 card compute 2" : "card compute 2");
        assert_string_equal(w.names[2], part ? "rank 3 card compute 3" : "card compute 3");
        assert_int_equal(w.thread[0], part ? 41 : 1);
        assert_true(w.thread[0] != w.thread[1] && w.thread[1] != w.thread[2] && w.thread[0] != w.thread[2]);
        for (unsigned r = 0; r < 3; r++)
            assert_int_equal(w.sort[r], w.thread[0]); /* so they stand together */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_apart_are_one_row),
        cmocka_unit_test(jobs_of_several_streams_are_several_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
