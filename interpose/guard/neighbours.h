/* Pages that hold more than the bytes of a copy, and that the program touches beside them.
 *
 * Such a touch is no mistake, and costs a fault and a page let go. A page that is touched so again
 * and again is guarded less and less often: after the n-th touch the next 2^n operations on the
 * page go without, up to 2^LEVEL_MAX. A page that is left in peace is guarded as before. A page on
 * which a hazard was found is never left out again. The same holds for a block of BLOCK_BYTES in
 * which one page after the other is touched so, as in a ring of packets.
 *
 * The table has a fixed size, and two pages may have the same place. Thread safe and signal safe;
 * lock-free; a count may be lost between threads.
 */
#ifndef SC_INTERPOSE_GUARD_NEIGHBOURS_H
#define SC_INTERPOSE_GUARD_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The page was touched beside the bytes of what guarded it. */
void sc_neighbours_note(uintptr_t address);

/* A hazard was found on the page. */
void sc_neighbours_watch(uintptr_t address);

/* Is the page left unguarded this time? Asked for each operation that uses only a part of it, and
 * counted. */
bool sc_neighbours_skip(uintptr_t address);

/* The interval is new memory of the program's: pages and blocks that lie wholly in it have no
 * past. */
void sc_neighbours_forget(uintptr_t address, size_t size_bytes);

#endif
