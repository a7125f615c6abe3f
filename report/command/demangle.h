/* Turns mangled names of functions into what C++ and Rust programs have in their source. */
#ifndef SC_REPORT_COMMAND_DEMANGLE_H
#define SC_REPORT_COMMAND_DEMANGLE_H

/* Returns the name `symbol` as its language writes it, or a copy of `symbol` if it is not mangled
 * or the name would have more than 16 KB. The caller frees it. NULL: no memory. */
char *sc_demangle(const char *symbol);

#endif
