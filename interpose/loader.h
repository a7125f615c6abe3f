/* The loader and the C library as they are without us.
 *
 * dlsym of this object is ours, so the real one is found by version with dlvsym, whose success path
 * neither allocates nor takes a lock that a caller of dlsym could hold. Look-ups with RTLD_NEXT
 * start behind this object. Safe before any constructor has run, from any thread.
 */
#ifndef SC_INTERPOSE_LOADER_H
#define SC_INTERPOSE_LOADER_H

#include <stdbool.h>

/* NULL if there is no such symbol; leaves dlerror() set then, as dlsym does. */
void *sc_loader_symbol(void *handle, const char *name);

/* The next definition of a libc function behind this object; never NULL for what libc has. */
void *sc_loader_next(const char *name);

/* A program that is not position-independent and takes a function's address has it be that of a
 * jump of its own, and dlsym says so too. Where the jump leads is not known. */
bool sc_loader_is_stub(const void *function);

#endif
