/* Prefaults memory that a system call of the program is about to use: adds it to the loans of the
 * call (interpose/guard/loans.h), and touches what is guarded of it as the program would.
 *
 * A hook prefaults its arguments before the call (interpose/system_calls/io_rows.h). A loan keeps
 * memory unprotected until the call returns. Memory that is guarded is reported and waited for,
 * with the hook's caller as the culprit. No function reads the program's memory where Linux could
 * not: a bad pointer is for the system call to report.
 *
 * Thread-safe and signal-safe; errno is kept; no cancellation point. Locks: as
 * sc_touches_by_kernel. */

/* Terms (docs/glossary.md):
 *   culprit: the call or instruction that came too early
 *   exempt: of a page: never protected, since Linux uses it at times that nobody foresees
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   loan: memory that a system call uses, unprotected until the call returns
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
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

/* The preparation (prefaulting) of one system call's memory. */
struct sc_prefault {
    struct sc_culprit culprit;
    struct sc_loans *loans; /* NULL: the call has failed, and its memory is on loan already */
    bool may_be_ours;       /* result: some of the memory was guarded at some time */
    bool into_own_memory;   /* result: the call has failed to write through /proc/self/mem */
};

/* Is the call the program's own, not one made within the library, in a process where hooks are
 * active? */
static inline bool sc_prefault_is_allowed(void)
{
    return sc_active() && (!sc_is_inside() || sc_inside_is_interrupted());
}

/* May any page be guarded, so that the call's memory must be prepared? Only memory that the driver
 * knows (ranges) is guarded, but a page may stay protected for a moment after the last has gone. */
static inline bool sc_prefault_is_needed(void)
{
    return sc_unlikely(sc_track_has_any(&sc_track, SC_HAS_RANGES) || sc_guard_busy()) &&
           sc_options.guard && sc_prefault_is_allowed();
}

/* Prefaults a buffer that the call is about to read or write (`touch`): keeps it from being
 * protected until the call returns, and reports, waits for and unprotects what is guarded of it.
 * The buffer may be shorter than `size_bytes`, if the program knows that less is transferred. */
void sc_prefault_buffer(struct sc_prefault *prefault, const void *address, size_t size_bytes,
                        enum sc_touch touch);

/* Prefaults memory of which only the address is known, and not how much the call touches: its page
 * is unprotected, without a report. */
void sc_prefault_page(struct sc_prefault *prefault, const void *address);

/* Prefaults a string, of which the call reads at most `most_bytes` bytes. */
void sc_prefault_string(struct sc_prefault *prefault, const char *string, size_t most_bytes);

/* Prefaults an array of strings that ends with NULL, as a program's arguments do, and the strings.
 * `strings` may be NULL. */
void sc_prefault_strings(struct sc_prefault *prefault, char *const *strings);

/* Prefault an array of pieces, a message, or several messages, and the buffers in them. */
void sc_prefault_pieces(struct sc_prefault *prefault, const struct iovec *pieces, size_t count,
                        enum sc_touch touch);
void sc_prefault_message(struct sc_prefault *prefault, const struct msghdr *message,
                         enum sc_touch touch);
void sc_prefault_messages(struct sc_prefault *prefault, const struct mmsghdr *messages,
                          unsigned count, enum sc_touch touch);

/* Prefaults a buffer of *size bytes, which the call writes, and `size`, into which it stores how
 * many it wrote. */
void sc_prefault_sized(struct sc_prefault *prefault, const void *address, const socklen_t *size);

/* Prefault the argument of an ioctl or fcntl, as far as its size follows from the number. */
void sc_prefault_ioctl(struct sc_prefault *prefault, unsigned long request, const void *argument);
void sc_prefault_fcntl(struct sc_prefault *prefault, int command, const void *argument);

/* Exempt the pages of futexes from protection (exempt_objects.h), and prefault the timeout. */
void sc_prefault_futex(struct sc_prefault *prefault, const void *word, int operation,
                       const void *timeout, const void *second);
void sc_prefault_futexes(struct sc_prefault *prefault, const void *waiters, size_t count);

/* Exempt from protection the pages of requests that glibc's threads perform later, and of their
 * buffers. */
struct aiocb;
void sc_prefault_request(struct sc_prefault *prefault, const struct aiocb *request);
void sc_prefault_requests(struct sc_prefault *prefault, struct aiocb *const *requests, int count);

/* Copies memory of the program, such as a list of pieces that a call is about to read, without
 * making it accessible. False: not all of it can be read, as where a page is protected. */
bool sc_prefault_peek(void *into, const void *address, size_t size_bytes);

#endif
