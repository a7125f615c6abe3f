#define _GNU_SOURCE 1
#include "report/command/formats/page_json.h"

#include "report/command/say.h"

#include <stdint.h>
#include <string.h>

/* Writes a string that may stand within a page: what could end its script is escaped. */
static void put_string(FILE *out, const char *text)
{
    static const char special[] = "\"\\<>&";
    putc_unlocked('"', out);
    for (text = sc_say_plain(text);; text++) {
        size_t plain = strcspn(text, special);
        fwrite_unlocked(text, 1, plain, out);
        text += plain;
        if (*text == '\0')
            break;
        fprintf(out, "\\u%04x", (unsigned char)*text);
    }
    putc_unlocked('"', out);
}

/* Writes an array without blanks. */
static void put_array(FILE *out, const json_t *array)
{
    size_t index;
    json_t *value;
    putc_unlocked('[', out);
    json_array_foreach(array, index, value)
    {
        fputs_unlocked(index > 0 ? "," : "", out);
        sc_page_json_put(out, value);
    }
    putc_unlocked(']', out);
}

/* Writes an object without blanks. */
static void put_object(FILE *out, const json_t *object)
{
    const char *key, *before = "";
    json_t *value, *members = (json_t *)(uintptr_t)object; /* nothing of it is changed */
    putc_unlocked('{', out);
    json_object_foreach(members, key, value)
    {
        fputs_unlocked(before, out);
        put_string(out, key);
        putc_unlocked(':', out);
        sc_page_json_put(out, value);
        before = ",";
    }
    putc_unlocked('}', out);
}

/* Writes a JSON value for the page's script: without blanks, and with strings that cannot end the
 * script. */
void sc_page_json_put(FILE *out, const json_t *value)
{
    if (json_is_object(value))
        put_object(out, value);
    else if (json_is_array(value))
        put_array(out, value);
    else if (json_is_string(value))
        put_string(out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        fputs_unlocked(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null", out);
}

void sc_page_json_add(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string_nocheck(text));
}

void sc_page_json_append(json_t *array, const char *text)
{
    json_array_append_new(array, json_string_nocheck(text));
}
