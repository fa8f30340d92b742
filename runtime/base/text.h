/* text.h - parses and formats quantities with units ("64 MiB", "1.5 ms"), and escapes text for CSV, JSON, XML and shells. */
#ifndef DF_TEXT_H
#define DF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Parses a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB, perhaps after a space. A number without unit is in bytes, and at least DFR_LEAST_BYTES: for less
 * than a page the unit was probably forgotten. Returns false if the text is not a size, or the size is 0, or 2^63 or more. */
#define DFR_LEAST_BYTES 4096
bool dfr_parse_size(const char *text, uint64_t *bytes);

/* Parses a number with s, ms, us, ns, min (or m) or h, as in 30s or 1.5min. Returns false if the text is not a time, or the time is 0, or 1e9 s or more. */
bool dfr_parse_seconds(const char *text, double *seconds);

/* Writes "1.23 ms" or "64.0 MiB", three digits and a unit, to `text` (16 bytes are enough), and returns it. Times are in s, ms, us and ns, as in the language, so
 * that printed values can be used as input. Bytes are in powers of 1024; only rates, as of links, are in powers of 1000. NaN is written as 0. */
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
