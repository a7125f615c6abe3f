/* Calls mprotect without passing the library's own hook of it.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_GUARD_PAGE_PROTECTION_H
#define SC_INTERPOSE_GUARD_PAGE_PROTECTION_H

#include <stddef.h>
#include <stdint.h>

enum sc_access;

/* Protects whole pages. Returns 0 or -errno: the kernel refuses, and may have changed some of the
 * pages. -ENOMEM: no mapping is left (vm.max_map_count). To give access back to sealed memory
 * (mseal), which the kernel refuses, counts as done: nobody could have taken the access. */
int sc_page_protection_set(uintptr_t address, size_t size_bytes, enum sc_access access);

#endif
