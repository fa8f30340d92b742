/* test_array.c - growing arrays and ring buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/base/array.h"

static void test_array(void **state)
{
    (void)state;
    uint16_t *items = NULL;
    uint32_t n = 0;
    size_t capacity = 0, moves = 0;
    while (n < 1000) {
        const size_t before = capacity;
        assert_true(DFR_ARRAY_ROOM(items, n, capacity));
        moves += capacity != before;
        assert_true(capacity > n);
        items[n] = (uint16_t)n;
        n++;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(items[i], i);
    assert_in_range(moves, 2, 20);
    assert_true(DFR_ARRAY_ROOM(items, 5000, capacity)); /* several at once */
    assert_true(capacity > 5000);
    free(items);
}

static void test_ring(void **state)
{
    (void)state;
    uint64_t *items = NULL, next = 0, oldest = 0;
    size_t first = 0, n = 0, capacity = 0;
    for (unsigned round = 0; round < 200; round++) { /* two come and one leaves, so it grows wherever the first one stands */
        for (unsigned i = 0; i < 2; i++) {
            assert_true(DFR_RING_ROOM(items, first, n, capacity));
            items[(first + n++) % capacity] = next++;
        }
        assert_int_equal(items[first], oldest++);
        first = (first + 1) % capacity;
        n--;
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(items[(first + i) % capacity], oldest + i);
    assert_int_equal(oldest + n, next);
    free(items);
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t *items = NULL;
    size_t capacity = 0;
    assert_true(DFR_ARRAY_ROOM(items, 0, capacity));
    items[0] = 7;
    const uint64_t *const before = items;
    const size_t had = capacity;
    assert_false(DFR_ARRAY_ROOM(items, SIZE_MAX / 8, capacity)); /* whose bytes no size_t can hold */
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, had);
    assert_int_equal(items[0], 7);
    free(items);
}

static void test_add(void **state)
{
    (void)state;
    struct dfr_array array = { 0 };
    assert_non_null(dfr_array_add(&array, sizeof(int), 0));
    assert_int_equal(array.n, 0);
    for (int i = 0; i < 100; i++) {
        int *added = dfr_array_add(&array, sizeof *added, 2);
        assert_non_null(added);
        assert_int_equal(added[0] | added[1], 0);
        added[1] = i;
    }
    assert_int_equal(array.n, 200);
    assert_int_equal(((const int *)array.items)[199], 99);
    assert_null(dfr_array_add(&array, sizeof(int), UINT32_MAX - 200));
    assert_int_equal(array.n, 200);
    dfr_array_free(&array);
    assert_null(array.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_array),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
