/* Makes text from outside (a path, an argument, a name in a report) safe to write to a terminal.
 *
 * A terminal obeys control characters; some characters reverse the direction of their line; a
 * newline begins a line that looks as if somebody else had written it. Each such character is
 * written as \u001b, as in JSON, and a byte that is not UTF-8 as \xff. No locale, no allocation, no
 * errno: safe anywhere, also in a signal handler. */
#ifndef SC_REPORT_PLAIN_H
#define SC_REPORT_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_text;

/* A byte becomes at most so many bytes (\u001b). */
enum { SC_PLAIN_GROWTH = 6 };

/* Reads the UTF-8 character at the start of the `count` bytes (at least 1). Returns its length in
 * bytes, and stores its number in *code; 0: the bytes are not UTF-8. */
size_t sc_plain_character(const char *bytes, size_t count, uint32_t *code);

/* Returns true if the character may be written to a terminal. False for control characters (C0,
 * DEL, C1), separators of lines and paragraphs, characters that set the direction of text, and
 * invisible ones. Joiners of words are allowed. */
bool sc_plain_is_harmless(uint32_t code);

/* Appends \uNNNN for a character that is not allowed. */
void sc_plain_put_code(struct sc_text *text, uint32_t code);

/* Appends \xNN for a byte. */
void sc_plain_put_byte(struct sc_text *text, unsigned char byte);

/* Appends `count` bytes, made safe for a terminal, cut between characters if they do not fit. */
void sc_plain_put(struct sc_text *text, const char *bytes, size_t count);

#endif
