/* args_device.c - the options that select a run's devices and limit what they may use, for args.c, and which of them exclude each other. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"
#include "runtime/policy/next_use.h"
#include "runtime/start/run_rehearse.h"

/* The end of a device's name such as opencl0; NULL: it is none. */
static const char *end_of_name(const char *text)
{
    static const char *const kinds[] = { "cuda", "opencl", "emu" };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const size_t n = strlen(kinds[k]), digits = strncmp(text, kinds[k], n) == 0 ? strspn(text + n, "0123456789") : 0;
        if (digits > 0 && digits < 4 && (!text[n + digits] || text[n + digits] == ','))
            return text + n + digits;
    }
    return NULL;
}

static int set_gpus(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct df_options *o = &((struct dfr_command_line *)field)->options;
    uint64_t gpus = 0;
    const char *names = NULL;
    for (const char *at = text;; at++) {
        char *end = (char *)end_of_name(at);
        const bool name = end;
        unsigned long number = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (!name && (!isdigit((unsigned char)*at) || (*end && *end != ',')))
            return dfr_error(error, DF_E_ARGUMENT, "%s: '%s' is not a list of devices; write their numbers with commas, "
                                                   "as in 0,2, or names, as in opencl0,emu0", option->name, text);
        if (number > DFR_MAX_GPU_NUMBER)
            return dfr_error(error, DF_E_ARGUMENT, "%s: %.*s is not between 0 and %d", option->name, (int)(end - at), at,
                             DFR_MAX_GPU_NUMBER);
        if (!name && gpus >> number & 1)
            return dfr_error(error, DF_E_ARGUMENT, "%s: device %lu is named twice", option->name, number);
        gpus |= name ? 0 : UINT64_C(1) << number;
        names = name ? text : names;
        at = end;
        if (!*at)
            break;
    }
    o->gpus = gpus;
    o->gpu_names = names;
    return DF_OK;
}

/* One kind, or several kinds of devices. */
static int set_devices(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct df_options *o = &((struct dfr_command_line *)field)->options;
    uint32_t kinds;
    int status = dfr_option_devices(option, text, &kinds, error);
    if (status != DF_OK)
        return status;
    o->device = (enum df_device_kind)(31 - __builtin_clz(kinds));
    o->also = kinds & (kinds - 1) ? kinds : 0;
    return DF_OK;
}

int dfr_devices_together(const struct df_options *o, struct df_error *error)
{
    if (o->learn && o->device == DF_DEVICE_SIM)
        return dfr_error(error, DF_E_ARGUMENT, "--learn: nothing is measured in the virtual time of --device=sim");
    if ((o->gpus || o->gpu_names) && (o->device == DF_DEVICE_NONE || o->device == DF_DEVICE_SIM || o->rehearse != 0))
        return dfr_error(error, DF_E_ARGUMENT, "--gpus: no device is opened with --%s",
                         o->rehearse != 0 ? "rehearse" : o->device == DF_DEVICE_SIM ? "device=sim" : "device=none");
    const struct dfr_policy *policy = o->policy ? dfr_policy_find(o->policy, error) : NULL;
    bool wanted;
    if (policy && dfr_next_use_wanted(o->evict, policy, &wanted, error) != DF_OK)
        return DF_E_ARGUMENT;
    return dfr_rehearse_options(o, error);
}

const struct dfr_option dfr_options_device[] = {
    DFR_HEADING("Devices"),
    { "--device", "KIND[,KIND]", "auto (cuda if there is a GPU), none, emu (emulated on the host), cuda, opencl, sim (virtual time); several kinds of devices "
      "take part together, as in emu,opencl", DFR_SET_ALL(set_devices), DFR_DEVICE_WORDS },
    { "--gpus", "LIST", "the numbers of the GPUs to use, from 0, as in 0,2; of those that CUDA_VISIBLE_DEVICES leaves, if it "
      "is set; or their names, as in opencl0,emu0 (default: all that have code in this program)", DFR_SET_ALL(set_gpus) },
    { "--gpu-mem", "SIZE", "memory to use of each GPU, as in 64MiB (default: nine tenths of it, or what others have left)", DFR_FIELD(BYTES, struct dfr_command_line, options.gpu_mem_bytes) },
    { "--evict", "auto|lru|belady", "what leaves a GPU's memory if room is needed: what was used longest ago "
      "(lru), or what is needed again last (belady; auto: belady if the policy knows that, else lru)", DFR_FIELD(WORD, struct dfr_command_line, options.evict) },
    { "--pin", "auto|on|off", "pin the host's memory of tokens, so that GPUs copy it fast (auto: up to a quarter of the "
      "machine's memory)", DFR_FIELD(WORD, struct dfr_command_line, options.pin) },
    { "--gpu-jobs", "N", "jobs in flight per GPU; auto: the number is found during the run", DFR_COUNT(struct dfr_command_line, options.gpu_jobs, 1, DFR_MAX_GPU_JOBS),
      .words = "auto", .first = DF_FIND_JOBS },
    { "--cuda-graphs", "auto|on|off", "record launches and replay them in later waves (auto: of bare __global__ "
      "functions, if it pays; on: of all)", DFR_FIELD(WORD, struct dfr_command_line, options.cuda_graphs) },
    { "--sync-kernels", NULL, "wait for each gpu job, so that an error is told with the job that made it",
      DFR_FIELD(FLAG, struct dfr_command_line, options.sync_kernels) },
    { "--inexact", NULL, "take OpenCL devices, too, whose results of formulas differ from the CPU's in the last bits", DFR_FIELD(FLAG, struct dfr_command_line, options.inexact) },
    { "--emu-all", NULL, "every kernel with a cpu variant may run on the emulated GPU", DFR_FIELD(FLAG, struct dfr_command_line, options.emu_all) },
    { "--emu-check", "on|off", "stop kernels that touch blocks they did not declare (default on)", DFR_FIELD(ON_OFF, struct dfr_command_line, options.emu_check) },
    { 0 }
};
