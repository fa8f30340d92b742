/* fuzz.h - what the fuzz targets share: failing, and what must be true of every graph, platform and plan.
 *
 * Target:   a target is one function, LLVMFuzzerTestOneInput(). `make fuzz` links it with libFuzzer. The build of the
 *           tests links it with replay.c, which reads the files that are its arguments.
 * Errors:   what is not true ends the process by abort(), after a sentence on stderr.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "partition/partition.h"
#include "runtime/graph/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is said to a person holds no control bytes, and is no flood. */
void fuzz_words(const char *text, size_t size);

/* A copy of the bytes with a NUL after them, at an address that images may lie at. The caller frees it. */
unsigned char *fuzz_copy(const void *bytes, size_t size);

/* Runs the front end on a text that is held in memory. Its path is fuzz.df; lib.df, old.c and k.cu are there beside it,
 * and no other file. *said gets the messages; the caller frees it. NULL: the text is refused, and the messages say why. */
struct dfc_front;
struct fuzz_front {
    struct dfc_front *front;
    struct dfl_sink *sink;
    char *said;
};
void fuzz_front_run(struct fuzz_front *f, const uint8_t *text, size_t size);
void fuzz_front_free(struct fuzz_front *f);

/* What is written as an image must be read, and be written again as the same bytes. Gives the image's bytes, which the
 * caller frees, and, if `opened` is not NULL, what was read, which fuzz_image_close() returns. */
unsigned char *fuzz_image(const struct dfr_image *image, size_t *size, struct dfr_image *opened);
void fuzz_image_close(struct dfr_image *image);

/* Times of the graph if nothing was measured. The caller frees them. */
void fuzz_times(const struct df_graph *graph, struct df_times *times);

/* Plans the graph for the platform, whose classes need not have the graph's numbers. A plan is made, or refused because
 * a node fits nowhere. A plan that is made takes no less time than the lower bound, and passes through an image. Larger
 * graphs are left to heft, and the largest alone. */
void fuzz_plan(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times);

#endif
