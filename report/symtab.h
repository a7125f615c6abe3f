/* Finds names of functions that the loader does not know, in the .symtab of the module's file:
 * static functions, and all functions of a program that was linked without -rdynamic.
 *
 * Each call reads the whole table, so this is for few frames. Thread-safe. No lock, no
 * allocation. */
#ifndef SC_REPORT_SYMTAB_H
#define SC_REPORT_SYMTAB_H

#include "report/report.h"

/* Stores the mangled name of the function that `frame` returns into. Returns false if the file has
 * no such name, or is no longer the file that was loaded. */
bool sc_symtab_find(const struct sc_report_frame *frame, char *name, size_t size);

#endif
