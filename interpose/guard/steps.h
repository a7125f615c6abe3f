/* Opens a guarded page for a single instruction that reads beside the results which are still to
 * come, and closes the page behind it.
 *
 * A program that reads a result which is there may go on to one on the same page that is not, so
 * the page stays guarded. A write unprotects the page instead: it may change a source there, which
 * is noticed by comparing what the page held, and for that the page must be readable.
 *
 * Thread-safe and signal-safe. Locks: the guard's and the tracker's are taken inside. */
#ifndef SC_INTERPOSE_GUARD_STEPS_H
#define SC_INTERPOSE_GUARD_STEPS_H

#include <stdbool.h>

enum sc_touch;
struct sc_fault;

/* In the handler of a fault on a guarded page, beside the bytes that it is guarded for. True: the
 * instruction may run now, and the page is closed again behind it. The first such read in a row
 * also counts as a touch beside a buffer (neighbours.h). False: the caller is to unprotect the
 * page. */
bool sc_steps_open_page(const struct sc_fault *fault, enum sc_touch touch);

#endif
