/* fuzz_parse.c - the front of the compiler on any bytes: it ends, it does not crash, it says something where the text
 * is wrong, and what is right prints to text that reads back as the same.
 *
 * Built with -DDF_LIBFUZZER for clang's libFuzzer (`make fuzz`). Built without, it replays the files named as
 * arguments, so that what was found becomes a test.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    abort();
}

/* The tree as text; malloc'ed. */
static char *print(const struct dfl_file *file, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out)
        fail("no memory");
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
        fail("no memory");
    if (dfl_sink_errors(sink) > 0)
        fail("what was printed does not parse");
    char *second = print(again, &n_second);
    if (n_first != n_second || memcmp(first, second, n_first) != 0)
        fail("what was printed reads back as something else");
    dfl_file_free(again);
    dfl_sink_free(sink);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *messages = NULL;
    size_t n_messages = 0;
    FILE *out = open_memstream(&messages, &n_messages);
    struct dfl_sink *sink = out ? dfl_sink_new(out) : NULL;
    struct dfl_file *file = sink ? dfl_parse(sink, "fuzz.df", (const char *)data, size) : NULL;
    if (!file)
        fail("no memory");
    unsigned errors = dfl_sink_errors(sink);
    dfl_check_supported(sink, file);
    dfl_sink_summary(sink);
    if (errors == 0)
        check_round_trip(file);
    fclose(out);
    if (errors > 0 && n_messages == 0)
        fail("errors were counted and none was shown");
    dfl_file_free(file);
    dfl_sink_free(sink);
    free(messages);
    return 0;
}

#ifndef DF_LIBFUZZER
static int replay(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    uint8_t *data = NULL;
    size_t size = 0, room = 0, n;
    do {
        if (room - size < 4096) {
            room = room * 2 + 8192;
            uint8_t *more = realloc(data, room);
            if (!more)
                fail("no memory");
            data = more;
        }
        n = fread(data + size, 1, room - size, in);
        size += n;
    } while (n > 0);
    fclose(in);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++)
        status |= replay(argv[i]);
    return status;
}
#endif
