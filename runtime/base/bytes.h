/* bytes.h - serializes numbers and texts to a byte string and reads them back. Used for the sections of an image that are not arrays: sources
 * (compiler/front/sources.c) and measured times (profiles/estimate/known_pack.c); for messages and reports of ranks (link/message.c, ranks/figures.c); and
 * for recorded jobs (inspect/job_file.c).
 *
 * Format:   A number is 8 bytes, the least significant first. A text is its length, its bytes and a NUL.
 * Writing:  The caller makes the same calls twice: once to count the bytes, once to fill them in.
 * Reading:  Input is untrusted: every length is checked against the remaining bytes. After the first invalid length `ok` is false, and everything read from
 *           then on is 0 or "".
 * Memory:   Texts that are read borrow from the bytes.
 */
#ifndef DF_BYTES_H
#define DF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DFR_BYTES_MAGIC 8               /* a row begins with so many bytes, which say what it holds */

struct dfr_bytes_writer {
    unsigned char *to;                  /* NULL: the bytes are counted only */
    size_t n;
};
void dfr_bytes_put(struct dfr_bytes_writer *writer, const void *bytes, size_t n);
void dfr_bytes_put_number(struct dfr_bytes_writer *writer, uint64_t number);
void dfr_bytes_put_real(struct dfr_bytes_writer *writer, double number);
void dfr_bytes_put_text(struct dfr_bytes_writer *writer, const char *text, size_t length);

struct dfr_bytes_reader {
    const unsigned char *at;
    size_t left;
    bool ok;
};
/* Starts reading after the magic number. `ok` is true if the bytes begin with magic[DFR_BYTES_MAGIC]. */
struct dfr_bytes_reader dfr_bytes_read(const unsigned char *bytes, size_t size, const unsigned char *magic);
uint64_t dfr_bytes_get_number(struct dfr_bytes_reader *reader);
double dfr_bytes_get_real(struct dfr_bytes_reader *reader);
/* Sets *length, which may be NULL, if `ok` stays true. */
const char *dfr_bytes_get_text(struct dfr_bytes_reader *reader, size_t *length);

#endif
