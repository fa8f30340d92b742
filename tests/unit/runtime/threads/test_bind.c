/* test_bind.c - binding threads near a device. A request for a device that does not exist changes nothing. A thread
 * that is bound may run only on cores on which it could run before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <sched.h>

#include "runtime/threads/bind.h"

static void check_inside(const cpu_set_t *before, bool bound)
{
    cpu_set_t now, both;
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    CPU_AND(&both, &now, before);
    assert_true(CPU_EQUAL(&both, &now) && CPU_COUNT(&now) > 0);
    assert_int_equal(bound, !CPU_EQUAL(&now, before));
}

static void test_near(void **state)
{
    cpu_set_t before;
    struct dirent *entry;
    DIR *devices = opendir("/sys/bus/pci/devices");
    int n = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_false(dfr_bind_near("ffff:ff:1f.7"));
    assert_false(dfr_bind_near("no device"));
    check_inside(&before, false);
    while (devices && (entry = readdir(devices)) && n < 3) {
        if (entry->d_name[0] == '.')
            continue;
        check_inside(&before, dfr_bind_near(entry->d_name));
        assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
        n++;
    }
    if (devices)
        closedir(devices);
}

/* A thread that was bound to a core may run everywhere again. */
static void test_release(void **state)
{
    cpu_set_t before, now;
    struct dfr_cores *cores = dfr_cores_create();

    (void)state;
    if (!cores)
        skip();                         /* hwloc cannot say */
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_true(dfr_cores_bind(cores, 1));
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_COUNT(&now) == 1 || CPU_COUNT(&now) < CPU_COUNT(&before));
    dfr_cores_release(cores);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&now, &before));
    dfr_cores_destroy(cores);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_near), cmocka_unit_test(test_release) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
