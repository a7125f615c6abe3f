/* Stores by which threads talk with each other.
 *
 * An exchange, a locked instruction, a store with release or an exclusive one is what compilers
 * make of operations on atomics. A program that rings a bell for a kernel with one says so. On
 * x86-64 a store to an atomic with a weaker order than the default is a plain one, and not told
 * apart.
 *
 * No lock; signal safe; errno is kept. A system call.
 */
#ifndef SC_INTERPOSE_GUARD_ATOMIC_STORES_H
#define SC_INTERPOSE_GUARD_ATOMIC_STORES_H

#include <stdbool.h>
#include <stdint.h>

/* Is the instruction at `pc`, which writes memory, one of these? False where it cannot be read. */
bool sc_atomic_stores_is_one(uintptr_t pc);

#endif
