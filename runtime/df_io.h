/* df_io.h - for kernels that read and write files: lists of files, files that appear whole or not at all, extents that
 * are checked, pictures as tiles. The kernels of std/ are made of it. It is part of libdf.
 *
 * Failures: A function with a `call` gives DF_OK, or records the failure in it and gives DF_FAILED, so that a kernel can
 *           return what it got. Others give a DF_E… code with a sentence in *error.
 * Memory:   What a function opens is the caller's until it is closed. A kernel keeps it in its df_state() and closes it
 *           in the state's end. Texts that are passed in are copied.
 * Threads:  One thread at a time is in one object, as jobs of an `ordered` kernel or of a `stream` are.
 */
#ifndef DF_IO_H
#define DF_IO_H

#include <stdio.h>

#include "df.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---- */

/* The files of a source: the one that `path` names. If it begins with '@', those that the file behind '@' lists, one path a
 * line; empty lines do not count. If it has a '*' or '?' and no file has that name, those that match it as in a shell, in the
 * order of their bytes. Paths are relative to the folder that the program runs in. Files are not looked at. That there is
 * no path is a failure. */
struct df_files;
int df_files_open(struct df_call *call, const char *path, struct df_files **files);
size_t df_files_n(const struct df_files *files);
const char *df_files_path(const struct df_files *files, size_t i); /* i < df_files_n(); it lives as long as the files */
void df_files_close(struct df_files *files);

/* Opens a file for reading. A folder is refused. */
int df_file_open(struct df_call *call, const char *path, FILE **file);

/* Waits until the descriptor can be read or has ended, for a source that reads a camera or a pipe by read(2). DF_END: the run is over, and the source returns
 * it. That is so for sources with @newest or @every; in runs without them the wait ends with what it waits for. */
int df_file_wait(struct df_call *call, int file);

/* "u8[480, 640]" into text, which has `size` bytes. Gives `text`. */
char *df_extents_text(char *text, size_t size, enum df_elem elem, unsigned rank, const uint64_t *extents);

/* Does the token, whose extents are the kernel's `rank` dimension variables in order, have the extents of what is in the
 * file? If not, the failure says both, and which --options would give these sizes, as far as dynamic params show it. */
int df_extents_check(struct df_call *call, const char *path, enum df_elem elem, unsigned rank, const size_t *token,
                     const uint64_t *in_file);

/* The same for a kernel that decides extents: bit i of `decided` says that token[i] is the bound of extent i, which the file
 * may have less of. On success token[] has the extents of what is in the file. */
int df_extents_take(struct df_call *call, const char *path, enum df_elem elem, unsigned rank, unsigned decided,
                    size_t *token, const uint64_t *in_file);

/* The job has failed because of what is in this file, one of several that its kernel reads. With --bad-files the failure is a warning, the file is
 * noted, and the kernel returns DF_SKIP, as this function does; else this gives DF_FAILED. The kernel goes on with the next file. If errno was ENOMEM,
 * EMFILE or ENFILE when df_fail() was called, the process lacked something and the file may be good: this gives DF_FAILED. So errno = 0 before
 * the file is opened or read. */
int df_bad_file(struct df_call *call, const char *path);

/* ---- writing ---- */

/* A file that appears whole or not at all: it is written under a temporary name and renamed when it is closed with
 * `keep`. Something that is no regular file, such as /dev/stdout, is written directly. A signal that ends the program
 * removes the temporary file.
 * Nodes:    A node that opens a file which another node of the run has opened, even before, fails.
 * Jobs:     df_output_open() and df_output_resume() give the FILE to the calling thread. A job that leaves it open
 *           calls df_output_pause(), which writes out what is buffered and says what went wrong. The next job calls
 *           df_output_resume(). */
struct df_output;
int df_output_open(struct df_call *call, const char *path, struct df_output **output);
/* The same for a file that gets a token in each wave, from a kernel that is `ordered` and `resume`. In a run that was resumed it goes on where
 * the waves before have left it (docs/clusters.md). *begins: 1 if nothing is in it; else it has its head already. Each job that has
 * written to it calls df_output_pause(). df_output_head(): what was written until now is the file's head; another token follows it. The head
 * of a .npy is written for one token. It gets the number of tokens when the file is closed. */
int df_output_append(struct df_call *call, const char *path, struct df_output **output, int *begins);
void df_output_head(struct df_output *output);
/* For tokens of no elements, of which no byte shows that they were written. df_output_zeros(): how many tokens the file of df_output_append() has, if
 * nothing is behind its head; else -1. df_output_restart(): its head and these tokens go, and another head follows. df_output_leave(): as
 * df_output_pause(), of a job that has written no token. */
int64_t df_output_zeros(const struct df_output *output);
void df_output_restart(struct df_output *output);
void df_output_leave(struct df_output *output);
FILE *df_output_resume(struct df_output *output);
int df_output_pause(struct df_call *call, struct df_output *output);
/* Closes it. NULL is closed already. If `keep` is 0, what was written goes, and the call cannot fail. */
int df_output_close(struct df_output *output, int keep, struct df_error *error);
/* The same within a job: a failure is recorded there. */
int df_output_close_job(struct df_call *call, struct df_output *output, int keep);

/* The path of the file for the call's wave: `pattern` with the wave's number in place of %d, or of %5d and %05d, which
 * fill up with zeros; %% is a percent sign. *path is malloc'ed. A pattern without a number names one file: df_wave_path()
 * gives it for wave 0 and in final nodes, df_output_path() unless it is `written`; else it is a failure. */
int df_wave_path(struct df_call *call, const char *pattern, char **path);
int df_output_path(struct df_call *call, const char *pattern, int written, char **path);
int df_path_has_wave(const char *pattern);

/* ---- .npy, NumPy's format ---- */

#define DF_NPY_MAX_RANK 32
struct df_npy {
    enum df_elem elem;
    unsigned rank;
    uint64_t extents[DF_NPY_MAX_RANK];
};
/* Reads the header; the data follows. Fortran order, other byte orders and types that no element has are refused. */
int df_npy_read(struct df_call *call, const char *path, FILE *file, struct df_npy *npy);
/* Writes the header, which has DF_NPY_HEADER_BYTES whatever is in it, so that it can be written again with another
 * extent. rank is at most DF_MAX_RANK + 1. */
#define DF_NPY_HEADER_BYTES 256
void df_npy_write(FILE *file, const struct df_npy *npy);

/* ---- pictures as tiles ---- */

/* A tile is h x w pixels of `pixel_bytes`. All but a border of `halo` pixels is its core. Cores cover the picture row by
 * row; tile t is the t-th of them. Pixels outside the picture are those mirrored at its edge, without repeating it
 * (... 2 1 0 1 2 ...), up to `halo` pixels away, so a filter that reaches no further gives on tiles what it gives on the
 * whole picture. Further outside the last such pixel is repeated. Only one row of tiles is in memory. */
struct df_tiles_read;
/* Gives the next row of the picture, from top to bottom. */
typedef int df_next_row(void *source, void *row, struct df_call *call);
int df_tiles_read_open(struct df_call *call, uint64_t height, uint64_t width, size_t pixel_bytes, size_t h, size_t w,
                       int64_t halo, struct df_tiles_read **tiles);
int64_t df_tiles_read_n(const struct df_tiles_read *tiles);
/* Tile t, which is not before the one that was asked for last. at: where its core lies, as top, left, height and width of
 * the picture. */
int df_tiles_read(struct df_call *call, struct df_tiles_read *tiles, int64_t t, df_next_row *next, void *source,
                  void *tile, int64_t *at);
void df_tiles_read_close(struct df_tiles_read *tiles);

/* The way back: cores of h x w pixels with their `at`, row by row, become rows of the picture. */
struct df_tiles_write;
typedef int df_put_row(void *sink, const void *row, struct df_call *call);
int df_tiles_write_open(struct df_call *call, const int64_t *at, size_t pixel_bytes, size_t h, size_t w,
                        struct df_tiles_write **tiles);
int df_tiles_write(struct df_call *call, struct df_tiles_write *tiles, const void *tile, const int64_t *at,
                   df_put_row *put, void *sink);
/* Have all tiles come? If not, *error says how many. NULL: none came, which is no error. */
int df_tiles_write_done(const struct df_tiles_write *tiles, struct df_error *error);
void df_tiles_write_close(struct df_tiles_write *tiles);

#ifdef __cplusplus
}
#endif

#endif
