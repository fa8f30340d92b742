/* test_cluster_message.c - messages of manager and workers: what is made is read again, and what is wrong in any bit is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/base/bytes.h"
#include "runtime/link/link.h"
#include "runtime/link/message.h"

static struct df_error error;

static unsigned char *copy_of(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size > 0 ? size : 1);

    memcpy(copy, bytes, size);
    return copy;
}

static void assert_same_value(const struct dfr_value *a, const struct dfr_value *b)
{
    assert_int_equal(a->port, b->port);
    assert_int_equal(a->empty, b->empty);
    assert_int_equal(a->n_extents, b->n_extents);
    assert_memory_equal(a->extents, b->extents, sizeof a->extents);
    assert_int_equal(a->bytes, b->bytes);
    if (a->bytes)
        assert_memory_equal(a->data, b->data, a->bytes);
}

static void assert_same_head(const struct dfr_head *a, const struct dfr_head *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->wave, b->wave);
    assert_int_equal(a->stage, b->stage);
}

/* A message of random values, some empty, some without bytes, some with extents. */
static struct dfr_message *random_message(uint32_t *random)
{
    static unsigned char data[300];
    struct dfr_value values[5] = { { 0 } };
    uint32_t n = rig_rand(random) % 6, port = 0;
    struct dfr_head head = { .kind = 1 + rig_rand(random) % (DFR_N_KINDS - 1), .epoch = rig_rand(random), .hash = rig_rand(random) };

    if (head.kind == DFR_HELLO || head.kind == DFR_GIVE || head.kind == DFR_RESULT || head.kind == DFR_VERDICT || head.kind == DFR_STORED || head.kind == DFR_ASK ||
        head.kind == DFR_TOOK)
        head.wave = (int64_t)rig_rand(random) << 20;
    head.stage = rig_rand(random) % 3;
    if (rig_rand(random) % 2)
        head.flags = head.kind == DFR_VERDICT || head.kind == DFR_STORED || head.kind == DFR_NONE ? DFR_DROPPED : head.kind == DFR_RESULT ? DFR_NO_WAVE
                     : head.kind == DFR_END || head.kind == DFR_CLOSE ? DFR_WHOLE : 0;
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)rig_rand(random);
    for (uint32_t i = 0; i < n; i++) {
        values[i] = (struct dfr_value){ .port = port, .empty = rig_rand(random) % 4 == 0, .n_extents = rig_rand(random) % 5 };
        for (unsigned k = 0; k < values[i].n_extents; k++)
            values[i].extents[k] = rig_rand(random) % 1000;
        values[i].bytes = values[i].empty ? 0 : rig_rand(random) % 300;
        values[i].data = values[i].bytes ? data : NULL;
        port += 1 + rig_rand(random) % 3;
    }
    return dfr_message_make(&head, values, n);
}

static void test_made_is_read(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 500; seed++) {
        uint32_t random = seed * 2654435761u | 1;
        struct dfr_message *made = random_message(&random), *read;
        assert_int_equal(dfr_message_read(copy_of(made->bytes, made->size), made->size, &read, &error), DF_OK);
        assert_same_head(&made->head, &read->head);
        assert_int_equal(made->n_values, read->n_values);
        for (uint32_t i = 0; i < made->n_values; i++)
            assert_same_value(&made->values[i], &read->values[i]);
        for (uint32_t i = 0; i < made->n_values; i++)
            assert_int_equal((uintptr_t)made->values[i].data % DFR_LINK_ALIGN, 0);
        dfr_message_drop(made);
        dfr_message_drop(read);
    }
}

/* Bytes that are read as a message are just the bytes that this message is made of. So no field goes unchecked. */
static bool is_refused_or_exact(const unsigned char *bytes, size_t size)
{
    struct dfr_message *read;

    if (dfr_message_read(copy_of(bytes, size), size, &read, &error) != DF_OK) {
        assert_null(read);
        assert_non_null(strstr(error.text, "from another rank is wrong: its "));
        return true;
    }
    struct dfr_message *again = dfr_message_make(&read->head, read->values, read->n_values);
    bool same = again->size == size && memcmp(again->bytes, bytes, size) == 0;
    dfr_message_drop(read);
    dfr_message_drop(again);
    return same;
}

static void test_changed_is_refused(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        uint32_t random = seed * 2654435761u | 1;
        struct dfr_message *made = random_message(&random);
        unsigned char *bytes = copy_of(made->bytes, made->size);
        for (size_t bit = 0; bit < 8 * made->size; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_true(is_refused_or_exact(bytes, made->size));
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        for (size_t size = 0; size < made->size; size++)
            assert_int_equal(dfr_message_read(copy_of(bytes, size), size, &(struct dfr_message *){ NULL }, &error), DF_E_FORMAT);
        free(bytes);
        dfr_message_drop(made);
    }
}

/* Several bytes at once become numbers that are often near a limit. */
static void test_random_changes(void **state)
{
    static const uint64_t numbers[] = { 0, 1, 2, 4, 5, 64, 72, 128, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX,
                                        UINT64_MAX - 63, UINT64_MAX / 72 + 1 };
    unsigned first = 1, last = 20000;

    (void)state;
    rig_seeds(&first, &last);
    for (uint32_t seed = first; seed <= last; seed++) {
        uint32_t random = seed * 2654435761u | 1;
        struct dfr_message *made = random_message(&random);
        unsigned char *bytes = copy_of(made->bytes, made->size);
        for (unsigned n = 1 + rig_rand(&random) % 3; n > 0; n--) {
            struct dfr_bytes_writer to = { bytes + 8 * (rig_rand(&random) % (made->size / 8)), 0 };
            dfr_bytes_put_number(&to, numbers[rig_rand(&random) % (sizeof numbers / sizeof *numbers)]);
        }
        assert_true(is_refused_or_exact(bytes, made->size));
        free(bytes);
        dfr_message_drop(made);
    }
}

/* Changes number `at` of a RESULT with two values to `number`; what is said then. */
static const char *said_of(unsigned at, uint64_t number)
{
    static const struct dfr_value values[] = { { .port = 1, .n_extents = 1, .extents = { 3 }, .data = "abc", .bytes = 3 },
                                               { .port = 2, .data = "de", .bytes = 2 } };
    struct dfr_head head = { .kind = DFR_RESULT, .epoch = 1, .hash = 2, .wave = 3 };
    struct dfr_message *made = dfr_message_make(&head, values, 2), *read;
    struct dfr_bytes_writer to = { made->bytes + 8 * at, 0 };

    dfr_bytes_put_number(&to, number);
    assert_int_equal(dfr_message_read(copy_of(made->bytes, made->size), made->size, &read, &error), DF_E_FORMAT);
    dfr_message_drop(made);
    return strrchr(error.text, ':') + 2;
}

static void test_each_field_is_named(void **state)
{
    (void)state;
    assert_string_equal(said_of(0, 7), "its beginning");
    assert_string_equal(said_of(1, 10), "its size");
    assert_string_equal(said_of(2, DFR_N_KINDS), "its kind");
    assert_string_equal(said_of(3, DFR_DROPPED), "its flags");
    assert_string_equal(said_of(6, UINT64_MAX), "its wave");
    assert_string_equal(said_of(2, DFR_BYE), "its wave");
    assert_string_equal(said_of(7, UINT64_C(1) << 32), "its stage");
    assert_string_equal(said_of(8, 1000), "its count of values");
    assert_string_equal(said_of(8, 1), "its filling");
    assert_string_equal(said_of(9, 2), "its port");
    assert_string_equal(said_of(10, 2), "its mark of an empty token");
    assert_string_equal(said_of(11, 5), "its count of extents");
    assert_string_equal(said_of(11, 0), "its extent");
    assert_string_equal(said_of(12, UINT64_MAX), "its extent");
    assert_string_equal(said_of(10, 1), "its count of bytes");
    assert_string_equal(said_of(16, UINT64_MAX), "its count of bytes");
    assert_string_equal(said_of(17, 0), "its offset");
    assert_string_equal(said_of(16, 2), "its filling");
    assert_string_equal(said_of(16, 65), "its filling");
}

static void test_text(void **state)
{
    struct dfr_head head = { .kind = DFR_WAVE_FAILED };
    struct dfr_message *made = dfr_message_make_text(&head, "why it failed"), *none = dfr_message_make(&head, NULL, 0);
    char text[32];

    (void)state;
    dfr_message_text_of(made, text, sizeof text);
    assert_string_equal(text, "why it failed");
    dfr_message_text_of(made, text, 4);
    assert_string_equal(text, "why");
    dfr_message_text_of(none, text, sizeof text);
    assert_string_equal(text, "");
    dfr_message_drop(dfr_message_hold(made));
    dfr_message_drop(made);
    dfr_message_drop(none);
    dfr_message_drop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_is_read),
        cmocka_unit_test(test_changed_is_refused),
        cmocka_unit_test(test_random_changes),
        cmocka_unit_test(test_each_field_is_named),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
