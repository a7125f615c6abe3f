/* Pages that hold more than the bytes of a copy, and that the program touches beside them.
 *
 * Such a touch is nobody's mistake, and costs a fault and a page let go. A page to which it happens
 * again and again is guarded less and less often: after the n-th touch the next 2^n operations on
 * it go without, up to 2^LEVEL_MAX. One that is left in peace is guarded as before, and one on
 * which a hazard was found is never left out again. So it is with a block of BLOCK_BYTES in which
 * one page after the other is touched so, as in a ring of packets.
 *
 * A table of a fixed size, in which two pages may have the same place. Lock-free, thread- and
 * signal-safe; between threads a count may be lost.
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

/* An operation is about to have the page guarded, and has it only in part: may it not? */
bool sc_neighbours_skip(uintptr_t address);

/* The interval is new memory of the program's: pages and blocks that lie in it as a whole have no
 * past. */
void sc_neighbours_forget(uintptr_t address, size_t size_bytes);

#endif
