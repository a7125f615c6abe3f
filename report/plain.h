/* Makes text from outside (a path, an argument, a name out of a report) harmless for a terminal.
 *
 * A terminal obeys control characters; some characters turn the direction of their line; a newline
 * begins a line that somebody else seems to have written. Each such character is written as \u001b,
 * as in JSON, and a byte that is not UTF-8 as \xff. No locale, no allocation, no errno: safe
 * everywhere, in a signal handler too. */
#ifndef SC_REPORT_PLAIN_H
#define SC_REPORT_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_text;

/* A byte becomes at most so many bytes (\u001b). */
enum { SC_PLAIN_GROWTH = 6 };

/* Reads the UTF-8 character at the start of `bytes`, of which there are `count`, at least 1.
 * Returns its length in bytes, and its number in *code; 0: the bytes are not UTF-8. */
size_t sc_plain_character(const char *bytes, size_t count, uint32_t *code);

/* May a terminal be sent the character? False for control characters (C0, DEL, C1), separators of
 * lines and paragraphs, what sets the direction of text, and what nobody would see. Joiners of
 * words are harmless. */
bool sc_plain_is_harmless(uint32_t code);

/* Appends \uNNNN for a `code` that is not harmless. */
void sc_plain_put_code(struct sc_text *text, uint32_t code);

/* Appends \xNN. */
void sc_plain_put_byte(struct sc_text *text, unsigned char byte);

/* Appends `count` bytes as a terminal may be sent them, cut between characters if they do not fit.
 */
void sc_plain_put(struct sc_text *text, const char *bytes, size_t count);

#endif
