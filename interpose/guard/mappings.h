/* What the kernel says of the process's mappings.
 *
 * From Linux 6.11 on it is asked about one mapping at a time; before, /proc/self/maps is read, some
 * microseconds for each hundred mappings, and the last answer is kept. No lock; thread-safe and
 * async-signal-safe; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_MAPPINGS_H
#define SC_INTERPOSE_GUARD_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is all of the interval mapped readable and writable, and not executable? False where the kernel
 * does not say. */
bool sc_mappings_are_plain(uintptr_t address, size_t size_bytes);

/* The program changes mappings there: what was kept of it is forgotten. A few loads. */
void sc_mappings_forget(uintptr_t address, size_t size_bytes);

/* May the address be read, or written? */
bool sc_mappings_allow(uintptr_t address, bool write);

/* How many there are; 0 where the kernel does not say. Always reads all of them. */
uint64_t sc_mappings_count(void);

/* Is a file mapped whose path has `part` in it? As above. */
bool sc_mappings_have(const char *part);

/* Calls visit for every mapping in order of address, until it returns false. `access` is "rwxp" or
 * the like, without an end; `rest` what the kernel says behind it: " offset device inode path".
 * False: it cannot be read. Visitors are as async-signal-safe as they make it; errno is kept. */
typedef bool sc_mappings_visit(void *context, uintptr_t start, uintptr_t end, const char *access,
                               const char *rest);
bool sc_mappings_each(sc_mappings_visit *visit, void *context);

#endif
