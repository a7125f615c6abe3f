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
#ifndef SC_INTERPOSE_SYSTEM_CALLS_LOOK_H
#define SC_INTERPOSE_SYSTEM_CALLS_LOOK_H

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
struct sc_look {
    struct sc_culprit culprit;
    struct sc_loans *loans; /* NULL: the call has failed, and its memory was lent before */
    bool may_be_ours; /* result: some of the memory lies where pages were guarded at some time */
    bool into_own_memory; /* result: the call has failed to write through /proc/self/mem */
};

/* Is the call the program's own, and not made within the library, in a process that is watched? */
static inline bool sc_look_is_allowed(void)
{
    return sc_active() && (!sc_is_inside() || sc_inside_is_interrupted());
}

/* Can any page be guarded, so that the call's memory has to be looked at? Only memory in ranges may
 * be. But a page may stay guarded for a moment after the last range has gone. */
static inline bool sc_look_is_needed(void)
{
    return sc_unlikely(sc_track_has_any(&sc_track, SC_HAS_RANGES) || sc_guard_busy()) &&
           sc_options.guard && sc_look_is_allowed();
}

/* Looks at a buffer of `size_bytes` bytes. That may be more than the buffer has, if the program
 * knows that less is transferred. */
void sc_look_at(struct sc_look *look, const void *address, size_t size_bytes, enum sc_touch touch);

/* Looks at the page of the address, where nobody knows how much is touched. */
void sc_look_at_unsized(struct sc_look *look, const void *address);

/* Looks at a string, of which at most `most_bytes` bytes are touched. */
void sc_look_at_string(struct sc_look *look, const char *string, size_t most_bytes);

/* Looks at an array of strings that ends with NULL, as a program's arguments do, and at the
 * strings. `strings` may be NULL. */
void sc_look_at_strings(struct sc_look *look, char *const *strings);

/* Look at an array of pieces, a message, or several messages, and at the buffers they name. */
void sc_look_at_each(struct sc_look *look, const struct iovec *pieces, size_t count,
                     enum sc_touch touch);
void sc_look_at_message(struct sc_look *look, const struct msghdr *message, enum sc_touch touch);
void sc_look_at_messages(struct sc_look *look, const struct mmsghdr *messages, unsigned count,
                         enum sc_touch touch);

/* Looks at a buffer of *size bytes, which the kernel writes, and at `size`, where it writes how
 * many it wrote. */
void sc_look_at_sized(struct sc_look *look, const void *address, const socklen_t *size);

/* Look at the argument of an ioctl or fcntl, as far as the number tells its size. */
void sc_look_at_ioctl(struct sc_look *look, unsigned long request, const void *argument);
void sc_look_at_fcntl(struct sc_look *look, int command, const void *argument);

/* Keep the pages of futexes off (interpose/system_calls/keep_off.h), and look at the timeout. */
void sc_look_at_futex(struct sc_look *look, const void *word, int operation, const void *timeout,
                      const void *second);
void sc_look_at_futexes(struct sc_look *look, const void *waiters, size_t count);

/* Keep off the pages of requests that glibc's threads perform later, and of their buffers. */
struct aiocb;
void sc_look_at_request(struct sc_look *look, const struct aiocb *request);
void sc_look_at_requests(struct sc_look *look, struct aiocb *const *requests, int count);

/* Copies memory without a look, by the kernel. False: not all of it can be read. */
bool sc_look_peek(void *into, const void *address, size_t size_bytes);

#endif
