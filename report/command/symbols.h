/* Names and source lines for addresses in modules, from the files, for the command.
 *
 * A file is only believed if its build id is the one that the report has, since a name from another
 * build is worse than none.
 */
#ifndef SC_REPORT_COMMAND_SYMBOLS_H
#define SC_REPORT_COMMAND_SYMBOLS_H

#include <stdint.h>

struct sc_symbols;

/* NULL when out of memory. */
struct sc_symbols *sc_symbols_new(void);
void sc_symbols_free(struct sc_symbols *symbols);

/* Says which build id (hex) the module at `path` had in the run. Where two runs had different ones,
 * the file can be believed for neither: it is then not used. */
void sc_symbols_expect(struct sc_symbols *symbols, const char *path, const char *build_id);

/* The mangled name of the function that the return address `offset` bytes into the module's mapping
 * lies in; NULL if there is none. Valid until sc_symbols_free. */
const char *sc_symbols_find(struct sc_symbols *symbols, const char *path, uint64_t offset);

/* The source file of that address and the number of its line; NULL if there is none. Valid until
 * sc_symbols_free. */
const char *sc_symbols_line(struct sc_symbols *symbols, const char *path, uint64_t offset,
                            int *number);

/* `name` as C++ would write it, or a copy of it. The caller frees it; NULL when out of memory. */
char *sc_symbols_demangle(const char *name);

#endif
