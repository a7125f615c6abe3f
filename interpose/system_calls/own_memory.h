/* Looks at writes into the process's own memory through a descriptor of /proc/self/mem that a
 * guarded page has made fail, so that they are repeated.
 *
 * The kernel writes there even where private memory is protected. But it refuses pages of shared
 * memory that may not be written, as pinned memory can be: the call fails with EIO, and has written
 * nothing. Calls are looked at only after they have failed, since otherwise each write would cost a
 * look at its descriptor.
 *
 * Thread safe and signal safe; errno is kept. Locks: as sc_prefault_buffer. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_OWN_MEMORY_H
#define SC_INTERPOSE_SYSTEM_CALLS_OWN_MEMORY_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct sc_prefault;

enum { SC_OWN_MEMORY_HERE = -1 }; /* at the descriptor's own position */

/* Called before a write of `size_bytes` bytes at `at`, and before it is repeated. If it has failed
 * with EIO and wrote to this process's memory, guarded pages there are touched as the program
 * would, and look->into_own_memory is set. Otherwise does nothing. */
void sc_own_memory_prefault(struct sc_prefault *prefault, int fd, off64_t at, size_t size_bytes);

/* The same of a write out of several pieces. */
void sc_own_memory_prefault_pieces(struct sc_prefault *prefault, int fd, off64_t at,
                                   const struct iovec *pieces, size_t count);

#endif
