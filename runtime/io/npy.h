/* npy.h - the count of tokens in the header of a .npy file that waves append to. The record of written files corrects
 * it: record/written.c when a file is complete, record/outputs.c before a resumed run appends. */
#ifndef DFR_NPY_H
#define DFR_NPY_H

#include "runtime/df.h"

/* .npy: if the array in the file behind fd has not yet the extent that counts its tokens, writes it, unless there is one token alone. The
 * header is one of df_npy_write(). */
int dfr_npy_count(int fd, int64_t tokens, struct df_error *error);
/* Removes that extent again from a file with so many tokens and bytes, to append to it. A run writes the extent when the file is complete, and may be killed
 * before the journal records its end. */
int dfr_npy_uncount(int fd, int64_t tokens, int64_t bytes, struct df_error *error);

#endif
