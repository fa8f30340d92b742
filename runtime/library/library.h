/* library.h - the state of a session of a generated library, shared by the files of this room.
 *
 * Room:     runtime/library/ implements the calls of a generated library (df_library_… of the public df.h). It knows
 *           the command line of programs, whose options a session accepts, and the sessions of libdf. It calls the
 *           compiler's front end through df_program.replanner.
 */
#ifndef DF_LIBRARY_H
#define DF_LIBRARY_H

#include "runtime/graph/image.h"
#include "runtime/program/args.h"

/* What is made for certain sizes, for calls of one wave or of several. */
struct dfr_sized {
    bool many;
    size_t *dims;                       /* n_dims of the function */
    uint64_t used;                      /* when: a count of calls; 0: there is nothing here */
    struct dfr_function made;
    struct df_plan *plan;               /* NULL: none could be made */
    struct df_buffer *buffers;          /* by port */
    struct df_node_stats *node_stats;   /* with --stats; else NULL */
    struct df_node_skips *node_skips;   /* the same */
    union df_scalar *args;              /* those of the file, then the function's scalars; as the last call had them */
    struct df_session *session;         /* NULL: the next call opens it */
    unsigned char **empty;              /* by port: a byte for each wave of the last call; room for most_waves */
    size_t **extents;                   /* by port: of each of its tokens, DF_MAX_RANK of them; NULL: they do not differ */
    int64_t waves, most_waves;          /* of the last call; 0: there was none */
    bool has_args;                      /* the session has `args` as they are */
};

struct dfr_library {                    /* what an open session has */
    struct df_program program;
    const struct df_library_function *function;
    struct dfr_image image;
    char **words;                       /* of the options */
    struct dfr_command_line line;
    struct df_platform *platform;       /* of --platform */
    struct dfr_sized sizes[DF_LIBRARY_SIZES];
    struct dfr_sized *last;             /* of the last call, or NULL */
    uint64_t calls;
    char *stats;
};

/* options.c. Fills words, line and platform. DF_E_ARGUMENT: an option that no session takes, or a wrong one. */
int dfr_library_options(struct dfr_library *library, const char *text, struct df_error *error);
void dfr_library_options_free(struct dfr_library *library);

/* sizes.c. Returns the entry for these sizes. A new one, still without a session, replaces the least recently used. */
int dfr_sized_get(struct dfr_library *library, const size_t *dims, bool many, struct dfr_sized **sized,
                  struct df_error *error);
/* Opens its session, for which `args` must be set. */
int dfr_sized_open(struct dfr_library *library, struct dfr_sized *sized, struct df_error *error);
/* Allocates and clears the records of empty tokens for a call of so many waves. */
int dfr_sized_waves(struct dfr_library *library, struct dfr_sized *sized, int64_t waves, struct df_error *error);
/* Ends the session of these sizes, if there is one; stats may be NULL. The second forgets the sizes, too. */
void dfr_sized_end(struct dfr_sized *sized, struct df_stats *stats);
void dfr_sized_close(struct dfr_sized *sized);

#endif
