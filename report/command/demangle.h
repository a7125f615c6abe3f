/* Names of functions as C++ and Rust write them. */
#ifndef SC_REPORT_COMMAND_DEMANGLE_H
#define SC_REPORT_COMMAND_DEMANGLE_H

/* `symbol` as its language writes it, or a copy of `symbol`, where that would have more than 16 KB
 * too. The caller frees the text. NULL when out of memory. */
char *sc_demangle(const char *symbol);

#endif
