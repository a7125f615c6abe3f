/* Sets and asks what the kernel lets the host do with pages, whichever mechanism guards them.
 *
 * A module of its own, so that tests can stand in for the kernel. Thread-safe and signal-safe; no
 * lock; errno is kept. */
#ifndef SC_INTERPOSE_GUARD_PAGE_ACCESS_H
#define SC_INTERPOSE_GUARD_PAGE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_access;
enum sc_touch;

/* Lets the host do this with whole pages, by userfaultfd if they are its
 * (interpose/guard/userfaults.h), else by mprotect. Returns what sc_page_protection_set does; 0 for
 * no pages. */
int sc_page_access_set(uintptr_t address, size_t size_bytes, enum sc_access access);

/* Would a touch of the address fault now? Asks the kernel. */
bool sc_page_access_denies(uintptr_t address, enum sc_touch touch);

#endif
