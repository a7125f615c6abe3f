/* Text from outside (a path, an argument, a name out of a report) as a terminal may be shown it.
 *
 * A terminal obeys control characters, some characters turn the direction of the line that they
 * stand in, and a newline begins a line that somebody else seems to have written. All of these are
 * shown as \u001b, a byte that is not UTF-8 as \xff. The first is also how JSON writes them. No
 * locale, no allocation, no errno: safe everywhere, in a signal handler too.
 */
#ifndef SC_REPORT_PLAIN_H
#define SC_REPORT_PLAIN_H

#include "track/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A byte becomes this many at most. */
enum { SC_PLAIN_GROWTH = 6 };

/* The UTF-8 character at `bytes`, of which there are `count`, at least 1: its length in bytes and
 * in *code its number; 0 if there is none. */
size_t sc_plain_character(const char *bytes, size_t count, uint32_t *code);

/* Control characters (C0, DEL, C1), separators of lines and paragraphs, and what sets the direction
 * of text are not. */
bool sc_plain_is_harmless(uint32_t code);

/* Appends \uNNNN; `code` is one that is not harmless. */
void sc_plain_put_code(struct sc_text *text, uint32_t code);

/* Appends \xNN. */
void sc_plain_put_byte(struct sc_text *text, unsigned char byte);

/* Appends `count` bytes. What does not fit is cut between characters. */
void sc_plain_put(struct sc_text *text, const char *bytes, size_t count);

#endif
