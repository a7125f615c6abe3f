/* How long mprotect takes in large pinned blocks.
 *
 * It changes a process for one thread at a time. Where several do so they wait for each other, for
 * the kernel or for a lock of ours that is held over it: what takes one thread 4 us takes 16 of
 * them 400 (H200).
 *
 * Lock-free; thread safe and signal safe.
 */
#ifndef SC_INTERPOSE_GUARD_MAP_WAITS_H
#define SC_INTERPOSE_GUARD_MAP_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One call took so long; or, with no bytes, the wait before one like the latest. */
void sc_map_waits_note(size_t size_bytes, uint64_t ticks);

/* Have calls lately taken longer than userfaultfd's would? */
bool sc_map_waits_are_long(void);

#endif
