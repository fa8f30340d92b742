/* image.h - the serialized form of a graph and its plan, as one block of bytes. dfc writes the image (compiler/build/build_program.c); the program
 * embeds it (.incbin) and maps the graph from it without copying (program/program_main.c, library/library.c), so that even a million nodes cost the C
 * compiler nothing.
 *
 * Layout:   A header (magic "DFIMAGE\0", version, word sizes, byte order), then a table of sections (tag, element size,
 *           count, offset), then the sections, each aligned to 64 bytes. The same graph and plan give the same bytes:
 *           no padding is left unset, and no pointer or time is stored.
 * Memory:   dfr_image_write() gives a block that the caller frees. What dfr_image_open() gives borrows `bytes`, which
 *           must be aligned to 64 and outlive it. df_graph_free() and dfr_plan_free() return the rest.
 * Errors:   DF_E_FORMAT: the bytes are not an image, are of another version, or are truncated; or a section is out of range.
 */
#ifndef DF_IMAGE_H
#define DF_IMAGE_H

#include "runtime/graph/plan.h"

struct dfr_image {
    struct df_graph *graph;
    struct df_plan *plan;               /* NULL: the image has none */
    const unsigned char *sources;       /* what the replanner reads; NULL: none */
    size_t source_bytes;
    const unsigned char *known;         /* from this the replanner makes times for other sizes
                                         * (profiles/estimate/known.h); NULL: none */
    size_t known_bytes;
    int64_t default_waves;              /* reserved for the compiler; -1 */
};

int dfr_image_write(const struct dfr_image *image, unsigned char **bytes, size_t *size, struct df_error *error);
int dfr_image_open(const unsigned char *bytes, size_t size, const struct df_functions *functions, size_t n_functions,
                   struct dfr_image *image, struct df_error *error);

#endif
