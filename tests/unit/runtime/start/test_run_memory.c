/* test_run_memory.c - the n-th allocation of df_run_start() fails, for n = 1, 2, ... until the run goes well. Each
 * time the start gives DF_E_MEMORY, or does without what it asked for, and returns what it had. The run that succeeds
 * is right. This test replaces the allocator, which a sanitizer does too; so under a sanitizer it is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "run_rig.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)

static void test_nth_allocation(void **state)
{
    (void)state;
    skip();
}

#else

static _Thread_local bool watching;     /* worker threads are left alone */
static _Thread_local long until_failure;

/* glibc's own functions, under the names that it has for such replacements */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *given);

static _Atomic int64_t live_bytes;      /* of all threads */

static void *counted(void *given)
{
    live_bytes += (int64_t)malloc_usable_size(given);
    return given;
}

void free(void *given)
{
    live_bytes -= (int64_t)malloc_usable_size(given);
    __libc_free(given);
}

static bool fails(void)
{
    if (!watching || until_failure-- != 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(n, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

#define THREAD_BYTES 1024               /* of ended threads, which the C library keeps for the next ones */

static void fail_each(struct rig *r, const char *policy, enum df_device_kind device)
{
    struct df_options o;
    struct df_error error;
    struct df_run *run;
    int status = DF_E_MEMORY;
    long n = 0, failures = 0;
    int64_t before;

    df_options_default(&o);
    o.log_level = DF_LOG_ERROR;
    o.policy = policy;
    o.device = device;
    o.workers = 1;
    o.waves = 2;
    o.emu_check = 0;
    rig_expect(r, 2);
    assert_int_equal(rig_run(r, &o, NULL, &error), DF_OK); /* from here on all is allocated that stays for ever */
    before = live_bytes;
    while (true) {
        rig_clear(r);
        until_failure = n++;
        watching = true;
        status = df_run_start(r->graph, &o, &run, &error);
        watching = false;
        if (status == DF_OK && until_failure >= 0)
            break;
        if (status == DF_OK) {
            assert_int_equal(df_run_wait(run, NULL, &error), DF_OK);
        } else {
            assert_true(status == DF_E_MEMORY || status == DF_E_DEVICE || status == DF_E_REFUSED);
            failures++;
        }
        if (live_bytes > before + THREAD_BYTES)
            fail_msg("by allocation %ld of policy %s, device %d: %ld bytes are not given back", n, policy, device,
                     (long)(live_bytes - before));
        assert_true(n < 10000);
    }
    assert_int_equal(df_run_wait(run, NULL, &error), DF_OK);
    assert_true(failures > 10);
    assert_int_equal(rig_run(r, &o, NULL, &error), DF_OK);
    assert_true(rig_same(r, 2));
}

static void test_nth_allocation(void **state)
{
    struct rig r;

    (void)state;
    rig_random(&r, 3, 12, 50, 0);
    fail_each(&r, "dmda", DF_DEVICE_NONE);
    fail_each(&r, "eager", DF_DEVICE_EMU);
    fail_each(&r, "ws", DF_DEVICE_EMU);
    fail_each(&r, "all-gpu", DF_DEVICE_EMU);
    rig_free(&r);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_nth_allocation) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
