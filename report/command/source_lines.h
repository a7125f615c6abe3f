/* Source lines for addresses in modules, from their DWARF, read by libdw (elfutils).
 *
 * libdw is loaded at run time: without it, and for modules built without -g, there are no lines.
 */
#ifndef SC_REPORT_COMMAND_SOURCE_LINES_H
#define SC_REPORT_COMMAND_SOURCE_LINES_H

#include <stdint.h>

struct sc_source_lines;

/* The lines of the file at `path`; NULL if there are none. */
struct sc_source_lines *sc_source_lines_open(const char *path);
void sc_source_lines_close(struct sc_source_lines *lines);

/* The source file that `address` belongs to, and the number of the line; NULL if not known.
 * `address` is as the module's file numbers addresses. Valid until the close. */
const char *sc_source_lines_find(struct sc_source_lines *lines, uint64_t address, int *number);

#endif
