/* Makes a protected page accessible for a single instruction, and protects it again right after
 * that.
 *
 * It is used for an instruction that reads, on the page of an incomplete copy to the host, bytes
 * beside those of the copy. The program may go on to the bytes of the copy, so the page stays
 * protected. A write beside the bytes unprotects the page instead, since a changed source is found
 * by a comparison, for which the page must be readable.
 *
 * Thread-safe and signal-safe. Locks: takes the guard's and the tracker's. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   neighbour: memory beside the copied bytes, on a page of the span
 *   source: the memory that a copy reads
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GUARD_STEPS_H
#define SC_INTERPOSE_GUARD_STEPS_H

#include <stdbool.h>

enum sc_touch;
struct sc_fault;

/* Called in the handler of a fault on a protected page, beside the bytes that the page is guarded
 * for. True: the page is accessible, and will be protected again after the faulting instruction.
 * False: the caller must unprotect the page. The first such read in a row also counts as a touch
 * beside a buffer (neighbours.h). */
bool sc_steps_open_page(const struct sc_fault *fault, enum sc_touch touch);

#endif
