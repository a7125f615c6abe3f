/* Handles writes into the process's own memory, through a descriptor of /proc/self/mem, that have
 * failed because of a protected page, so that they can be repeated.
 *
 * Linux writes there even where private memory is protected. But it refuses pages of shared memory
 * that may not be written, as pinned memory can be: the call fails with EIO, and has written
 * nothing. Only calls that have failed are examined, since otherwise each write would cost a check
 * of its descriptor.
 *
 * Thread-safe and signal-safe; errno is kept. Locks: as sc_prefault_buffer. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_OWN_MEMORY_H
#define SC_INTERPOSE_SYSTEM_CALLS_OWN_MEMORY_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct sc_prefault;

enum { SC_OWN_MEMORY_HERE = -1 }; /* at the descriptor's file position */

/* Prefaults the target of a write into this process's memory, and sets prefault->into_own_memory,
 * if a write of `size_bytes` bytes at `at` has failed with EIO. Otherwise does nothing. Called
 * before a write and before its repetition. */
void sc_own_memory_prefault(struct sc_prefault *prefault, int fd, off64_t at, size_t size_bytes);

/* Does what sc_own_memory_prefault does, for a write from several pieces (pwritev). */
void sc_own_memory_prefault_pieces(struct sc_prefault *prefault, int fd, off64_t at,
                                   const struct iovec *pieces, size_t count);

#endif
