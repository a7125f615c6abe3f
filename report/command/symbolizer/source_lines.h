/* Finds source lines for addresses in a file, in its DWARF, which libdw (elfutils) reads.
 *
 * There are no lines in a build without libdw, nor for a module that was built without -g. */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_SOURCE_LINES_H
#define SC_REPORT_COMMAND_SYMBOLIZER_SOURCE_LINES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_source_lines;

/* A line of source that an address belongs to. */
struct sc_source_place {
    /* an inlined function, mangled; NULL: the one that the symbol table names */
    const char *function;
    const char *file;   /* NULL: not known */
    const char *folder; /* what a relative `file` is below; NULL: not known */
    int line;           /* 0: not known */
};

enum { SC_SOURCE_PLACES_MAX = 32 };

/* Returns true if this build has libdw. */
bool sc_source_lines_are_known(void);

/* Opens the lines of the file at `path`, which is open as `elf`; NULL: there are none. `alternate`:
 * the file with which it shares parts, or NULL. Both must stay open until the close. */
struct sc_source_lines *sc_source_lines_open(const char *path, Elf *elf, Elf *alternate);
void sc_source_lines_close(struct sc_source_lines *lines);

/* Stores the places in the source of `address`, as the file numbers addresses: inlined functions
 * first, from the innermost on. Returns how many there are, at most SC_SOURCE_PLACES_MAX; 0: not
 * known. Their words are valid until the close. */
size_t sc_source_lines_find(struct sc_source_lines *lines, uint64_t address,
                            struct sc_source_place *places);

#endif
