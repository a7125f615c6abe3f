/* Reads what the files of one module say of addresses in it. The files may be damaged: how much
 * memory and time that takes has no bound here (symbolizer.h).
 */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_MODULE_READER_H
#define SC_REPORT_COMMAND_SYMBOLIZER_MODULE_READER_H

#include "report/command/symbolizer/debug_files.h"
#include "report/command/symbolizer/source_lines.h"

struct sc_module_reader;

/* Opens the files of the module. `sought` must live until the close. NULL: nothing is found that
 * could name an address; stderr is told what is in the way. */
struct sc_module_reader *sc_module_reader_open(const struct sc_module_sought *sought);
void sc_module_reader_close(struct sc_module_reader *reader);

/* The mangled name of the function that contains the byte before `offset`, which counts from the
 * start of the module's mapping. NULL if it is not known. Valid until the next question. */
const char *sc_module_reader_name(struct sc_module_reader *reader, uint64_t offset);

/* Where that byte is in the source, as sc_source_lines_find gives it. */
size_t sc_module_reader_places(struct sc_module_reader *reader, uint64_t offset,
                               struct sc_source_place *places);

#endif
