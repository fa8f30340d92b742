/* make_seeds.c - the seeds of fuzz_files that are no text: make_seeds FOLDER ROWS.sql FILE.df…
 *
 * Makes in the folder: a profile database of the rows, as a file with small pages; and of each program that is right
 * and small, the image with a plan, and the pack of its sources. The first byte of each names the reader.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/front/sources.h"
#include "fuzz.h"
#include "profiles/profiles.h"

#define MOST_BYTES (24u << 10)          /* of a seed; larger ones make fuzzing slow */

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    int c;
    if (!in || !out)
        fuzz_fail("%s cannot be read", path);
    while ((c = getc(in)) != EOF)
        putc(c, out);
    fclose(in);
    if (fclose(out) != 0)
        fuzz_fail("no memory");
    return (unsigned char *)text;
}

static void write_seed(const char *folder, char reader, const char *name, const unsigned char *bytes, size_t size)
{
    char path[512];
    if (size > MOST_BYTES)
        return;
    snprintf(path, sizeof path, "%s/%c-%s", folder, reader, name);
    FILE *out = fopen(path, "wb");
    if (!out || putc(reader, out) == EOF || fwrite(bytes, 1, size, out) != size || fclose(out) != 0)
        fuzz_fail("%s cannot be written", path);
}

static void make_database(const char *folder, const char *rows)
{
    char path[512];
    struct df_error error = { "" };
    struct dfw_db *made;
    sqlite3 *db;
    size_t size;
    snprintf(path, sizeof path, "%s/database", folder);
    if (dfw_db_open(path, true, &made, &error) != DF_OK)
        fuzz_fail("%s", error.text);
    dfw_db_close(made);
    unsigned char *sql = read_file(rows, &size);
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, (char *)sql, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL) != SQLITE_OK)
        fuzz_fail("%s: %s", rows, sqlite3_errmsg(db));
    sqlite3_close(db);
    free(sql);
    unsigned char *bytes = read_file(path, &size);
    unlink(path);
    write_seed(folder, '0', "database", bytes, size);
    free(bytes);
}

/* Some measured sizes of kernel `add`, as a program with dynamic params carries them. */
static void make_known(struct dfw_known *known, struct dfw_kernel_points *kernel, struct dfw_point *points)
{
    static char name[] = "add", none[] = "", dims[3][8] = { "k=128", "k=6400", "k=64" };
    static const uint64_t bytes[] = { 1536, 76800, 768 };
    for (unsigned i = 0; i < 3; i++)
        points[i] = (struct dfw_point){ dims[i], none, bytes[i], 1e-6 + (double)bytes[i] * 1e-9,
                                         .demand = { 0 } };
    *kernel = (struct dfw_kernel_points){ name, { { 3, points }, { 1, points } } };
    *known = (struct dfw_known){ .emulated = true, .n_kernels = 1, .kernels = kernel };
}

static void make_image(const char *folder, const char *name, const struct dfc_front *front)
{
    struct df_error error = { "" };
    struct df_times times;
    struct df_platform platform;
    struct dfp_options options;
    struct dfw_known known;
    struct dfw_kernel_points kernel;
    struct dfw_point points[3];
    struct dfr_image image = { .graph = front->graph, .default_waves = -1 };
    unsigned char *sources, *pack;
    fuzz_times(front->graph, &times);
    df_platform_default(&platform, 1);
    dfp_options_default(&options);
    const struct dfp_problem problem = { .graph = front->graph, .platform = &platform, .times = &times };
    make_known(&known, &kernel, points);
    if (dfp_plan_make(&problem, "heft", &options, &image.plan, &error) == DF_OK &&
        dfc_sources_pack(front, NULL, 0, &sources, &image.source_bytes) &&
        dfw_known_pack(&known, &pack, &image.known_bytes, &error) == DF_OK) {
        size_t size;
        image.sources = sources;
        image.known = pack;
        unsigned char *bytes = fuzz_image(&image, &size, NULL);
        write_seed(folder, '3', name, bytes, size);
        write_seed(folder, '6', name, sources, image.source_bytes);
        write_seed(folder, '7', "times", pack, image.known_bytes);
        free(bytes);
        free(sources);
        free(pack);
    }
    dfr_plan_free(image.plan);
    dfr_times_free(&times);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fuzz_fail("usage: make_seeds FOLDER ROWS.sql FILE.df...");
    make_database(argv[1], argv[2]);
    for (int i = 3; i < argc; i++) {
        struct fuzz_front f;
        size_t size;
        const char *slash = strrchr(argv[i], '/');
        unsigned char *text = read_file(argv[i], &size);
        fuzz_front_run(&f, text, size);
        if (f.front)
            make_image(argv[1], slash ? slash + 1 : argv[i], f.front);
        fuzz_front_free(&f);
        free(text);
    }
    return 0;
}
