/* Notes which threads have to wait for each other to call mprotect. block_areas.h changes to
 * userfaultfd if there are several.
 *
 * Only one thread of a process at a time can be in mprotect: 16 threads take 400 us for what takes
 * one of them 4 us (H200). Up to three threads lose nothing by that compared with userfaultfd; four
 * do.
 *
 * What was noted is not forgotten. Where userfaultfd guards, nobody calls mprotect, and that says
 * nothing of how long it would take.
 *
 * Lock-free; thread-safe and signal-safe. */
#ifndef SC_INTERPOSE_GUARD_MAP_WAITS_H
#define SC_INTERPOSE_GUARD_MAP_WAITS_H

#include <stdbool.h>

/* To be called by a thread that is about to call mprotect. `waited`: it had to wait for another
 * one. */
void sc_map_waits_note(bool waited);

/* Have so many threads waited, each more than now and then? */
bool sc_map_waits_are_long(void);

#endif
