/* Reads a JSON file of any size, whose arrays may not fit into memory, one array element after the
 * other. */
#ifndef SC_REPORT_COMMAND_ELEMENTS_H
#define SC_REPORT_COMMAND_ELEMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Reads one JSON object. The members that `keys` (up to a NULL) names must be arrays; `take` is
 * called for each of their elements. Arrays and objects within an element are skipped, and are
 * empty in what `take` gets; other members are skipped as well.
 *
 * Returns false, after `take` was called for the elements before that place, if
 *     - the file is no such object, or something follows it;
 *     - the object has no member of the first key, or a named member is no array;
 *     - an element is not JSON, or has more than 16 MB without its arrays and objects;
 *     - there is a control character other than tab, newline and carriage return;
 *     - `take` has returned false. */
typedef bool sc_elements_take(void *whom, const char *key, const json_t *element);
bool sc_elements_each(FILE *stream, const char *const *keys, sc_elements_take *take, void *whom);

#endif
