/* Tells which library owns memory, by the frames of the call that allocated it.
 *
 * Thread-safe. No lock, no allocation. */
#ifndef SC_REPORT_MEMORY_OWNER_H
#define SC_REPORT_MEMORY_OWNER_H

#include <stddef.h>
#include <stdint.h>

struct sc_json_lines_stack;

/* Stores the owner of the memory that a call with this stack has allocated: the library of the
 * innermost frame that is neither CUDA's driver or runtime nor libc, by a known name such as
 * "PyTorch", or else by its file name. "unknown": there is no such frame. */
void sc_memory_owner_name(const struct sc_json_lines_stack *stack, char *name, size_t size);

/* Stores the owner, as sc_memory_owner_name does, for a stack that is given by its id
 * (track/stacks.h) and whose frames have no names yet. They are looked up from the innermost one
 * on, only until the owner is found. Locks: takes the loader's. */
void sc_memory_owner_find(uint32_t stack, char *name, size_t size);

#endif
