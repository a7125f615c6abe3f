/* Finds libcupti.
 *
 * If the process has loaded a copy, that one is used: of two copies, each would assume to be the
 * only one. Otherwise these places are searched, in this order: CUPTI_PATH and CUPTI_HOME; beside
 * the CUDA libraries that are loaded (a toolkit's, or the `nvidia` Python wheels'); the loader's
 * search path; CUDA_HOME, CUDA_PATH and /usr/local/cuda. A copy that was found is never unloaded. A
 * relative folder is not searched, since it means another folder as soon as the program changes its
 * working folder. So a variable that names one is ignored, and so is a CUDA library that was loaded
 * by a relative path, if its folder cannot be found.
 *
 * Thread-safe. Locks: the loader's. Not for a signal handler. */
#ifndef SC_CUPTI_HOOKS_LIBCUPTI_H
#define SC_CUPTI_HOOKS_LIBCUPTI_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct sc_libcupti_search {
    const int *majors; /* CUDA versions to search for, the best first; ends with 0 */
    /* Opens an absolute path, or what the loader finds by a name. */
    void *(*open)(const char *name, int flags);
    /* Writes the absolute path of the module that `address` lies in. False: unknown. */
    bool (*find_path)(const void *address, char *path, size_t size);
};

struct sc_libcupti {
    void *handle; /* NULL: there is no libcupti */
    char path[PATH_MAX];
    char passed_over[256]; /* relative folders that were not searched; "": none */
};

/* Finds libcupti by the search. Not reentrant. Locks: takes the loader's. */
void sc_libcupti_find(const struct sc_libcupti_search *search, struct sc_libcupti *found);

/* Returns a handle of the loaded copy; NULL: none is loaded. Locks: takes the loader's. */
void *sc_libcupti_find_loaded(void);

#endif
