/* Copies sources that are too large for a snapshot and cannot be protected, so that the device can
 * read the copy: the driver may read the source late, while the program changes it or leaves the
 * function that has it. The reaper gives the copies back.
 *
 * Thread safe, not signal safe. No lock of the library may be held. errno is kept. */
#ifndef SC_INTERPOSE_REAPER_LARGE_COPIES_H
#define SC_INTERPOSE_REAPER_LARGE_COPIES_H

#include <stddef.h>
#include <stdint.h>

struct sc_op_info;

/* Makes a copy of the bytes; NULL: they cannot be read, or there is no memory. */
void *sc_large_copies_make(uintptr_t address, size_t size_bytes);

/* Records the operation that reads the copy, which the driver has accepted or begun. `read` has its
 * stream, stack, time and thread, and gets its number. The copy is given back when the operation is
 * done; beyond max_held the call waits for that. */
void sc_large_copies_keep(void *copy, size_t size_bytes, struct sc_op_info *read);

/* For a call of whose source there is no copy, so that the device reads the source itself: records
 * the operation `read`, and waits until it is done, at most stall_limit. */
void sc_large_copies_await(struct sc_op_info *read);

/* Counts a source that the driver would have read late, against its contract. */
void sc_large_copies_count_late(void);

/* How many such sources there were. */
uint64_t sc_large_copies_driver_late(void);

#endif
