/* source_line.h - prints the source line of a message with a caret below the error. Used by the compiler's diagnostics (dsl/diag.c), and for mappings that
 * rank 0 reads (ranks/rank0_stages.c).
 *
 * The line is printed unchanged, so that an editor finds it, with two exceptions: bytes that are unsafe for a terminal are escaped (message.h), except tabs,
 * and a long line is cut to a window around the caret. The caret's line repeats the tabs of the source line, so that both align at any tab width.
 */
#ifndef DF_SOURCE_LINE_H
#define DF_SOURCE_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints the line of text[0..length) and the caret below its bytes col to end_col - 1. All numbers start at 1. Prints nothing if there is no
 * such line. */
void dfr_source_line(FILE *out, const char *text, size_t length, uint32_t line, uint32_t col, uint32_t end_col);

#endif
