#include "report/json.h"

#include "report/plain.h"
#include "track/text.h"

#include <string.h>

#include "track/poison.h"

static void put_character(struct sc_text *text, const char *bytes, size_t length, uint32_t code)
{
    if (code == '"' || code == '\\')
        sc_text_char(text, '\\');
    if (sc_plain_is_harmless(code))
        sc_text_bytes(text, bytes, length);
    else
        sc_plain_put_code(text, code);
}

/* A byte that is not UTF-8 becomes \xNN, of which JSON wants the backslash escaped. */
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

/* A value needs a comma unless it is the first of all or the first within a bracket. What precedes
 * tells: no complete value ends in '{', '[' or ':'. */
static void begin(struct sc_text *text, const char *key)
{
    if (text->used > 0 && !strchr("{[:", text->bytes[text->used - 1]))
        sc_text_char(text, ',');
    if (!key)
        return;
    sc_text_format(text, "\"%s\":", key);
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
    if (!value)
        sc_json_null(text, key);
    else
        sc_json_bytes(text, key, value, strlen(value));
}

void sc_json_number(struct sc_text *text, const char *key, uint64_t value)
{
    begin(text, key);
    sc_text_decimal(text, value < INT64_MAX ? value : INT64_MAX);
}

void sc_json_signed(struct sc_text *text, const char *key, int64_t value)
{
    begin(text, key);
    sc_text_signed(text, value);
}

void sc_json_hex(struct sc_text *text, const char *key, uint64_t value)
{
    begin(text, key);
    sc_text_format(text, "\"%#lx\"", value);
}
