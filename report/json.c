#include "report/json.h"

#include "common/text.h"
#include "report/plain.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "common/poison.h"

/* Appends a character of a JSON string. Quotes and backslashes get a backslash. Characters that
 * could steer the terminal of who prints the report (control codes, marks of direction) become
 * \uXXXX. */
static void put_character(struct sc_text *text, const char *bytes, size_t length, uint32_t code)
{
    if (code == '"' || code == '\\')
        sc_text_char(text, '\\');
    if (sc_plain_is_harmless(code))
        sc_text_bytes(text, bytes, length);
    else
        sc_plain_put_code(text, code);
}

/* Appends bytes as the inside of a JSON string. File names may hold bytes that are not UTF-8,
 * which JSON forbids: such a byte becomes the four characters \xNN, with the backslash escaped. */
static void put_escaped(struct sc_text *text, const char *bytes, size_t count)
{
    size_t length;
    for (size_t i = 0; i<count; i += length> 0 ? length : 1) {
        uint32_t code;
        length = sc_plain_character(bytes + i, count - i, &code);
        if (length > 0) {
            put_character(text, bytes + i, length, code);
        } else {
            sc_text_char(text, '\\');
            sc_plain_put_byte(text, (unsigned char)bytes[i]);
        }
    }
}

/* Appends the comma before a value, unless the value is the first of the text or of its bracket, or
 * has its key before it. The last character tells: no complete value ends in '{', '[' or ':'. */
static void add_comma(struct sc_text *text)
{
    if (text->used > 0 && !strchr("{[:", text->bytes[text->used - 1]))
        sc_text_char(text, ',');
}

/* Appends a JSON string with its quotes. */
static void put_string(struct sc_text *text, const char *bytes, size_t count)
{
    sc_text_char(text, '"');
    put_escaped(text, bytes, count);
    sc_text_char(text, '"');
}

/* Writes the key at `at` in the format (name: or %s:, with the key's text taken from `values`),
 * without a '?' or '~' behind the name. Returns where the value begins: `at` itself for an element
 * without a key. */
static const char *put_key(struct sc_text *text, const char *at, va_list *values)
{
    size_t length = strcspn(at, ": %{[]}");
    if (strncmp(at, "%s:", 3) == 0) {
        sc_text_format(text, "\"%s\":", va_arg(*values, const char *));
        return at + 3;
    }
    if (at[length] != ':')
        return at;
    sc_text_char(text, '"');
    sc_text_bytes(text, at, length - strspn(at + length - 1, "?~"));
    sc_text_put(text, "\":");
    return at + length + 1;
}

/* Takes the value of the directive at `at` off the list, and returns whether it is nothing: NULL,
 * an empty string, 0 or false. With `counts_zero` 0 is something, and a negative number is
 * nothing. */
static bool take_if_nothing(const char *at, va_list *values, bool counts_zero)
{
    if (at[1] == 's') {
        const char *string = va_arg(*values, const char *);
        return !string || string[0] == '\0';
    }
    long number = at[1] == 'l' || at[1] == '#' ? va_arg(*values, long) : va_arg(*values, int);
    return counts_zero ? number < 0 : number == 0;
}

/* Deals with a member whose key ends in '?' or '~' and whose value is nothing: skips it for '?',
 * writes null for '~'. Returns what follows the member in the format. NULL: the member is written
 * like any other, and its value is still in `values` (it was looked at in a copy of the list). */
static const char *put_nothing(struct sc_text *text, const char *at, va_list *values)
{
    size_t length = strcspn(at, ": %{[]}");
    bool is_optional = length > 0 && at[length - 1] == '?';
    const char *value = at + length + 1;
    va_list ahead;
    if (at[length] != ':' || (!is_optional && at[length - (length > 0)] != '~'))
        return NULL;
    va_copy(ahead, *values);
    bool nothing = take_if_nothing(value, &ahead, !is_optional);
    va_end(ahead);
    if (!nothing)
        return NULL;
    take_if_nothing(value, values, !is_optional);
    if (!is_optional) {
        add_comma(text);
        sc_text_char(text, '"');
        sc_text_bytes(text, at, length - 1);
        sc_text_put(text, "\":null");
    }
    return value + strcspn(value, " }]\n");
}

/* Writes the value at `at` in the format: a bracket, a word in single quotes, a bare word, or a
 * directive whose value comes from `values`. %lu is cut to INT64_MAX, since many readers of JSON
 * take no larger number. Returns what follows the value in the format. */
static const char *put_value(struct sc_text *text, const char *at, va_list *values)
{
    size_t length = *at == '{' || *at == '[' ? 1 : strcspn(at, " }]\n");
    const char *string;
    unsigned long number;
    if (*at == '\'')
        put_string(text, at + 1, length - 2);
    else if (*at != '%')
        sc_text_bytes(text, at, length);
    if (*at != '%')
        return at + length;
    switch (at[1]) {
    case 's':
        string = va_arg(*values, const char *);
        if (string)
            put_string(text, string, strlen(string));
        else
            sc_text_put(text, "null");
        return at + 2;
    case 'l':
        if (at[2] != 'u')
            return sc_text_directive(text, at + 1, values);
        number = va_arg(*values, unsigned long);
        sc_text_format(text, "%lu", number < INT64_MAX ? number : INT64_MAX);
        return at + 3;
    case 'h':
        sc_text_put(text, va_arg(*values, int) ? "true" : "false");
        return at + 4;
    case '#':
        sc_text_format(text, "\"%#lx\"", va_arg(*values, unsigned long));
        return at + 4;
    default:
        return sc_text_directive(text, at + 1, values);
    }
}

/* Walks over the format `members`: closing brackets are copied, and each "key:value" or value is
 * written with the comma before it. json.h has the format. */
void sc_json_put(struct sc_text *text, const char *members, ...)
{
    va_list values;
    const char *behind;
    va_start(values, members);
    for (const char *at = members; *at != '\0';) {
        if (*at == ' ') {
            at++;
        } else if (strchr("}]\n", *at)) {
            sc_text_char(text, *at++);
        } else if ((behind = put_nothing(text, at, &values)) != NULL) {
            at = behind;
        } else {
            add_comma(text);
            at = put_value(text, put_key(text, at, &values), &values);
        }
    }
    va_end(values);
}

/* Appends a string that has no NUL behind it, as the member `key`, or with `key` NULL as an
 * element of an array. */
void sc_json_bytes(struct sc_text *text, const char *key, const char *bytes, size_t count)
{
    add_comma(text);
    if (key)
        sc_text_format(text, "\"%s\":", key);
    put_string(text, bytes, count);
}
