/* Finds the file of a module, and the files that have its debug information.
 *
 * A file is believed only if its build id is the one that is sought: a name from another build is
 * worse than none. A file that others name is opened as a report's is (elf_file.h). */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_DEBUG_FILES_H
#define SC_REPORT_COMMAND_SYMBOLIZER_DEBUG_FILES_H

#include "report/command/symbolizer/elf_file.h"

#include <stdbool.h>

/* What is to be read. */
struct sc_module_sought {
    const char *path;     /* in the process that ran */
    const char *build_id; /* hexadecimal; "" if the module had none, NULL if that is not known */
    /* further folders in which files are looked for, divided by colons; absolute */
    const char *folders;
};

/* Whether there is anything where the module is looked for. Opens nothing. */
bool sc_debug_files_may_be_there(const struct sc_module_sought *sought);

/* Opens the file of the module that ran, or else its debug file. False: neither is found; if
 * another build is in its place, stderr is told. */
bool sc_debug_files_open_module(struct sc_elf_file *file, const struct sc_module_sought *sought);

/* Opens the separate file with the debug information, or the names, of `module`: by build id, by
 * what its .gnu_debuglink names, or from a server (debuginfod.h). */
bool sc_debug_files_open_debug(struct sc_elf_file *file, const struct sc_elf_file *module,
                               const struct sc_module_sought *sought);

/* Opens the file that holds parts of the debug information which `debug` shares with others
 * (dwz). */
bool sc_debug_files_open_alternate(struct sc_elf_file *file, const struct sc_elf_file *debug,
                                   const struct sc_module_sought *sought);

#endif
