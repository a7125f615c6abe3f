/* Records which threads have to wait for each other to call mprotect, by which pages that a copy
 * uses are protected. If there are several, userfaultfd protects them instead (block_areas.h).
 *
 * Only one thread of a process at a time can be in mprotect: 16 threads take 400 us for what takes
 * one of them 4 us (H200). With up to three threads mprotect is as fast as userfaultfd; with four
 * it is not.
 *
 * What was recorded is never dropped: once userfaultfd guards the pages, nobody calls mprotect, and
 * that does not show how long mprotect would take.
 *
 * Lock-free; thread-safe and signal-safe. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 */

#ifndef SC_INTERPOSE_GUARD_MAP_WAITS_H
#define SC_INTERPOSE_GUARD_MAP_WAITS_H

#include <stdbool.h>

/* Records a call of mprotect that the thread is about to make. `waited`: it had to wait for another
 * thread first. */
void sc_map_waits_note(bool waited);

/* Have at least four threads waited, each of them often? */
bool sc_map_waits_are_long(void);

#endif
