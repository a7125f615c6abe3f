/* Pages that hold the end of a copied buffer beside other memory of the program's, which the
 * program touches while the copy is in flight.
 *
 * Such a touch is no mistake, but costs a fault, and the page is unprotected. So a page that is
 * touched like that again and again is guarded more and more seldom: after the n-th touch the next
 * 2^n operations on the page leave it unguarded, up to 2^LEVEL_MAX. If it is touched no more, it is
 * guarded as before. A page on which a hazard was found is always guarded. The same holds for a
 * block of BLOCK_BYTES in which one page after another is touched so, as in a ring of packets.
 *
 * The table has a fixed size, and pages may share a place. Thread-safe and signal-safe; lock-free;
 * a count may get lost between threads. */
#ifndef SC_INTERPOSE_GUARD_NEIGHBOURS_H
#define SC_INTERPOSE_GUARD_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The page was touched beside the bytes of what guarded it. */
void sc_neighbours_note_touch(uintptr_t address);

/* A hazard was found on the page. */
void sc_neighbours_note_hazard(uintptr_t address);

/* Is the page to be left unguarded for an operation that uses only a part of it? Each question
 * counts as an operation. */
bool sc_neighbours_leave_out(uintptr_t address);

/* The interval is new memory of the program's: pages and blocks that lie wholly in it have no
 * past. */
void sc_neighbours_forget(uintptr_t address, size_t size_bytes);

#endif
