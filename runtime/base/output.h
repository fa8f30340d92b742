/* output.h - output files that appear whole or not at all: a file is written under a temporary name in its own folder, and renamed when it is complete.
 * For all that writes files: dfc (compiler/tools/output_file.h, its caches), profiles/db/, and programs (record/, trace/, inspect/, program/, ranks/,
 * start/).
 *
 * A path that is not a regular file (a pipe, /dev/null) cannot be replaced, so it is written directly. Symbolic links are followed, so that renaming never
 * replaces the link itself (nor, say, /dev/stdout).
 *
 * Signals:  A file that grows beyond `ulimit -f` fails with an error, as a full disk does: SIGXFSZ is blocked in the
 *           thread that writes, from open to close. In a program that called dfr_unfinished_watch(), a signal that ends it
 *           removes the temporary file.
 * Threads:  An output is opened, written and closed by one thread. Another one may go on if the first has paused it.
 * Memory:   An open output owns its strings and its file; dfr_output_close() returns them.
 * Errors:   DF_E_IO or DF_E_MEMORY with "cannot write 'PATH': why". After an error nothing is open, and no file is left
 *           behind.
 */
#ifndef DF_OUTPUT_H
#define DF_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/df.h"

struct dfr_output {
    FILE *file;                         /* NULL: who wrote the temporary file by its name has closed it */
    char *path, *temporary;             /* temporary is NULL if the file is written directly */
    bool blocks;                        /* SIGXFSZ was not blocked in this thread before */
    bool stays;                         /* dfr_output_continue() has opened it */
    bool syncs;                         /* the caller's: it is on the disk when it has its name */
    bool replaces;                      /* there is a file of that name */
    int64_t begun;                      /* so many bytes are on their way to the disk */
};

/* Creates the parent folders of `path`, like mkdir -p. If that fails, opening the file reports it with a better message. */
void dfr_make_folders(const char *path);

int dfr_output_open(struct dfr_output *output, const char *path, struct df_error *error);
/* Closes the file and gives it its name. If `keep` is false, it is removed instead, and the call cannot fail. */
int dfr_output_close(struct dfr_output *output, bool keep, struct df_error *error);
/* Closes an incomplete file. It becomes PATH.part or, since nothing is replaced, PATH.part2 and so on. *part is that name, which the caller frees, or NULL if
 * the file was written directly. */
int dfr_output_close_part(struct dfr_output *output, char **part, struct df_error *error);

/* Flushes the file's buffer. Returns 0 or the errno of this call, or of the last write if that failed; so nothing else may set errno between a write and this
 * call. */
int dfr_output_flush(FILE *file);

/* Opens a file that a later run can go on with. Until it is complete it is PATH.part. Its first `at` bytes are those of a run
 * before; what is behind them is cut off. If there is no PATH.part, PATH is taken for it, because that run may have ended while it renamed
 * its files. If it is closed with `keep` false, it stays. No signal removes it. Something that is no regular file is written directly. */
int dfr_output_continue(struct dfr_output *output, const char *path, int64_t at, struct df_error *error);
/* Opens a file that gets its name later, or never. Until then it is NAME.WAVE-XXXXXX in `room`, a folder beside the file, which is made if it is not
 * there. Something that is no regular file is written directly. */
int dfr_output_open_in(struct dfr_output *output, const char *path, const char *room, int64_t wave, struct df_error *error);
/* Closes such a file, which is complete, and on the disk if `syncs`. It keeps its temporary name. Both strings are the caller's; they are NULL if the file
 * was written directly. A signal still removes it, until dfr_unfinished_drop(). */
int dfr_output_hold(struct dfr_output *output, char **path, char **temporary, struct df_error *error);
/* Syncs the folder of this path, so that renames in it are durable. The path is unchanged afterwards. */
void dfr_output_sync_folder(char *path);
/* Opens an unnamed temporary file in the folder of `path`. It is discarded when it is closed. */
int dfr_output_scratch(struct dfr_output *output, const char *path, struct df_error *error);
/* Creates a folder with a predictable name, unless it exists. Returns 0, or an errno; ENOTDIR also for a link to a folder, which another user may have made. */
int dfr_output_make_room(const char *path);
/* The name of what is not complete yet: PATH.part, of the file itself if PATH is a link. malloc'ed; NULL: no memory. */
char *dfr_output_part_path(const char *path);

/* The caller does not write between pause and resume, and the thread's signal mask is restored meanwhile. If the file replaces another one, a pause has the system begin to write it
 * to the disk, 1 MiB or more at a time. A file system may else do all of that when the file gets its name (ext4 does), while everyone waits. */
void dfr_output_pause(struct dfr_output *output);
void dfr_output_resume(struct dfr_output *output);

/* Checks that the file could be opened now, without leaving anything behind. Called before long work, so that a wrong path is reported before it. */
int dfr_output_check(const char *path, struct df_error *error);
/* Returns whether both paths lead to the same regular file, or would if neither exists yet. Links are followed. Other files, such as /dev/null, can be
 * written by several, and are never the same. */
bool dfr_output_is(const char *path, const char *other);

/* Called at the start of a program. If stdin, stdout or stderr is closed, its descriptor is occupied, so that no file opened later receives printed text. Using
 * the closed stream still fails. */
void dfr_standard_files_hold(void);

/* Flushes stdout, unless another thread is printing at this moment. */
void dfr_output_flush_printed(void);
/* Ends the process without exit()'s handlers, while other threads still run. Flushes stdout first, unless another thread is printing at this moment. */
_Noreturn void dfr_output_leave(int status);

#endif
