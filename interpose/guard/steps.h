/* Reads on a page with results that are still to come: the page is open for one instruction.
 *
 * Who reads a result that is there may go on to one that is not, on the same page. A write lets the
 * page go: it may overwrite a source there, which is found by what the page held, and until then
 * the page must be readable.
 *
 * Thread safe and signal safe. Locks: the guard's and the tracker's are taken inside.
 */
#ifndef SC_INTERPOSE_GUARD_STEPS_H
#define SC_INTERPOSE_GUARD_STEPS_H

#include <stdbool.h>

enum sc_touch;
struct sc_fault;

/* In the handler of a fault beside the bytes of what guards the page. True: the instruction may run
 * now, and the page is closed again behind it. The first in a row counts as a touch that lets the
 * page go does. False: the page is to be let go. */
bool sc_steps_begin(const struct sc_fault *fault, enum sc_touch touch);

#endif
