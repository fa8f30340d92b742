/* cmd_merge.c - `dfc merge CHUNK…`: makes the files of a whole run from what programs wrote with --waves=A:B --out=CHUNK. */
#include "compiler/commands/command.h"

#include "runtime/cluster/chunk.h"

static int parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' && !dfc_option_known(&dfc_command_merge, argv[i]))
            return 2;
    if (argc > 1)
        return 0;
    dfc_error("chunks are expected, as a program writes them with --waves=A:B --out=FILE; 'dfc merge --help' says more");
    return 2;
}

static int run(int argc, char **argv)
{
    struct dfr_merged merged;
    struct df_error error = { "" };
    int status = parse(argc, argv);
    if (status)
        return status;
    if (dfr_chunks_merge((const char *const *)argv + 1, (size_t)argc - 1, &merged, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return 1;
    }
    const size_t files = merged.appended + merged.whole;
    fprintf(stderr, "dfc: %lld wave%s in %zu file%s%s\n", (long long)merged.waves, merged.waves == 1 ? "" : "s", files, files == 1 ? "" : "s",
            merged.ended ? ", up to the end of the stream" : "");
    return 0;
}

static const char usage[] =
    "usage: dfc merge CHUNK...\n\n"
    "Makes the files that one process would have made, from chunks that programs wrote with --waves=A:B --out=CHUNK. The chunks\n"
    "may come in any order. They must be of one program with the same arguments and inputs, and have each wave from 0 on once.\n"
    "The files get the names that the program was given, relative to the folder that dfc runs in.\n";

static const struct dfc_option own_options[] = { { 0 } };

const struct dfc_command dfc_command_merge = {
    "merge", "put the chunks of a run together", usage, run, { own_options }
};
