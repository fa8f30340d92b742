/* call.c - the functions of df.h that a kernel may call with its df_call: df_fail(), df_wave(), df_threads(), df_log(),
 * df_cublas() and df_cublas_function(). */
#include "runtime/engine/call.h"

#include <stdarg.h>

#include "runtime/base/message.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/log.h"

int df_fail(struct df_call *call, const char *format, ...)
{
    va_list list;
    if (call->failed)
        return DF_FAILED;               /* the first reason is the one that is reported */
    va_start(list, format);
    dfr_message_text(call->message, sizeof call->message, format, list);
    va_end(list);
    call->failed = true;
    return DF_FAILED;
}

void dfr_call_failed(struct df_call *call, const char *message)
{
    df_fail(call, "%s", message);
}

/* What this kernel launches belongs to this wave alone: a recording of it is not replayed for another wave. */
static void varies(const struct df_call *call)
{
    ((struct df_call *)call)->varies = true; /* every call is one of ours, and no constant */
}

int64_t df_wave(const struct df_call *call)
{
    varies(call);
    return call->wave;
}

unsigned df_threads(const struct df_call *call)
{
    return call->threads;
}

void df_log(struct df_call *call, int level, const char *format, ...)
{
    char name[256], text[512];
    va_list list;

    varies(call);
    if (level > call->run->options.log_level)
        return;
    va_start(list, format);
    dfr_message_text(text, sizeof text, format, list);
    va_end(list);
    df_node_name(call->run->graph, dfr_job_node(call->job), name, sizeof name);
    dfr_log(call->run, level, "node '%s', wave %lld: %s", name, (long long)call->wave, text);
}

struct cublasContext *df_cublas(struct df_call *call)
{
    struct df_error error = { "" };
    void *handle;

    varies(call);                       /* cuBLAS allocates when it likes, which a recording forbids */
    if (!call->device) {
        df_fail(call, "df_cublas() is for gpu variants: this job runs on the CPU");
        return NULL;
    }
    handle = call->device->ops->blas(call->device, call->stream, &error);
    if (!handle)
        df_fail(call, "%s", error.text[0] ? error.text : "there is no cuBLAS");
    return handle;
}

void *df_cublas_function(struct df_call *call, const char *name)
{
    const struct dfr_device_ops *ops = call->device ? call->device->ops : NULL;
    return ops && ops->blas_function ? ops->blas_function(call->device, name) : NULL;
}
