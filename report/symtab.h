/* Names of functions that the loader does not know, from the .symtab of the module's file: of
 * static functions, and of all functions of a program linked without -rdynamic.
 *
 * Each call reads the whole table, so it is for few frames. Thread safe. No lock, no allocation.
 */
#ifndef SC_REPORT_SYMTAB_H
#define SC_REPORT_SYMTAB_H

#include "report/report.h"

/* Puts into `name` the mangled name of the function that `frame` returns into. False if the file
 * has no such name, or is no longer the file that is loaded. */
bool sc_symtab_find(const struct sc_report_frame *frame, char *name, size_t size);

#endif
