/* A small text formatter into memory that the caller owns, in place of snprintf.
 *
 * Text that does not fit is cut off and `cut` is set; the bytes are NUL-terminated at all times. No
 * locale, no allocation, no errno: safe everywhere, in a signal handler too. */
#ifndef SC_TOOLS_TEXT_H
#define SC_TOOLS_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in memory of the caller's, to which the functions here append. */
struct sc_text {
    char *bytes;
    size_t size; /* at least 1 */
    size_t used; /* without the NUL; less than size */
    bool cut;
};

/* Returns an empty text in this memory, which has at least one byte. */
struct sc_text sc_text_in(char *bytes, size_t size);

/* Declares a text with memory of its own. */
#define SC_TEXT(name, size)                                                                        \
    char name##_room_[size];                                                                       \
    struct sc_text name = sc_text_in(name##_room_, sizeof name##_room_)

/* Returns how many of the text's `length` bytes fit into `size` bytes with a NUL, so that no UTF-8
 * character is cut in two. */
size_t sc_text_fitting(const char *text, size_t length, size_t size);

/* Shortens the text to an earlier value of `used`; text that was cut off since then no longer
 * counts as cut. */
void sc_text_rewind(struct sc_text *text, size_t used);

/* Append a byte, `count` bytes, or a string. */
void sc_text_char(struct sc_text *text, char c);
void sc_text_bytes(struct sc_text *text, const char *bytes, size_t count);
void sc_text_put(struct sc_text *text, const char *string);

/* Appends formatted text, as printf does for %s, %c, %u, %d, %lu, %ld and %#lx (with 0: "0x0").
 * %'lu appends a size as sc_text_size does. There are no other directives. */
void sc_text_format(struct sc_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Does what sc_text_format does, with the values of a list. */
void sc_text_format_list(struct sc_text *text, const char *format, va_list *values);

/* Appends the value of one directive of sc_text_format. `directive`: the text after the %. Returns
 * the text after the directive. */
const char *sc_text_directive(struct sc_text *text, const char *directive, va_list *values);

/* Appends a size for readers: "4 KB", "1.5 MB". */
void sc_text_size(struct sc_text *text, uint64_t bytes);

/* Appends the words for an errno value, such as "Permission denied"; "error 95" for values that
 * have no words here. */
void sc_text_error(struct sc_text *text, int error);

#endif
