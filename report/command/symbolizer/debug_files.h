/* Finds the file of a module, and the files that have its debug information.
 *
 * A file is used only if its build id is the right one: a name from another build is worse than
 * none. A file that another file names is opened with the same care as one that a report names
 * (elf_file.h). */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_DEBUG_FILES_H
#define SC_REPORT_COMMAND_SYMBOLIZER_DEBUG_FILES_H

#include "report/command/symbolizer/elf_file.h"

#include <stdbool.h>

/* The module whose files are to be found. */
struct sc_module_sought {
    const char *path;     /* its path in the process that ran */
    const char *build_id; /* hexadecimal; "" if the module had none, NULL if that is not known */
    /* further folders to search, absolute, separated by colons */
    const char *folders;
};

/* Returns true if there is any file at the places where the module is searched. Opens nothing. */
bool sc_debug_files_may_be_there(const struct sc_module_sought *sought);

/* Opens the file of the module that ran, or else its debug file. Returns false if neither is found;
 * if another build is in its place, writes that to stderr. */
bool sc_debug_files_open_module(struct sc_elf_file *file, const struct sc_module_sought *sought);

/* Opens the separate file with the debug information, or the symbol names, of `module`: by build
 * id, by what its .gnu_debuglink names, or from a server (debuginfod.h). */
bool sc_debug_files_open_debug(struct sc_elf_file *file, const struct sc_elf_file *module,
                               const struct sc_module_sought *sought);

/* Opens the file with the parts of the debug information that `debug` shares with other files
 * (dwz). */
bool sc_debug_files_open_alternate(struct sc_elf_file *file, const struct sc_elf_file *debug,
                                   const struct sc_module_sought *sought);

#endif
