/* opencl_gauge.c - enqueues the benchmark kernels that measure an OpenCL device (device/gauge.h): the operation gauge() in opencl.c's table, which profiles/probe/
 * calls. They do what CUDA's do (cuda/cuda_loops.h), but that atomic updates have 32 bits, because those of 64 are an extension.
 */
#include <stdio.h>

#include "runtime/opencl/opencl_impl.h"
#include "runtime/base/error.h"

#define GROUPS 8                        /* of each compute unit: so many work-items as it holds, or more */
#define PARAMETERS "__global double *a, __global double *b, __global double *c, ulong length, uint turns, double by"
/* A work-item has one element, because drivers for CPUs run the loop of an item as a whole, which would jump through the array. So it is launched for each turn. */
#define STREAM(name, statement)                                                                                           \
    "__kernel void " name "(" PARAMETERS ")\n"                                                                            \
    "{\n    const ulong i = get_global_id(0);\n    if (i < length)\n        " statement ";\n}\n"
#define CHAIN(name, element)                                                                                              \
    "__kernel void " name "(" PARAMETERS ")\n"                                                                            \
    "{\n    for (uint turn = 0; turn < turns; turn++) {\n"                                                                \
    "        " element " x[CHAINS], factor = (" element ")by, plus = factor / 4, sum = 0;\n"                              \
    "        for (uint k = 0; k < CHAINS; k++)\n            x[k] = (" element ")((get_global_id(0) + turn) % 64 + k);\n" \
    "        for (uint i = 0; i < STEPS; i++)\n            for (uint k = 0; k < CHAINS; k++)\n"                           \
    "                x[k] = x[k] * factor + plus;\n"                                                                      \
    "        for (uint k = 0; k < CHAINS; k++)\n            sum += x[k];\n"                                              \
    "        if (sum > 1000000)\n            c[0] = sum;\n    }\n}\n"
/* `depends` makes each read's place depend on the read before. No element equals 1.5e300. */
#define READS(name, condition, depends)                                                                                   \
    "__kernel void " name "(" PARAMETERS ")\n"                                                                            \
    "{\n    for (uint turn = 0; turn < turns && " condition "; turn++) {\n"                                               \
    "        ulong place = (get_global_id(0) << 20 ^ turn) * 0x9e3779b97f4a7c15ul;\n        double sum = 0;\n"            \
    "        for (uint i = 0; i < READS; i++) {\n"                                                                        \
    "            place = place * 6364136223846793005ul + 1442695040888963407ul;\n"                                        \
    "            double value = ((volatile __global double *)a)[mul_hi(place, length)];\n"                                \
    "            " depends "sum += value;\n        }\n        if (sum == 1.5e300)\n            c[0] = sum;\n    }\n}\n"
#define UPDATES(name, counter)                                                                                            \
    "__kernel void " name "(" PARAMETERS ")\n"                                                                            \
    "{\n    for (uint i = 0; i < turns * UPDATES; i++)\n"                                                                 \
    "        atomic_inc((volatile __global uint *)&b[" counter "]);\n}\n"

static const char text[] =
    "#pragma OPENCL FP_CONTRACT OFF\n" STREAM("copy", "c[i] = a[i]") STREAM("scale", "b[i] = 3 * c[i]") STREAM("add", "c[i] = a[i] + b[i]")
    STREAM("triad", "a[i] = b[i] + 3 * c[i]") CHAIN("f32", "float") CHAIN("f64", "double") READS("dependent", "get_global_id(0) == 0", "place += value == 1.5e300; ")
    READS("random_reads", "true", "") UPDATES("shared", "0") UPDATES("spread", "get_global_id(0) % length");

static const char *const names[DFR_GAUGES] = { "copy", "scale", "add", "triad", "f32", "f64", "dependent", "random_reads", "shared", "spread" };

static const struct df_cl_source *source(void)
{
    static char options[120];
    static struct df_cl_source made = { .name = "dfc's measurements", .text = text, .bytes = sizeof text - 1, .options = options, .needs = DF_CL_FP64 };
    snprintf(options, sizeof options, "-DCHAINS=%u -DSTEPS=%u -DREADS=%u -DUPDATES=%u", LOOP_CHAINS, LOOP_STEPS, LOOP_READS, LOOP_UPDATES);
    return &made;
}

int dfr_cl_gauge(struct dfr_device *device, enum dfr_gauge gauge, uint64_t array_bytes, uint32_t turns, uint32_t stream, double *work, struct df_error *error)
{
    struct cl_device *cl = dfr_cl_of(device);
    const struct df_functions functions = { .opencl_source = source() };
    const cl_ulong length = array_bytes / sizeof(double);
    const double by = 0.5;              /* a chain then stays where it begins to */
    const bool streams = gauge <= DFR_GAUGE_TRIAD;
    const uint32_t all = GROUPS * cl->machine->compute_units, items = LOOP_THREADS;
    const uint32_t groups = streams ? (uint32_t)((length + items - 1) / items) : gauge == DFR_GAUGE_DEPENDENT ? 1 : all;
    unsigned char *a = cl->pool, *b = a + array_bytes, *c = b + array_bytes;
    const struct dfr_range ranges[] = { { .address = a, .bytes = array_bytes }, { .address = b, .bytes = array_bytes }, { .address = c, .bytes = array_bytes } };
    const struct dfr_launch launch = { .ranges = ranges, .n_ranges = 3 };
    const struct df_cl_arg args[] = { { .port = a }, { .port = b }, { .port = c }, { .value = &length, .bytes = sizeof length },
                                      { .value = &turns, .bytes = sizeof turns }, { .value = &by, .bytes = sizeof by } };

    if (3 * array_bytes > cl->machine->most_bytes)
        return dfr_error(error, DF_E_DEVICE, "%s: its driver gives no buffer that is large enough to measure it", cl->machine->label);
    int status = dfr_cl_load((uint32_t)(cl->machine - dfr_cl_devices(&(uint32_t){ 0 }, NULL)), &functions, 1, true, error);
    *work = turns * loop_work(gauge, length, (double)all * items);
    cl->launch = &launch;
    for (uint32_t turn = 0; turn < (streams ? turns : 1) && status == DF_OK; turn++)
        status = dfr_cl_enqueue(cl, stream, source(), names[gauge], (uint32_t[3]){ groups, 1, 1 }, (uint32_t[3]){ items, 1, 1 }, args, sizeof args / sizeof *args, error);
    cl->launch = NULL;
    return status;
}
