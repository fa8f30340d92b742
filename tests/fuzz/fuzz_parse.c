/* fuzz_parse.c - the front of the compiler on any bytes: it ends, it does not crash, it says something where the text
 * is wrong. What is right prints to text that reads back as the same, and is formatted to text that stays as it is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/format.h"
#include "dsl/parse.h"
#include "fuzz.h"

/* The tree as text; malloc'ed. */
static char *print(const struct dfl_file *file, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out)
        fuzz_fail("no memory");
    dfl_print(out, file);
    fclose(out);
    return text;
}

static void check_round_trip(const struct dfl_file *file)
{
    size_t n_first, n_second;
    char *first = print(file, &n_first);
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct dfl_file *again = sink ? dfl_parse(sink, "printed.df", first, n_first) : NULL;
    if (!again)
        fuzz_fail("no memory");
    if (dfl_sink_errors(sink) > 0)
        fuzz_fail("what was printed does not parse");
    char *second = print(again, &n_second);
    if (n_first != n_second || memcmp(first, second, n_first) != 0)
        fuzz_fail("what was printed reads back as something else");
    dfl_file_free(again);
    dfl_sink_free(sink);
    free(first);
    free(second);
}

static void check_format(const char *text, size_t length)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    char *once, *twice;
    size_t n_once, n_twice;
    if (!sink || !dfl_format(sink, "fuzz.df", text, length, &once, &n_once) ||
        !dfl_format(sink, "formatted.df", once, n_once, &twice, &n_twice))
        fuzz_fail("a right text is not formatted");
    if (n_once != n_twice || memcmp(once, twice, n_once) != 0)
        fuzz_fail("what was formatted is formatted to something else");
    dfl_sink_free(sink);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *messages = NULL;
    size_t n_messages = 0;
    FILE *out = open_memstream(&messages, &n_messages);
    struct dfl_sink *sink = out ? dfl_sink_new(out) : NULL;
    struct dfl_file *file = sink ? dfl_parse(sink, "fuzz.df", (const char *)data, size) : NULL;
    if (!file)
        fuzz_fail("no memory");
    unsigned errors = dfl_sink_errors(sink);
    dfl_check_supported(sink, file);
    dfl_sink_summary(sink);
    if (errors == 0) {
        check_round_trip(file);
        check_format((const char *)data, size);
    }
    fclose(out);
    if (errors > 0 && n_messages == 0)
        fuzz_fail("errors were counted and none was shown");
    dfl_file_free(file);
    dfl_sink_free(sink);
    free(messages);
    return 0;
}
