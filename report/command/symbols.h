/* Finds names and source lines for addresses in modules, in the modules' files.
 *
 * A file is used only if its build id is the one in the report: a name from another build is worse
 * than none. Each module is read by a process of its own (symbolizer/symbolizer.h). So a file that
 * is damaged, or was made to do harm, costs at most the names of its module and a bounded time. */
#ifndef SC_REPORT_COMMAND_SYMBOLS_H
#define SC_REPORT_COMMAND_SYMBOLS_H

#include "report/command/symbolizer/symbolizer.h"

#include <stdbool.h>
#include <stdint.h>

struct sc_symbols;

/* A module is identified by its path and its build id (hexadecimal, "" for none, NULL if it is not
 * known), since runs of several builds may have the path. */

/* Returns NULL if there is no memory. */
struct sc_symbols *sc_symbols_new(void);
void sc_symbols_free(struct sc_symbols *symbols);

/* Has modules and debug files searched in `folder` as well, before the usual places: by build id,
 * and under their paths and names. Returns false if the folder's path has a colon, or there is no
 * memory. To be called before the first search. */
bool sc_symbols_add_folder(struct sc_symbols *symbols, const char *folder);

/* Notes which process of this machine ran, so that its map of code made at run time (perf_map.h)
 * can be used. If there are two, neither's is used. */
void sc_symbols_expect_process(struct sc_symbols *symbols, int64_t pid);

/* Notes that the address will probably be asked for. Addresses that were noted last are looked up
 * first, together with others of the module. */
void sc_symbols_announce(struct sc_symbols *symbols, const char *path, const char *build_id,
                         uint64_t offset);

/* Returns the function that contains a return address, and with `with_lines` where it is in the
 * source. `offset`: the address, in bytes from the start of the module's mapping; if `path` is
 * NULL, the address itself. The answer is valid until the next call. To be called by the only
 * thread of the process. */
const struct sc_symbol_answer *sc_symbols_find(struct sc_symbols *symbols, const char *path,
                                               const char *build_id, uint64_t offset,
                                               bool with_lines);

#endif
