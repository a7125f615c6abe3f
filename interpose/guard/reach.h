/* Finds how many bytes a faulting instruction reads or writes, by decoding it: a touch (a read or
 * write) may begin before a buffer in flight and extend into it, and then comes too early.
 * Thread-safe and signal-safe; no lock. */

/* Terms (docs/glossary.md):
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_GUARD_REACH_H
#define SC_INTERPOSE_GUARD_REACH_H

#include <stddef.h>

struct sc_fault;

/* Returns how many bytes the instruction touches from the fault's address on; 0: unknown. At most
 * SC_OPERAND_BYTES_MAX, except for instructions that save the processor's state. */
size_t sc_reach_of(const struct sc_fault *fault);

#endif
