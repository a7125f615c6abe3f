/* The elements of one array in a JSON file of any size, one after the other. */
#ifndef SC_REPORT_COMMAND_ELEMENTS_H
#define SC_REPORT_COMMAND_ELEMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Gives `take` each element of the array that is the member `key` of the outermost object. Arrays
 * and objects in an element are empty then. False if the file is no such object and nothing more,
 * if an element is not JSON or has more than 16 MB without these, or as soon as `take` says so:
 * what was taken before is taken all the same. What is in arrays and objects of an element, and
 * other members, is looked at only for their end. */
bool sc_elements_each(FILE *stream, const char *key, bool take(void *whom, const json_t *element),
                      void *whom);

#endif
