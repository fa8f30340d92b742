/* test_devices.c - devices of several back ends: how they are numbered and chosen, and a run on all of them. Both back ends are the emulator under another
 * name; the table of back ends is this file's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/base/error.h"
#include "runtime/start/back_ends.h"

extern const struct dfr_device_ops dfr_emu_ops;
static struct dfr_device_ops one, two;
static uint32_t imprecise, refused;     /* devices of `two` that take code for inexact results only, and none */
static struct dfr_back_ends ends = { .n = 2, .ops = { &one, &two }, .missing = "none is linked" };

struct dfr_back_ends dfr_back_ends_of(enum df_device_kind kind)
{
    return kind == DF_DEVICE_AUTO ? ends : (struct dfr_back_ends){ .missing = ends.missing };
}

struct dfr_back_ends dfr_back_ends_for(const struct df_options *options)
{
    return dfr_back_ends_of(options->device);
}

const struct dfr_device_ops *dfr_back_end_of(enum df_device_kind kind)
{
    return kind == DF_DEVICE_AUTO ? &one : NULL;
}

static uint32_t count_one(struct df_error *error)
{
    (void)error;
    return 1;
}

static uint32_t count_two(struct df_error *error)
{
    (void)error;
    return 2;
}

static uint32_t count_none(struct df_error *error)
{
    dfr_error(error, DF_E_DEVICE, "no driver");
    return 0;
}

static int load(uint32_t index, const struct df_functions *functions, uint32_t n, bool inexact, struct df_error *error)
{
    (void)functions, (void)n;
    if (index == imprecise && !inexact)
        return dfr_error(error, DF_E_DEVICE, "two%u lacks digits", index);
    return index == refused ? dfr_error(error, DF_E_DEVICE, "two%u: no code for it", index) : DF_OK;
}

static int bus_one(uint32_t index, char *text, size_t size, struct df_error *error)
{
    (void)error;
    snprintf(text, size, "0000:ab:%02x.0", index);
    return DF_OK;
}

static int bus_two(uint32_t index, char *text, size_t size, struct df_error *error)
{
    if (index == 0)
        return dfr_error(error, DF_E_DEVICE, "two0: nowhere");
    snprintf(text, size, "0000:AB:%02x.0", index - 1);
    return DF_OK;
}

static int open_one(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device, struct df_error *error)
{
    int status = dfr_emu_ops.open(index, config, device, error);
    if (status == DF_OK)
        (*device)->ops = &one;
    return status;
}

static int open_two(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device, struct df_error *error)
{
    int status = dfr_emu_ops.open(index, config, device, error);
    if (status == DF_OK)
        (*device)->ops = &two;
    return status;
}

static int set_up(void **state)
{
    (void)state;
    one = two = dfr_emu_ops;
    one.name = "one", two.name = "two";
    one.count = count_one, two.count = count_two;
    one.open = open_one, two.open = open_two;
    one.runs_cpu_code = two.runs_cpu_code = false;
    two.load = load;
    refused = imprecise = 9;
    ends.n = 2;
    return 0;
}

/* If several kinds are asked for, each gives a device. */
static void several(void **state)
{
    struct rig r;
    struct df_options o = rig_options("all-gpu", DF_DEVICE_AUTO, 1);
    struct dfr_devices chosen;
    struct df_error error = { "" };
    (void)state;
    rig_random(&r, 1, 10, 20, 0);

    o.also = 1u << DF_DEVICE_CUDA | 1u << DF_DEVICE_OPENCL;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 3);
    assert_int_equal(chosen.of[2].index, 2);
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, 1, &chosen, &error), DF_OK); /* the other kind's are not looked at */
    assert_int_equal(chosen.n, 1);
    refused = 0;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 2);
    imprecise = 1;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "no two device: two1 lacks digits");
    o.gpus = 1;                         /* unless devices are named */
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 1);
    o.gpus = 0;
    o.gpu_names = "two1,one0";
    refused = imprecise = 9;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 2);
    assert_ptr_equal(chosen.of[0].ops, &one);
    assert_int_equal(chosen.of[1].index, 2);
    o.gpu_names = "two2";
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "there is no device two2 here");
    o.gpu_names = NULL;
    one.count = count_none;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "no one device: no driver");

    /* An emulator beside others stands for the described devices that are not theirs. */
    one.count = count_one;
    two.runs_cpu_code = true;
    refused = imprecise = 9;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 3, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 3);
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 1, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 2);
    rig_free(&r);
}

/* The numbers of options->gpus go on from one back end to the next. */
static void numbers(void **state)
{
    struct rig r;
    struct df_options o = rig_options("all-gpu", DF_DEVICE_AUTO, 1);
    struct dfr_devices chosen;
    struct df_error error = { "" };
    const struct dfr_device_ops *ops;
    uint32_t number;
    (void)state;
    rig_random(&r, 1, 10, 20, 0);

    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 3);
    assert_int_equal(chosen.present, 3);
    assert_ptr_equal(chosen.of[0].ops, &one);
    assert_ptr_equal(chosen.of[1].ops, &two);
    assert_int_equal(chosen.of[1].number, 0);
    assert_int_equal(chosen.of[2].number, 1);

    one.bus_id = bus_one, two.bus_id = bus_two; /* two1 is one0 */
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 2);
    assert_int_equal(chosen.of[1].number, 0);
    assert_int_equal(chosen.of[1].index, 1);
    assert_int_equal(chosen.n_left_out, 1);
    assert_string_equal(chosen.left_out.text, "two1 is one0 (0000:AB:00.0)");
    one.bus_id = two.bus_id = NULL;

    imprecise = 1;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 2);
    assert_string_equal(chosen.left_out.text, "two1 lacks digits");
    o.inexact = 1;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, DF_MAX_UNITS - 1, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 3);
    assert_int_equal(chosen.n_left_out, 0);
    assert_string_equal(chosen.of[1].inexact.text, "");
    assert_string_equal(chosen.of[2].inexact.text, "two1 lacks digits");

    o.gpus = 4;
    assert_int_equal(dfr_devices_first(&ends, &o, r.graph, &ops, &number, &error), DF_OK);
    assert_ptr_equal(ops, &two);
    assert_int_equal(number, 1);
    o.gpus = 8;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, 3, &chosen, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "there is no GPU device 3: there are 3, from 0 to 2");

    refused = 0;                        /* left out; an error if it was named */
    o.gpus = 0;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, 3, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 2);
    assert_int_equal(chosen.of[1].number, 1);
    assert_int_equal(chosen.n_left_out, 1);
    assert_string_equal(chosen.left_out.text, "two0: no code for it");
    o.gpus = 2;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, 3, &chosen, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "two0: no code for it");

    one.count = two.count = count_none;
    o.gpus = 0;
    assert_int_equal(dfr_devices_first(&ends, &o, r.graph, &ops, &number, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "no driver");
    ends.n = 0;
    assert_int_equal(dfr_devices_choose(&ends, &o, r.graph, 0, 3, &chosen, &error), DF_OK);
    assert_int_equal(chosen.n, 0);
    rig_free(&r);
}

static uint64_t device_free;            /* what others have left of a device's memory */

static int free_now(uint32_t index, uint64_t *bytes, struct df_error *error)
{
    *bytes = device_free;
    return index == 5 ? dfr_error(error, DF_E_DEVICE, "device 5 is lost") : DF_OK;
}

static int gpu_code(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

/* The least of what the description, the options and others leave, each of which may say nothing (0). A device is asked if the run is told to use it, or
 * has code for it. */
static void memory(void **state)
{
    enum { PAGE = 4096, M = 1 << 20 };
    static const struct { uint64_t said, option, left; uint64_t want; bool others; } cases[] = {
        { 0, 0, 7 * M, 7 * M, true },           { 9 * M, 0, 7 * M, 7 * M, true },       { 7 * M, 0, 7 * M, 7 * M, false },
        { 5 * M, 0, 7 * M, 5 * M, false },      { 9 * M, 8 * M, 7 * M, 7 * M, true },   { 9 * M, 6 * M, 7 * M, 6 * M, false },
        { 0, 6 * M, 7 * M, 6 * M, false },      { 4 * M, 6 * M, 7 * M, 4 * M, false },  { 9 * M, 0, 0, PAGE, true },
        { 9 * M, 0, PAGE - 1, PAGE, true },     { 9 * M, 0, PAGE + 1, PAGE + 1, true }, { 0, 0, 0, PAGE, true },
    };
    struct df_functions functions[2] = { { .cpu = NULL } }, none[2] = { { .cpu = NULL } };
    const struct df_graph with = { .n_kernels = 2, .functions = functions }, without = { .n_kernels = 2, .functions = none };
    struct dfr_device_ops ops = { .name = "x", .free_bytes = free_now }, mute = { .name = "x" };
    struct df_error error = { "" };
    uint64_t bytes;
    bool others;
    (void)state;
    functions[1].gpu = gpu_code;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned way = 0; way < 5; way++) {
            struct df_options o = { .device = way < 2 ? DF_DEVICE_AUTO : DF_DEVICE_CUDA, .gpu_mem_bytes = cases[i].option };
            const bool asked = way != 1 && way != 4;
            device_free = cases[i].left;
            bytes = cases[i].said;
            others = !asked;
            assert_int_equal(dfr_devices_memory(way == 4 ? &mute : &ops, &o, way == 1 || way == 3 ? &without : &with, 1, &bytes, &others, &error), DF_OK);
            const uint64_t own = cases[i].option && (!cases[i].said || cases[i].option < cases[i].said) ? cases[i].option : cases[i].said;
            assert_int_equal(bytes, asked ? cases[i].want : own);
            assert_int_equal(others, asked && cases[i].others);
        }
    bytes = 3;
    assert_int_equal(dfr_devices_memory(&ops, &(struct df_options){ .device = DF_DEVICE_CUDA }, &with, 5, &bytes, &others, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "device 5 is lost");
    assert_int_equal(bytes, 3);
}

/* A run on the devices of both: each computes, and tokens go from one to the other through the host, since copy_peer() is of one back end. */
static void run_on_both(void **state)
{
    static const char *const policies[] = { "eager", "ws", "dmda", "all-gpu", "random" };
    uint64_t jobs[3] = { 0 };           /* by device, in all runs: which gets how many is up to the policies */
    (void)state;
    for (uint32_t seed = 1; seed <= 4; seed++) {
        struct rig r;
        rig_random(&r, seed, 30, 200, 0);
        rig_expect(&r, 4);
        for (unsigned p = 0; p < 5; p++) {
            struct df_options o = rig_options(policies[p], DF_DEVICE_AUTO, 1);
            struct df_error error;
            static struct df_stats stats;
            o.waves = 4;
            o.emu_check = 0;
            if (rig_run(&r, &o, &stats, &error) != DF_OK)
                fail_msg("%s", error.text);
            assert_true(rig_same(&r, 4));
            assert_int_equal(stats.n_memories, 3);
            for (uint32_t w = 0; w < 3; w++)
                jobs[w] += stats.workers[stats.n_workers - 3 + w].jobs;
        }
        rig_free(&r);
    }
    for (uint32_t w = 0; w < 3; w++)
        assert_true(jobs[w] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(numbers, set_up),
        cmocka_unit_test_setup(several, set_up),
        cmocka_unit_test(memory),
        cmocka_unit_test_setup(run_on_both, set_up),
    };
    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
