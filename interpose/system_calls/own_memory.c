#include "interpose/system_calls/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/text.h"
#include "interpose/system_calls/prefault.h"

#include "common/poison.h"

/* Is it a descriptor of this process's memory ("/proc/ID/mem" or "/proc/ID/task/THREAD/mem", by its
 * link in /proc)? A forked child has another id, and its parent's descriptor is for the parent's
 * memory. */
static bool is_own_memory(int fd)
{
    char link[48], path[64], own[48];
    struct sc_text text = sc_text_in(link, sizeof link);
    sc_text_format(&text, "/proc/self/fd/%lu", (uint64_t)fd);
    text = sc_text_in(own, sizeof own);
    sc_text_format(&text, "/proc/%lu/", (uint64_t)sc_kernel_call(SYS_getpid));
    long size = sc_kernel_call(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (size < 4)
        return false;
    path[size] = '\0';
    return strncmp(path, own, strlen(own)) == 0 && strcmp(path + size - 4, "/mem") == 0;
}

/* Has the call failed with EIO, so that its memory is prepared for a repetition? Before the first
 * try there are loans. */
static bool has_failed_with_eio(const struct sc_prefault *prefault)
{
    return !prefault->loans && errno == EIO;
}

/* If a write of so many bytes has failed with EIO and went to this process's memory, by way of
 * /proc/self/mem: makes the memory at `at` (or at the descriptor's position) accessible, for the
 * write to be repeated. Otherwise does nothing, so that most writes cost no check. */
void sc_own_memory_prefault(struct sc_prefault *prefault, int fd, off64_t at, size_t size_bytes)
{
    if (!has_failed_with_eio(prefault) || !is_own_memory(fd))
        return;
    if (at == SC_OWN_MEMORY_HERE)
        at = sc_kernel_call(SYS_lseek, fd, 0, SEEK_CUR);
    prefault->into_own_memory = true;
    sc_prefault_buffer(prefault, (const void *)at, size_bytes, SC_TOUCH_WRITE);
}

/* Does what sc_own_memory_prefault does, for a write from several pieces, which go to one place.
 * The failed call has read the list of pieces, so it can be read. */
void sc_own_memory_prefault_pieces(struct sc_prefault *prefault, int fd, off64_t at,
                                   const struct iovec *pieces, size_t count)
{
    size_t size_bytes = 0;
    struct iovec piece;
    if (!has_failed_with_eio(prefault))
        return;
    for (size_t i = 0; i < count && sc_prefault_peek(&piece, &pieces[i], sizeof piece); i++)
        size_bytes += piece.iov_len;
    sc_own_memory_prefault(prefault, fd, at, size_bytes);
}
