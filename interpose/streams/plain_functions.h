/* Tells whether a host function of the program can wait for nobody, by its machine code. Work
 * behind such a function needs no care.
 *
 * A host function that has not returned may be a gate, which waits for something that the program
 * is about to do. From outside it cannot be seen whether a function would have gone on without the
 * program: one that sleeps once looks like one that polls and sleeps in between. So the code is
 * looked at. A function is plain if each path through it ends within a bound, and calls only
 * functions that wait for nobody. Also, no branch that depends on memory may come behind a sleep:
 * there a function that polls would look again. A plain function orders nothing, whether it runs,
 * sleeps or is still to begin.
 *
 * A function is not plain where its code does not show this: with loops, locks, calls through
 * pointers, what a language's run-time does, and calls that the loader has not bound yet (which a
 * later question may find bound).
 *
 * No lock; thread- and signal-safe; errno is kept. Takes some microseconds, and a system call for
 * each 256 bytes of code. Runs on a spare stack if there is little room. */
#ifndef SC_INTERPOSE_STREAMS_PLAIN_FUNCTIONS_H
#define SC_INTERPOSE_STREAMS_PLAIN_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Is the function plain? `function`: its address; 0 is none. */
bool sc_plain_functions_is_one(uintptr_t function);

#endif
