/* A small formatter into memory that the caller owns, in place of snprintf.
 *
 * Text that does not fit is cut and `cut` is set; the bytes are NUL-terminated at all times. No
 * locale, no allocation, no errno: safe everywhere, in a signal handler too.
 */
#ifndef SC_TOOLS_TEXT_H
#define SC_TOOLS_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_text {
    char *bytes;
    size_t size; /* at least 1 */
    size_t used; /* without the NUL; less than size */
    bool cut;
};

/* An empty text in this memory, which has at least one byte. */
struct sc_text sc_text_in(char *bytes, size_t size);

/* Declares a text with memory of its own. */
#define SC_TEXT(name, size)                                                                        \
    char name##_room_[size];                                                                       \
    struct sc_text name = sc_text_in(name##_room_, sizeof name##_room_)

/* How many bytes of a text of this length fit into `size`, with a NUL: it is cut between UTF-8
 * characters. */
size_t sc_text_fitting(const char *text, size_t length, size_t size);

/* Shortens the text to an earlier `used`; what was cut since then no longer counts as cut. */
void sc_text_rewind(struct sc_text *text, size_t used);

void sc_text_char(struct sc_text *text, char c);
void sc_text_bytes(struct sc_text *text, const char *bytes, size_t count);
void sc_text_put(struct sc_text *text, const char *string);

/* Appends what printf makes of %s, %c, %u, %d, %lu, %ld and %#lx (with 0: "0x0"). Also of %'lu,
 * which appends as sc_text_size does. There are no other directives. */
void sc_text_format(struct sc_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void sc_text_format_list(struct sc_text *text, const char *format, va_list *values);

/* Appends one such directive with its value. `directive`: what follows the %. Returns what follows
 * the directive. */
const char *sc_text_directive(struct sc_text *text, const char *directive, va_list *values);

/* Appends a size for people: "4 KB", "1.5 MB". */
void sc_text_size(struct sc_text *text, uint64_t bytes);

/* Appends the words for an errno value, such as "Permission denied"; "error 95" for values without
 * words here. */
void sc_text_error(struct sc_text *text, int error);

#endif
