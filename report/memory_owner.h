/* Which library owns memory, by the frames of the call that asked for it.
 *
 * Thread-safe. No lock, no allocation.
 */
#ifndef SC_REPORT_MEMORY_OWNER_H
#define SC_REPORT_MEMORY_OWNER_H

#include <stddef.h>
#include <stdint.h>

struct sc_json_lines_stack;

/* Writes the owner that the stack tells, by its innermost frame that is neither CUDA's own driver
 * or run-time library nor libc: a known name such as "PyTorch", or else the library's file name.
 * "unknown": no frame tells. */
void sc_memory_owner_name(const struct sc_json_lines_stack *stack, char *name, size_t size);

/* The same of a stack by its id (track/stacks.h). Frames are named from the innermost on, only
 * until one tells. Locks: takes the loader's. */
void sc_memory_owner_find(uint32_t stack, char *name, size_t size);

#endif
