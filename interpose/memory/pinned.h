/* Serves the program's pinned allocations (cuMemHostAlloc and the like) from pages of the library's
 * own, which can be guarded at little cost.
 *
 * Protecting 64 MB takes 590 us in pages of 4 KB, and 9 us in pages of 2 MB. A page with two
 * allocations on it cannot be guarded for both (docs/driver.md, Q26). So the library serves:
 * - allocations of up to 64 KB, in pages that they share with no other;
 * - where userfaultfd guards, those of up to 128 KB likewise (interpose/guard/userfaults.h);
 * - other allocations of 128 KB and more, in huge pages, as long as the padding is within bounds:
 *   64 MB for those of less than 1 MB, 256 MB for the others;
 * - beyond these bounds, or with guard=uffd, those of up to 1 MB in small pages again.
 *
 * The memory is of the kind that the driver uses itself: shared anonymous pages, which a forked
 * child shares with its parent. It is registered with the driver for exactly the bytes that were
 * asked for. Every query and every call then answers as for memory that the driver allocated; the
 * wrappers of cuMemHostRegister and cuMemHostUnregister correct what differs.
 *
 * The driver serves the rest:
 * - allocations between the two sizes, and write-combined ones;
 * - all of them when there are no huge pages, when devices or NUMA policy ask for more than was
 *   measured, and with guard=off or pinned=driver;
 * - every call that would fail.
 *
 * A few allocations of sizes that the driver packs into common pages stay registered when the
 * program frees them ("kept"). They are returned again for an equal request in the same context.
 * Until then the driver still answers queries about them.
 *
 * Thread-safe, not signal-safe; errno is kept. Locks: one of this module, not held over a call of
 * the driver. In a forked child no memory is the library's, and no lock is taken. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_MEMORY_PINNED_H
#define SC_INTERPOSE_MEMORY_PINNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

struct sc_context;

/* Allocates pinned memory in place of the driver; `flags` as for cuMemHostAlloc. NULL: the driver
 * is to serve the request, as it is not for the library, or something failed. */
void *sc_pinned_allocate(size_t size_bytes, unsigned flags);

/* Returns the end of the pages of the library's allocation that starts at the address; 0: none
 * starts there. Lock-free unless the look-up meets a change. */
uintptr_t sc_pinned_end(uintptr_t address);

/* Returns true if the address lies in an allocation of the library. Lock-free and signal-safe;
 * false also if the look-up meets a change. */
bool sc_pinned_has(uintptr_t address);

/* Returns a number that changes when an allocation of the library is unmapped: what was noted of a
 * mapping before is then old. Lock-free and signal-safe. */
uint32_t sc_pinned_epoch(void);

/* Frees pinned memory as cuMemFreeHost does, including its wait for the device. Memory that is not
 * the library's is passed to the driver. */
CUresult sc_pinned_free(void *address);

/* Called when the driver lacks memory for the program: does the library keep freed allocations for
 * reuse? give_up frees those of the context, and returns whether there were any. The context has to
 * be current and idle, as the driver waits for it, and the capture mode relaxed. */
bool sc_pinned_keeps_any(void);
bool sc_pinned_give_up(const struct sc_context *context);

/* Returns true if an allocation of the library's has a byte in the interval. The program takes such
 * memory for the driver's, and must not be able to register it. */
bool sc_pinned_overlaps(uintptr_t address, size_t size_bytes);

/* Called when the context has ended: unmaps and forgets what was allocated in it. */
void sc_pinned_context_gone(const struct sc_context *context);

/* Called before the driver ends the context: its handle may name another one from now on. The
 * blocks get another name for their context, so that the other one does not reuse them. */
void sc_pinned_context_unnamed(const struct sc_context *context);

/* Called when the driver has refused to end the context: its blocks are known by its handle
 * again. */
void sc_pinned_context_named(const struct sc_context *context);

#endif
