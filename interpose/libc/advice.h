/* What the hooks of madvise and process_madvise do before advice by which pages lose their
 * contents.
 *
 * A device keeps the pages that it has pinned. When the program drops them from its mapping, a copy
 * to the device still reads the old bytes, and a copy from the device lands where nobody looks, as
 * after munmap. In pageable memory the driver finds new pages of zeros. So the call waits. After
 * it, registered memory has other pages for the device than for the host: nothing is guarded or
 * compared there.
 *
 * - MADV_DONTNEED, MADV_DONTNEED_LOCKED, MADV_FREE: private pages are lost, except those of a file
 *   that nobody can have changed. Shared pages stay their file's, and the next touch finds them.
 * - MADV_REMOVE: shared pages are lost, for everybody.
 * - MADV_GUARD_INSTALL: the mapping's pages are lost, and the access to them.
 * - MADV_COLD, MADV_PAGEOUT: nothing is lost. Pinned pages stay, and others come back with what was
 *   in them.
 *
 * All other advice passes through. glibc's posix_madvise does nothing for POSIX_MADV_DONTNEED, so
 * it is not wrapped.
 *
 * Thread safe, not signal safe; errno is kept. Locks: as in interpose/losses/losses.h. */
#ifndef SC_INTERPOSE_LIBC_ADVICE_H
#define SC_INTERPOSE_LIBC_ADVICE_H

#include <stddef.h>

struct sc_culprit;

/* Called before the advice is given: waits for what is in flight in the pages that would be lost,
 * and has them guarded and compared no more. Does nothing for other advice. */
void sc_advice_before(const void *address, size_t size_bytes, int advice,
                      const struct sc_culprit *culprit);

#endif
