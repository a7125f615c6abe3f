/* Functions of the program that can wait for nobody, as their code shows.
 *
 * A host function that has not returned may be a gate, which waits for what the program is about to
 * do. Whether a function that nobody has told anything would have gone on all the same is not to be
 * seen from outside: one that sleeps, and one that polls and sleeps in between, look alike. So
 * their code is asked. A function is plain if each way through it ends, within a bound, by no other
 * calls than of functions that wait for nobody either; and if no branch that depends on memory
 * comes behind a sleep, where a function that polls would look again. A plain function orders
 * nothing, be it running, asleep or still to begin.
 *
 * What the code does not show is not plain: loops, locks, calls through pointers, what a language's
 * run-time does, and calls that the loader has not bound yet (a later question may find them
 * bound).
 *
 * No lock; thread- and signal-safe; errno is kept. Some microseconds, and a system call for some
 * 256 bytes of code; on a spare stack where there is little room.
 */
#ifndef SC_INTERPOSE_STREAMS_PLAIN_FUNCTIONS_H
#define SC_INTERPOSE_STREAMS_PLAIN_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* 0 is none. */
bool sc_plain_functions_is_one(uintptr_t function);

#endif
