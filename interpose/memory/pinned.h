/* Pinned allocations from pages of their own.
 *
 * Protecting 64 MB in pages of 4 KB takes 590 us, in pages of 2 MB 9 us, and a page that holds two
 * allocations cannot be guarded for both (docs/driver.md, Q26). So in mode=fix large allocations
 * are served in huge pages and small ones in pages that they share with nobody. The memory is of
 * the kind that the driver takes for its own, shared anonymous pages, which a forked child shares
 * with its parent; it is registered with the driver for exactly the bytes that were asked for, and
 * then every query and every call answers as for memory that the driver allocated. What differs is
 * put right in the wrappers of cuMemHostRegister and cuMemHostUnregister.
 *
 * Whatever cannot be as the driver's, the driver serves: allocations between the two sizes,
 * write-combined ones, all when huge pages are not to be had, when devices or NUMA policy ask for
 * more than was measured, with guard=off or pinned=driver, and every call that would fail.
 *
 * A few of those that the driver would have packed stay registered when they are freed, and are
 * handed out again as they were, for an equal request in the same context. Until then the driver
 * still answers queries about them.
 *
 * Thread-safe; no lock is held over a call of the driver. errno is kept. In a forked child nothing
 * is ours, and no lock is taken.
 */
#ifndef SC_INTERPOSE_MEMORY_PINNED_H
#define SC_INTERPOSE_MEMORY_PINNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

struct sc_context;

/* `flags` as of cuMemHostAlloc. NULL: the driver is to serve it. */
void *sc_pinned_take(size_t size_bytes, unsigned flags);

/* Does the address start an allocation of ours? The first byte behind its pages, or 0. Lock-free
 * unless it races with a change. */
uintptr_t sc_pinned_end(uintptr_t address);

/* Like cuMemFreeHost, wait included; anything that is not ours goes to the driver. */
CUresult sc_pinned_free(void *address);

/* Is any byte of the interval of ours? */
bool sc_pinned_overlaps(uintptr_t address, size_t size_bytes);

/* The context has ended, and what was allocated in it with it. */
void sc_pinned_context_gone(const struct sc_context *context);

/* Its handle may name another context from now on, or names this one again after all. */
void sc_pinned_context_unnamed(const struct sc_context *context);
void sc_pinned_context_named(const struct sc_context *context);

#endif
