/* The mind: what is in flight, what is ordered, what must be held.
 *
 * Locks: one over order, inflight, hold and graphs, and within it one of each event. Under the lock
 * no CUDA function is called, no allocator and no I/O. So the hooks of libc may take it even inside
 * the driver. Every function takes the lock for itself, unless its comment says "lock-free". errno
 * is kept. For a signal handler only the lock-free functions are safe.
 *
 * Handles are the driver's own (CUstream, CUevent) as integers; streams are named by the ids that
 * sc_track_add_stream gave them.
 */
#ifndef SC_TRACK_TRACK_H
#define SC_TRACK_TRACK_H

#include <stdbool.h>

struct sc_track;

/* The process's own. Tests make others. */
extern struct sc_track sc_track;

int sc_track_init(struct sc_track *track); /* 0 or -ENOMEM */
void sc_track_destroy(struct sc_track *track);

/* Before the first stream is added: is device memory watched, and are operations guarded until the
 * host knows their end, and not only until they are complete? Neither is so otherwise. */
void sc_track_start(struct sc_track *track, bool watches_device, bool guards_until_known);

/* In a child of fork, where nothing is in flight: free() and munmap() have nothing to look at. */
void sc_track_ignore_libc(struct sc_track *track);

#endif
