/* Where libcupti is.
 *
 * The copy that the process has loaded is used: of two copies each would believe to be alone. Else
 * these places are searched, in this order: CUPTI_PATH and CUPTI_HOME; beside the CUDA libraries
 * that are loaded (a toolkit's, or the `nvidia` Python wheels'); where the loader looks; CUDA_HOME,
 * CUDA_PATH and /usr/local/cuda. A copy that was found is never unloaded.
 *
 * Thread-safe. Locks: the loader's. Not for a signal handler.
 */
#ifndef SC_CUPTI_HOOKS_LIBCUPTI_H
#define SC_CUPTI_HOOKS_LIBCUPTI_H

#include <stddef.h>

/* Returns a handle, and writes the file's path; NULL if there is no libcupti. `majors` are the CUDA
 * versions to look for, the best first, ended by 0. Not reentrant. Locks: takes the loader's. */
void *sc_libcupti_find(const int *majors, char *path, size_t size);

/* Returns a handle of the copy that is loaded, and writes its path; NULL if none is. Locks: takes
 * the loader's. */
void *sc_libcupti_find_loaded(char *path, size_t size);

#endif
