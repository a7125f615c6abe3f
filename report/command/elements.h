/* The elements of one array in a JSON file of any size, one after the other. */
#ifndef SC_REPORT_COMMAND_ELEMENTS_H
#define SC_REPORT_COMMAND_ELEMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Reads one JSON object, and gives `take` each element of the arrays that are its members `keys`
 * (up to a NULL), with the key. Arrays and objects within an element are empty then: they, and
 * other members, are looked at only for their end.
 *
 * False, with what was taken until then:
 * - the file is no such object, or something follows it;
 * - it has no member of the first key;
 * - an element is not JSON, or has more than 16 MB without its arrays and objects;
 * - there is a control character that is no blank;
 * - `take` has returned false. */
typedef bool sc_elements_take(void *whom, const char *key, const json_t *element);
bool sc_elements_each(FILE *stream, const char *const *keys, sc_elements_take *take, void *whom);

#endif
