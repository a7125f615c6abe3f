/* Calls mprotect by a system call, without passing through the library's hook of it. Thread-safe
 * and signal-safe; no lock; errno is kept. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_INTERPOSE_GUARD_PAGE_PROTECTION_H
#define SC_INTERPOSE_GUARD_PAGE_PROTECTION_H

#include <stddef.h>
#include <stdint.h>

enum sc_access;

/* Sets the access of whole pages. Returns 0 or -errno; after a failure some of the pages may have
 * changed. -ENOMEM: no mapping is left (vm.max_map_count). Linux refuses to give access back to
 * sealed memory (mseal); that counts as done, as nobody could have protected it. */
int sc_page_protection_set(uintptr_t address, size_t size_bytes, enum sc_access access);

#endif
