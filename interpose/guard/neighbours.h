/* Leaves pages unprotected that hold an end of a copied buffer beside other memory which the
 * program often touches while a copy is in flight.
 *
 * Such a touch is no mistake. It costs a fault all the same, after which the page is unprotected
 * for the rest of the copy, so that protecting it was of no use. So after the n-th such touch of a
 * page, the next 2^n operations on the page leave it unprotected, up to 2^LEVEL_MAX. After enough
 * operations without such a touch the page is guarded as before. A page on which a hazard was found
 * is always guarded. Blocks of BLOCK_BYTES have such counts as well, for programs that touch one
 * page after another, as in a ring of packets.
 *
 * The table has a fixed size, and two pages may share an entry. Thread-safe and signal-safe;
 * lock-free; concurrent counts may get lost. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_GUARD_NEIGHBOURS_H
#define SC_INTERPOSE_GUARD_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts a touch of the page beside the bytes of the operation for which the page was protected. */
void sc_neighbours_note_touch(uintptr_t address);

/* Records that a hazard was found on the page, which is never left unprotected from now on. */
void sc_neighbours_note_hazard(uintptr_t address);

/* Counts an operation that uses only a part of the page. Returns whether the page is to be left
 * unprotected for it. */
bool sc_neighbours_leave_out(uintptr_t address);

/* Forgets the counts of pages and blocks that lie wholly in the interval, which is new memory of
 * the program. */
void sc_neighbours_forget(uintptr_t address, size_t size_bytes);

#endif
