/* Reads what the files of one module say about addresses in it. The files may be damaged; this code
 * sets no bounds for memory and time (symbolizer.h does). */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_MODULE_READER_H
#define SC_REPORT_COMMAND_SYMBOLIZER_MODULE_READER_H

#include "report/command/symbolizer/debug_files.h"
#include "report/command/symbolizer/source_lines.h"

struct sc_module_reader;

/* Opens the files of the module. `sought` must live until the close. Returns NULL if no file is
 * found that could name an address, after messages on stderr about what was in the way. */
struct sc_module_reader *sc_module_reader_open(const struct sc_module_sought *sought);
void sc_module_reader_close(struct sc_module_reader *reader);

/* Returns the mangled name of the function that contains the byte before `offset`, counted from the
 * start of the module's mapping; valid until the next call. NULL: not known. */
const char *sc_module_reader_name(struct sc_module_reader *reader, uint64_t offset);

/* Stores where that byte is in the source, as sc_source_lines_find does. */
size_t sc_module_reader_places(struct sc_module_reader *reader, uint64_t offset,
                               struct sc_source_place *places);

#endif
