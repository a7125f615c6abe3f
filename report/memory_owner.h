/* Whose memory it is, by the frames of the call that asked for it.
 *
 * Thread-safe. No lock, no allocation.
 */
#ifndef SC_REPORT_MEMORY_OWNER_H
#define SC_REPORT_MEMORY_OWNER_H

#include <stddef.h>
#include <stdint.h>

struct sc_json_lines_stack;

/* The innermost frame that belongs to none of CUDA's own driver and run-time library, nor to libc:
 * "PyTorch", or the file name of a library that is not known by name. A stack without any has
 * "unknown". */
void sc_memory_owner_name(const struct sc_json_lines_stack *stack, char *name, size_t size);

/* The same of a stack by its id (track/stacks.h), of which no more frames are named than it takes.
 * Locks: takes the loader's. */
void sc_memory_owner_find(uint32_t stack, char *name, size_t size);

#endif
