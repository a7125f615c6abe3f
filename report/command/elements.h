/* Reads a JSON file of any size, whose arrays may not fit into memory, one array element after the
 * other. */
#ifndef SC_REPORT_COMMAND_ELEMENTS_H
#define SC_REPORT_COMMAND_ELEMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Reads one JSON object. Calls `take` for each element of those of its members that are named in
 * `keys` (up to a NULL) and are arrays. Within an element arrays and objects are empty: they, and
 * other members, are read only for their end.
 *
 * False, with what was taken until then:
 *     - the file is no such object, or something follows it;
 *     - it has no member of the first key;
 *     - an element is not JSON, or has more than 16 MB without its arrays and objects;
 *     - there is a control character that is no blank;
 *     - `take` has returned false. */
typedef bool sc_elements_take(void *whom, const char *key, const json_t *element);
bool sc_elements_each(FILE *stream, const char *const *keys, sc_elements_take *take, void *whom);

#endif
