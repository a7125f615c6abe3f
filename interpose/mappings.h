/* What the kernel says of the process's mappings. */
#ifndef SC_INTERPOSE_MAPPINGS_H
#define SC_INTERPOSE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is all of the interval mapped readable and writable, and not executable? Reads /proc/self/maps:
 * some microseconds for each hundred mappings. False where that cannot be read. */
bool sc_mappings_are_plain(uintptr_t address, size_t size_bytes);

/* May the address be read, or written? As above; async-signal-safe. */
bool sc_mappings_allow(uintptr_t address, bool write);

/* Is a file mapped whose path has `part` in it? As above. */
bool sc_mappings_have(const char *part);

#endif
