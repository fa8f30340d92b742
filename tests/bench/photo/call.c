/* call.c - the calls that the kernels of examples/photo make of a runtime. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "plain.h"

int64_t df_wave(const struct df_call *call)
{
    return call->wave;
}

void df_pieces(struct df_call *call, size_t n, void (*piece)(void *arg, size_t i), void *arg)
{
    (void)call;
    for (size_t i = 0; i < n; i++)
        piece(arg, i);
}

int df_fail(struct df_call *call, const char *format, ...)
{
    va_list list;
    (void)call;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return DF_FAILED;
}

void df_log(struct df_call *call, int level, const char *format, ...)
{
    (void)call, (void)level, (void)format;
}

void df_expect_waves(struct df_call *call, int64_t waves)
{
    (void)call, (void)waves;
}

void *dfr_outputs_of(const struct df_call *call); /* runtime/io/state.h */
void *dfr_outputs_of(const struct df_call *call)
{
    (void)call;
    return NULL;
}

int dfr_output_claim(struct df_call *call, const char *path, struct df_error *error)
{
    (void)call, (void)path, (void)error;
    return DF_OK;
}

/* Source and sink are told apart by the end of their state, which nobody calls here: the last tile closes the file. */
void *df_state(struct df_call *call, size_t bytes, void (*end)(void))
{
    static struct {
        void (*end)(void);
        void *state;
    } nodes[2];
    int i = nodes[0].end && nodes[0].end != end;
    (void)call;
    if (!nodes[i].end) {
        nodes[i].end = end;
        nodes[i].state = calloc(1, bytes);
    }
    return nodes[i].state;
}
