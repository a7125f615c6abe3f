/* Opens libraries that the project itself needs (CUPTI, NVML, libunwind), mostly in the user's
 * process, and skips relative folders in the search.
 *
 * The loader looks for a library in the folders of LD_LIBRARY_PATH and of run paths. A relative
 * folder there is below the present working folder, which the program may change, so that any file
 * could be loaded. So relative folders are skipped, for the library and for the libraries that it
 * needs.
 *
 * Thread-safe. Locks: takes the loader's. Not for a signal handler. */
#ifndef SC_REPORT_LIBRARIES_H
#define SC_REPORT_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

struct sc_text;

/* Opens a library by its absolute path, or by a name that the loader searches, as dlopen does. If a
 * relative folder has to be skipped, the library searches the usual folders itself, and does not
 * use the loader's cache. Returns NULL if it is not found (dlerror may be set), and for a relative
 * path with '/'. */
void *sc_libraries_open(const char *name, int flags);

/* Opens `file`, which is installed with the library, in the folder of the object that contains
 * this code. Returns NULL also if that folder is not known (sc_libraries_find_path). */
void *sc_libraries_open_beside_us(const char *file, int flags);

/* Stores the absolute path of the module that `address` lies in. Returns false if it is not known:
 * the module was loaded by a relative path, and the path that the Linux kernel has does not lead to
 * it. */
bool sc_libraries_find_path(const void *address, char *path, size_t size);

/* Appends the relative folders that are skipped when libraries are searched, separated by blanks;
 * nothing if there are none. For `safecopy doctor`. */
void sc_libraries_put_passed_over(struct sc_text *text);

#endif
