#include "report/json.h"

#include <string.h>

#include "track/poison.h"

/* Length of the UTF-8 character at `bytes`, 0 if it is not one (RFC 3629: no overlong forms, no
 * surrogates, nothing past U+10FFFF). */
static size_t character_length(const unsigned char *bytes, size_t room)
{
    static const struct {
        unsigned char first, last, second_first, second_last;
        size_t length;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        if (bytes[0] < rows[r].first || bytes[0] > rows[r].last || rows[r].length > room)
            continue;
        if (rows[r].length > 1 &&
            (bytes[1] < rows[r].second_first || bytes[1] > rows[r].second_last))
            return 0;
        for (size_t i = 2; i < rows[r].length; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return 0;
        }
        return rows[r].length;
    }
    return 0;
}

static void put_byte(struct sc_text *text, const char *prefix, unsigned char byte)
{
    sc_text_put(text, prefix);
    sc_text_char(text, "0123456789abcdef"[byte >> 4]);
    sc_text_char(text, "0123456789abcdef"[byte & 15]);
}

static void put_ascii(struct sc_text *text, unsigned char c)
{
    if (c == '"' || c == '\\') {
        sc_text_char(text, '\\');
        sc_text_char(text, (char)c);
    } else if (c < 0x20 || c == 0x7f) {
        put_byte(text, "\\u00", c);
    } else {
        sc_text_char(text, (char)c);
    }
}

static void put_escaped(struct sc_text *text, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count;) {
        const unsigned char *at = (const unsigned char *)bytes + i;
        size_t length = character_length(at, count - i);
        if (length == 1)
            put_ascii(text, *at);
        else if (length == 0)
            put_byte(text, "\\\\x", *at);
        else
            sc_text_bytes(text, bytes + i, length);
        i += length > 0 ? length : 1;
    }
}

/* A value needs a comma unless it is the first of all or the first within a bracket. What precedes
 * tells: no complete value ends in '{', '[' or ':'. */
static void begin(struct sc_text *text, const char *key)
{
    if (text->used > 0 && strchr("{[:", text->bytes[text->used - 1]) == NULL)
        sc_text_char(text, ',');
    if (key == NULL)
        return;
    sc_text_char(text, '"');
    sc_text_put(text, key);
    sc_text_put(text, "\":");
}

void sc_json_open(struct sc_text *text, const char *key, char bracket)
{
    begin(text, key);
    sc_text_char(text, bracket);
}

void sc_json_close(struct sc_text *text, char bracket)
{
    sc_text_char(text, bracket);
}

void sc_json_null(struct sc_text *text, const char *key)
{
    begin(text, key);
    sc_text_put(text, "null");
}

void sc_json_true(struct sc_text *text, const char *key)
{
    begin(text, key);
    sc_text_put(text, "true");
}

void sc_json_bytes(struct sc_text *text, const char *key, const char *bytes, size_t count)
{
    begin(text, key);
    sc_text_char(text, '"');
    put_escaped(text, bytes, count);
    sc_text_char(text, '"');
}

void sc_json_string(struct sc_text *text, const char *key, const char *value)
{
    if (value == NULL)
        sc_json_null(text, key);
    else
        sc_json_bytes(text, key, value, strlen(value));
}

void sc_json_number(struct sc_text *text, const char *key, uint64_t value)
{
    begin(text, key);
    sc_text_decimal(text, value);
}

void sc_json_signed(struct sc_text *text, const char *key, int64_t value)
{
    begin(text, key);
    sc_text_signed(text, value);
}

void sc_json_hex(struct sc_text *text, const char *key, uint64_t value)
{
    begin(text, key);
    sc_text_char(text, '"');
    sc_text_hex(text, value);
    sc_text_char(text, '"');
}
