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
