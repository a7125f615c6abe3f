/* Who waits for mprotect.
 *
 * It changes a process for one thread at a time. Where several do so they wait for each other: what
 * takes one thread 4 us takes 16 of them 400 (H200). Three threads lose nothing by that beside what
 * userfaultfd takes, and four do.
 *
 * What was learnt is not forgotten: where userfaultfd serves instead nobody waits, which says
 * nothing of mprotect.
 *
 * Lock-free; thread safe and signal safe.
 */
#ifndef SC_INTERPOSE_GUARD_MAP_WAITS_H
#define SC_INTERPOSE_GUARD_MAP_WAITS_H

#include <stdbool.h>

/* The calling thread is the next one to call mprotect. Has it waited for another one? */
void sc_map_waits_note(bool waited);

/* Have so many threads waited, each more than now and then? */
bool sc_map_waits_are_long(void);

#endif
