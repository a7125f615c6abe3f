/* Finds names and source lines for addresses in modules, from the modules' files.
 *
 * A file is believed only if its build id is that of the report: a name from another build is worse
 * than none. Each module is read by a process of its own (symbolizer/symbolizer.h). So a damaged
 * file, or one that was made to, costs the names of its module and a bounded time. */
#ifndef SC_REPORT_COMMAND_SYMBOLS_H
#define SC_REPORT_COMMAND_SYMBOLS_H

#include "report/command/symbolizer/symbolizer.h"

#include <stdbool.h>
#include <stdint.h>

struct sc_symbols;

/* A module is known by its path and its build id: hexadecimal, "" for none, NULL where that is not
 * known. Runs of several builds may have the path. */

/* NULL when out of memory. */
struct sc_symbols *sc_symbols_new(void);
void sc_symbols_free(struct sc_symbols *symbols);

/* Has modules and debug files looked for in `folder` too, before the usual places: by build id, and
 * under their paths and names. False if its path has a colon, or memory is out. For use before the
 * first name is asked for. */
bool sc_symbols_add_folder(struct sc_symbols *symbols, const char *folder);

/* Says which process of this machine ran. If there are two, neither is asked what its code was
 * called. */
void sc_symbols_expect_process(struct sc_symbols *symbols, int64_t pid);

/* Announces that the address is likely to be asked about: those announced last are looked up first,
 * together with others of the module. */
void sc_symbols_announce(struct sc_symbols *symbols, const char *path, const char *build_id,
                         uint64_t offset);

/* The function that contains a return address, and with `with_lines` where it is in the source.
 * `offset` is the address, in bytes from the start of the module's mapping; without a module
 * (NULL), the address itself. The answer is valid until the next question. To be called by the only
 * thread of the process. */
const struct sc_symbol_answer *sc_symbols_find(struct sc_symbols *symbols, const char *path,
                                               const char *build_id, uint64_t offset,
                                               bool with_lines);

#endif
