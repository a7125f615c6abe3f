/* mprotect past the library's own hook.
 *
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_PAGE_PROTECTION_H
#define SC_INTERPOSE_GUARD_PAGE_PROTECTION_H

#include <stddef.h>
#include <stdint.h>

enum sc_access;

/* Protects whole pages. 0 or -errno: the kernel refuses, and may have changed some of the pages.
 * -ENOMEM for want of a mapping (vm.max_map_count); -EPERM where access is taken from sealed memory
 * (mseal), which counts as given back, since nobody could have taken it. */
int sc_page_protection_set(uintptr_t address, size_t size_bytes, enum sc_access access);

#endif
