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

enum sc_access;
enum sc_touch;

/* Gives the host that access to whole pages, by mprotect or userfaultfd
 * (interpose/guard/userfaults.h). As sc_page_protection_set; 0 for no pages at all as well. */
int sc_page_access_set(uintptr_t address, size_t size_bytes, enum sc_access access);

/* Would a touch of the address fault now? Asks the kernel. */
bool sc_page_access_denies(uintptr_t address, enum sc_touch touch);

#endif
