/* Reads the program's memory without trusting it: memory that is unmapped or protected counts as
 * absent, and raises no signal. The bytes are copied by process_vm_readv.
 *
 * A seccomp filter may forbid that system call (the default one of Docker 20.10), and so does
 * qemu-user. All functions but sc_peek then copy the bytes through a pipe. That takes some
 * microseconds, and two file descriptors meanwhile, with signals blocked.
 *
 * No lock, no allocation; thread- and signal-safe; errno is kept. */
#ifndef SC_TOOLS_PEEK_H
#define SC_TOOLS_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copy memory that may be unmapped or protected, without a signal. False: not all of it could be
 * read. sc_peek never uses a pipe, and fails if the system forbids process_vm_readv. */
bool sc_peek(void *into, uintptr_t address, size_t size_bytes);
bool sc_peek_anyhow(void *into, uintptr_t address, size_t size_bytes);

/* Copies several items, at most SC_PEEK_ITEMS_MAX, by one system call if all can be read. If an
 * item cannot be read, the contents of its `into` are undefined. */
enum { SC_PEEK_ITEMS_MAX = 48 };
struct sc_peek_item {
    void *into;
    uintptr_t address;
    size_t size_bytes;
    bool read; /* result: the item was read */
};
void sc_peek_all(struct sc_peek_item *items, unsigned count);

/* Is the memory equal to `expected`? False only if it was read and differs; memory that cannot be
 * read counts as equal. */
bool sc_peek_equals(uintptr_t address, const void *expected, size_t size_bytes);

#endif
