/* digest.h - hashes by which two runs, or two files, are compared.
 *
 * Program:  The *program hash* covers all that the outputs of a run depend on: the graph with its sizes, the values of scalars, the sources of kernels, the
 *           program's identity (compiler/build/identity.h), and the inputs. It does not cover the plan, the machine, or the number of waves. An *input* is a
 *           file that a scalar of a source names, directly or by a list or a pattern. It is identified by path, size and modification time.
 * Digest:   Both are 64 bits. They notice what happens by accident, and nothing else.
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
/* Those of sources with @worker alone. */
int dfr_inputs_of_workers(const struct df_graph *graph, const union df_scalar *args, struct dfr_inputs *inputs, struct df_error *error);
void dfr_inputs_free(struct dfr_inputs *inputs);

/* An input as a line, without its end: BYTES CHANGED PATH. DF_E_FORMAT: it is none. DF_E_MEMORY. */
void dfr_input_write(FILE *to, const struct dfr_input *input);
int dfr_input_read(const char *text, struct dfr_input *input);
/* The inputs as a text, for another rank: a line for each. malloc'ed; NULL: no memory. */
char *dfr_inputs_text(const struct dfr_inputs *inputs);
/* Are these the inputs that another rank has told? If not, `why` says what differs there, as the end of a sentence. */
bool dfr_inputs_are(const struct dfr_inputs *inputs, const char *text, size_t n, char *why, size_t size);

/* A number that differs if graphs, or the values of their args, differ: ranks compare it. args: by arg of the graph; NULL: it has none. */
uint64_t dfr_graph_digest(const struct df_graph *graph, const union df_scalar *args);
/* The part of the program hash that is not of inputs. */
int dfr_program_digest(const struct df_graph *graph, const union df_scalar *args, uint64_t *digest, struct df_error *error);
uint64_t dfr_inputs_digest(const struct dfr_inputs *inputs);

/* Of the bytes [first, end) of a file, of fewer if it ends before: *n says how many. DF_E_IO with errno's words. */
int dfr_bytes_digest(int fd, int64_t first, int64_t end, uint64_t *digest, int64_t *n, struct df_error *error);

/* The whole file behind fd, ended by a 0 that *n does not count. *text is malloc'ed, or NULL. DF_E_IO, with errno; DF_E_MEMORY. */
int dfr_read_all(int fd, char **text, size_t *n, struct df_error *error);

struct dfr_content {
    int64_t bytes, changed_ns;          /* of the whole file */
    int64_t n;                          /* so many bytes the digest is of */
    uint64_t digest;
};
/* The same of a regular file, by its name. Others, such as /dev/zero, may have no end, and a pipe would be waited for: DF_E_IO. */
int dfr_content_digest(const char *path, int64_t first, int64_t end, struct dfr_content *content, struct df_error *error);
int64_t dfr_changed_ns(const struct stat *status);

#endif
