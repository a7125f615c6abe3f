/* Copies of sources that are too large for a snapshot, and that no page protection can keep as they
 * are: the driver may read them late, and the program is free to do with them what it likes, or
 * does so by leaving a function. The device reads the copy, which the reaper gives back.
 *
 * Thread safe, not signal safe. No lock of the library may be held. errno is kept.
 */
#ifndef SC_INTERPOSE_REAPER_LARGE_COPIES_H
#define SC_INTERPOSE_REAPER_LARGE_COPIES_H

#include <stddef.h>
#include <stdint.h>

struct sc_op_info;

/* A copy of the bytes; NULL: they cannot be read, or there is no memory. */
void *sc_large_copies_make(uintptr_t address, size_t size_bytes);

/* The driver has accepted, or begun, an operation that reads the copy: on the stream of `read`,
 * with its stack, time and thread. It is recorded, and gets its number. The copy is given back when
 * that is done; beyond max_held the call waits until then. */
void sc_large_copies_keep(void *copy, size_t size_bytes, struct sc_op_info *read);

/* The same where the device reads the source itself, since the call was made without us: waits
 * until the operation `read` on it is done, at most stall_limit. */
void sc_large_copies_await(struct sc_op_info *read);

/* How many sources the driver would have read late against its contract. */
void sc_large_copies_count_late(void);
uint64_t sc_large_copies_driver_late(void);

#endif
