/* Reads from Linux what is mapped in the process: the access to pages, the kind of memory, and the
 * number of mappings.
 *
 * From Linux 6.11 on, an ioctl returns one mapping at a time (PROCMAP_QUERY). On older Linux
 * /proc/self/maps is read, which takes some microseconds for each hundred mappings, and the last
 * result is kept.
 *
 * Thread-safe and signal-safe; no lock but what a `disguised` function takes; errno is kept. */

#ifndef SC_INTERPOSE_BASE_MAPPINGS_H
#define SC_INTERPOSE_BASE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of the caller that knows which pages the library has protected; they count with the
 * access that the program gave them. Returns where the run of protected pages from `address` on
 * ends, at most `end`; `address` itself if its page is not protected. */
typedef uintptr_t sc_mappings_disguised(uintptr_t address, uintptr_t end);

/* Is all of the interval plain memory, as malloc's: mapped, readable and writable, and not
 * executable? Pages that `disguised` returns as protected by the library count as plain. False if
 * Linux does not provide the information. */
bool sc_mappings_are_plain(uintptr_t address, size_t size_bytes, sc_mappings_disguised *disguised);

/* Is all of the interval plain memory, as malloc's, and can no thread's stack lie there? Memory
 * right above pages without any access may be a stack. */
bool sc_mappings_are_plain_heap(uintptr_t address, size_t size_bytes,
                                sc_mappings_disguised *disguised);

/* Drops what is remembered of the kind of these pages. To be called when the program changes their
 * mapping: they may be of another kind then. Costs a few loads. */
void sc_mappings_forget(uintptr_t address, size_t size_bytes);

/* Does the address's mapping allow it to be read, or (`is_write`) written? */
bool sc_mappings_allow(uintptr_t address, bool is_write);

/* Returns the number of mappings; 0 if Linux does not provide it. Always reads all of them. */
uint64_t sc_mappings_count(void);

/* Is a file mapped whose path contains `part`? False if Linux does not provide the list. Always
 * reads all mappings. */
bool sc_mappings_have(const char *part);

/* Calls visit for every mapping in order of address, until visit returns false. `access` is "rwxp"
 * or the like, not NUL-terminated; `rest` is what follows: " offset device inode path". False: the
 * list cannot be read. Signal-safe if the visitor is. */
typedef bool sc_mappings_visit(void *context, uintptr_t start, uintptr_t end, const char *access,
                               const char *rest);
bool sc_mappings_each(sc_mappings_visit *visit, void *context);

#endif
