/* Finds the path of a file that is mapped into the process, by asking the kernel.
 *
 * The loader knows a module by the name that it was loaded by. A relative name no longer leads to
 * the file once the program has changed its working folder. The kernel always knows the file.
 *
 * Thread-safe; no lock; errno is kept. */
#ifndef SC_REPORT_MAPPED_FILE_H
#define SC_REPORT_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the present absolute path of the file that is mapped at `address`. False: no file is
 * mapped there, the file has been removed, its path does not fit, or there is no /proc. */
bool sc_mapped_file_find(uintptr_t address, char *path, size_t size);

/* The absolute path of the module that the loader calls `name` and that is mapped at `base`: `name`
 * itself, or what is written into `path`. NULL: it cannot be known. */
const char *sc_mapped_file_of_module(const char *name, uintptr_t base, char *path, size_t size);

#endif
