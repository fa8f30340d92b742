/* args_values.c - reading the value of an option: numbers, on or off, devices, rules of eviction (dfc reads --evict
 * with it, too). It knows no table of options, so that the files with the tables and args.c, which reads them, may all use it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/program/args_impl.h"

int dfr_parse_int(const char *name, const char *text, int64_t *value, struct df_error *error)
{
    char *end;
    errno = 0;
    long long i = strtoll(text, &end, 10);
    if (end == text || *end || strchr(" \t\n", *text))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not an integer", name, text);
    if (errno)
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s does not fit in 64 bits", name, text);
    *value = i;
    return DF_OK;
}

int dfr_parse_count(const char *name, const char *text, int64_t most, int64_t *value, struct df_error *error)
{
    int64_t i;
    int rc = dfr_parse_int(name, text, &i, error);
    if (rc == DF_OK && (i < 1 || i > most))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s is not between 1 and %lld", name, text, (long long)most);
    if (rc == DF_OK)
        *value = i;
    return rc;
}

int dfr_parse_unsigned(const char *name, const char *text, unsigned most, unsigned *value, struct df_error *error)
{
    int64_t i = 0;
    int rc = dfr_parse_count(name, text, most, &i, error);
    if (rc == DF_OK)
        *value = (unsigned)i;
    return rc;
}

int dfr_parse_on_off(const char *name, const char *text, int *value, struct df_error *error)
{
    if (strcmp(text, "on") && strcmp(text, "off"))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is neither on nor off", name, text);
    *value = !strcmp(text, "on");
    return DF_OK;
}

int dfr_parse_rehearse(const char *name, const char *text, double *scale, struct df_error *error)
{
    char *end = NULL;
    double x = text ? strtod(text, &end) : DF_REHEARSE;

    if (text && (end == text || strcmp(end, "x") || strchr(" \t\n+-iInN", *text) || !(x >= 1e-9 && x <= 1e9)))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not a scale; write how many times longer the waits are, "
                                               "as in 10x or 0.5x", name, text);
    *scale = x;
    return DF_OK;
}

static const char *const device_names[] = {
    [DF_DEVICE_AUTO] = "auto", [DF_DEVICE_NONE] = "none", [DF_DEVICE_EMU] = "emu", [DF_DEVICE_CUDA] = "cuda",
    [DF_DEVICE_SIM] = "sim"
};

bool dfr_parse_device(const char *text, enum df_device_kind *device)
{
    for (unsigned i = 0; i < sizeof device_names / sizeof *device_names; i++)
        if (!strcmp(text, device_names[i])) {
            *device = (enum df_device_kind)i;
            return true;
        }
    return false;
}

bool dfr_parse_evict(const char *text, int *evict)
{
    static const char *const words[] = { [DF_EVICT_AUTO] = "auto", [DF_EVICT_LRU] = "lru",
                                         [DF_EVICT_BELADY] = "belady" };
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, words[i])) {
            *evict = i;
            return true;
        }
    return false;
}

int dfr_parse_auto_on_off(const char *name, const char *text, int *value, struct df_error *error)
{
    static const char *const words[] = { [DF_GRAPHS_AUTO] = "auto", [DF_GRAPHS_ON] = "on", [DF_GRAPHS_OFF] = "off" };
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, words[i])) {
            *value = i;
            return DF_OK;
        }
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is neither auto nor on nor off", name, text);
}
