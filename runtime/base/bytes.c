/* bytes.c - serializes numbers and texts to bytes, and reads them back (bytes.h): for sections of an image
 * (compiler/front/, profiles/estimate/), messages and reports of ranks, and recorded jobs. */
#include "runtime/base/bytes.h"

#include <string.h>

/* ---- writing ---- */

void dfr_bytes_put(struct dfr_bytes_writer *w, const void *bytes, size_t n)
{
    if (w->to && n)
        memcpy(w->to + w->n, bytes, n);
    w->n += n;
}

void dfr_bytes_put_number(struct dfr_bytes_writer *w, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    dfr_bytes_put(w, bytes, sizeof bytes);
}

void dfr_bytes_put_real(struct dfr_bytes_writer *w, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    dfr_bytes_put_number(w, bits);
}

void dfr_bytes_put_text(struct dfr_bytes_writer *w, const char *text, size_t length)
{
    dfr_bytes_put_number(w, length);
    dfr_bytes_put(w, text, length);
    dfr_bytes_put(w, "", 1);
}

/* ---- reading ---- */

struct dfr_bytes_reader dfr_bytes_read(const unsigned char *bytes, size_t size, const unsigned char *magic)
{
    if (size < DFR_BYTES_MAGIC || memcmp(bytes, magic, DFR_BYTES_MAGIC) != 0)
        return (struct dfr_bytes_reader){ bytes, size, false };
    return (struct dfr_bytes_reader){ bytes + DFR_BYTES_MAGIC, size - DFR_BYTES_MAGIC, true };
}

uint64_t dfr_bytes_get_number(struct dfr_bytes_reader *r)
{
    uint64_t number = 0;
    r->ok = r->ok && r->left >= 8;
    if (!r->ok)
        return 0;
    for (unsigned i = 0; i < 8; i++)
        number |= (uint64_t)r->at[i] << 8 * i;
    r->at += 8;
    r->left -= 8;
    return number;
}

double dfr_bytes_get_real(struct dfr_bytes_reader *r)
{
    uint64_t bits = dfr_bytes_get_number(r);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

const char *dfr_bytes_get_text(struct dfr_bytes_reader *r, size_t *length)
{
    uint64_t n = dfr_bytes_get_number(r);
    r->ok = r->ok && n < r->left && r->at[n] == '\0';
    if (!r->ok)
        return "";
    const char *text = (const char *)r->at;
    if (length)
        *length = (size_t)n;
    r->at += n + 1;
    r->left -= (size_t)n + 1;
    return text;
}
