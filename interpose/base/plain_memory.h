/* Whether memory is plain, as it is without the guard: pages that are guarded were so, and no
 * stack.
 *
 * Thread safe and signal safe; errno is kept. Locks: the tracker's.
 */
#ifndef SC_INTERPOSE_BASE_PLAIN_MEMORY_H
#define SC_INTERPOSE_BASE_PLAIN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is all of it mapped readable and writable, and not executable? Of a heap: and no thread's stack
 * may lie there (sc_mappings_are_plain_heap). */
bool sc_plain_memory_is(uintptr_t address, size_t size_bytes);
bool sc_plain_memory_is_heap(uintptr_t address, size_t size_bytes);

/* May it be a thread's stack? */
bool sc_plain_memory_may_be_stack(uintptr_t address, size_t size_bytes);

#endif
