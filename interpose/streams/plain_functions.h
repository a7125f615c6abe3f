/* Recognises plain host functions: functions of the program that can wait for nobody, by their
 * machine code. Work after such a function needs no special care.
 *
 * A host function that has not returned may be waiting for something that the program is about to
 * do. From outside this cannot be seen: a function that sleeps once looks like one that polls and
 * sleeps in between. So its code is read. A function is plain if each path through it ends after a
 * bounded number of instructions, and calls only functions that wait for nobody. Also, no branch
 * that depends on memory may follow a sleep, since a function that polls would read the memory
 * again there. A plain function orders nothing, whether it runs, sleeps or has still to begin.
 *
 * A function counts as not plain if its code does not show all this: if it has loops, locks, calls
 * through pointers, calls of a language's run-time, or calls that the loader has not bound yet
 * (they may be bound when the function is asked about again).
 *
 * No lock; thread- and signal-safe; errno is kept. Takes some microseconds, and a system call for
 * each 256 bytes of code. Runs on a spare stack if the thread's has little room. */

/* Terms (docs/glossary.md):
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   plain host function: a host function whose code shows that it can wait for nobody
 */

#ifndef SC_INTERPOSE_STREAMS_PLAIN_FUNCTIONS_H
#define SC_INTERPOSE_STREAMS_PLAIN_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if the function with this address is plain: its machine code shows that it can wait
 * for nobody. False for 0, and if the code does not show it. */
bool sc_plain_functions_is_one(uintptr_t function);

#endif
