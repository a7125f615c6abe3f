/* How far a touch goes that has faulted: its instruction is looked at.
 *
 * Thread safe and signal safe; no lock.
 */
#ifndef SC_INTERPOSE_GUARD_REACH_H
#define SC_INTERPOSE_GUARD_REACH_H

#include <stddef.h>

struct sc_fault;

/* The bytes from the fault's address on; 0: not known, SC_OPERAND_BYTES_MAX at most but for those
 * that save a state. */
size_t sc_reach_of(const struct sc_fault *fault);

#endif
