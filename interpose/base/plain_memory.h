/* Finds whether memory is plain: mapped, readable and writable, as malloc's is. Pages that the
 * guard protects at present count as plain, since they were so before.
 *
 * Thread-safe and signal-safe; errno is kept. Locks: the tracker's. */

/* Terms (docs/glossary.md):
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_BASE_PLAIN_MEMORY_H
#define SC_INTERPOSE_BASE_PLAIN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is all of the interval mapped, readable and writable, and not executable, as malloc's memory is?
 * Pages that the library protects at present count as the program mapped them. */
bool sc_plain_memory_is(uintptr_t address, size_t size_bytes);

/* Is all of the interval plain memory, as malloc's, and can no thread's stack lie there
 * (sc_mappings_are_plain_heap)? */
bool sc_plain_memory_is_heap(uintptr_t address, size_t size_bytes);

/* May a thread's stack lie in the interval? Yes, also if nobody knows: other threads' stacks are
 * recognised by what lies below them. */
bool sc_plain_memory_may_be_stack(uintptr_t address, size_t size_bytes);

#endif
