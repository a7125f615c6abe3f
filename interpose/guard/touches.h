/* Touches of guarded memory by the kernel on the program's behalf, such as the buffer of a read():
 * they are reported and waited for as the program's own are.
 *
 * A touch is handled on a spare stack with signals blocked. The wait itself holds no lock and needs
 * no cleanup, so a signal handler may take the thread away at any time.
 *
 * Thread-safe and signal-safe; errno is kept. Locks: the guard's and the tracker's, one after the
 * other, and none where a signal handler interrupted one. */
#ifndef SC_INTERPOSE_GUARD_TOUCHES_H
#define SC_INTERPOSE_GUARD_TOUCHES_H

#include <stddef.h>

enum sc_touch;
struct sc_culprit;

/* The kernel is about to touch the interval on the program's behalf, and would fail with EFAULT
 * instead of faulting. Reports and waits as for a touch by the program itself, and then lets go of
 * every page of the interval. */
void sc_touches_by_kernel(const void *address, size_t size_bytes, enum sc_touch touch,
                          const struct sc_culprit *culprit);

#endif
