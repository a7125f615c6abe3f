/* Reads members of JSON objects that may have anything in them: 0, NULL or `otherwise` if a member
 * is missing or of another type. */
#ifndef SC_REPORT_COMMAND_FIELDS_H
#define SC_REPORT_COMMAND_FIELDS_H

#include <jansson.h>

/* Returns the string that the object has for the key, or `otherwise`. */
static inline const char *sc_field_string(const json_t *object, const char *key,
                                          const char *otherwise)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : otherwise;
}

/* Returns the integer that the object has for the key; 0: none. */
static inline json_int_t sc_field_number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

#endif
