/* Copies sources that are too large for a snapshot and cannot be protected, so that the device can
 * read the copy. The driver may read a source late, when the program has changed it or left the
 * function that has it. The reaper frees the copies.
 *
 * Thread-safe, not signal-safe. No lock of the library may be held. errno is kept. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 */

#ifndef SC_INTERPOSE_REAPER_LARGE_COPIES_H
#define SC_INTERPOSE_REAPER_LARGE_COPIES_H

#include <stddef.h>
#include <stdint.h>

struct sc_op_info;

/* Copies the bytes of a source into new memory, before the driver's call. NULL: they cannot be
 * read, or there is no memory. */
void *sc_large_copies_make(uintptr_t address, size_t size_bytes);

/* Records the operation that reads the copy, after the driver has accepted or begun it. `read` has
 * its stream, stack, time and thread, and gets its number. The copy is freed when the operation is
 * done; beyond max_held the function waits for that. */
void sc_large_copies_keep(void *copy, size_t size_bytes, struct sc_op_info *read);

/* Records the operation `read` and waits until it is done, at most stall_limit. For a call whose
 * source could not be copied, so that the device reads the source itself. */
void sc_large_copies_await(struct sc_op_info *read);

/* Counts a source that this driver would have read after the call had returned, although CUDA
 * promises that it is read by then. */
void sc_large_copies_count_late(void);

/* Returns how many sources this driver would have read after their call had returned
 * (sc_large_copies_count_late), for the summary. */
uint64_t sc_large_copies_driver_late(void);

#endif
