/* test_emu_check.c - a kernel on the emulated GPU that touches what it did not declare is stopped, and is named.
 * Other faults go to the handler that they would have gone to.
 */
#include "emu_rig.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- protection ---- */

/* Reads or writes the byte at ports[0]. call->number 0: reads it; else that number is written. */
static int poke(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    volatile unsigned char *where = ports[0];

    (void)stream;
    (void)dims;
    (void)scalars;
    if (call->number == 0)
        return *where == 255 ? DF_FAILED : DF_OK;
    *where = (unsigned char)call->number;
    return DF_OK;
}

/* Runs `poke` at pool + offset as node `name` with these ranges. Gives what was said; "": nothing. */
static const char *poke_as(struct rig *rig, const char *name, size_t offset, int value, const struct dfr_range *ranges,
                           uint32_t n_ranges)
{
    static struct df_call call;
    int result = -1;
    void *ports[] = {rig->pool + offset};
    struct dfr_launch l = {.fn = poke,
                           .call = &call,
                           .ports = ports,
                           .result = &result,
                           .ranges = ranges,
                           .n_ranges = n_ranges,
                           .node_name = name};

    call = (struct df_call){.number = value};
    launch(rig, &l, DFR_STREAM_COMPUTE);
    drain(rig);
    assert_int_equal(result, call.message[0] == '\0' ? DF_OK : DF_FAILED);
    return call.message;
}

#ifdef __x86_64__
#define READ_VERB "read"
#define WRITE_VERB "wrote to"
#else
#define READ_VERB "touched"
#define WRITE_VERB "touched"
#endif

static void test_undeclared_block_is_named(void **state)
{
    struct rig rig;
    struct dfr_range grey, blur[2];
    unsigned char out;

    (void)state;
    rig_open(&rig, &free_links, 1, true);
    grey = (struct dfr_range){rig.pool + 20 * PAGE, 3 * PAGE, true, "out"};
    blur[0] = (struct dfr_range){rig.pool, PAGE, false, "a"};
    blur[1] = (struct dfr_range){rig.pool + PAGE, 1000, true, "b"};
    assert_string_equal(poke_as(&rig, "main/grey", 21 * PAGE, 5, &grey, 1), "");
    assert_string_equal(poke_as(&rig, "main/blur", 21 * PAGE + 8, 0, blur, 2),
                        "it " READ_VERB
                        " a block that it did not declare, of node 'main/grey' port 'out'");
    assert_string_equal(poke_as(&rig, "main/blur", 22 * PAGE, 7, blur, 2),
                        "it " WRITE_VERB
                        " a block that it did not declare, of node 'main/grey' port 'out'");
    assert_string_equal(poke_as(&rig, "main/blur", 40 * PAGE, 7, blur, 2),
                        "it " WRITE_VERB " memory of emu0 that it did not declare, of no known block");
    assert_string_equal(poke_as(&rig, "main/blur", 2 * PAGE, 0, blur, 2),
                        "it " READ_VERB " memory of emu0 that it did not declare, of no known block"
                        " (3096 bytes past the end of its port 'b')");
    /* What lies behind the device's memory, and in front of it, is nobody's. */
    assert_string_equal(poke_as(&rig, "main/blur", POOL_BYTES + 8, 7, blur, 2),
                        "it " WRITE_VERB " memory of emu0 that it did not declare, of no known block");
    assert_string_equal(poke_as(&rig, "main/blur", (size_t)-8, 7, blur, 2),
                        "it " WRITE_VERB " memory of emu0 that it did not declare, of no known block (8 bytes before its port 'a')");
    /* The device goes on, and what was declared works. */
    assert_string_equal(poke_as(&rig, "main/blur", PAGE + 3, 77, blur, 2), "");
    copy(&rig, DFR_COPY_D2H, &out, rig.pool + PAGE + 3, 1, DFR_STREAM_D2H);
    drain(&rig);
    assert_int_equal(out, 77);
    rig.ops->close(rig.device);
}

static void test_input_is_read_only(void **state)
{
    struct rig rig;
    struct dfr_range ranges[2];

    (void)state;
    rig_open(&rig, &free_links, 1, true);
    ranges[0] = (struct dfr_range){rig.pool, 2 * PAGE, false, "a"};
    ranges[1] = (struct dfr_range){rig.pool + 2 * PAGE, PAGE, true, "b"};
    assert_string_equal(poke_as(&rig, "main/blur", PAGE + 5, 0, ranges, 2), "");
    assert_string_equal(poke_as(&rig, "main/blur", PAGE + 5, 1, ranges, 2),
                        "it wrote to its input port 'a', which is read-only");
    assert_string_equal(poke_as(&rig, "main/blur", 2 * PAGE, 1, ranges, 2), "");
    rig.ops->close(rig.device);
}

/* Memory that is used again is named after its new owner. Once a copy has filled it, it has no name. */
static void test_block_names_follow_reuse(void **state)
{
    struct rig rig;
    struct dfr_range one, two, reader;
    static unsigned char host[PAGE];

    (void)state;
    rig_open(&rig, &free_links, 1, true);
    one = (struct dfr_range){rig.pool, 4 * PAGE, true, "x"};
    two = (struct dfr_range){rig.pool, PAGE, true, "y"};
    reader = (struct dfr_range){rig.pool, PAGE, false, "in"};
    assert_string_equal(poke_as(&rig, "first", 0, 1, &one, 1), "");
    assert_string_equal(poke_as(&rig, "second", 0, 1, &two, 1), "");
    assert_string_equal(poke_as(&rig, "third", 0, 0, &reader, 1), ""); /* a reader does not rename it */
    assert_non_null(strstr(poke_as(&rig, "fourth", 10, 0, NULL, 0), "of node 'second' port 'y'"));
    assert_non_null(strstr(poke_as(&rig, "fourth", PAGE, 0, NULL, 0), "of no known block"));
    copy(&rig, DFR_COPY_H2D, rig.pool, host, PAGE, DFR_STREAM_H2D);
    drain(&rig);
    assert_non_null(strstr(poke_as(&rig, "fourth", 10, 0, NULL, 0), "of no known block"));
    rig.ops->close(rig.device);
}

/* Two GPUs, each with its own memory: a pointer into the wrong memory is found, too. */
static void test_two_devices(void **state)
{
    struct rig one, two = {.ops = dfr_back_end_of(DF_DEVICE_EMU), .unit = free_links};
    struct dfr_device_config config = {
        .unit = &two.unit, .pool_bytes = POOL_BYTES, .compute_streams = 1, .check = true};
    struct sigaction before, after;
    struct df_error error;
    struct dfr_range range;
    size_t apart;

    (void)state;
    sigaction(SIGSEGV, NULL, &before);
    rig_open(&one, &free_links, 1, true);
    assert_int_equal(two.ops->open(1, &config, &two.device, &error), DF_OK);
    two.pool = two.ops->pool(two.device);
    range = (struct dfr_range){two.pool, PAGE, true, "out"};
    assert_string_equal(poke_as(&two, "main/there", 7, 1, &range, 1), "");
    apart = (size_t)((uintptr_t)two.pool - (uintptr_t)one.pool);
    assert_string_equal(poke_as(&one, "main/here", apart + 7, 0, NULL, 0),
                        "it " READ_VERB
                        " a block that it did not declare, of node 'main/there' port 'out'");
    assert_string_equal(poke_as(&one, "main/here", apart + PAGE, 0, NULL, 0),
                        "it " READ_VERB " memory of emu1 that it did not declare, of no known block");
    one.ops->close(one.device);
    assert_string_equal(poke_as(&two, "main/there", 2 * PAGE, 0, NULL, 0),
                        "it " READ_VERB " memory of emu1 that it did not declare, of no known block");
    two.ops->close(two.device);
    sigaction(SIGSEGV, NULL, &after);
    assert_ptr_equal(before.sa_sigaction, after.sa_sigaction);
}

/* Reads a block over and over for a while; copies of the same block open and close it meanwhile. */
static int read_long(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                     const union df_scalar *scalars)
{
    const volatile unsigned char *block = ports[0];
    double end_s = dfr_clock_s() + 0.05;
    unsigned sum = 0;

    (void)call;
    (void)stream;
    (void)dims;
    (void)scalars;
    while (dfr_clock_s() < end_s)
        sum += block[sum % PAGE];
    return DF_OK;
}

static void test_copy_of_a_block_in_use(void **state)
{
    static unsigned char host[PAGE];
    struct rig rig;
    struct df_call call = {.number = 0};
    int result = -1;
    struct dfr_range range;
    void *ports[1];
    struct dfr_launch l = {.fn = read_long, .call = &call, .ports = ports, .result = &result, .ranges = &range,
                           .n_ranges = 1, .node_name = "long"};

    (void)state;
    rig_open(&rig, &free_links, 1, true);
    ports[0] = rig.pool;
    range = (struct dfr_range){rig.pool, PAGE, false, "a"};
    launch(&rig, &l, DFR_STREAM_COMPUTE);
    for (int i = 0; i < 2000; i++)
        copy(&rig, DFR_COPY_D2H, host, rig.pool, PAGE, DFR_STREAM_D2H);
    drain(&rig);
    assert_string_equal(call.message, "");
    assert_int_equal(result, DF_OK);
    rig.ops->close(rig.device);
}

/* ---- the handler and its neighbours ---- */

static sigjmp_buf elsewhere;

static void own_handler(int signal_number)
{
    (void)signal_number;
    siglongjmp(elsewhere, 1);
}

static void test_faults_elsewhere_go_to_the_previous_handler(void **state)
{
    struct sigaction own = {.sa_handler = own_handler}, before, now;
    unsigned char *guarded = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rig rig;

    (void)state;
    sigaction(SIGSEGV, &own, &before);
    rig_open(&rig, &free_links, 1, true);
    if (sigsetjmp(elsewhere, 1) == 0) {
        *(volatile unsigned char *)guarded = 1;
        fail_msg("writing to a protected page went through");
    }
    rig.ops->close(rig.device);
    sigaction(SIGSEGV, NULL, &now);
    assert_true(now.sa_handler == own_handler);
    sigaction(SIGSEGV, &before, NULL);
    munmap(guarded, PAGE);
}

/* A handler that was put over the emulator's may call it, so the emulator's stays, and a device that is opened then puts none over that. */
static void test_a_handler_over_ours_stays(void **state)
{
    struct sigaction own = {.sa_handler = own_handler}, before, ours, now;
    struct rig rig;

    (void)state;
    sigaction(SIGSEGV, NULL, &before);
    rig_open(&rig, &free_links, 1, true);
    sigaction(SIGSEGV, &own, &ours);
    rig.ops->close(rig.device);
    rig_open(&rig, &free_links, 1, true);
    sigaction(SIGSEGV, NULL, &now);
    assert_true(now.sa_handler == own_handler);
    sigaction(SIGSEGV, &ours, NULL);
    rig.ops->close(rig.device);
    sigaction(SIGSEGV, NULL, &now);
    assert_ptr_equal(now.sa_sigaction, before.sa_sigaction);
}

/* Code on the CPU that touches the pool ends the process as a fault does, after one line that says what happened. */
static void test_cpu_code_in_the_pool_is_reported(void **state)
{
    char text[4096] = "";
    size_t length = 0;
    ssize_t got;
    int ends[2], status;
    pid_t child;

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* no threads after fork there */
#endif
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rig rig;

        signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the tests */
        dup2(ends[1], STDERR_FILENO);
        rig_open(&rig, &free_links, 1, true);
        rig.pool[2 * PAGE + 1] = 1;
        _exit(0);
    }
    close(ends[1]);
    while (length < sizeof text - 1 && (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_non_null(strstr(text, "error: code on the CPU touched memory of the emulated GPU emu0, byte 8193\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undeclared_block_is_named),
        cmocka_unit_test(test_input_is_read_only),
        cmocka_unit_test(test_block_names_follow_reuse),
        cmocka_unit_test(test_two_devices),
        cmocka_unit_test(test_copy_of_a_block_in_use),
        cmocka_unit_test(test_faults_elsewhere_go_to_the_previous_handler),
        cmocka_unit_test(test_a_handler_over_ours_stays),
        cmocka_unit_test(test_cpu_code_in_the_pool_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
