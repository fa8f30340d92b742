/* digest.h - hashes that identify programs, inputs and file contents. The record compares them (journal.c, chunk.c, checkpoint.c, resumable.c), and so do ranks
 * when they meet (ranks/); program/args_files.c asks what a run reads.
 *
 * Program:  The *program hash* covers everything that the output of a run depends on: the graph with its sizes, the values of scalars, the sources of kernels, the
 *           program's identity (compiler/build/identity.h), and the inputs. It excludes the plan, the machine and the number of waves. An *input* is a
 *           file that a scalar of a source names, directly or by a list or a pattern. It is identified by path, size and modification time.
 * Digest:   64 bits, not cryptographic: hashes detect accidental changes only.
 * Memory:   the caller's, from dfr_inputs_find() to dfr_inputs_free().
 */
#ifndef DFR_DIGEST_H
#define DFR_DIGEST_H

#include <stdio.h>
#include <sys/stat.h>

#include "runtime/graph/graph.h"

struct dfr_input {
    char *path;
    int64_t bytes, changed_ns;
    bool pipe;                          /* it can be read once only */
};

struct dfr_inputs {
    struct dfr_input *files;
    size_t n, room;
};

/* The inputs of the graph, each once. `args` as in df_options. DF_E_IO: a list of files cannot be read. */
int dfr_inputs_find(const struct df_graph *graph, const union df_scalar *args, struct dfr_inputs *inputs, struct df_error *error);
/* The same, restricted to sources with @worker. */
int dfr_inputs_of_workers(const struct df_graph *graph, const union df_scalar *args, struct dfr_inputs *inputs, struct df_error *error);
void dfr_inputs_free(struct dfr_inputs *inputs);

/* Writes and parses the line of an input, without its line break: BYTES CHANGED PATH. DF_E_FORMAT if the line is invalid; DF_E_MEMORY. */
void dfr_input_write(FILE *to, const struct dfr_input *input);
int dfr_input_read(const char *text, struct dfr_input *input);
/* Returns the lines of all inputs, for another rank. malloc'ed; NULL without memory. */
char *dfr_inputs_text(const struct dfr_inputs *inputs);
/* Returns whether these are the inputs that another rank has sent. If not, `why` receives the difference, as the end of a sentence. */
bool dfr_inputs_are(const struct dfr_inputs *inputs, const char *text, size_t n, char *why, size_t size);

/* Hashes the graph and the values of its args; ranks compare it. args: by arg of the graph; NULL if it has none. */
uint64_t dfr_graph_digest(const struct df_graph *graph, const union df_scalar *args);
/* Computes the program hash without the inputs. */
int dfr_program_digest(const struct df_graph *graph, const union df_scalar *args, uint64_t *digest, struct df_error *error);
uint64_t dfr_inputs_digest(const struct dfr_inputs *inputs);

/* Hashes bytes [first, end) of a file, or fewer if it ends earlier; *n is their number. DF_E_IO with the text of errno. */
int dfr_bytes_digest(int fd, int64_t first, int64_t end, uint64_t *digest, int64_t *n, struct df_error *error);

/* Reads the whole file and appends a NUL, which *n excludes. *text is malloc'ed, or NULL. DF_E_IO, with errno set; DF_E_MEMORY. */
int dfr_read_all(int fd, char **text, size_t *n, struct df_error *error);

struct dfr_content {
    int64_t bytes, changed_ns;          /* of the whole file */
    int64_t n;                          /* number of bytes that the digest covers */
    uint64_t digest;
};
/* The same for a regular file, by path. Other files fail with DF_E_IO: /dev/zero has no end, and a pipe would block. */
int dfr_content_digest(const char *path, int64_t first, int64_t end, struct dfr_content *content, struct df_error *error);
int64_t dfr_changed_ns(const struct stat *status);

#endif
