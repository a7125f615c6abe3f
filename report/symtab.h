/* Names of functions that the loader does not know (static ones, and those of a program linked
 * without -rdynamic), from the .symtab of the module's file. For the few places of the summary:
 * each call reads the whole table. One caller at a time; no lock, no allocation.
 */
#ifndef SC_REPORT_SYMTAB_H
#define SC_REPORT_SYMTAB_H

#include "report/report.h"

/* Puts the mangled name of the function that frame returns into in `name`. False if there is none,
 * or if the file is no longer the one that is loaded. */
bool sc_symtab_find(const struct sc_report_frame *frame, char *name, size_t size);

#endif
