/* Libraries that the project opens by itself, most in a stranger's process.
 *
 * The loader looks for a library in the folders of LD_LIBRARY_PATH and of run paths. A folder there
 * that is not absolute means the working folder of the moment. The program changes that, and
 * whatever file lies there would run in the process. So a relative folder is passed over: neither
 * what is opened here nor what that needs is looked for in it.
 *
 * Thread-safe. Locks: takes the loader's. Not for a signal handler.
 */
#ifndef SC_REPORT_LIBRARIES_H
#define SC_REPORT_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

struct sc_text;

/* Opens a library by its absolute path, or by the name under which the loader finds it, as dlopen
 * does. Where a relative folder is passed over, the loader's cache is as well, and the usual
 * folders are searched instead. NULL: it is not found, and dlerror may be set. Any other path is
 * not found. */
void *sc_libraries_open(const char *name, int flags);

/* Opens `file` of the folder in which the object that runs this lies. NULL also if
 * sc_libraries_find_path does not know that folder. */
void *sc_libraries_open_beside_us(const char *file, int flags);

/* Writes the absolute path of the module that `address` lies in. False: it was loaded by a relative
 * path, and what the kernel has for its path does not lead to it. */
bool sc_libraries_find_path(const void *address, char *path, size_t size);

/* Appends the folders that are passed over, divided by blanks; nothing if there is none. */
void sc_libraries_put_passed_over(struct sc_text *text);

#endif
