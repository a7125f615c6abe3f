/* What the kernel lets the host do with pages.
 *
 * A module of its own, so that tests can stand in for the kernel. Thread safe and signal safe; no
 * lock; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_PAGE_ACCESS_H
#define SC_INTERPOSE_GUARD_PAGE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/spans.h"

/* mprotect of whole pages, past the library's own hook, or userfaultfd where that keeps them off
 * (interpose/memory/userfaults.h). 0, for no pages at all as well, or -errno:
 * the kernel refuses, and may have changed some of the pages. -ENOMEM for want of a mapping
 * (vm.max_map_count); -EPERM where access is taken from sealed memory (mseal), which counts as
 * given back, since nobody could have taken it. */
int sc_page_access_set(uintptr_t address, size_t size_bytes, enum sc_access access);

/* Would a touch of the address fault now? Asks the kernel. */
bool sc_page_access_denies(uintptr_t address, enum sc_touch touch);

#endif
