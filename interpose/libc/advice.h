/* Reports operations in flight, and waits for them in mode=fix, before advice (of madvise or
 * process_madvise) by which pages lose their contents.
 *
 * A device keeps the pages that it has pinned. When the program drops them from its mapping, a copy
 * to the device still reads the old bytes, and a copy from the device is lost, as after munmap. In
 * pageable memory the driver finds new pages of zeros. So the call waits for operations in flight.
 * After it, registered memory has other pages for the device than for the program: it is no longer
 * guarded or compared.
 *
 * - MADV_DONTNEED, MADV_DONTNEED_LOCKED, MADV_FREE: private pages are lost, except those of a file
 *   that nobody can have changed. Shared pages remain the file's, and the next touch maps them
 *   again.
 * - MADV_REMOVE: shared pages are lost, for all processes.
 * - MADV_GUARD_INSTALL: the mapping's pages are lost, and the access to them.
 * - MADV_COLD, MADV_PAGEOUT: nothing is lost. Pinned pages stay, and others are read back with
 *   their contents.
 *
 * All other advice is passed on. glibc's posix_madvise does nothing for POSIX_MADV_DONTNEED, so it
 * is not hooked.
 *
 * Thread-safe, not signal-safe; errno is kept. Locks: as in interpose/losses/losses.h. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   loss: memory that goes otherwise than by a free: munmap, shmdt, dlclose, the end of a thread
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_LIBC_ADVICE_H
#define SC_INTERPOSE_LIBC_ADVICE_H

#include <stddef.h>

struct sc_culprit;

/* Reports and waits for what is in flight in the pages that the advice would drop, and ends their
 * guarding and comparing. Called before the advice is given. Does nothing for other advice. */
void sc_advice_before(const void *address, size_t size_bytes, int advice,
                      const struct sc_culprit *culprit);

#endif
