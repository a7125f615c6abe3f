/* Finds the path of a file that is mapped into the process, by asking the Linux kernel.
 *
 * The loader knows a module by the name by which it was loaded. A relative name no longer leads to
 * the file when the program has changed its working folder. The Linux kernel always knows the file.
 *
 * Thread-safe; no lock; errno is kept. */
#ifndef SC_REPORT_MAPPED_FILE_H
#define SC_REPORT_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stores the present absolute path of the file that is mapped at `address`. Returns false if no
 * file is mapped there, the file was removed, its path does not fit, or there is no /proc. */
bool sc_mapped_file_find(uintptr_t address, char *path, size_t size);

/* Returns the absolute path of the module that the loader calls `name` and that is mapped at
 * `base`: `name` itself, or what is written into `path`. NULL: it cannot be found. */
const char *sc_mapped_file_of_module(const char *name, uintptr_t base, char *path, size_t size);

#endif
