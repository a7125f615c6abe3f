/* Source lines for addresses in modules, from their DWARF, read by libdw (elfutils).
 *
 * A build without libdw has no lines, nor has a module that was built without -g.
 */
#ifndef SC_REPORT_COMMAND_SOURCE_LINES_H
#define SC_REPORT_COMMAND_SOURCE_LINES_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct sc_source_lines;

/* A line of source that an address belongs to. */
struct sc_source_place {
    const char *function; /* mangled, of a function that is inlined there; NULL: the one that the
                           * symbol table names */
    const char *file;     /* NULL: not known */
    const char *folder;   /* what a relative `file` is below; NULL: not known */
    int line;             /* 0: not known */
};

enum { SC_SOURCE_PLACES_MAX = 32 };

/* The lines of the file at `path`; NULL if there are none. Says once if libdw is missing. Separate
 * debug files are looked for in `folders`, divided by colons, which must live until the close. */
struct sc_source_lines *sc_source_lines_open(const char *path, char *folders);
void sc_source_lines_close(struct sc_source_lines *lines);

/* The separate file that has the debug information; NULL if there is none. Valid until the close.
 */
Elf *sc_source_lines_debug_file(struct sc_source_lines *lines);

/* The places of `address`, which is as the module's file numbers addresses: functions that are
 * inlined there first, the innermost foremost. Returns how many, at most SC_SOURCE_PLACES_MAX; 0
 * if nothing is known. Their words are valid until the close. */
size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places);

#endif
