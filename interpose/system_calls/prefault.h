/* Looks at the memory that a call of the program hands to the kernel: lends it, and waits for what
 * is guarded of it.
 *
 * A hook looks at its arguments before the call (interpose/system_calls/io_rows.h). Memory whose
 * pages could become guarded is lent until the call returns. Memory that is guarded is touched
 * first, as the program itself would touch it, with the hook's caller as the culprit. Nothing here
 * reads the program's memory where the kernel would refuse to: a bad pointer is for the kernel to
 * find.
 *
 * Thread safe and signal safe; errno is kept; no cancellation point. Locks: as
 * sc_touches_by_kernel.
 */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_PREFAULT_H
#define SC_INTERPOSE_SYSTEM_CALLS_PREFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/guard/guard.h"
#include "interpose/reaper/culprit.h"
#include "track/track_presence.h"

enum sc_touch;
struct sc_loans;

/* The look at the memory of one call. */
struct sc_prefault {
    struct sc_culprit culprit;
    struct sc_loans *loans; /* NULL: the call has failed, and its memory was lent before */
    bool may_be_ours; /* result: some of the memory lies where pages were guarded at some time */
    bool into_own_memory; /* result: the call has failed to write through /proc/self/mem */
};

/* Is the call the program's own, and not made within the library, in a process that is watched? */
static inline bool sc_prefault_is_allowed(void)
{
    return sc_active() && (!sc_is_inside() || sc_inside_is_interrupted());
}

/* Can any page be guarded, so that the call's memory has to be looked at? Only memory in ranges may
 * be. But a page may stay guarded for a moment after the last range has gone. */
static inline bool sc_prefault_is_needed(void)
{
    return sc_unlikely(sc_track_has(&sc_track, SC_HAS_RANGES) || sc_guard_busy()) &&
           sc_options.guard && sc_prefault_is_allowed();
}

/* Looks at a buffer of `size_bytes` bytes. That may be more than the buffer has, if the program
 * knows that less is transferred. */
void sc_prefault_buffer(struct sc_prefault *prefault, const void *address, size_t size_bytes,
                        enum sc_touch touch);

/* Looks at the page of the address, where nobody knows how much is touched. */
void sc_prefault_page(struct sc_prefault *prefault, const void *address);

/* Looks at a string, of which at most `most_bytes` bytes are touched. */
void sc_prefault_string(struct sc_prefault *prefault, const char *string, size_t most_bytes);

/* Looks at an array of strings that ends with NULL, as a program's arguments do, and at the
 * strings. `strings` may be NULL. */
void sc_prefault_strings(struct sc_prefault *prefault, char *const *strings);

/* Look at an array of pieces, a message, or several messages, and at the buffers they name. */
void sc_prefault_pieces(struct sc_prefault *prefault, const struct iovec *pieces, size_t count,
                        enum sc_touch touch);
void sc_prefault_message(struct sc_prefault *prefault, const struct msghdr *message,
                         enum sc_touch touch);
void sc_prefault_messages(struct sc_prefault *prefault, const struct mmsghdr *messages,
                          unsigned count, enum sc_touch touch);

/* Looks at a buffer of *size bytes, which the kernel writes, and at `size`, where it writes how
 * many it wrote. */
void sc_prefault_sized(struct sc_prefault *prefault, const void *address, const socklen_t *size);

/* Look at the argument of an ioctl or fcntl, as far as the number tells its size. */
void sc_prefault_ioctl(struct sc_prefault *prefault, unsigned long request, const void *argument);
void sc_prefault_fcntl(struct sc_prefault *prefault, int command, const void *argument);

/* Keep the pages of futexes off (interpose/system_calls/exempt_objects.h), and look at the timeout.
 */
void sc_prefault_futex(struct sc_prefault *prefault, const void *word, int operation,
                       const void *timeout, const void *second);
void sc_prefault_futexes(struct sc_prefault *prefault, const void *waiters, size_t count);

/* Keep off the pages of requests that glibc's threads perform later, and of their buffers. */
struct aiocb;
void sc_prefault_request(struct sc_prefault *prefault, const struct aiocb *request);
void sc_prefault_requests(struct sc_prefault *prefault, struct aiocb *const *requests, int count);

/* Copies memory without a look, by the kernel. False: not all of it can be read. */
bool sc_prefault_peek(void *into, const void *address, size_t size_bytes);

#endif
