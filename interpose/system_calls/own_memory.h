/* Writes into the process's own memory through a descriptor of /proc/self/mem.
 *
 * The kernel writes there past the protection of private memory. It refuses pages of shared memory
 * that may not be written, as pinned memory can be: the call fails with EIO. Such a call has
 * written nothing. No call is looked at before it fails, since that would cost each write a look at
 * its descriptor.
 *
 * Thread safe and signal safe; errno is kept. Locks: as sc_look_at.
 */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_OWN_MEMORY_H
#define SC_INTERPOSE_SYSTEM_CALLS_OWN_MEMORY_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct sc_look;

enum { SC_OWN_MEMORY_HERE = -1 }; /* where the descriptor is */

/* A write of so many bytes is about to be made, or has failed and may be repeated. If it has failed
 * with EIO and wrote to this process's memory, what is guarded there is touched, as the program
 * would, and `look` says so. */
void sc_own_memory_look(struct sc_look *look, int fd, off64_t at, size_t size_bytes);
void sc_own_memory_look_each(struct sc_look *look, int fd, off64_t at, const struct iovec *pieces,
                             size_t count);

#endif
