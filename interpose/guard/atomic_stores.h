/* Recognises stores by which threads, or a thread and a kernel of the device, talk with each other.
 * Such a store to memory that a kernel may use is no mistake.
 *
 * It is an exchange, a locked instruction, a store with release or an exclusive one, which is what
 * compilers make of operations on atomics. On x86-64 a store to an atomic with a weaker order than
 * the default is a plain store, and is not recognised.
 *
 * No lock; signal-safe; errno is kept. Makes a system call. */
#ifndef SC_INTERPOSE_GUARD_ATOMIC_STORES_H
#define SC_INTERPOSE_GUARD_ATOMIC_STORES_H

#include <stdbool.h>
#include <stdint.h>

/* Is the instruction at `pc`, which writes memory, such a store? False if the instruction cannot be
 * read. */
bool sc_atomic_stores_is_one(uintptr_t pc);

#endif
