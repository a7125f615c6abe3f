/* Reads the program's memory without trusting it: memory that is unmapped or protected counts as
 * absent, and raises no signal. The kernel copies.
 *
 * A filter of system calls may refuse that (the default one of Docker 20.10), and so does
 * qemu-user. All but sc_peek then move the bytes through a pipe, which takes some microseconds and,
 * for as long, two file descriptors and signals.
 *
 * No lock, no allocation; thread- and signal-safe; errno is kept.
 */
#ifndef SC_TOOLS_PEEK_H
#define SC_TOOLS_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False if not all of it could be read. */
bool sc_peek(void *into, uintptr_t address, size_t size_bytes);
bool sc_peek_anyhow(void *into, uintptr_t address, size_t size_bytes);

/* Several places at once, at most SC_PEEK_ITEMS_MAX, by one system call where all can be read. What
 * is left in `into` by an item that cannot be is of no use. */
enum { SC_PEEK_ITEMS_MAX = 48 };
struct sc_peek_item {
    void *into;
    uintptr_t address;
    size_t size_bytes;
    bool read; /* result */
};
void sc_peek_all(struct sc_peek_item *items, unsigned count);

/* False only if the memory at `address` was read and differs from `expected`. */
bool sc_peek_equals(uintptr_t address, const void *expected, size_t size_bytes);

#endif
