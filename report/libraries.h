/* Opens libraries that the project itself needs (CUPTI, NVML, libunwind), mostly in the user's
 * process, without letting a relative folder decide which file is loaded.
 *
 * The loader looks for a library in the folders of LD_LIBRARY_PATH and of run paths. A relative one
 * means a folder below the present working folder, which the program may change, so that any file
 * could be loaded. Relative folders are skipped therefore, for the library and for the libraries
 * that it needs.
 *
 * Thread-safe. Locks: takes the loader's. Not for a signal handler. */
#ifndef SC_REPORT_LIBRARIES_H
#define SC_REPORT_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

struct sc_text;

/* Opens a library by its absolute path, or by the name under which the loader finds it, as dlopen
 * does. If a relative folder has to be passed over, the loader's cache is not used either; the
 * usual folders are searched instead. NULL: it is not found, and dlerror may be set. `name` must
 * not be a relative path with '/': that gives NULL. */
void *sc_libraries_open(const char *name, int flags);

/* Opens `file` in the folder of the object that contains this code. NULL also if
 * sc_libraries_find_path does not know that folder. */
void *sc_libraries_open_beside_us(const char *file, int flags);

/* Writes the absolute path of the module that `address` lies in. False: the path is not known. The
 * module was loaded by a relative path, and the path that the kernel has does not lead to it. */
bool sc_libraries_find_path(const void *address, char *path, size_t size);

/* Appends the relative folders that are passed over, divided by blanks; nothing if there are none.
 */
void sc_libraries_put_passed_over(struct sc_text *text);

#endif
