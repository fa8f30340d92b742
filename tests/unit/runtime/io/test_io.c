/* test_io.c - tiles against the definition of mirrored borders, headers of .npy that are wrong in every way, names of files by
 * wave, and what kernels keep from wave to wave: its end is called once, after a run and after each call of a session; and files that get no name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/df_io.h"
#include "runtime/engine/engine.h"
#include "runtime/record/held.h"
#include "runtime/io/npy.h"
#include "runtime/program/progress.h"

/* ---- tiles ---- */

struct image {
    int64_t height, width, y;
    unsigned char *pixels;              /* 2 bytes each */
};

static int next_row(void *source, void *row, struct df_call *call)
{
    struct image *image = source;
    (void)call;
    assert_true(image->y < image->height);
    memcpy(row, image->pixels + 2 * image->width * image->y++, (size_t)(2 * image->width));
    return DF_OK;
}

static int put_row(void *sink, const void *row, struct df_call *call)
{
    struct image *image = sink;
    (void)call;
    assert_true(image->y < image->height);
    memcpy(image->pixels + 2 * image->width * image->y++, row, (size_t)(2 * image->width));
    return DF_OK;
}

/* By the definition, a step at a time. */
static int64_t mirror(int64_t i, int64_t n)
{
    while (n > 1 && (i < 0 || i >= n))
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return n > 1 ? i : 0;
}

static struct image make_image(int64_t height, int64_t width)
{
    struct image image = { height, width, 0, calloc((size_t)(height * width), 2) };
    assert_non_null(image.pixels);
    for (int64_t i = 0; i < 2 * height * width; i++)
        image.pixels[i] = (unsigned char)(i * 31 + i / 7);
    return image;
}

static void check_tile(const struct image *in, const unsigned char *tile, const int64_t *at, int64_t h, int64_t w,
                       int64_t halo)
{
    assert_int_equal(at[2], in->height);
    assert_int_equal(at[3], in->width);
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            int64_t row = at[0] + y - halo, column = at[1] + x - halo;
            if (row >= in->height + halo || column >= in->width + halo)
                continue;               /* further outside than is promised */
            assert_memory_equal(tile + 2 * (y * w + x),
                                in->pixels + 2 * (mirror(row, in->height) * in->width + mirror(column, in->width)), 2);
        }
}

static void try_tiles(int64_t height, int64_t width, size_t core_h, size_t core_w, int64_t halo)
{
    struct df_call call = { 0 };
    struct image in = make_image(height, width), out = make_image(height, width);
    struct df_tiles_read *read;
    struct df_tiles_write *write = NULL;
    size_t h = core_h + 2 * (size_t)halo, w = core_w + 2 * (size_t)halo;
    unsigned char *tile = malloc(2 * h * w), *core = malloc(2 * core_h * core_w);
    int64_t at[4];
    memset(out.pixels, 0, (size_t)(2 * height * width));
    assert_int_equal(df_tiles_read_open(&call, (uint64_t)height, (uint64_t)width, 2, h, w, halo, &read), DF_OK);
    for (int64_t t = 0; t < df_tiles_read_n(read); t++) {
        assert_int_equal(df_tiles_read(&call, read, t, next_row, &in, tile, at), DF_OK);
        check_tile(&in, tile, at, (int64_t)h, (int64_t)w, halo);
        for (size_t y = 0; y < core_h; y++)
            memcpy(core + 2 * y * core_w, tile + 2 * ((y + (size_t)halo) * w + (size_t)halo), 2 * core_w);
        if (!write)
            assert_int_equal(df_tiles_write_open(&call, at, 2, core_h, core_w, &write), DF_OK);
        assert_int_not_equal(df_tiles_write_done(write, NULL), DF_OK);
        assert_int_equal(df_tiles_write(&call, write, core, at, put_row, &out), DF_OK);
    }
    assert_int_equal(df_tiles_write_done(write, NULL), DF_OK);
    assert_memory_equal(in.pixels, out.pixels, (size_t)(2 * height * width));
    df_tiles_read_close(read);
    df_tiles_write_close(write);
    free(tile);
    free(core);
    free(in.pixels);
    free(out.pixels);
}

static void test_tiles(void **state)
{
    (void)state;
    for (int64_t height = 1; height <= 9; height++)
        for (int64_t width = 1; width <= 9; width += 2)
            for (size_t core = 1; core <= 5; core += 2)
                for (int64_t halo = 0; halo <= 4; halo++)
                    try_tiles(height, width, core, 6 - core, halo);
    try_tiles(100, 37, 16, 9, 3);
}

/* A tile of h x w needs a pixel inside its halo. */
static void test_halos(void **state)
{
    static const struct { size_t h, w; int64_t halo; bool good; } cases[] = {
        { 1, 1, 0, true }, { 1, 1, 1, false },  { 7, 9, 3, true },          { 9, 7, 3, true },          { 6, 9, 3, false },
        { 9, 6, 3, false }, { 2, 9, 3, false }, { 9, 2, 3, false },         { 9, 9, -1, false },        { 9, 9, INT64_MIN, false },
        { 9, 9, INT64_MAX, false },             { 0, 9, 0, false },         { 9, 0, 0, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct df_call call = { 0 };
        struct df_tiles_read *read = NULL;
        char want[200];
        snprintf(want, sizeof want, "a tile of %zu x %zu has no pixel inside a halo of %lld", cases[i].h, cases[i].w, (long long)cases[i].halo);
        int status = df_tiles_read_open(&call, 20, 20, 1, cases[i].h, cases[i].w, cases[i].halo, &read);
        assert_int_equal(status, cases[i].good ? DF_OK : DF_FAILED);
        assert_string_equal(call.message, cases[i].good ? "" : want);
        df_tiles_read_close(read);
    }
}

static void test_tiles_out_of_order(void **state)
{
    struct df_call call = { 0 };
    struct df_tiles_write *write;
    struct df_error error;
    unsigned char tile[8] = { 0 };
    (void)state;
    assert_int_equal(df_tiles_write_open(&call, (int64_t[]){ 0, 0, 4, 4 }, 2, 2, 2, &write), DF_OK);
    assert_int_equal(df_tiles_write(&call, write, tile, (int64_t[]){ 2, 0, 4, 4 }, put_row, NULL), DF_FAILED);
    assert_non_null(strstr(call.message, "belongs at row 0, column 0 of 4 x 4"));
    assert_int_not_equal(df_tiles_write_done(write, &error), DF_OK);
    assert_string_equal(error.text, "0 of 4 tiles came, so no picture is written");
    df_tiles_write_close(write);
}

/* ---- .npy ---- */

static int read_npy(const void *bytes, size_t n, struct df_npy *npy, char *why)
{
    struct df_call call = { 0 };
    FILE *file = fmemopen((void *)bytes, n, "rb");
    int status = df_npy_read(&call, "x", file, npy);
    fclose(file);
    strcpy(why, call.message);
    return status;
}

/* A header of version 1 with this text. */
static int read_header(const char *text, struct df_npy *npy, char *why)
{
    char bytes[300] = "\x93NUMPY\1";
    size_t n = strlen(text);
    bytes[8] = (char)n;
    memcpy(bytes + 10, text, n);
    return read_npy(bytes, 10 + n, npy, why);
}

static void test_npy_round_trip(void **state)
{
    char bytes[DF_NPY_HEADER_BYTES + 1], why[256];
    struct df_npy npy;
    (void)state;
    for (int elem = 0; elem < DF_N_ELEMS; elem++)
        for (unsigned rank = 0; rank <= DF_MAX_RANK + 1; rank++) {
            struct df_npy given = { .elem = (enum df_elem)elem, .rank = rank };
            for (unsigned i = 0; i < rank; i++)
                given.extents[i] = UINT64_MAX - i;
            FILE *file = fmemopen(bytes, sizeof bytes, "wb");
            df_npy_write(file, &given);
            assert_int_equal(ftell(file), DF_NPY_HEADER_BYTES);
            fclose(file);
            assert_int_equal(bytes[DF_NPY_HEADER_BYTES - 1], '\n');
            assert_int_equal(read_npy(bytes, DF_NPY_HEADER_BYTES, &npy, why), DF_OK);
            assert_int_equal(npy.elem, elem);
            assert_int_equal(npy.rank, rank);
            assert_memory_equal(npy.extents, given.extents, rank * sizeof *given.extents);
        }
}

/* A file of tokens [2, 3] of u8: the extents in its header, as text. */
static const char *extents_of(FILE *file)
{
    static char text[80];
    char bytes[DF_NPY_HEADER_BYTES], why[256];
    struct df_npy npy;
    assert_int_equal(pread(fileno(file), bytes, sizeof bytes, 0), DF_NPY_HEADER_BYTES);
    assert_int_equal(read_npy(bytes, sizeof bytes, &npy, why), DF_OK);
    text[0] = '\0';
    for (unsigned i = 0; i < npy.rank; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%llu ", (unsigned long long)npy.extents[i]);
    return text;
}

/* The count of a run that was ended while it gave its files their names is taken away for a run that goes on, which counts again. */
static void test_npy_goes_on(void **state)
{
    const struct df_npy given = { .elem = DF_U8, .rank = 2, .extents = { 2, 3 } };
    struct df_error error;
    (void)state;
    for (int tokens = 1; tokens <= 5; tokens++)     /* after which the run goes on; the file had 5, or as many */
        for (int counted = 0; counted < 3; counted++) {
            const int had = counted == 2 && tokens > 1 ? tokens : 5;
            FILE *file = tmpfile();
            df_npy_write(file, &given);
            assert_int_equal(fwrite("123456123456123456123456123456", 6, (size_t)had, file), had);
            fflush(file);
            if (counted)
                assert_int_equal(dfr_npy_count(fileno(file), had, &error), DF_OK);
            char want[16];
            snprintf(want, sizeof want, "%d 2 3 ", had);
            assert_string_equal(extents_of(file), counted ? want : "2 3 ");
            assert_int_equal(dfr_npy_uncount(fileno(file), tokens, DF_NPY_HEADER_BYTES + 6 * tokens, &error), DF_OK);
            assert_string_equal(extents_of(file), "2 3 ");
            assert_int_equal(ftruncate(fileno(file), DF_NPY_HEADER_BYTES + 6 * (tokens + 2)), 0);
            assert_int_equal(dfr_npy_count(fileno(file), tokens + 2, &error), DF_OK);
            snprintf(want, sizeof want, "%d 2 3 ", tokens + 2);
            assert_string_equal(extents_of(file), want);
            fclose(file);
        }
}

static void test_npy_wrong(void **state)
{
    static const char *const wrong[] = {
        "", "{", "{}", "{'descr': '<f4', }", "{'shape': (3,), 'fortran_order': False}", "{'descr': 'f4",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,), }", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", "{'descr': '<f4', 'fortran_order': False, 'shape': (3 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "{'descr': '<f4' 'x': 3}",
        "{'descr': '<x9', 'fortran_order': False, 'shape': (3,), }", "{'descr': '', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }", "{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }" };
    char why[256];
    struct df_npy npy;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(read_header(wrong[i], &npy, why), DF_FAILED);
        assert_non_null(strstr(why, "'x'"));
    }
    assert_int_equal(read_header("{'shape': (3, 4), 'fortran_order': False, 'descr': '|u1'}", &npy, why), DF_OK);
    assert_int_equal(npy.rank, 2);
    assert_int_equal(read_npy("\x93NUMPY\4\0\2\0{}", 12, &npy, why), DF_FAILED);
    assert_string_equal(why, "'x' is of version 4 of the .npy format, and 1 to 3 are known");
    assert_int_equal(read_npy("\x93NUMPY\2\0\377\377\377\377", 12, &npy, why), DF_FAILED);
    assert_string_equal(why, "the header of 'x' is not as NumPy writes it");
}

/* ---- names ---- */

static void try_path(const char *pattern, int64_t wave, const char *wanted)
{
    struct df_run run = { 0 };
    struct df_call call = { .run = &run, .wave = wave };
    char *path = NULL;
    int status = df_output_path(&call, pattern, wave > 0, &path);
    assert_int_equal(status, wanted ? DF_OK : DF_FAILED);
    if (wanted)
        assert_string_equal(path, wanted);
    free(path);
}

static void test_paths(void **state)
{
    (void)state;
    try_path("a.png", 0, "a.png");
    try_path("a.png", 1, NULL);
    try_path("a%d.png", 12, "a12.png");
    try_path("%04d/%3d.png", 12, "0012/012.png");
    try_path("100%%", 0, "100%");
    try_path("100%%%d", 7, "100%7");
    try_path("a%s", 0, NULL);
    try_path("a%", 0, NULL);
    try_path("a%999999999999999999999d", 0, NULL);
    assert_true(df_path_has_wave("%%%d"));
    assert_false(df_path_has_wave("%%d"));
    assert_false(df_path_has_wave("50%"));
}

/* ---- progress ---- */

static void try_progress(int64_t done, int64_t total, double seconds, const char *wanted)
{
    char text[160];
    dfr_progress_text(text, sizeof text, done, total, seconds);
    assert_string_equal(text, wanted);
}

static void try_ranks(int n_live, int n_dead, const char *wanted)
{
    char text[64] = "x";
    dfr_progress_ranks(text, sizeof text, n_live, n_dead);
    assert_string_equal(text, wanted);
}

static void test_progress(void **state)
{
    (void)state;
    try_ranks(0, 0, "");
    try_ranks(1, 0, ", 1 rank");
    try_ranks(3, 0, ", 3 ranks");
    try_ranks(2, 1, ", 2 ranks, 1 lost");
    try_ranks(0, 3, ", 0 ranks, 3 lost");
    try_progress(0, 0, 1, "0 waves, 0/s");
    try_progress(0, 10, 1, "0 of 10 waves, 0/s");
    try_progress(5, 0, 2, "5 waves, 2.5/s");
    try_progress(5, 10, 2, "5 of 10 waves, 2.5/s, 2 s left");
    try_progress(100, 1000, 10, "100 of 1000 waves, 10/s, 1 min 30 s left");
    try_progress(1, 1000, 10, "1 of 1000 waves, 0.1/s, 2 h 46 min left");
    try_progress(10, 10, 4, "10 of 10 waves, 2.5/s, 4 s");
    try_progress(11, 10, 2, "11 waves, 5.5/s");
}

/* ---- states ---- */

static int n_ends, n_good;
static bool end_fails, job_fails, asks_for_more;

static int end_of(void *memory, int good, struct df_error *error)
{
    n_ends++;
    n_good += good;
    assert_int_equal(*(int *)memory, 3);
    if (end_fails)
        snprintf(error->text, sizeof error->text, "the disk is full");
    return end_fails ? DF_E_IO : DF_OK;
}

static int count(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    int *waves = df_state(call, sizeof *waves, end_of);
    if (asks_for_more && *waves == 2) {
        assert_null(df_state(call, sizeof *waves + 1, end_of));
        ++*waves;
        return DF_FAILED;
    }
    (void)stream, (void)dims, (void)ports, (void)scalars;
    df_expect_waves(call, 3);
    if (++*waves == 3 && job_fails)
        return df_fail(call, "as asked");
    return DF_OK;
}

static struct df_graph *make_graph(void)
{
    struct df_kernel_desc desc = { .name = "count", .traits = DF_ORDERED, .functions = { .cpu = count } };
    struct df_builder *builder = df_builder_new("t");
    struct df_graph *graph;
    uint32_t kernel, node;
    assert_int_equal(df_builder_kernel(builder, &desc, &kernel, NULL), DF_OK);
    assert_int_equal(df_builder_node(builder, kernel, NULL, NULL, NULL, &node, NULL), DF_OK);
    assert_int_equal(df_builder_finish(builder, &graph, NULL), DF_OK);
    df_builder_free(builder);
    return graph;
}

static int try_run(const struct df_graph *graph, unsigned workers, struct df_error *error)
{
    struct df_options options;
    struct df_run *run;
    df_options_default(&options);
    options.device = DF_DEVICE_NONE;
    options.waves = 3;
    options.workers = workers;
    n_ends = n_good = 0;
    assert_int_equal(df_run_start(graph, &options, &run, error), DF_OK);
    return df_run_wait(run, NULL, error);
}

static void test_state_of_runs(void **state)
{
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        end_fails = job_fails = false;
        assert_int_equal(try_run(graph, workers, &error), DF_OK);
        assert_int_equal(n_ends + 10 * n_good, 11);
        job_fails = end_fails = true;   /* the first failure is the one that is told */
        assert_int_equal(try_run(graph, workers, &error), DF_E_KERNEL);
        assert_string_equal(error.text, "node 'main/count', wave 2: as asked");
        assert_int_equal(n_ends + 10 * n_good, 1);
        job_fails = false;
        assert_int_equal(try_run(graph, workers, &error), DF_E_IO);
        assert_string_equal(error.text, "node 'main/count', after the last wave: the disk is full");
        assert_int_equal(n_ends + 10 * n_good, 11);
    }
    df_graph_free(graph);
}

static void test_state_of_another_size(void **state)
{
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    (void)state;
    end_fails = job_fails = false;
    asks_for_more = true;
    for (unsigned workers = 1; workers <= 2; workers++) {
        assert_int_equal(try_run(graph, workers, &error), DF_E_KERNEL);
        assert_string_equal(error.text, "node 'main/count', wave 2: df_state() was asked for 4 bytes first, and for 5 now: the memory is "
                                        "the same in all waves");
        assert_int_equal(n_ends + 10 * n_good, 1);
    }
    asks_for_more = false;
    df_graph_free(graph);
}

static void test_state_of_sessions(void **state)
{
    struct df_graph *graph = make_graph();
    struct df_session *session;
    struct df_options options;
    struct df_error error;
    (void)state;
    df_options_default(&options);
    options.device = DF_DEVICE_NONE;
    options.waves = 3;
    n_ends = n_good = 0;
    end_fails = job_fails = false;
    assert_int_equal(df_session_open(graph, &options, &session, &error), DF_OK);
    for (int call = 1; call <= 4; call++) {
        end_fails = call == 2;
        job_fails = call == 3;
        int wanted = call == 2 ? DF_E_IO : call == 3 ? DF_E_KERNEL : DF_OK;
        assert_int_equal(df_session_run(session, NULL, &error), wanted);
        assert_int_equal(n_ends, call);
    }
    assert_int_equal(n_good, 3);
    assert_int_equal(df_session_close(session, NULL, &error), DF_OK);
    assert_int_equal(n_ends, 4);
    df_graph_free(graph);
}

/* ---- files of waves that somebody else judges ---- */

/* A file that cannot get its name leaves nothing in the room. */
static void test_held(void **state)
{
    char folder[] = "/tmp/df-held-XXXXXX", path[64], room[64];
    struct dfr_output output;
    struct dfr_held *held;
    struct df_error error = { "" };
    bool stored = true;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(room, sizeof room, "%s/.dfc-%016x", folder, 7);
    assert_int_equal(dfr_held_create(7, false, &held, &error), DF_OK);
    assert_int_equal(dfr_held_open(held, path, 3, &output, &error), DF_OK);
    assert_int_equal(dfr_held_close(held, 3, 0, &output, &error), DF_OK);
    assert_int_equal(access(room, F_OK), 0);
    assert_int_equal(mkdir(path, 0777), 0); /* where the file is to be there is a folder now */
    assert_int_equal(dfr_held_settle(held, 0, true, &stored, &error), DF_E_IO);
    assert_non_null(strstr(error.text, "Is a directory"));
    dfr_held_free(held, false);
    assert_int_not_equal(access(room, F_OK), 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),          cmocka_unit_test(test_halos), cmocka_unit_test(test_tiles_out_of_order),
        cmocka_unit_test(test_npy_round_trip), cmocka_unit_test(test_npy_wrong), cmocka_unit_test(test_npy_goes_on),
        cmocka_unit_test(test_paths),          cmocka_unit_test(test_progress),
        cmocka_unit_test(test_state_of_runs),  cmocka_unit_test(test_state_of_another_size),
        cmocka_unit_test(test_state_of_sessions),
        cmocka_unit_test(test_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
