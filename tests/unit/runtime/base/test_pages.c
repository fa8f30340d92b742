/* test_pages.c - memory that is given its pages is there before anybody touches it, and keeps what it holds. Large memory
 * is reserved at a huge page, and the system is asked for huge pages. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/pages.h"

#define N 64

static unsigned char *reserve(size_t page)
{
    void *memory = mmap(NULL, N * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static unsigned present(void *memory, size_t page)
{
    unsigned char pages[N] = { 0 };
    unsigned n = 0;
    assert_int_equal(mincore(memory, N * page, pages), 0);
    for (unsigned i = 0; i < N; i++)
        n += pages[i] & 1;
    return n;
}

static void pages_are_there_before_they_are_touched(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = reserve(page);
    (void)state;
    if (madvise(memory, page, MADV_POPULATE_WRITE) != 0)
        skip();                         /* a Linux before 5.14 */
    munmap(memory, N * page);
    memory = reserve(page);
    assert_int_equal(present(memory, page), 0);
    memory[3 * page] = 7;
    dfr_pages_give(memory, 0);
    assert_int_equal(present(memory, page), 1);
    dfr_pages_give(memory, 9 * page + 1);
    assert_int_equal(present(memory, page), 10);
    dfr_pages_give(memory, N * page);
    assert_int_equal(present(memory, page), N);
    assert_int_equal(memory[3 * page], 7);
    munmap(memory, N * page);
}

/* The flags of the mapping that `memory` is in (proc(5), VmFlags), and where it ends; 0: there is none. */
static uintptr_t mapping_at(const void *memory, char flags[256])
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long begin, end = 0;
    bool here = false, done = false;
    assert_non_null(maps);
    while (!done && fgets(line, sizeof line, maps)) {
        unsigned long to;
        if (sscanf(line, "%lx-%lx ", &begin, &to) == 2) {
            here = begin <= (uintptr_t)memory && (uintptr_t)memory < to;
            end = here ? to : 0;
        }
        done = here && sscanf(line, "VmFlags: %255[^\n]", flags) == 1;
    }
    fclose(maps);
    return done ? end : 0;
}

static void large_memory_is_in_huge_pages(void **state)
{
    uint64_t bytes = 3 * DFR_HUGE_BYTES + (size_t)sysconf(_SC_PAGESIZE) + 1;
    char flags[256];
    unsigned char *memory = dfr_pages_reserve(bytes);
    (void)state;
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % DFR_HUGE_BYTES, 0);
    assert_int_equal(memory[0] + memory[bytes - 1], 0);
    memory[bytes - 1] = 7;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0) {
        assert_int_equal(mapping_at(memory, flags), (uintptr_t)memory + 3 * DFR_HUGE_BYTES + 2 * (size_t)sysconf(_SC_PAGESIZE));
        assert_non_null(strstr(flags, " hg"));
    }
    assert_int_equal(munmap(memory, bytes), 0);
    assert_int_equal(mapping_at(memory, flags), 0);
}

static void small_memory_is_in_small_pages(void **state)
{
    char flags[256] = "";
    uint64_t bytes = DFR_HUGE_BYTES - (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = dfr_pages_reserve(bytes);
    (void)state;
    assert_non_null(memory);
    memory[bytes - 1] = 7;
    mapping_at(memory, flags);
    assert_null(strstr(flags, " hg"));
    assert_int_equal(munmap(memory, bytes), 0);
    assert_null(dfr_pages_reserve(UINT64_MAX));
    assert_null(dfr_pages_reserve(UINT64_C(1) << 62));
}

/* What stands beside the memory cannot be touched, and the system is asked whether it can. */
static void guards_stand_on_both_sides(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = dfr_pages_reserve_guarded(page + 1);
    int ends[2];
    (void)state;
    assert_non_null(memory);
    assert_int_equal(pipe(ends), 0);
    memory[0] = memory[2 * page - 1] = 7;
    assert_int_equal(write(ends[1], memory, 1), 1);
    assert_int_equal(write(ends[1], memory + 2 * page - 1, 1), 1);
    assert_int_equal(write(ends[1], memory - 1, 1), -1);
    assert_int_equal(write(ends[1], memory + 2 * page, 1), -1);
    assert_int_equal(write(ends[1], memory - DFR_GUARD_BYTES, 1), -1);
    assert_int_equal(write(ends[1], memory + 2 * page + DFR_GUARD_BYTES - 1, 1), -1);
    close(ends[0]);
    close(ends[1]);
    dfr_pages_return(memory, page + 1);
    assert_null(dfr_pages_reserve_guarded(UINT64_MAX));
    assert_null(dfr_pages_reserve_guarded(UINT64_C(1) << 62));
}

static void memory_of_a_thread_begins_with_a_page(void **state)
{
    char flags[256] = "";
    unsigned char *large = dfr_pages_alloc(2 * DFR_HUGE_BYTES + 1), *small = dfr_pages_alloc(5000), *none = dfr_pages_alloc(0);
    (void)state;
    assert_non_null(large);
    assert_non_null(small);
    assert_non_null(none);
    assert_int_equal((uintptr_t)large % DFR_HUGE_BYTES, 0);
    assert_int_equal((uintptr_t)small % (size_t)sysconf(_SC_PAGESIZE), 0);
    large[0] = large[2 * DFR_HUGE_BYTES] = small[0] = small[4999] = 7;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0) {
        assert_true(mapping_at(large, flags) >= (uintptr_t)large + 2 * DFR_HUGE_BYTES + 1);
        assert_non_null(strstr(flags, " hg"));
    }
    free(large);
    free(small);
    free(none);
    assert_null(dfr_pages_alloc(UINT64_MAX));
}

/* A reservation may be larger than the machine's memory, and only a part of it is ever used. */
static void only_a_part_of_the_machine_is_given(void **state)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    (void)state;
    assert_int_equal(dfr_pages_most(0), 0);
    assert_int_equal(dfr_pages_most(5000), 5000);
    assert_true(dfr_pages_most(machine) <= machine / 16);
    assert_true(dfr_pages_most(UINT64_MAX) <= UINT64_C(1) << 30);
}

/* All that a run pins by itself; more is pinned if it is asked for, and then a part has its pages. */
static void pinned_memory_is_given_as_a_whole(void **state)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    (void)state;
    assert_int_equal(dfr_pages_most_pinned(5000), 5000);
    assert_int_equal(dfr_pages_most_pinned(machine / 5), machine / 5);
    assert_true(dfr_pages_most_pinned(machine / 3) <= machine / 16);
    assert_int_equal(dfr_pages_most_pinned(UINT64_MAX), dfr_pages_most(UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_there_before_they_are_touched),
        cmocka_unit_test(large_memory_is_in_huge_pages),
        cmocka_unit_test(small_memory_is_in_small_pages),
        cmocka_unit_test(guards_stand_on_both_sides),
        cmocka_unit_test(memory_of_a_thread_begins_with_a_page),
        cmocka_unit_test(only_a_part_of_the_machine_is_given),
        cmocka_unit_test(pinned_memory_is_given_as_a_whole),
    };
    return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
