/* cmd_merge.c - `dfc merge CHUNK…`: combines the chunks that programs wrote with --waves=A:B --out=CHUNK into the files
 * of a whole run.
 */
#include "compiler/commands/command.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/record/chunk.h"

#define MOST_WAVES 1000000000000000ul

struct request {
    const char **chunks;
    size_t n_chunks;
    bool outside;
    int64_t waves;                      /* below 0: the chunks say how many there are */
};

static const struct dfr_option own_options[] = {
    { "--waves", "N", "the run has N waves, as a program with --waves=N; or fewer if the stream ends before",
      DFR_COUNT(struct request, waves, 0, MOST_WAVES) },
    { "--outside", NULL, "write also files that lie outside the folder that dfc runs in", DFR_FIELD(FLAG, struct request, outside) },
    { 0 }
};

static bool take_chunk(void *request, const char *word)
{
    struct request *r = request;
    r->chunks[r->n_chunks++] = word;
    return true;
}

static int parse(int argc, char **argv, struct request *r)
{
    if (!dfc_options_read(&dfc_command_merge, argc, argv, r, take_chunk))
        return 2;
    if (r->n_chunks > 0)
        return 0;
    dfc_error("chunks are expected, as a program writes them with --waves=A:B --out=FILE; 'dfc merge --help' says more");
    return 2;
}

static int merge(const struct request *r)
{
    struct dfr_merged merged;
    struct df_error error = { "" };
    if (dfr_chunks_merge(r->chunks, r->n_chunks, r->waves, r->outside, &merged, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return 1;
    }
    const size_t files = merged.appended + merged.whole;
    fprintf(stderr, "dfc: %lld wave%s in %zu file%s%s\n", (long long)merged.waves, merged.waves == 1 ? "" : "s", files, files == 1 ? "" : "s",
            merged.ended ? ", up to the end of the stream" : "");
    return 0;
}

static int run(int argc, char **argv)
{
    struct request r = { .chunks = malloc((size_t)argc * sizeof *r.chunks), .waves = -1 };
    int status = 1;
    if (r.chunks)
        status = parse(argc, argv, &r);
    else
        dfc_error("out of memory");
    if (status == 0)
        status = merge(&r);
    free(r.chunks);
    return status;
}

static const char usage[] =
    "usage: dfc merge [OPTION]... CHUNK...\n\n"
    "Makes the files that one process would have made, from chunks that programs wrote with --waves=A:B --out=CHUNK. The chunks\n"
    "may come in any order. They must be of one program with the same arguments and inputs, and have each wave from 0 to the end of the\n"
    "stream once. If they do not say where the stream ends, or a part of it is wanted, --waves says how many waves there are.\n"
    "The files get the names that the program was given, relative to the folder that dfc runs in. Others, such as ../out.raw and\n"
    "/data/out.raw, are refused without --outside: a chunk may come from another machine.\n";

const struct dfc_command dfc_command_merge = {
    "merge", "put the chunks of a run together", usage, run, DFC_OPTIONS({ own_options, 0 })
};
