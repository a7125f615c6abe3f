/* Maps pages by system calls, never by malloc: the library runs inside free() and inside driver
 * calls, so it must not use the allocator that it watches.
 *
 * Thread-safe; signal-safe; no lock; errno is kept. */
#ifndef SC_TOOLS_OWN_PAGES_H
#define SC_TOOLS_OWN_PAGES_H

#include <stddef.h>

/* Maps zeroed pages. Returns NULL if there is no memory. */
void *sc_pages_map(size_t size_bytes);

/* Unmaps pages with the size that they were mapped with. NULL does nothing. */
void sc_pages_unmap(void *pages, size_t size_bytes);

#endif
