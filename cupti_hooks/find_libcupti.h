/* Where libcupti is.
 *
 * A copy that the process already has is the one to use: two would each believe to be alone. Else
 * it is looked for by the environment (CUPTI_PATH, CUPTI_HOME), beside the CUDA libraries that are
 * loaded (a toolkit's, or the `nvidia` Python wheels'), where the loader looks, and in toolkits
 * (CUDA_HOME, CUDA_PATH, /usr/local/cuda). What is found is never unloaded.
 */
#ifndef SC_CUPTI_HOOKS_FIND_LIBCUPTI_H
#define SC_CUPTI_HOOKS_FIND_LIBCUPTI_H

#include <stddef.h>

/* A handle, and the file's path; NULL if there is none. `majors` are the CUDA versions to look for,
 * the best first, 0 ends them. Not reentrant; takes the loader's lock. */
void *sc_cupti_find(const int *majors, char *path, size_t size);

/* The handle of the one that is loaded, or NULL. */
void *sc_cupti_loaded(char *path, size_t size);

#endif
