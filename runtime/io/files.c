/* files.c - the input side of df_io.h, for kernels, as those of std/: lists of paths, opening files, and the extents that they announce. record/digest.c and
 * runs of several passes query a graph's input files. */
#include "runtime/df_io.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/engine/engine.h"
#include "runtime/io/files.h"

/* ---- lists of files ---- */

/* Some editors put the mark before a text. */
static char *behind_mark(char *text)
{
    return text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
}

char *dfr_list_path(char *line, bool is_first)
{
    line[strcspn(line, "\r\n")] = '\0';
    return is_first ? behind_mark(line) : line;
}

struct df_files {
    char *text;                         /* the list, cut into paths by NULs; or the one path */
    glob_t matches;                     /* or the paths that match a pattern */
    const char **paths;
    size_t n;
};

/* Reads a whole file that may be a pipe. */
static int read_text(struct df_call *call, const char *path, char **text)
{
    FILE *file;
    size_t room = 0;
    int status = df_file_open(call, path, &file);
    if (status != DF_OK)
        return status;
    errno = 0;
    ssize_t n = getdelim(text, &room, '\0', file);
    if (n >= 2 && (memcmp(*text, "\xff\xfe", 2) == 0 || memcmp(*text, "\xfe\xff", 2) == 0))
        status = df_fail(call, "the list '%s' is UTF-16: save it as UTF-8", path);
    else if (n < 0 && !feof(file))
        status = df_fail(call, "cannot read the list '%s': %s", path, strerror(errno ? errno : EIO));
    else if (fgetc(file) != EOF)
        status = df_fail(call, "'%s' is no list of files: it holds a zero byte", path);
    else if (!*text)
        status = df_fail(call, "out of memory for the list '%s'", path);
    else if (n < 0)                     /* the file is empty, and the buffer has no end yet */
        **text = '\0';
    fclose(file);
    return status;
}

/* Makes `paths` of the lines of `text`. false: no memory. */
static bool cut_lines(struct df_files *files, bool fill)
{
    files->n = 0;
    for (char *line = behind_mark(files->text), *end; *line; line = end) {
        size_t length = strcspn(line, "\n");
        end = line + length + (line[length] == '\n');
        if (length > 0 && line[length - 1] == '\r')
            length--;
        if (length == 0)
            continue;
        if (fill) {
            line[length] = '\0';
            files->paths[files->n] = line;
        }
        files->n++;
    }
    if (!fill)
        files->paths = calloc(files->n + 1, sizeof *files->paths);
    return files->paths;
}

static int read_list(struct df_call *call, struct df_files *files, const char *path)
{
    int status = read_text(call, path, &files->text);
    if (status != DF_OK)
        return status;
    if (!cut_lines(files, false) || !cut_lines(files, true))
        return df_fail(call, "out of memory for the list '%s'", path);
    return files->n ? DF_OK : df_fail(call, "the list '%s' names no file", path);
}

static int take_path(struct df_call *call, struct df_files *files, const char *path)
{
    files->text = strdup(path);
    files->paths = calloc(1, sizeof *files->paths);
    files->n = 1;
    if (!files->text || !files->paths)
        return df_fail(call, "out of memory");
    files->paths[0] = files->text;
    return DF_OK;
}

static bool is_pattern(const char *path)
{
    return strpbrk(path, "*?") && access(path, F_OK) != 0;
}

static int take_matches(struct df_call *call, struct df_files *files, const char *pattern)
{
    int result = glob(pattern, GLOB_NOESCAPE, NULL, &files->matches);
    if (result == GLOB_NOMATCH)
        return df_fail(call, "no file matches '%s'", pattern);
    files->paths = result == 0 ? calloc(files->matches.gl_pathc, sizeof *files->paths) : NULL;
    if (!files->paths)
        return df_fail(call, result == GLOB_ABORTED ? "cannot read the folders of '%s'" : "out of memory for '%s'", pattern);
    for (files->n = 0; files->n < files->matches.gl_pathc; files->n++)
        files->paths[files->n] = files->matches.gl_pathv[files->n];
    return DF_OK;
}

int df_files_open(struct df_call *call, const char *path, struct df_files **files)
{
    struct df_files *made = calloc(1, sizeof *made);
    int status = !made              ? df_fail(call, "out of memory")
                 : path[0] == '@'   ? read_list(call, made, path + 1)
                 : is_pattern(path) ? take_matches(call, made, path)
                                    : take_path(call, made, path);
    if (status == DF_OK)
        *files = made;
    else
        df_files_close(made);
    return status;
}

size_t df_files_n(const struct df_files *files)
{
    return files->n;
}

const char *df_files_path(const struct df_files *files, size_t i)
{
    return files->paths[i];
}

void df_files_close(struct df_files *files)
{
    if (!files)
        return;
    free(files->text);
    globfree(&files->matches);
    free(files->paths);
    free(files);
}

/* ---- reading again ---- */

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
}

/* A list that is a pipe cannot be read before its reader reads it. */
static bool list_again(const char *path)
{
    FILE *file = is_file(path) ? fopen(path, "rbe") : NULL;
    bool again = file || access(path, F_OK) != 0;
    char *line = NULL;
    size_t room = 0;
    for (bool is_first = true; again && file && getline(&line, &room, file) > 0; is_first = false)
        again = is_file(dfr_list_path(line, is_first));
    free(line);
    if (file)
        fclose(file);
    return again;
}

bool dfr_files_again(const char *path)
{
    glob_t matches = { 0 };
    bool again = true;
    if (path[0] == '@')
        return list_again(path + 1);
    if (!is_pattern(path))
        return is_file(path);
    if (glob(path, GLOB_NOESCAPE, NULL, &matches) == 0)
        for (size_t i = 0; i < matches.gl_pathc; i++)
            again &= is_file(matches.gl_pathv[i]);
    globfree(&matches);
    return again;
}

/* ---- opening ---- */

int df_file_open(struct df_call *call, const char *path, FILE **file)
{
    struct stat info;
    FILE *opened = fopen(path, "rbe");
    if (!opened)
        return df_fail(call, "cannot read '%s': %s", path, *path ? strerror(errno) : "the name is empty");
    if (fstat(fileno(opened), &info) == 0 && S_ISDIR(info.st_mode)) {
        fclose(opened);
        return df_fail(call, "cannot read '%s': it is a folder", path);
    }
    *file = opened;
    return DF_OK;
}

/* ---- extents ---- */

char *df_extents_text(char *text, size_t size, enum df_elem elem, unsigned rank, const uint64_t *extents)
{
    size_t n = (size_t)snprintf(text, size, "%s%s", df_elem_name(elem), rank ? "[" : "");
    for (unsigned i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%llu%s", (unsigned long long)extents[i], i + 1 < rank ? ", " : "]");
    return text;
}

/* The dynamic param that gives this extent, as far as names and values tell: one that is called as the kernel's
 * dimension, else the only one with this value. NULL: none does. */
static const char *param_of(const struct df_graph *g, const char *dimension, uint64_t extent)
{
    const char *only = NULL;
    unsigned n = 0;
    for (uint32_t i = 0; i < g->n_params; i++) {
        const char *name = df_graph_string(g, g->params[i].name);
        if ((uint64_t)g->params[i].value != extent)
            continue;
        if (strcmp(name, dimension) == 0)
            return name;
        only = name;
        n++;
    }
    return n == 1 ? only : NULL;
}

/* What is compared: the extents of a token, or their bounds, with those of a file. */
struct sizes {
    const struct df_call *call;
    unsigned rank, decided;             /* a bit for each extent with a bound */
    const size_t *token;
    const uint64_t *in_file;
};

static const char *name_at(const struct sizes *s, unsigned i)
{
    const struct df_graph *g = s->call->run->graph;
    return df_graph_string(g, g->dim_names[g->kernels[g->nodes[dfr_job_node(s->call->job)].kernel].first_dim + i]);
}

static bool fits_at(const struct sizes *s, unsigned i)
{
    return s->decided >> i & 1 ? s->in_file[i] <= s->token[i] : s->in_file[i] == s->token[i];
}

/* The param of extent i, or NULL if the extent is right or nothing shows which it is. */
static const char *param_at(const struct sizes *s, unsigned i)
{
    return fits_at(s, i) ? NULL : param_of(s->call->run->graph, name_at(s, i), s->token[i]);
}

/* Writes "[h <= 500, w <= 640, 3]" into text: the file's extents where those of the token are too small. */
static void write_bounds(const struct sizes *s, bool enough, char *text, size_t size)
{
    size_t n = 0;
    for (unsigned i = 0; i < s->rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s%s%llu", i ? ", " : "[", s->decided >> i & 1 ? name_at(s, i) : "",
                              s->decided >> i & 1 ? " <= " : "",
                              (unsigned long long)(enough && !fits_at(s, i) ? s->in_file[i] : s->token[i]));
    if (n < size)
        snprintf(text + n, size - n, "]");
}

/* What can be done if nothing shows which params give the sizes. */
static void advise_to_edit(const struct sizes *s, char *text, size_t size)
{
    char bounds[160];
    write_bounds(s, true, bounds, sizeof bounds);
    if (s->decided)
        snprintf(text, size, "annotate the stream with %s", bounds);
    else
        snprintf(text, size, "a 'param ... dynamic' makes a size one that is given at the start");
}

/* Writes "give --h=480 --w=640" into text, or what can be done. */
static void advise(const struct sizes *s, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "give");
    for (unsigned i = 0; i < s->rank; i++) {
        const char *name = param_at(s, i), *other;
        unsigned before = 0;                            /* extent of the same param */
        if (fits_at(s, i))
            continue;
        if (s->in_file[i] == 0) {
            snprintf(text, size, "a fixed size is 1 or more; one with a bound, as of 'read_npy_up_to_...', may be 0");
            return;
        }
        while (before < i && !(name && (other = param_at(s, before)) && strcmp(other, name) == 0))
            before++;
        if (!name || n >= size) {
            advise_to_edit(s, text, size);
            return;
        }
        if (before < i && s->in_file[before] != s->in_file[i]) {
            snprintf(text, size, "no --%s gives both", name);
            return;
        }
        if (before == i)
            n += (size_t)snprintf(text + n, size - n, " --%s=%llu", name, (unsigned long long)s->in_file[i]);
    }
}

static int check_sizes(struct df_call *call, const char *path, enum df_elem elem, const struct sizes *s)
{
    char has[96], type[8], wanted[160], advice[200];
    bool fit = true;
    for (unsigned i = 0; i < s->rank; i++)
        fit &= fits_at(s, i);
    if (fit)
        return DF_OK;
    advise(s, advice, sizeof advice);
    write_bounds(s, false, wanted, sizeof wanted);
    return df_fail(call, "'%s' is %s, and the token is %s%s: %s", path,
                   df_extents_text(has, sizeof has, elem, s->rank, s->in_file),
                   df_extents_text(type, sizeof type, elem, 0, NULL), wanted, advice);
}

int df_extents_check(struct df_call *call, const char *path, enum df_elem elem, unsigned rank, const size_t *token,
                     const uint64_t *in_file)
{
    return check_sizes(call, path, elem, &(struct sizes){ call, rank, 0, token, in_file });
}

int df_extents_take(struct df_call *call, const char *path, enum df_elem elem, unsigned rank, unsigned decided,
                    size_t *token, const uint64_t *in_file)
{
    int status = check_sizes(call, path, elem, &(struct sizes){ call, rank, decided, token, in_file });
    for (unsigned i = 0; i < rank && status == DF_OK; i++)
        token[i] = (size_t)in_file[i];
    return status;
}
