#include "track/peek.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "track/kernel.h"

#include "track/poison.h"

enum { CHUNK_BYTES = 4096 };

/* The kernel moves at most 0x7ffff000 bytes a call. */
bool sc_peek(void *into, uintptr_t address, size_t size_bytes)
{
    long got = 1;
    for (size_t done = 0; done < size_bytes && got > 0; done += (size_t)got) {
        struct iovec local = {(char *)into + done, size_bytes - done};
        struct iovec remote = {(void *)(address + done), size_bytes - done};
        got = sc_kernel_call(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1);
    }
    return got > 0;
}

/* How many of the first items were read. The kernel moves an item as a whole, but for one that is
 * only partly there, and stops behind that. */
static unsigned read_some(const struct sc_peek_item *items, unsigned count)
{
    struct iovec local[SC_PEEK_ITEMS_MAX], remote[SC_PEEK_ITEMS_MAX];
    for (unsigned i = 0; i < count; i++) {
        local[i] = (struct iovec){items[i].into, items[i].size_bytes};
        remote[i] = (struct iovec){(void *)items[i].address, items[i].size_bytes};
    }
    long got = sc_kernel_call(SYS_process_vm_readv, getpid(), local, count, remote, count);
    unsigned whole = 0;
    while (whole < count && got >= (long)items[whole].size_bytes)
        got -= (long)items[whole++].size_bytes;
    return whole;
}

void sc_peek_all(struct sc_peek_item *items, unsigned count)
{
    for (unsigned at = 0; at < count;) {
        unsigned end = at + read_some(items + at, count - at);
        while (at < end)
            items[at++].read = true;
        if (at < count) /* where the kernel has stopped */
            items[at++].read = false;
    }
}

bool sc_peek_equals(uintptr_t address, const void *expected, size_t size_bytes)
{
    const char *wanted = expected;
    char found[CHUNK_BYTES];
    for (size_t done = 0, chunk; done < size_bytes; done += chunk) {
        chunk = CHUNK_BYTES - (address + done) % CHUNK_BYTES; /* one page may be absent */
        if (chunk > size_bytes - done)
            chunk = size_bytes - done;
        if (sc_peek(found, address + done, chunk) && memcmp(found, wanted + done, chunk) != 0)
            return false;
    }
    return true;
}
