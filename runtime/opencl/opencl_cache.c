/* opencl_cache.c - keeps what OpenCL's drivers have compiled in the cache's folder (base/cache_folder.h), because they take about a second for each kernel.
 * opencl_machine.c asks it before it builds.
 *
 * PoCL:     has a cache of its own, and compiles only the kernels that are launched; asked for a binary it compiles all of them.
 * Entry:    KEY.opencl: a head and the driver's binary. The key is a hash of device, driver, build options and text. The head has a second hash of these, and one of
 *           the binary, so a file that is damaged or of another key counts as absent. A driver may refuse a binary; then the text is compiled again.
 * Bound:    MOST_BYTES. Who adds an entry removes those that were used longest ago.
 * Errors:   none are reported: what cannot be read is compiled, what cannot be written is not kept. Files are replaced whole, so several processes may add
 *           entries at once, and be killed at any time.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/opencl/opencl_impl.h"
#include "runtime/base/cache_folder.h"
#include "runtime/base/intern.h"
#include "runtime/base/output.h"

#define MOST_BYTES (UINT64_C(64) << 20)

struct head {
    char magic[16];
    uint64_t check, bytes, hash;
};

static const char magic[16] = "dfc opencl 1\n";
static const char ending[] = ".opencl";

/* Writes FOLDER/KEY.opencl. false: there is no cache. */
static bool name_entry(uint64_t key, char *path, size_t size)
{
    char *folder = dfr_cache_folder();
    const int n = folder ? snprintf(path, size, "%s/%016" PRIx64 "%s", folder, key, ending) : -1;
    free(folder);
    return n > 0 && (size_t)n < size;
}

static bool read_entry(const char *path, uint64_t check, unsigned char **binary, size_t *bytes)
{
    FILE *file = fopen(path, "rbe");
    struct head head;
    bool good = file && fread(&head, sizeof head, 1, file) == 1 && memcmp(head.magic, magic, sizeof magic) == 0 && head.check == check && head.bytes <= MOST_BYTES;
    *binary = good ? malloc(head.bytes + 1) : NULL;
    good = *binary && fread(*binary, 1, head.bytes + 1, file) == head.bytes && dfr_hash(0, *binary, head.bytes) == head.hash;
    if (file)
        fclose(file);
    *bytes = good ? head.bytes : 0;
    return good;
}

cl_program dfr_cl_cached(const struct cl_machine *m, uint64_t key, uint64_t check, const char *options)
{
    char path[PATH_MAX];
    unsigned char *binary = NULL;
    cl_program program = NULL;
    cl_int status = CL_SUCCESS, refused = CL_SUCCESS;
    size_t bytes;

    if (name_entry(key, path, sizeof path) && read_entry(path, check, &binary, &bytes)) {
        const unsigned char *part = binary;
        program = dfr_cl.CreateProgramWithBinary(m->context, 1, &m->id, &bytes, &part, &refused, &status);
        utimensat(AT_FDCWD, path, NULL, 0); /* it was used now */
    }
    free(binary);
    if (program && (status != CL_SUCCESS || refused != CL_SUCCESS || dfr_cl.BuildProgram(program, 1, &m->id, options, NULL, NULL) != CL_SUCCESS)) {
        dfr_cl.ReleaseProgram(program);
        program = NULL;
    }
    return program;
}

static void trim(const char *entry)
{
    const int folder = dfr_cache_open(entry);
    if (folder < 0)
        return;
    dfr_cache_trim(folder, ending, NULL, MOST_BYTES);
    close(folder);
}

void dfr_cl_keep(uint64_t key, uint64_t check, cl_program program)
{
    char path[PATH_MAX];
    struct dfr_output output;
    unsigned char *binary = NULL;
    size_t bytes = 0;

    if (!name_entry(key, path, sizeof path) || dfr_cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS || bytes == 0 ||
        !(binary = malloc(bytes)))
        return;
    if (dfr_cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS && dfr_output_open(&output, path, NULL) == DF_OK) {
        struct head head = { .check = check, .bytes = bytes, .hash = dfr_hash(0, binary, bytes) };
        memcpy(head.magic, magic, sizeof magic);
        bool good = fwrite(&head, sizeof head, 1, output.file) == 1 && fwrite(binary, 1, bytes, output.file) == bytes;
        if (dfr_output_close(&output, good, NULL) == DF_OK)
            trim(path);
    }
    free(binary);
}
