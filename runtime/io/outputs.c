/* outputs.c - files that kernels write over several jobs, which may run on several threads; and their names by wave
 * (df_io.h). */
#include "runtime/df_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/engine/engine.h"

struct df_output {
    struct dfr_output to;
};

int df_output_open(struct df_call *call, const char *path, struct df_output **output)
{
    struct df_error error = { "" };
    struct df_output *made = calloc(1, sizeof *made);
    if (!made)
        return df_fail(call, "out of memory");
    if (dfr_output_open(&made->to, path, &error) != DF_OK) {
        free(made);
        return df_fail(call, "%s", error.text);
    }
    *output = made;
    return DF_OK;
}

FILE *df_output_resume(struct df_output *output)
{
    dfr_output_resume(&output->to);
    return output->to.file;
}

int df_output_pause(struct df_call *call, struct df_output *output)
{
    errno = 0;
    bool good = fflush(output->to.file) == 0 && !ferror(output->to.file);
    int code = errno ? errno : EIO;
    dfr_output_pause(&output->to);
    return good ? DF_OK : df_fail(call, "cannot write '%s': %s", output->to.path, strerror(code));
}

int df_output_close(struct df_output *output, int keep, struct df_error *error)
{
    if (!output)
        return DF_OK;
    int status = dfr_output_close(&output->to, keep, error);
    free(output);
    return status;
}

int df_output_close_job(struct df_call *call, struct df_output *output, int keep)
{
    struct df_error error = { "" };
    return df_output_close(output, keep, &error) == DF_OK ? DF_OK : df_fail(call, "%s", error.text);
}

/* ---- names ---- */

/* The conversion at `at`, which is a '%': its length, and in *width its digits. 0: it is none. */
static size_t conversion(const char *at, int *width)
{
    char *end;
    long digits = at[1] >= '0' && at[1] <= '9' ? strtol(at + 1, &end, 10) : (end = (char *)at + 1, 0);
    if (*end != 'd' || digits > 20)
        return 0;
    *width = (int)digits;
    return (size_t)(end + 1 - at);
}

/* Prints the path. Gives how many numbers are in it; -1: a '%' means nothing. */
static int print_path(FILE *out, const char *pattern, int64_t wave)
{
    int numbers = 0, width = 0;
    for (const char *p = pattern; *p;) {
        size_t n = *p == '%' ? conversion(p, &width) : 0;
        if (n) {
            fprintf(out, "%0*lld", width, (long long)wave);
            numbers++;
            p += n;
        } else if (*p == '%' && p[1] != '%') {
            return -1;
        } else {
            fputc(*p, out);
            p += *p == '%' ? 2 : 1;
        }
    }
    return numbers;
}

int df_path_has_wave(const char *pattern)
{
    int width;
    for (const char *p = pattern; (p = strchr(p, '%')); p += p[1] == '%' ? 2 : 1)
        if (conversion(p, &width))
            return 1;
    return 0;
}

int df_output_path(struct df_call *call, const char *pattern, int written, char **path)
{
    int64_t wave = df_wave(call);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int numbers = out ? print_path(out, pattern, wave) : 0;
    if (!out || fclose(out) != 0)
        df_fail(call, "out of memory");
    else if (numbers < 0)
        df_fail(call, "'%s': after a %% stands d, as in %%d or %%04d for the wave's number, or a second %%", pattern);
    else if (numbers == 0 && written)
        df_fail(call, "'%s' is written already: with %%d in the name, each wave has a file of its own", text);
    else {
        *path = text;
        return DF_OK;
    }
    free(text);
    return DF_FAILED;
}

int df_wave_path(struct df_call *call, const char *pattern, char **path)
{
    const int final = df_node_is_final(call->run->graph, dfr_job_node(call->job));
    return df_output_path(call, pattern, df_wave(call) > 0 && !final, path);
}
