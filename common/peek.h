/* Reads the program's memory without trusting it: memory that is unmapped or protected counts as
 * absent, and raises no signal. The kernel copies the bytes.
 *
 * A filter of system calls may refuse that (the default one of Docker 20.10), and so does
 * qemu-user. All functions but sc_peek then move the bytes through a pipe. That takes some
 * microseconds, and meanwhile two file descriptors, with signals blocked.
 *
 * No lock, no allocation; thread- and signal-safe; errno is kept. */
#ifndef SC_TOOLS_PEEK_H
#define SC_TOOLS_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies the memory. False: not all of it could be read. sc_peek never uses a pipe. */
bool sc_peek(void *into, uintptr_t address, size_t size_bytes);
bool sc_peek_anyhow(void *into, uintptr_t address, size_t size_bytes);

/* Copies several places, at most SC_PEEK_ITEMS_MAX, by one system call if all can be read. If an
 * item cannot be read, what is in its `into` is useless. */
enum { SC_PEEK_ITEMS_MAX = 48 };
struct sc_peek_item {
    void *into;
    uintptr_t address;
    size_t size_bytes;
    bool read; /* result */
};
void sc_peek_all(struct sc_peek_item *items, unsigned count);

/* Is the memory equal to `expected`? False only if it was read and differs. */
bool sc_peek_equals(uintptr_t address, const void *expected, size_t size_bytes);

#endif
