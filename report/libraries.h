/* Libraries that the project itself opens, mostly in a stranger's process.
 *
 * The loader looks for a library in the folders of LD_LIBRARY_PATH and of run paths. A relative
 * folder there is relative to the working folder of the moment. The program may change that, and
 * whatever file lies there would then run in the process. So relative folders are passed over, for
 * what is opened here and for what that needs.
 *
 * Thread-safe. Locks: takes the loader's. Not for a signal handler.
 */
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
