/* temporary_program.c - builds a program in a temporary folder for the commands that run it (run, compare, profile),
 * and removes the folder on every exit path. It also separates the program's arguments from dfc's, for `dfc replay`,
 * too, and checks them (temporary_program.h).
 */
#include "compiler/trial/temporary_program.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "compiler/tools/messages.h"
#include "compiler/types/paths.h"
#include "runtime/base/unfinished.h"

int dfc_trial_split(int argc, char **argv)
{
    int i = 1;
    while (i < argc && strcmp(argv[i], "--") != 0)
        i++;
    return i;
}

static bool is_given(const char *name, char *const *words, int n)
{
    size_t length = strlen(name);
    for (int i = 0; i < n; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0 || strcmp(words[i], "--version") == 0)
            return true;                /* with these the program needs no args */
        if (strncmp(words[i], "--", 2) == 0 && strncmp(words[i] + 2, name, length) == 0 &&
            (!words[i][2 + length] || words[i][2 + length] == '='))
            return true;
    }
    return false;
}

bool dfc_trial_args(const struct df_graph *graph, char *const *words, int n)
{
    char missing[512] = "";
    for (uint32_t i = 0; i < graph->n_args; i++) {
        const char *name = df_graph_string(graph, graph->args[i].name);
        size_t used = strlen(missing);
        if (!graph->args[i].has_default && !is_given(name, words, n))
            snprintf(missing + used, sizeof missing - used, " --%s=…", name);
    }
    if (*missing)
        dfc_error("the graph has args without defaults: add --%s%s", n ? " …" : "", missing);
    return !*missing;
}

void dfc_trial_warn_taken(const struct df_graph *graph, char *const *words, int n)
{
    for (uint32_t i = 0; i < graph->n_args; i++) {
        const char *name = df_graph_string(graph, graph->args[i].name);
        if (is_given(name, words, n))
            dfc_warning("--%s is an option of dfc here; for the arg '%s' of the graph it stands after '--'", name, name);
    }
}

/* May programs be run there, and files be made? */
static bool runs_programs(const char *folder)
{
    struct statvfs fs;
    return statvfs(folder, &fs) == 0 && !(fs.f_flag & ST_NOEXEC) && access(folder, W_OK | X_OK) == 0;
}

/* A folder for programs: $TMPDIR or /tmp, or another one if that is mounted with noexec. The user's cache is made if it is not there. */
static char *find_place(void)
{
    const char *named = getenv("TMPDIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *first = named && *named ? named : "/tmp", *others[] = { cache && *cache == '/' ? cache : NULL, NULL, "/tmp", "/var/tmp", "." };
    char own[PATH_MAX];
    struct statvfs fs;
    if (home && *home == '/' && (size_t)snprintf(own, sizeof own, "%s/.cache", home) < sizeof own)
        others[1] = own;
    if (statvfs(first, &fs) != 0 || !(fs.f_flag & ST_NOEXEC)) /* that it is not there is told when the folder is made */
        return strdup(first);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == own || (others[i] && others[i] == cache))
            mkdir(others[i], 0700);
        if (others[i] && runs_programs(others[i]))
            return strdup(others[i]);
    }
    return strdup(first);
}

/* mkdtemp(), and a signal removes the folder from then on. */
static bool make_own(char *folder)
{
    sigset_t before;
    dfr_unfinished_enter(&before);
    const bool made = mkdtemp(folder);
    const int code = errno;
    if (made)
        dfr_unfinished_add(folder);
    dfr_unfinished_leave(&before);
    errno = code;
    return made;
}

/* Makes DIR/dfc-XXXXXX/ and the path of the program in it. The program has the graph's name, because its messages begin
 * with it. */
static bool make_folder(const struct dfc_common *common, struct dfc_trial *trial)
{
    char *stem = dfc_stem(common->path), *place = find_place();
    bool good = stem && place && asprintf(&trial->folder, "%s/dfc-XXXXXX", place) >= 0;
    if (!good) {
        trial->folder = NULL;
        dfc_error("out of memory");
    } else if (!make_own(trial->folder)) {
        dfc_error("cannot make a folder for the program, '%s': %s", trial->folder, strerror(errno));
        free(trial->folder);
        trial->folder = NULL;
        good = false;
    } else if (asprintf(&trial->path, "%s/%s", trial->folder, stem) < 0) {
        trial->path = NULL;
        dfc_error("out of memory");
        good = false;
    }
    free(stem);
    free(place);
    return good;
}

void dfc_trial_cannot_run(const char *program, int code)
{
    char folder[PATH_MAX];
    struct statvfs fs;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(program, '/') ? strrchr(program, '/') - program : 0), program);
    if (code == EACCES && statvfs(folder, &fs) == 0 && fs.f_flag & ST_NOEXEC)
        dfc_error("cannot run '%s': its file system is mounted with noexec; set TMPDIR to a folder where programs may run", program);
    else
        dfc_error("cannot run '%s': %s", program, strerror(code));
}

bool dfc_trial_build(const struct dfc_common *common, struct dfc_loaded *loaded, const struct dfc_build_options *build,
                       struct dfc_trial *trial)
{
    struct dfc_build_options here = *build;
    here.runs_here = true;
    memset(trial, 0, sizeof *trial);
    if (make_folder(common, trial)) {
        dfr_unfinished_add(trial->path);
        if (dfc_build(common, loaded, &here, trial->path) == 0)
            return true;
    }
    dfc_trial_remove(trial);
    return false;
}

void dfc_trial_remove(struct dfc_trial *trial)
{
    if (trial->path) {
        unlink(trial->path);
        dfr_unfinished_drop(trial->path);
    }
    if (trial->folder) {
        rmdir(trial->folder);
        dfr_unfinished_drop(trial->folder);
    }
    free(trial->path);
    free(trial->folder);
    memset(trial, 0, sizeof *trial);
}

void dfc_trial_arguments(const struct dfc_trial *trial, const struct dfc_common *common, struct dfc_list *argv)
{
    dfc_list_add(argv, "%s", trial->path);
    if (common->device)
        dfc_list_add(argv, "--device=%s", common->device);
    if (common->emu_all)
        dfc_list_add(argv, "--emu-all");
    if (common->gpu_mem_bytes)
        dfc_list_add(argv, "--gpu-mem=%" PRIu64, common->gpu_mem_bytes);
    if (common->workers)
        dfc_list_add(argv, "--workers=%u", common->workers);
    if (common->inflight)
        dfc_list_add(argv, "--inflight=%u", common->inflight);
    if (common->gpu_jobs == DF_FIND_JOBS)
        dfc_list_add(argv, "--gpu-jobs=auto");
    else if (common->gpu_jobs)
        dfc_list_add(argv, "--gpu-jobs=%u", common->gpu_jobs);
    if (common->platform)
        dfc_list_add(argv, "--platform=%s", common->platform);
}
