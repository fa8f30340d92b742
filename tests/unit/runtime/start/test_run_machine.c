/* test_run_machine.c - workers are numbered unit by unit: first those of the CPU, then one for each device. Which back ends a kind of device has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/engine/engine.h"
#include "runtime/start/back_ends.h"
#include "runtime/start/run_machine.h"

static void test_numbers(void **state)
{
    static const uint32_t unit_of[] = { 0, 0, 0, 1, 2 }, first_worker[] = { 0, 3, 4, 5 };
    struct df_run *run = aligned_alloc(_Alignof(struct df_run), sizeof *run);

    (void)state;
    assert_non_null(run);
    memset(run, 0xff, sizeof *run);
    memset(&run->options, 0, sizeof run->options);
    run->options.workers = 3;
    run->machine.n_gpus = 2;
    dfr_machine_number(run);
    assert_int_equal(run->machine.n_units, 3);
    assert_int_equal(run->machine.platform.n_units, 3);
    assert_int_equal(run->machine.n_cpu_workers, 3);
    assert_int_equal(run->machine.platform.units[0].workers, 3);
    assert_int_equal(run->machine.n_workers, 5);
    assert_memory_equal(run->machine.unit_of, unit_of, sizeof unit_of);
    assert_memory_equal(run->machine.first_worker, first_worker, sizeof first_worker);
    free(run);
}

/* CUDA is linked or not. */
static void test_back_ends(void **state)
{
    static const enum df_device_kind none[] = { DF_DEVICE_NONE, DF_DEVICE_SIM };
    const struct dfr_back_ends emu = dfr_back_ends_of(DF_DEVICE_EMU), cuda = dfr_back_ends_of(DF_DEVICE_CUDA), real = dfr_back_ends_of(DF_DEVICE_AUTO);
    (void)state;
    assert_int_equal(emu.n, 1);
    assert_non_null(emu.ops[0]);
    assert_ptr_equal(dfr_back_end_of(DF_DEVICE_EMU), emu.ops[0]);
    assert_int_equal(real.n, cuda.n);   /* the emulator has no real device */
    for (uint32_t i = 0; i < cuda.n; i++) {
        assert_ptr_equal(real.ops[i], cuda.ops[i]);
        assert_ptr_not_equal(cuda.ops[i], emu.ops[0]);
    }
    assert_ptr_equal(dfr_back_end_of(DF_DEVICE_AUTO), cuda.n ? cuda.ops[0] : NULL);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(dfr_back_ends_of(none[i]).n, 0);
        assert_null(dfr_back_end_of(none[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers), cmocka_unit_test(test_back_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
