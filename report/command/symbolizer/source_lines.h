/* Finds source lines for addresses in a file, from its DWARF, read by libdw (elfutils).
 *
 * A build without libdw has no lines, nor has a module that was built without -g. */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_SOURCE_LINES_H
#define SC_REPORT_COMMAND_SYMBOLIZER_SOURCE_LINES_H

#include <libelf.h>
#include <stdbool.h>
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

/* Whether this build has libdw. */
bool sc_source_lines_are_known(void);

/* The lines of the file at `path`, which is open as `elf`; NULL if there are none. `alternate`: the
 * file that it shares parts with, or NULL. Both must stay open until the close. */
struct sc_source_lines *sc_source_lines_open(const char *path, Elf *elf, Elf *alternate);
void sc_source_lines_close(struct sc_source_lines *lines);

/* Finds the places in the source of `address`, which counts as the file numbers addresses: inlined
 * functions first, the innermost foremost. Returns how many there are, at most
 * SC_SOURCE_PLACES_MAX; 0: not known. Their words are valid until the close. */
size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places);

#endif
