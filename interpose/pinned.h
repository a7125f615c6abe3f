/* Pinned allocations from huge pages.
 *
 * Protecting 64 MB in pages of 4 KB takes 590 us, in pages of 2 MB it takes 9 us (docs/driver.md,
 * Q26). So larger pinned allocations are served from anonymous memory in huge pages, registered
 * with the driver for exactly the bytes that were asked for: attributes, flags and device pointers
 * are then those of an allocation. What cannot be as the driver's, the driver serves: small ones,
 * which it packs; write-combined ones; all in mode=report, with guard=off or pinned=driver, once
 * the process has captured a graph, and once it has forked, since a child would copy them where the
 * driver's are shared.
 *
 * Thread-safe. sc_pinned_end is lock-free.
 */
#ifndef SC_INTERPOSE_PINNED_H
#define SC_INTERPOSE_PINNED_H

#include "interpose/driver.h"

/* NULL: the driver is to serve it. */
void *sc_pinned_take(size_t size_bytes, unsigned flags);

/* Does the address start an allocation of ours? The first byte behind its pages, or 0. */
uintptr_t sc_pinned_end(uintptr_t address);

/* Like cuMemFreeHost, wait included; anything that is not ours goes to the driver. */
CUresult sc_pinned_free(void *address);

/* Is any byte of the interval of ours? */
bool sc_pinned_overlaps(uintptr_t address, size_t size_bytes);

/* The context has ended, and what was registered in it with it. */
void sc_pinned_context_gone(CUcontext context);

/* The process is about to fork. */
void sc_pinned_note_fork(void);

#endif
