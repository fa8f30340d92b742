/* look_build.c - checks the tools that build programs, for `dfc doctor` (commands/cmd_doctor.c). The C compiler, and nvcc where
 * there is a GPU, are tried out: a small graph is compiled and run, and its result is checked.
 */
#include "compiler/doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/build/build_program.h"
#include "compiler/tools/home.h"

#define HEADING "to build programs"

static const char trial_text[] =
    "kernel numbers(out v: i32[n]) { v[x] = 3 * x; }\n"
    "kernel next(in v: i32[n], out s: i32[n]) { s[x] = v[x] + 1; }\n"
    "kernel look(in s: i32[n]) ordered cpu {{\n"
    "    for (size_t i = 0; i < n; i++)\n"
    "        if (s[i] != (int32_t)(3 * i + 1))\n"
    "            return df_fail(call, \"element %zu is %d\", i, (int)s[i]);\n"
    "}};\n"
    "graph main { v: i32[100000] = numbers(); s = next(v); look(s); }\n";

/* Writes the trial's file into a new folder, whose name is put into `folder`. false: it cannot be written, errno says why. */
static bool write_trial(char *folder, size_t size, char **path)
{
    const char *place = getenv("TMPDIR");
    snprintf(folder, size, "%s/dfc-XXXXXX", place && *place ? place : "/tmp");
    *path = NULL;
    if (!mkdtemp(folder) || asprintf(path, "%s/doctor.df", folder) < 0)
        return false;
    FILE *file = fopen(*path, "w");
    bool good = file && fputs(trial_text, file) >= 0;
    return (!file || fclose(file) == 0) && good;
}

/* Builds the small graph and runs it with these options of dfc and of the program. Adds what came of it. */
static void try_build(struct dfc_findings *list, struct dfc_look *finding, const char *of_dfc, const char *of_program,
                   const char *said_if_well)
{
    char folder[4096], *path = NULL, *out = NULL, *err = NULL;
    if (!write_trial(folder, sizeof folder, &path)) {
        finding->health = DFC_BROKEN;
        dfc_found(list, finding, "a folder for the trial, '%s', cannot be made: %s", folder, strerror(errno));
    } else {
        char *argv[] = { "/proc/self/exe", "run", path, (char *)of_dfc, "--", (char *)of_program, NULL };
        int status = dfc_run_tool(argv, &out, &err);
        char *why = err ? strstr(err, "error: ") : NULL;
        finding->health = status == 0 ? DFC_WELL : DFC_BROKEN;
        if (status == 0)
            dfc_found(list, finding, "%s", said_if_well);
        else
            dfc_found(list, finding, "status %d: %.*s", status, why ? (int)strcspn(why, "\n") : 0, why ? why : "");
        unlink(path);
    }
    rmdir(folder);
    free(path);
    free(out);
    free(err);
}

/* The words of a compiler's command in the environment, or its usual name. */
static void words_of(struct dfc_list *words, const char *variable, const char *usual)
{
    dfc_list_add_words(words, getenv(variable));
    if (words->n == 0)
        dfc_list_add(words, "%s", usual);
    dfc_list_add(words, "--version");
}

static bool look_compiler(struct dfc_findings *list, const char *what, const char *variable, const char *usual,
                          const char *means)
{
    struct dfc_list words = { 0 };
    words_of(&words, variable, usual);
    char *version = words.failed ? NULL : dfc_doctor_says(words.items, "");
    struct dfc_look finding = { HEADING, what, version ? DFC_WELL : DFC_BROKEN,
        means,
        "sudo apt-get install -y gcc g++ libc6-dev" };
    dfc_found(list, &finding, "%s: %s", words.n ? words.items[words.n - 2] : usual, version ? version : "not found, or it fails");
    free(version);
    dfc_list_free(&words);
    return finding.health == DFC_WELL;
}

/* ---- CUDA ---- */

/* nvcc's path, as compiling finds it. malloc'ed; NULL: there is none. */
static char *find_nvcc(void)
{
    const char *named = getenv("NVCC");
    char *found = dfc_find_program(named && *named ? named : "nvcc");
    return found || (named && *named) ? found : dfc_find_program("/usr/local/cuda/bin/nvcc");
}

/* Is the GPU code of this toolkit newer than the driver? Within one major version it runs. */
static void look_versions(struct dfc_findings *list, const char *release, int supports)
{
    int major = atoi(release + strlen("release "));
    if (supports <= 0 || major <= 0)
        return;
    bool runs = major <= supports / 1000;
    struct dfc_look finding = { HEADING, "driver for nvcc", runs ? DFC_WELL : DFC_BROKEN,
        "programs with gpu code do not start on the GPU",
        "install a newer driver, or an older toolkit ($NVCC names its nvcc)" };
    dfc_found(list, &finding, "toolkit %d.x, and the driver supports CUDA %d.%d", major, supports / 1000, supports % 1000 / 10);
}

static void look_cuda(struct dfc_findings *list, bool quick)
{
    static const char means[] = "gpu variants are left out of programs; --emu-gpu-code runs formulas' CUDA text on the emulator";
    int supports, gpus = dfc_doctor_gpus(&supports);
    char *nvcc = find_nvcc(), *release = nvcc ? dfc_doctor_says((char *[]){ nvcc, "--version", NULL }, "release ") : NULL;
    const char *lib = dfc_home_lib();
    char *part = NULL;
    bool has_part = lib && asprintf(&part, "%s/libdf-cuda.a", lib) >= 0 && access(part, R_OK) == 0;

    struct dfc_look tool = { HEADING, "nvcc", release ? DFC_WELL : nvcc ? DFC_BROKEN : DFC_ABSENT,
        means,
        "install NVIDIA's CUDA toolkit, and set NVCC to its nvcc if it is not in PATH" };
    dfc_found(list, &tool, "%s%s%s", nvcc ? nvcc : "not in PATH, and no /usr/local/cuda/bin/nvcc", release ? ": " : "",
              release ? strstr(release, "release ") : "");

    struct dfc_look cuda = { HEADING, "dfc with CUDA", has_part ? DFC_WELL : DFC_ABSENT,
        means,
        "build dfc again where nvcc is" };
    dfc_found(list, &cuda, "%s", has_part ? "libdf-cuda.a is there" : "this dfc was built without CUDA");

    if (release)
        look_versions(list, strstr(release, "release "), supports);
    if (release && has_part && gpus > 0 && !quick) {
        struct dfc_look trial = { HEADING, "trial on the GPU", DFC_WELL,
            "programs with gpu code do not work on this machine's GPU",
            NULL };
        try_build(list, &trial, "--device=cuda", "--device=cuda", "a graph with gpu code was compiled, ran, and its result is right");
    }
    free(part);
    free(release);
    free(nvcc);
}

void dfc_look_build(struct dfc_findings *list, bool quick)
{
    bool c = look_compiler(list, "C compiler", "CC", "cc", "no graph can be compiled");
    look_compiler(list, "C++ compiler", "CXX", "c++", "kernels in C++ and gpu code cannot be compiled");
    if (c && !quick) {
        struct dfc_look trial = { HEADING, "trial", DFC_WELL,
            "graphs cannot be compiled and run",
            "sudo apt-get install -y gcc libc6-dev libhwloc-dev libmetis-dev" };
        try_build(list, &trial, "--nvcc=none", "--device=none", "a graph was compiled, ran, and its result is right");
    }
    look_cuda(list, quick);
}
