/* What a call of the program hands to the kernel: lent to it, and waited for.
 *
 * A hook looks at its arguments before the call (interpose/system_calls/io_rows.h). What lies where
 * pages could become guarded is lent until the call is back. What is guarded is touched first, as
 * the program itself would, with the hook's caller as the culprit. Nothing here looks into the
 * program's memory where the kernel would refuse to: a bad pointer is for the kernel to find.
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

/* What one call touches, as far as it was looked at. */
struct sc_look {
    struct sc_culprit culprit;
    struct sc_loans *loans; /* NULL: they were made before */
    bool may_be_ours;       /* some of it lies where pages were guarded at some time */
    bool into_own_memory;   /* it has failed to write through /proc/self/mem */
};

static inline bool sc_look_is_allowed(void)
{
    return sc_active() && (!sc_is_inside() || sc_inside_is_interrupted());
}

/* Can there be anything to see? What may be guarded lies in ranges. A page may still be guarded for
 * a moment when the last range is gone. */
static inline bool sc_look_is_needed(void)
{
    return sc_unlikely(sc_track_has(&sc_track, SC_HAS_RANGES) || sc_guard_busy()) &&
           sc_options.guard && sc_look_is_allowed();
}

/* The size may reach beyond the buffer, if the program knows that less comes. */
void sc_look_at(struct sc_look *look, const void *address, size_t size_bytes, enum sc_touch touch);

/* Nobody knows how much is touched: looks at the page that it begins on. */
void sc_look_at_unsized(struct sc_look *look, const void *address);

/* A string, of which at most so many bytes are touched. */
void sc_look_at_string(struct sc_look *look, const char *string, size_t most_bytes);

/* Pointers to strings, the last one NULL, as a program's arguments are. NULL: none. */
void sc_look_at_strings(struct sc_look *look, char *const *strings);

void sc_look_at_each(struct sc_look *look, const struct iovec *pieces, size_t count,
                     enum sc_touch touch);
void sc_look_at_message(struct sc_look *look, const struct msghdr *message, enum sc_touch touch);
void sc_look_at_messages(struct sc_look *look, const struct mmsghdr *messages, unsigned count,
                         enum sc_touch touch);

/* The kernel writes as many bytes as `size` says, and how many these were into `size`. */
void sc_look_at_sized(struct sc_look *look, const void *address, const socklen_t *size);

/* What an ioctl or fcntl takes, as far as its number tells. */
void sc_look_at_ioctl(struct sc_look *look, unsigned long request, const void *argument);
void sc_look_at_fcntl(struct sc_look *look, int command, const void *argument);

/* Futexes, whose pages are kept off (interpose/system_calls/keep_off.h). */
void sc_look_at_futex(struct sc_look *look, const void *word, int operation, const void *timeout,
                      const void *second);
void sc_look_at_futexes(struct sc_look *look, const void *waiters, size_t count);

/* Requests that glibc's threads perform later: kept off, with their buffers. */
struct aiocb;
void sc_look_at_request(struct sc_look *look, const struct aiocb *request);
void sc_look_at_requests(struct sc_look *look, struct aiocb *const *requests, int count);

/* Copies without a look. False if not all of it can be read. */
bool sc_look_peek(void *into, const void *address, size_t size_bytes);

#endif
