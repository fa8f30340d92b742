/* text.h - quantities as people write and read them, and text as other formats want it. */
#ifndef DF_TEXT_H
#define DF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB; a space may stand between them. A number without a unit is in bytes, at
 * least DFR_LEAST_BYTES: fewer than a page, and a unit was forgotten. false: the text is no size, or the size is 0, or
 * it is 2^63 or more. */
#define DFR_LEAST_BYTES 4096
bool dfr_parse_size(const char *text, uint64_t *bytes);

/* A number with s, ms, us, ns, min (or m) or h, as in 30s or 1.5min. false: the text is no time, or the time is 0, or
 * it is 1e9 s or more. */
bool dfr_parse_seconds(const char *text, double *seconds);

/* "1.23 ms", "64.0 MiB": three digits and a unit, written to `text` (16 bytes are enough), which is given back. Times
 * are in s, ms, us and ns, as the language spells them, so that what is read in an output can be typed. Bytes are in
 * powers of 1024; only rates, like those of links, are in powers of 1000. NaN is written as 0. */
char *dfr_text_seconds(double seconds, char *text, size_t size);
/* The same with six digits, without zeros at the end: "1.5 ms". NaN is "-". */
char *dfr_text_seconds_6(double seconds, char *text, size_t size);
char *dfr_text_bytes(uint64_t bytes, char *text, size_t size);

/* Writes a field of CSV (RFC 4180), in quotes if it needs them. A graph is named after its file, so it may need them. Each byte that
 * message.h would escape becomes '?', but for tabs and line ends. */
void dfr_text_csv(FILE *out, const char *text);

/* Writes a word of a command line as a shell reads it, in quotes if it needs them. */
void dfr_shell_word(FILE *out, const char *word);

/* Replaces each byte that message.h would escape by '?': for text of files and databases that is printed without escapes. */
void dfr_text_clean(char *text);

/* Closes a stream that open_memstream(text, …) gave; NULL: it gave none. Returns *text, which the caller frees. Returns NULL, and frees *text and sets it to
 * NULL, if the stream failed, for which the only reason is that there was no memory. */
char *dfr_text_close(FILE *out, char **text);

/* Writes any text inside JSON, with the quotes around it; or inside XML, SVG or HTML, as text or as an attribute. Each
 * byte that message.h would escape becomes '?', but in JSON an ASCII control character is written as \u00NN. */
void dfr_text_json(FILE *out, const char *text);
void dfr_text_xml(FILE *out, const char *text);

#endif
