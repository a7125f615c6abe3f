/* Sets and queries the access that the program has to pages, whether mprotect or userfaultfd guards
 * them (protects them while a copy uses them). It is a module of its own so that unit tests can
 * replace the system calls. Thread-safe and signal-safe; no lock; errno is kept. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   stripe: a set of pages that share one of the guard's locks
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_GUARD_PAGE_ACCESS_H
#define SC_INTERPOSE_GUARD_PAGE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_access;
enum sc_touch;

/* Sets the program's access to whole pages: by userfaultfd if the pages lie in an area with a
 * stripe of its own (interpose/guard/userfaults.h), else by mprotect. Returns 0 or -errno as
 * sc_page_protection_set; 0 for no pages. */
int sc_page_access_set(uintptr_t address, size_t size_bytes, enum sc_access access);

/* Would a touch of the address fault now? Reads the mapping's access from Linux. */
bool sc_page_access_denies(uintptr_t address, enum sc_touch touch);

#endif
