/* message.h - escapes and shortens the text of messages before they reach a terminal, since file names and messages of kernels may contain any bytes.
 *
 * Escaped:  a byte of a control character (C0, DEL, C1) is written as \xNN, with two hex digits. So is a byte that is
 *           no UTF-8, and each byte of a character that turns the direction of writing. All else stays as it is. So a
 *           text that was shown once is not changed if it is shown again.
 * Short:    if a text does not fit, its middle is left out: "begin ...(N bytes left out)... end".
 * Errors:   none. If memory runs out, a long text loses its end.
 * Threads:  any. dfr_shown() and dfr_shown_bytes() may be called in a signal's handler.
 */
#ifndef DF_MESSAGE_H
#define DF_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define DFR_MESSAGE_BYTES 2048          /* of a whole message, its 0 included: two paths of usual length and words */
#define DFR_ESCAPED_BYTES 4             /* of "\xNN" */

/* Returns the length in bytes of the character at text[0..n), n > 0, if it is shown unchanged; 0 if its first byte is escaped. */
size_t dfr_shown_bytes(const char *text, size_t n);

/* Writes text[0..n), escaped and shortened, to `to`, which has `size` > 0 bytes and is NUL-terminated. Returns the length. */
size_t dfr_shown(char *to, size_t size, const char *text, size_t n);

/* The same for a printf format. dfr_message_text() is for texts of kernels and libraries, which may have several lines: line breaks at the end are removed, and
 * those within become spaces. */
void dfr_message(char *to, size_t size, const char *format, va_list list) __attribute__((format(printf, 3, 0)));
void dfr_message_text(char *to, size_t size, const char *format, va_list list) __attribute__((format(printf, 3, 0)));

/* Writes a name within a line. */
void dfr_message_name(FILE *out, const char *name);

/* Writes the output of another program, for example a compiler: keeps its lines, tabs and colours ("ESC [ … m" or "K"), shortens nothing, and escapes
 * everything else. */
void dfr_message_lines(FILE *out, const char *text, size_t n);

/* Writes a message of at most DFR_MESSAGE_BYTES, and the end of its line, by one call of stdio. */
void dfr_message_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
