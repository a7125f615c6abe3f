/* What the kernel says of the process's mappings.
 *
 * From Linux 6.11 on the kernel is asked about one mapping at a time. Before, /proc/self/maps is
 * read, some microseconds for each hundred mappings, and the last answer is kept.
 *
 * Thread safe and signal safe; no lock, but what a `disguised` takes; errno is kept.
 */
#ifndef SC_INTERPOSE_BASE_MAPPINGS_H
#define SC_INTERPOSE_BASE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the pages end, from the address on and up to `end`, that are protected although the program
 * has not made them so, and were plain: the address itself where the first is none of these. */
typedef uintptr_t sc_mappings_disguised(uintptr_t address, uintptr_t end);

/* Is all of the interval mapped readable and writable, and not executable? Disguised pages count as
 * what they were. False where the kernel does not say. */
bool sc_mappings_are_plain(uintptr_t address, size_t size_bytes, sc_mappings_disguised *disguised);

/* The same, and no thread's stack may lie there: below one is memory without any access. */
bool sc_mappings_are_plain_heap(uintptr_t address, size_t size_bytes,
                                sc_mappings_disguised *disguised);

/* The program changes mappings there: the answer that was kept is forgotten. A few loads. */
void sc_mappings_forget(uintptr_t address, size_t size_bytes);

/* May the address be read, or written? */
bool sc_mappings_allow(uintptr_t address, bool write);

/* How many mappings there are; 0 where the kernel does not say. Always reads all of them. */
uint64_t sc_mappings_count(void);

/* Is a file mapped whose path has `part` in it? False where the kernel does not say. Always reads
 * all mappings. */
bool sc_mappings_have(const char *part);

/* Calls visit for every mapping in order of address, until visit returns false. `access` is "rwxp"
 * or the like, with no zero behind it; `rest` is what follows: " offset device inode path". False:
 * the list cannot be read. Signal safe if the visitor is. */
typedef bool sc_mappings_visit(void *context, uintptr_t start, uintptr_t end, const char *access,
                               const char *rest);
bool sc_mappings_each(sc_mappings_visit *visit, void *context);

#endif
