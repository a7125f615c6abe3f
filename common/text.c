#include "common/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "common/poison.h"

/* Begins an empty text in memory of the caller's. */
struct sc_text sc_text_in(char *bytes, size_t size)
{
    bytes[0] = '\0';
    return (struct sc_text){.bytes = bytes, .size = size};
}

/* Takes back what was appended since the text had `used` bytes; then it is not cut any more. */
void sc_text_rewind(struct sc_text *text, size_t used)
{
    text->used = used;
    text->cut = false;
    text->bytes[used] = '\0';
}

/* Appends the bytes. Those that do not fit are left out, and `cut` says so. */
void sc_text_bytes(struct sc_text *text, const char *bytes, size_t count)
{
    size_t room = text->size - 1 - text->used;
    if (count > room) {
        count = room;
        text->cut = true;
    }
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
    text->bytes[text->used] = '\0';
}

/* Appends one byte. */
void sc_text_char(struct sc_text *text, char c)
{
    sc_text_bytes(text, &c, 1);
}

/* Returns how many bytes of a text of `length` bytes fit into `size` with a NUL, without cutting a
 * character of UTF-8 in two: it ends before the last byte that begins one. */
size_t sc_text_fitting(const char *text, size_t length, size_t size)
{
    enum { CHARACTER_MAX = 4 }; /* what continues for longer is no UTF-8 */
    if (length < size)
        return length;
    for (size_t fits = size - 1; fits > 0 && size - fits <= CHARACTER_MAX; fits--)
        if (((unsigned char)text[fits] & 0xc0) != 0x80)
            return fits;
    return size - 1;
}

/* Appends a string. */
void sc_text_put(struct sc_text *text, const char *string)
{
    sc_text_bytes(text, string, strlen(string));
}

/* Appends the number in base 10 or 16. */
static void put_in_base(struct sc_text *text, uint64_t value, unsigned base)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    sc_text_bytes(text, digits + at, sizeof digits - at);
}

/* Appends the number in base 10. The least one has no positive counterpart, so its absolute value
 * is taken without a sign. */
static void put_signed(struct sc_text *text, int64_t value)
{
    if (value < 0)
        sc_text_char(text, '-');
    put_in_base(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

/* Appends the number; with `is_size` as a size for people ("4 KB"). */
static void put_unsigned(struct sc_text *text, uint64_t value, bool is_size)
{
    if (is_size)
        sc_text_size(text, value);
    else
        put_in_base(text, value, 10);
}

/* Appends the value of a directive, which is taken off the list; `directive` is what is behind its
 * %. Returns what follows in the format. Also for JSON (report/json.c), whose formats have the
 * same directives. */
const char *sc_text_directive(struct sc_text *text, const char *directive, va_list *values)
{
    bool is_long = false, is_size = *directive == '\'';
    for (; *directive == '#' || *directive == 'l' || *directive == '\''; directive++)
        is_long |= *directive == 'l';
    switch (*directive) {
    case 's':
        sc_text_put(text, va_arg(*values, const char *));
        break;
    case 'c':
        sc_text_char(text, (char)va_arg(*values, int));
        break;
    case 'd':
        put_signed(text, is_long ? va_arg(*values, long) : va_arg(*values, int));
        break;
    case 'u':
        put_unsigned(text, is_long ? va_arg(*values, unsigned long) : va_arg(*values, unsigned),
                     is_size);
        break;
    case 'x':
        sc_text_put(text, "0x");
        put_in_base(text, va_arg(*values, unsigned long), 16);
        break;
    default: /* %% */
        sc_text_char(text, *directive);
    }
    return directive + 1;
}

/* Appends formatted text with the values of a list. */
void sc_text_format_list(struct sc_text *text, const char *format, va_list *values)
{
    for (const char *sign; (sign = strchr(format, '%'));) {
        sc_text_bytes(text, format, (size_t)(sign - format));
        format = sc_text_directive(text, sign + 1, values);
    }
    sc_text_put(text, format);
}

/* Appends formatted text, as printf does for the few directives that text.h lists. */
void sc_text_format(struct sc_text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    sc_text_format_list(text, format, &values);
    va_end(values);
}

/* Appends a size for people, in the largest unit that leaves at least 1; below 10 with one digit
 * behind the point, which is cut and not rounded. */
void sc_text_size(struct sc_text *text, uint64_t bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    uint64_t unit = 1;
    unsigned index = 0;
    while (index + 1 < sizeof units / sizeof units[0] && bytes / unit >= 1024) {
        unit *= 1024;
        index++;
    }
    uint64_t tenth = bytes % unit * 10 / unit;
    sc_text_format(text, "%lu", bytes / unit);
    if (bytes / unit < 10 && tenth != 0)
        sc_text_format(text, ".%lu", tenth);
    sc_text_format(text, " %s", units[index]);
}

/* Appends the text of an error number. strerror is not used: it reads message catalogues, which
 * allocates. */
void sc_text_error(struct sc_text *text, int error)
{
    static const struct {
        int error;
        const char *words;
    } table[] = {
        {EACCES, "Permission denied"},
        {EPERM, "Operation not permitted"},
        {ENOENT, "No such file or directory"},
        {ENOTDIR, "Not a directory"},
        {EISDIR, "Is a directory"},
        {ENOSPC, "No space left on device"},
        {EDQUOT, "Disk quota exceeded"},
        {EFBIG, "File too large"},
        {EROFS, "Read-only file system"},
        {EIO, "Input/output error"},
        {EMFILE, "Too many open files"},
        {ENFILE, "Too many open files in system"},
        {ENAMETOOLONG, "File name too long"},
        {ELOOP, "Too many levels of symbolic links"},
        {EPIPE, "Broken pipe"},
        {EBADF, "Bad file descriptor"},
        {EBUSY, "Device or resource busy"},
        {ETXTBSY, "Text file busy"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].error == error) {
            sc_text_put(text, table[i].words);
            return;
        }
    }
    sc_text_format(text, "error %d", error);
}
