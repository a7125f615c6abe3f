/* Asks the kernel about the process's mappings: what access pages have, what lies where, and how
 * many there are.
 *
 * Linux 6.11 and later is asked for one mapping at a time. On older kernels /proc/self/maps is
 * read, which takes some microseconds for each hundred mappings, and the last answer is kept.
 *
 * Thread safe and signal safe; no lock but what a `disguised` takes; errno is kept. */
#ifndef SC_INTERPOSE_BASE_MAPPINGS_H
#define SC_INTERPOSE_BASE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is asked which pages the guard has protected, which count as the program made them. Returns where
 * the guarded pages from `address` on end, at most `end`; `address` itself if its page is not
 * guarded. */
typedef uintptr_t sc_mappings_disguised(uintptr_t address, uintptr_t end);

/* Is all of the interval plain: mapped, readable and writable, and not executable? Disguised pages
 * count as plain. False where the kernel does not say. */
bool sc_mappings_are_plain(uintptr_t address, size_t size_bytes, sc_mappings_disguised *disguised);

/* Is the interval plain (sc_mappings_are_plain), and can no thread's stack lie there? Memory right
 * above pages without any access may be a stack. */
bool sc_mappings_are_plain_heap(uintptr_t address, size_t size_bytes,
                                sc_mappings_disguised *disguised);

/* Forgets what the kernel said of these pages, since the program changes their mapping. A few
 * loads. */
void sc_mappings_forget(uintptr_t address, size_t size_bytes);

/* Does its mapping allow the address to be read, or (`is_write`) to be written? */
bool sc_mappings_allow(uintptr_t address, bool is_write);

/* How many mappings there are; 0 where the kernel does not say. Always reads all of them. */
uint64_t sc_mappings_count(void);

/* Is a file mapped whose path contains `part`? False where the kernel does not say. Always reads
 * all mappings. */
bool sc_mappings_have(const char *part);

/* Calls visit for every mapping in order of address, until visit returns false. `access` is "rwxp"
 * or the like, with no zero behind it; `rest` is what follows: " offset device inode path". False:
 * the list cannot be read. Signal safe if the visitor is. */
typedef bool sc_mappings_visit(void *context, uintptr_t start, uintptr_t end, const char *access,
                               const char *rest);
bool sc_mappings_each(sc_mappings_visit *visit, void *context);

#endif
