/* bytes.h - numbers and texts in a row of bytes: what the sections of an image are made of that are no arrays (sources,
 * measured times). A number is 8 bytes, least first; a text its length, its bytes and a NUL.
 *
 * Writing:  the same calls twice, once to count and once to fill.
 * Reading:  what is read is never trusted: every length is checked against what is left. After the first that is wrong
 *           `ok` is false, and all that is read gives 0 and "".
 * Memory:   texts that are read borrow from the bytes.
 */
#ifndef DF_BYTES_H
#define DF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DFR_BYTES_MAGIC 8               /* bytes that say what a row holds, at its begin */

struct dfr_bytes_writer {
    unsigned char *to;                  /* NULL: only counting */
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
/* ok where the row begins with magic[DFR_BYTES_MAGIC]; reading goes on behind it. */
struct dfr_bytes_reader dfr_bytes_read(const unsigned char *bytes, size_t size, const unsigned char *magic);
uint64_t dfr_bytes_get_number(struct dfr_bytes_reader *reader);
double dfr_bytes_get_real(struct dfr_bytes_reader *reader);
/* length is set where ok; NULL allowed. */
const char *dfr_bytes_get_text(struct dfr_bytes_reader *reader, size_t *length);

#endif
