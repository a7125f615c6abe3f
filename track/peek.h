/* Looks at the program's memory without trusting it: what is unmapped or protected reads as absent
 * instead of raising a signal. The kernel copies; no lock, no allocation, errno kept,
 * async-signal-safe. */
#ifndef SC_TRACK_PEEK_H
#define SC_TRACK_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False if not all of it could be read. */
bool sc_peek(void *into, uintptr_t address, size_t size_bytes);

/* False only if the memory at `address` was read and differs from `expected`. */
bool sc_peek_equals(uintptr_t address, const void *expected, size_t size_bytes);

#endif
