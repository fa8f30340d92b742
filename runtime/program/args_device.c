/* args_device.c - the options that say which devices a run has and what they may use. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/policy/next_use.h"
#include "runtime/start/run_rehearse.h"

static int set_device(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (dfr_parse_device(text, &line->options.device))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: no device '%s'; there are: auto, none (the CPU alone), emu (an emulated GPU), cuda, sim (simulated)", name, text);
}

static int set_emu_check(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_on_off(name, text, &line->options.emu_check, error);
}

_Static_assert((int)DF_PIN_AUTO == (int)DF_GRAPHS_AUTO && (int)DF_PIN_ON == (int)DF_GRAPHS_ON &&
                   (int)DF_PIN_OFF == (int)DF_GRAPHS_OFF,
               "the words are the same");

static int set_cuda_graphs(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_auto_on_off(name, text, &line->options.cuda_graphs, error);
}

static int set_pin(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_auto_on_off(name, text, &line->options.pin, error);
}

static int set_gpu_mem(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (dfr_parse_size(text, &line->options.gpu_mem_bytes))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT,
                     "--%s: '%s' is not a size; write a number with B, kB, MB, GB, KiB, MiB or GiB, or bytes alone, at "
                     "least %d", name, text, DFR_LEAST_BYTES);
}

static int set_gpus(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    uint64_t gpus = 0;
    for (const char *at = text;; at++) {
        char *end;
        unsigned long number = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (!isdigit((unsigned char)*at) || (*end && *end != ','))
            return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not a list of device numbers; write them with commas, "
                                                   "as in 0,2", name, text);
        if (number > DFR_MAX_GPU_NUMBER)
            return dfr_error(error, DF_E_ARGUMENT, "--%s: %.*s is not between 0 and %d", name, (int)(end - at), at,
                             DFR_MAX_GPU_NUMBER);
        if (gpus >> number & 1)
            return dfr_error(error, DF_E_ARGUMENT, "--%s: device %lu is named twice", name, number);
        gpus |= UINT64_C(1) << number;
        at = end;
        if (!*at)
            break;
    }
    line->options.gpus = gpus;
    return DF_OK;
}

static int set_evict(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (dfr_parse_evict(text, &line->options.evict))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is neither auto nor lru nor belady", name, text);
}

static int set_gpu_jobs(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (strcmp(text, "auto") != 0)
        return dfr_parse_unsigned(name, text, DFR_MAX_GPU_JOBS, &line->options.gpu_jobs, error);
    line->options.gpu_jobs = DF_FIND_JOBS;
    return DF_OK;
}

int dfr_devices_together(const struct df_options *o, struct df_error *error)
{
    if (o->learn && o->device == DF_DEVICE_SIM)
        return dfr_error(error, DF_E_ARGUMENT, "--learn: nothing is measured in the virtual time of --device=sim");
    if (o->gpus && (o->device == DF_DEVICE_NONE || o->device == DF_DEVICE_SIM || o->rehearse != 0))
        return dfr_error(error, DF_E_ARGUMENT, "--gpus: no device is opened with --%s",
                         o->rehearse != 0 ? "rehearse" : o->device == DF_DEVICE_SIM ? "device=sim" : "device=none");
    const struct dfr_policy *policy = o->policy ? dfr_policy_find(o->policy, error) : NULL;
    bool wanted;
    if (policy && dfr_next_use_wanted(o->evict, policy, &wanted, error) != DF_OK)
        return DF_E_ARGUMENT;
    return dfr_rehearse_options(o, error);
}

const struct dfr_option dfr_options_device[] = {
    { "device", "KIND", "auto (cuda if there is a GPU), none, emu (emulated on the host), cuda, sim (virtual time)",
      set_device, 0 },
    { "gpus", "LIST", "the numbers of the GPUs to use, from 0, as in 0,2; of those that CUDA_VISIBLE_DEVICES leaves, if it "
      "is set (default: all that have code in this program)", set_gpus, 0 },
    { "gpu-mem", "SIZE", "memory to use of each GPU, as in 64MiB (default: nine tenths of it, or what others have left)", set_gpu_mem, 0 },
    { "evict", "auto|lru|belady", "what leaves a GPU's memory if room is needed: what was used longest ago "
      "(lru), or what is needed again last (belady; auto: belady if the policy knows that, else lru)", set_evict, 0 },
    { "pin", "auto|on|off", "pin the host's memory of tokens, so that GPUs copy it fast (auto: up to a quarter of the "
      "machine's memory)", set_pin, 0 },
    { "gpu-jobs", "N", "jobs in flight per GPU; auto: the number is found during the run", set_gpu_jobs, 0 },
    { "cuda-graphs", "auto|on|off", "record launches and replay them in later waves (auto: of bare __global__ "
      "functions, if it pays; on: of all)", set_cuda_graphs, 0 },
    { "sync-kernels", NULL, "wait for each gpu job, so that an error is told with the job that made it",
      DFR_FLAG(sync_kernels) },
    { "emu-all", NULL, "every kernel with a cpu variant may run on the emulated GPU", DFR_FLAG(emu_all) },
    { "emu-check", "on|off", "stop kernels that touch blocks they did not declare (default on)", set_emu_check, 0 },
    { NULL, NULL, NULL, NULL, 0 }
};
