/* The guard's door: what the rest of the tree asks of it. Any folder may include this header, and
 * no file outside of the guard, the signals and the system calls includes another header of these
 * folders (scripts/check-door).
 *
 * Thread safe; signal safe only where said; errno is kept. Locks: those that are said.
 */
#ifndef SC_INTERPOSE_GUARD_DOOR_H
#define SC_INTERPOSE_GUARD_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- memory that is made to be guarded ---- */

/* Can pinned memory of areas (interpose/memory/areas.h) be guarded by userfaultfd? If not,
 * guard=uffd says why, once. Takes a lock of the guard's at the first call; not signal safe. */
bool sc_guard_serves_areas(void);

/* Pages of sc_areas_map that the driver has pinned are registered with userfaultfd. False: they are
 * not, and are mprotect's. Takes a lock of the guard's; not signal safe. */
bool sc_guard_adopt(uintptr_t start, size_t size_bytes);

/* They are about to be unmapped; none is kept off. */
void sc_guard_leave(uintptr_t start, size_t size_bytes);

/* Is an interval of whole pages guarded by userfaultfd? Then a guard costs many threads as little
 * as one, and SIGSEGV is of no concern until a page is touched. Signal safe. */
bool sc_guard_uses_userfault(uintptr_t address, size_t size_bytes);

#endif
