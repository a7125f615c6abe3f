/* Recognises instructions by which threads synchronise with each other or with a GPU kernel. A
 * store by such an instruction into memory that a running GPU kernel may use is no mistake, and is
 * not reported.
 *
 * Recognised are, on x86-64, exchanges and instructions with a lock prefix; on aarch64, release
 * stores, exclusive stores and atomic operations. Compilers translate atomics to these. On x86-64 a
 * store to an atomic that is weaker than the default (sequentially consistent) is a plain mov and
 * is not recognised.
 *
 * No lock; signal-safe; errno is kept. Makes a system call. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_INTERPOSE_GUARD_ATOMIC_STORES_H
#define SC_INTERPOSE_GUARD_ATOMIC_STORES_H

#include <stdbool.h>
#include <stdint.h>

/* Is the instruction at `pc`, which writes memory, a synchronising store? False if the instruction
 * cannot be read. */
bool sc_atomic_stores_is_one(uintptr_t pc);

#endif
