/* The paths of files that are mapped.
 *
 * The loader knows a module by the name that it was loaded by. A relative one means the working
 * folder of then, and the program may have another by now. The kernel knows the file itself.
 *
 * Thread-safe, no lock, errno is kept.
 */
#ifndef SC_REPORT_MAPPED_FILE_H
#define SC_REPORT_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the absolute path, as it is now, of the file that is mapped at `address`. False: no file
 * is mapped there, the file has been removed, its path does not fit, or there is no /proc. */
bool sc_mapped_file_find(uintptr_t address, char *path, size_t size);

/* The absolute path of a module that the loader knows as `name`, and that is mapped at `base`:
 * `name` itself, or what is written into `path`. NULL where there is no telling. */
const char *sc_mapped_file_of_module(const char *name, uintptr_t base, char *path, size_t size);

#endif
