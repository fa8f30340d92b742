/* arrays.h - the common part of raw.c and npy.c: files that hold tokens one after the other. The including file defines
 * begin_file() and begin_output(), which are the only differences.
 */
#ifndef STD_ARRAYS_H
#define STD_ARRAYS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <df_io.h>

#include "elements.h"

/* Reads up to the first token, and checks that the file holds tokens like this one, whose bounds become the extents of
 * those in the file. *n: how many; -1: as many as come, because the file is a pipe. */
static int begin_file(struct df_call *call, const char *path, FILE *file, const struct token *token, int64_t *n);
/* Writes what precedes a token, or so many tokens without elements, which nothing follows. */
static void begin_output(FILE *file, const struct token *token, int64_t zeros);
/* Does that say how large a token is? Then all in the file are alike. */
static const int says_extents;

/* -1: the file is none whose size says anything. */
static inline int64_t size_of(FILE *file)
{
    struct stat info;
    return fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
}

/* ---- reading ---- */

struct source {
    struct df_files *files;
    size_t next;                        /* number of the file to open */
    const char *path;
    FILE *file;                         /* NULL: none is open */
    int64_t left;                       /* tokens in it; -1: until it ends */
    int64_t skip;                       /* tokens of waves that are done */
    size_t extents[DF_MAX_RANK];        /* of each of them */
};

static int end_source(void *state, int good, struct df_error *error)
{
    struct source *s = state;
    (void)good, (void)error;
    if (s->file)
        fclose(s->file);
    df_files_close(s->files);
    return DF_OK;
}

static int next_file(struct df_call *call, struct source *s, const struct token *token)
{
    if (s->file)
        fclose(s->file);
    s->file = NULL;
    s->path = df_files_path(s->files, s->next++);
    memcpy(s->extents, token->extents, token->rank * sizeof *s->extents);
    const struct token own = { token->elem, token->rank, s->extents, token->decided };
    return df_file_open(call, s->path, &s->file) == DF_OK ? begin_file(call, s->path, s->file, &own, &s->left) : DF_FAILED;
}

/* Looks at all files before the first wave, so that a wrong one is told at once and the number of waves is known. Pipes
 * are read only once. */
static int look_ahead(struct df_call *call, const struct df_files *files, const struct token *token)
{
    struct source s = { .files = (struct df_files *)files };
    struct stat info;
    int64_t waves = 0;
    int status = DF_OK, known = 1;
    for (size_t i = 0; i < df_files_n(files) && status == DF_OK; i++) {
        s.next = i;
        if (stat(df_files_path(files, i), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
            known = 0;
        else if ((status = next_file(call, &s, token)) == DF_OK)
            waves += s.left;
    }
    if (s.file)
        fclose(s.file);
    if (status == DF_OK && known)
        df_expect_waves(call, waves);
    return status;
}

/* Reads one token, and says how large it is. DF_END: a pipe has ended before it. */
static int read_token(struct df_call *call, struct source *s, const struct token *token, void *v)
{
    memcpy(token->extents, s->extents, token->rank * sizeof *s->extents);
    size_t bytes = token_bytes(token), n = fread(v, 1, bytes, s->file);
    if (n == bytes)
        return DF_OK;
    if (ferror(s->file))
        return df_fail(call, "cannot read '%s': %s", s->path, strerror(errno));
    if (n == 0 && s->left < 0)
        return DF_END;
    return df_fail(call, "'%s' ends within a token: %zu of its %zu bytes are there", s->path, n, bytes);
}

/* Goes behind tokens of waves that are done. A pipe's are read. */
static int skip_tokens(struct df_call *call, struct source *s, const struct token *token, void *v)
{
    memcpy(token->extents, s->extents, token->rank * sizeof *s->extents);
    const int64_t n = s->skip < s->left ? s->skip : s->left;
    if (s->left > 0 && fseeko(s->file, (off_t)n * (off_t)token_bytes(token), SEEK_CUR) == 0) {
        s->skip -= n;
        s->left -= n;
        return DF_OK;
    }
    int status = read_token(call, s, token, v);
    s->skip -= status == DF_OK;
    s->left -= status == DF_OK && s->left > 0;
    return status;
}

static int begin_source(struct df_call *call, struct source *s, const struct token *token, const char *path)
{
    s->skip = df_wave(call);
    int status = df_files_open(call, path, &s->files);
    return status == DF_OK ? look_ahead(call, s->files, token) : status;
}

static int read_array(struct df_call *call, const struct token *token, void *v, const char *path)
{
    struct source *s = df_state(call, sizeof *s, end_source);
    int status = !s ? DF_FAILED : s->files ? DF_OK : begin_source(call, s, token, path);
    while (status == DF_OK) {
        if (s->file && s->left != 0) {
            int skips = s->skip > 0;
            status = skips ? skip_tokens(call, s, token, v) : read_token(call, s, token, v);
            if (skips && status == DF_OK)
                continue;
            if (status != DF_END) {
                s->left -= s->left > 0;
                return status;
            }
        }
        if (s->next == df_files_n(s->files))
            return DF_END;
        status = next_file(call, s, token);
    }
    return status;
}

/* The file holds this one token. */
static int load_array(struct df_call *call, const struct token *token, void *v, const char *path)
{
    struct source s = { .path = path };
    int status = df_file_open(call, path, &s.file);
    if (status != DF_OK)
        return status;
    memcpy(s.extents, token->extents, token->rank * sizeof *s.extents);
    status = begin_file(call, path, s.file, token, &s.left);
    if (status == DF_OK && s.left >= 0 && s.left != 1)
        status = df_fail(call, "'%s' holds %lld tokens, and one is loaded: a kernel read_... reads one a wave", path,
                         (long long)s.left);
    if (status == DF_OK && (status = read_token(call, &s, token, v)) == DF_END)
        status = df_fail(call, "'%s' is empty", path);
    fclose(s.file);
    return status;
}

/* ---- writing ---- */

struct sink {
    struct df_output *output;           /* NULL: none is open */
    size_t extents[DF_MAX_RANK];        /* of its tokens */
};

static int end_sink(void *state, int good, struct df_error *error)
{
    return df_output_close(((struct sink *)state)->output, good, error);
}

/* How many tokens follow is written in front of them after the last one. */
static int check_place(struct df_call *call, struct sink *s, const char *path)
{
    if (!says_extents || ftello(df_output_resume(s->output)) >= 0)
        return DF_OK;
    return df_fail(call, "the number of waves stands at the beginning of the file, so '%s' cannot be a pipe: name a file, "
                         "or write raw numbers", path);
}

/* One file for all waves. */
static int open_sink(struct df_call *call, struct sink *s, const struct token *token, const char *pattern)
{
    char *path;
    int begins;
    if (df_output_path(call, pattern, 0, &path) != DF_OK)
        return DF_FAILED;
    int status = df_output_append(call, path, &s->output, &begins);
    if (status == DF_OK)
        status = check_place(call, s, path);
    free(path);
    if (status != DF_OK)
        return status;
    memcpy(s->extents, token->extents, token->rank * sizeof *s->extents);
    if (begins) {
        begin_output(df_output_resume(s->output), token, 1);
        df_output_head(s->output);
    }
    return DF_OK;
}

/* Where the extents of tokens are written, all have them. */
static int unlike(struct df_call *call, const char *path, const struct token *token, const size_t *first)
{
    uint64_t here[DF_MAX_RANK], there[DF_MAX_RANK];
    char one[96], two[96];
    for (unsigned i = 0; i < token->rank; i++) {
        here[i] = token->extents[i];
        there[i] = first[i];
    }
    return df_fail(call, "this token is %s, and '%s' holds tokens %s: with %%d in its name each wave has a file",
                   df_extents_text(one, sizeof one, token->elem, token->rank, here), path,
                   df_extents_text(two, sizeof two, token->elem, token->rank, there));
}

/* One without elements lies nowhere. */
static void put_token(struct df_output *output, const struct token *token, const void *v)
{
    if (token_bytes(token) > 0)
        fwrite(v, 1, token_bytes(token), df_output_resume(output));
}

static int has_elements(unsigned rank, const size_t *extents)
{
    for (unsigned i = 0; i < rank; i++)
        if (extents[i] == 0)
            return 0;
    return 1;
}

/* The file says what its tokens are like. Those without elements are in it only if it has no others, so that any wave may have none. false: this one
 * is not in it. */
static int fits(struct sink *s, const struct token *token)
{
    const int64_t zeros = df_output_zeros(s->output);
    const int none = token_bytes(token) == 0;
    if (none && (zeros < 0 || !same_extents(token, s->extents)))
        return 0;
    if (!none && !has_elements(token->rank, s->extents)) /* of a token that goes now, or that is not in a file with which the run went on */
        memcpy(s->extents, token->extents, token->rank * sizeof *s->extents);
    if (zeros <= 0)
        return 1;
    if (none)
        rewind(df_output_resume(s->output));
    else
        df_output_restart(s->output);
    begin_output(df_output_resume(s->output), token, none ? zeros + 1 : 1);
    df_output_head(s->output);
    return 1;
}

/* A file for this wave. */
static int write_file(struct df_call *call, const struct token *token, const void *v, const char *pattern)
{
    struct df_output *output;
    char *path;
    if (df_output_path(call, pattern, 0, &path) != DF_OK)
        return DF_FAILED;
    int status = df_output_open(call, path, &output);
    free(path);
    if (status != DF_OK)
        return status;
    begin_output(df_output_resume(output), token, 1);
    put_token(output, token, v);        /* df_output_close_job() tells of a failure */
    return df_output_close_job(call, output, 1);
}

/* One file for each wave if the path has a %d, else one for all; none if it is empty. */
static int write_array(struct df_call *call, const struct token *token, const void *v, const char *pattern)
{
    if (!*pattern)
        return DF_OK;
    if (df_path_has_wave(pattern))
        return write_file(call, token, v, pattern);
    struct sink *s = df_state(call, sizeof *s, end_sink);
    int status = !s ? DF_FAILED : s->output ? DF_OK : open_sink(call, s, token, pattern);
    if (status != DF_OK)
        return status;
    if (says_extents && !fits(s, token)) {
        df_output_leave(s->output);     /* this job may have opened it */
        return DF_OK;
    }
    if (says_extents && !same_extents(token, s->extents))
        return unlike(call, pattern, token, s->extents);
    put_token(s->output, token, v);     /* df_output_pause() tells of a failure */
    return df_output_pause(call, s->output);
}

/* ---- the kernels ---- */

#define ARRAY(FORMAT, NAME, TYPE, NUMBER, RANK, EXTENTS, ...)                                                       \
    int read_##FORMAT##_##NAME##_cpu(struct df_call *call, EXTENTS, TYPE *v, const char *path)                            \
    {                                                                                                                     \
        return read_array(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ } }, v, path);                     \
    }                                                                                                                     \
    int load_##FORMAT##_##NAME##_cpu(struct df_call *call, EXTENTS, TYPE *v, const char *path)                            \
    {                                                                                                                     \
        return load_array(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ } }, v, path);                     \
    }                                                                                                                     \
    int write_##FORMAT##_##NAME##_cpu(struct df_call *call, EXTENTS, const TYPE *v, const char *path)                     \
    {                                                                                                                     \
        return write_array(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ } }, v, path);                    \
    }
#define COMMA ,
#define ARRAYS(FORMAT, ELEM, TYPE, NUMBER)                                                                                \
    ARRAY(FORMAT, ELEM, TYPE, NUMBER, 1, size_t n, n)                                                               \
    ARRAY(FORMAT, ELEM##_2d, TYPE, NUMBER, 2, size_t h COMMA size_t w, h, w)                                        \
    ARRAY(FORMAT, ELEM##_3d, TYPE, NUMBER, 3, size_t d COMMA size_t h COMMA size_t w, d, h, w)                      \
    ARRAY(FORMAT, ELEM##_4d, TYPE, NUMBER, 4, size_t t COMMA size_t d COMMA size_t h COMMA size_t w, t, d, h, w)

#endif
