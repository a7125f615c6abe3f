/* The elements of one array in a JSON file of any size, one after the other. */
#ifndef SC_REPORT_COMMAND_ELEMENTS_H
#define SC_REPORT_COMMAND_ELEMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Gives `take` each element of the arrays that are the members `keys`, up to a NULL, of the
 * outermost object, with its key. Arrays and objects in an element are empty then. False if the
 * file is no such object and nothing more, if it has no member of the first key, if an element is
 * not JSON or has more than 16 MB without these, or as soon as `take` says so: what was taken
 * before is taken all the same. What is in arrays and objects of an element, and other members, is
 * looked at only for their end. */
typedef bool sc_elements_take(void *whom, const char *key, const json_t *element);
bool sc_elements_each(FILE *stream, const char *const *keys, sc_elements_take *take, void *whom);

#endif
