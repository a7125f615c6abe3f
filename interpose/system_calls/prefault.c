#include "interpose/system_calls/prefault.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/peek.h"
#include "common/uncancelled.h"
#include "interpose/base/compiler.h"
#include "interpose/base/thread_stack.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/loans.h"
#include "interpose/guard/touches.h"
#include "interpose/system_calls/exempt_objects.h"
#include "track/blocks.h"
#include "track/track_parts.h"
#include "track/track_views.h"

#include "common/poison.h"

enum {
    PIECES_MAX = 1024,     /* of a list: Linux refuses more, or ignores the rest */
    CHUNK = 16,            /* elements of a list that are read at a time */
    TEXT = 128,            /* bytes of a string that are read at a time; divides a page */
    WORD_MAX = 128 * 1024, /* the longest argument of a program */
};

/* ---- an interval ---- */

/* Could pages of the interval become guarded: does it overlap memory that the driver knows? */
static bool may_be_in_range(const void *address, size_t size_bytes)
{
    return sc_blocks_may_hold(sc_track_parts.range_blocks, (uintptr_t)address, size_bytes) &&
           sc_track_may_have(&sc_track, SC_NEAR_RANGES, (uintptr_t)address, size_bytes);
}

/* May pages of the interval ever have been guarded? If not, a failed call cannot have met one. */
static bool was_guarded_near(const void *address, size_t size_bytes)
{
    return sc_blocks_may_hold(sc_track_parts.guarded_blocks, (uintptr_t)address, size_bytes);
}

/* Can a buffer of that size be there? If it is empty or too large, Linux uses nothing of it. */
static bool is_interval(const void *address, size_t size_bytes)
{
    return size_bytes - 1 < SSIZE_MAX && (uintptr_t)address < UINTPTR_MAX - size_bytes;
}

/* Handles the touch of protected pages that a system call is about to make, as if the program made
 * it: reports it, waits, and unprotects the pages. Notes in may_be_ours that the call may fail
 * because of the guard. No cancellation point: an asynchronous cancellation must not end the thread
 * within a lock of the library. */
static void touch_pages(struct sc_prefault *prefault, const void *address, size_t size_bytes,
                        enum sc_touch touch)
{
    if (!was_guarded_near(address, size_bytes))
        return;
    prefault->may_be_ours = true;
    if (!sc_guard_overlaps(address, size_bytes))
        return;
    SC_UNCANCELLED();
    sc_touches_by_kernel(address, size_bytes, touch, &prefault->culprit);
}

/* Is anything guarded now, or has the call just failed (no loans), so that something may have been?
 */
static bool may_be_guarded(const struct sc_prefault *prefault)
{
    return sc_unlikely(sc_guard_busy() || !prefault->loans);
}

/* Prepares memory that a system call is about to read or write: stores that it must not be
 * protected until the call returns (a loan), reports and waits as for a touch by the program, and
 * unprotects the pages. A call that has failed has its loans already. */
void sc_prefault_buffer(struct sc_prefault *prefault, const void *address, size_t size_bytes,
                        enum sc_touch touch)
{
    if (!is_interval(address, size_bytes))
        return;
    if (prefault->loans && may_be_in_range(address, size_bytes))
        sc_loans_add(prefault->loans, address, size_bytes, touch);
    if (may_be_guarded(prefault))
        touch_pages(prefault, address, size_bytes, touch);
}

/* Prepares memory that a system call is about to use, of which only the address is known. The page
 * is unprotected without a report: what follows the first byte may belong to an operation that the
 * call does not touch. */
void sc_prefault_page(struct sc_prefault *prefault, const void *address)
{
    if (prefault->loans && may_be_in_range(address, 1))
        sc_loans_add(prefault->loans, address, 1, SC_TOUCH_WRITE);
    if (!may_be_guarded(prefault) || !was_guarded_near(address, 1))
        return;
    prefault->may_be_ours = true;
    sc_exempt_objects_unprotect_once(address);
}

/* ---- what must be read to be known ---- */

/* Is the word mapped and readable? Asked of Linux by FUTEX_CMP_REQUEUE, which reads it first of
 * all, and wakes or moves no thread here (of none). */
static bool is_word_there(uintptr_t address)
{
    return sc_kernel_call(SYS_futex, address, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, address, 0) !=
           -EFAULT;
}

/* Is every page of the interval readable? */
static bool are_words_there(uintptr_t address, size_t size_bytes)
{
    enum { PAGE_BYTES = 4096, WORD_BYTES = 4 };
    uintptr_t end = address + size_bytes;
    for (uintptr_t at = address; at < end; at = (at & -(uintptr_t)PAGE_BYTES) + PAGE_BYTES)
        if (!is_word_there(at & -(uintptr_t)WORD_BYTES))
            return false;
    return true;
}

/* Copies memory of the program by loads, on systems where process_vm_readv, which sc_peek uses, is
 * forbidden (by a seccomp filter). False: it is not mapped, or sc_peek works and has shown that. An
 * argument of a call stays mapped meanwhile, unless the program is wrong. */
static bool copy_if_there(void *into, const void *address, size_t size_bytes)
{
    char own = 0;
    char copy;
    /* Does sc_peek work at all? Then it has shown that the address is bad. */
    if (sc_peek(&copy, (uintptr_t)&own, 1) || !are_words_there((uintptr_t)address, size_bytes))
        return false;
    memcpy(into, address, size_bytes);
    return true;
}

/* Copies an argument of a system call that lies in the program's memory. False: it cannot be read,
 * as if its page is protected. Most such addresses are of locals, which are on this thread's stack
 * and are read directly. For others Linux is asked; these calls count as the library's own
 * (SC_INSIDE).
 */
bool sc_prefault_peek(void *into, const void *address, size_t size_bytes)
{
    if (sc_likely(sc_thread_stack_copy(into, (uintptr_t)address, size_bytes)))
        return true;
    SC_INSIDE();
    return sc_likely(sc_peek(into, (uintptr_t)address, size_bytes)) ||
           copy_if_there(into, address, size_bytes);
}

/* Reads a piece of a string. If that fails its page may be protected: it is prefaulted, which puts
 * it on loan, so that it is not protected again at once. */
static bool peek_text(struct sc_prefault *prefault, char *some, const char *text, size_t size_bytes)
{
    if (sc_prefault_peek(some, text, size_bytes))
        return true;
    sc_prefault_buffer(prefault, text, 1, SC_TOUCH_READ);
    return sc_prefault_peek(some, text, size_bytes);
}

/* Returns the smaller of the two. */
static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/* Returns the length of the string with its NUL, at most `most_bytes`, and as far as it can be
 * read. It is read in pieces of which none crosses a page, as the next page may not be there. */
static size_t string_bytes(struct sc_prefault *prefault, const char *string, size_t most_bytes)
{
    char some[TEXT];
    size_t done = 0;
    while (done < most_bytes) {
        size_t now = TEXT - (uintptr_t)(string + done) % TEXT;
        if (!peek_text(prefault, some, string + done, now))
            break;
        const char *end = memchr(some, 0, now);
        if (end)
            return done + (size_t)(end - some) + 1;
        done += now;
    }
    return at_most(done, most_bytes);
}

/* Prepares a string that a system call is about to read. Nothing to do, and no length to be found,
 * if it begins in memory that is never guarded. */
void sc_prefault_string(struct sc_prefault *prefault, const char *string, size_t most_bytes)
{
    if (prefault->loans ? may_be_in_range(string, 1) : was_guarded_near(string, 1))
        sc_prefault_buffer(prefault, string, string_bytes(prefault, string, most_bytes),
                           SC_TOUCH_READ);
}

/* Prepares an array of strings that ends with NULL, as of exec, and the strings. One by one, since
 * the end of the array is not known before. */
void sc_prefault_strings(struct sc_prefault *prefault, char *const *strings)
{
    const char *string;
    for (; strings; strings++) {
        sc_prefault_buffer(prefault, strings, sizeof *strings, SC_TOUCH_READ);
        if (!sc_prefault_peek(&string, strings, sizeof string) || !string)
            return;
        sc_prefault_string(prefault, string, WORD_MAX);
    }
}

/* Prepares a list of pieces of memory, as of readv, and each of the pieces, for a system call. The
 * list itself is only read. */
void sc_prefault_pieces(struct sc_prefault *prefault, const struct iovec *pieces, size_t given,
                        enum sc_touch touch)
{
    struct iovec some[CHUNK];
    size_t count = given <= PIECES_MAX ? given : 0; /* a negative one is large, too */
    sc_prefault_buffer(prefault, pieces, count * sizeof *pieces, SC_TOUCH_READ);
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t now = at_most(count - done, CHUNK);
        if (!sc_prefault_peek(some, pieces + done, now * sizeof *some))
            return;
        for (size_t i = 0; i < now; i++)
            sc_prefault_buffer(prefault, some[i].iov_base, some[i].iov_len, touch);
    }
}

/* Prepares all that a message of sendmsg or recvmsg points to, for that call. */
void sc_prefault_message(struct sc_prefault *prefault, const struct msghdr *message,
                         enum sc_touch touch)
{
    struct msghdr header;
    sc_prefault_buffer(prefault, message, sizeof *message, touch);
    if (!sc_prefault_peek(&header, message, sizeof header))
        return;
    sc_prefault_buffer(prefault, header.msg_name, header.msg_namelen, touch);
    sc_prefault_buffer(prefault, header.msg_control, header.msg_controllen, touch);
    sc_prefault_pieces(prefault, header.msg_iov, header.msg_iovlen, touch);
}

/* Prepares all messages of sendmmsg or recvmmsg, for that call. It writes the length of each
 * message, also when it sends them. */
void sc_prefault_messages(struct sc_prefault *prefault, const struct mmsghdr *messages,
                          unsigned count, enum sc_touch touch)
{
    for (size_t i = 0; i < at_most(count, PIECES_MAX); i++) {
        sc_prefault_buffer(prefault, &messages[i], sizeof messages[i], SC_TOUCH_WRITE);
        sc_prefault_message(prefault, &messages[i].msg_hdr, touch);
    }
}

/* Prepares a buffer that a system call writes, and its size, which lies in memory that the call
 * reads and writes (as getsockname's). Without a buffer (NULL) only the size. */
void sc_prefault_sized(struct sc_prefault *prefault, const void *address, const socklen_t *size)
{
    socklen_t size_bytes;
    sc_prefault_buffer(prefault, size, sizeof *size, SC_TOUCH_WRITE);
    if (address && sc_prefault_peek(&size_bytes, size, sizeof size_bytes))
        sc_prefault_buffer(prefault, address, size_bytes, SC_TOUCH_WRITE);
}

/* ---- numbers that define what an argument is ---- */

/* Prepares the argument of ioctl. A request of the usual form contains the argument's size, and
 * whether Linux reads or writes it. In others it may be an address or not: then at most its page is
 * unprotected. */
void sc_prefault_ioctl(struct sc_prefault *prefault, unsigned long request, const void *argument)
{
    if (_IOC_SIZE(request) && _IOC_DIR(request) != _IOC_NONE)
        sc_prefault_buffer(prefault, argument, _IOC_SIZE(request),
                           _IOC_DIR(request) & _IOC_READ ? SC_TOUCH_WRITE : SC_TOUCH_READ);
    else
        sc_prefault_page(prefault, argument);
}

/* Prepares the argument of fcntl, if by the command it is an address: of a lock or an owner. */
void sc_prefault_fcntl(struct sc_prefault *prefault, int command, const void *argument)
{
    switch (command) {
    case F_GETLK:
    case F_OFD_GETLK:
        sc_prefault_buffer(prefault, argument, sizeof(struct flock), SC_TOUCH_WRITE);
        break;
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        sc_prefault_buffer(prefault, argument, sizeof(struct flock), SC_TOUCH_READ);
        break;
    case F_GETOWN_EX:
        sc_prefault_buffer(prefault, argument, sizeof(struct f_owner_ex), SC_TOUCH_WRITE);
        break;
    case F_SETOWN_EX:
        sc_prefault_buffer(prefault, argument, sizeof(struct f_owner_ex), SC_TOUCH_READ);
        break;
    default:
        break;
    }
}

/* ---- what Linux, or another thread, touches later as well ---- */

/* Does the futex command use a second word in memory? */
static bool has_second(int command)
{
    return command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_WAKE_OP ||
           command == FUTEX_WAIT_REQUEUE_PI || command == FUTEX_CMP_REQUEUE_PI;
}

/* Does the futex command read a timeout from memory? In others that argument is a number. */
static bool has_timeout(int command)
{
    enum { LOCK_PI2 = 13 }; /* Linux 5.14 */
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == LOCK_PI2 || command == FUTEX_WAIT_REQUEUE_PI;
}

/* Prepares the memory of the system call futex. The pages of its words are never protected again,
 * as Linux uses the words for other threads' calls, too. The timeout is only read now. */
void sc_prefault_futex(struct sc_prefault *prefault, const void *word, int operation,
                       const void *timeout, const void *second)
{
    int command = operation & FUTEX_CMD_MASK;
    sc_exempt_objects_add(word, sizeof(uint32_t));
    if (has_second(command))
        sc_exempt_objects_add(second, sizeof(uint32_t));
    if (has_timeout(command))
        sc_prefault_buffer(prefault, timeout, sizeof(struct timespec), SC_TOUCH_READ);
}

/* Prepares the memory of futex_waitv: an array of waiters, which is only read now, and the words
 * that it points to, whose pages are never protected again. Linux refuses more than WAITERS_MAX. */
void sc_prefault_futexes(struct sc_prefault *prefault, const void *waiters, size_t count)
{
    const struct waiter {
        uint64_t value, address;
        uint32_t flags, reserved;
    } *each = waiters;
    struct waiter one;
    enum { WAITERS_MAX = 128 };
    if (count > WAITERS_MAX)
        return;
    sc_prefault_buffer(prefault, waiters, count * sizeof one, SC_TOUCH_READ);
    for (size_t i = 0; i < count && sc_prefault_peek(&one, each + i, sizeof one); i++)
        sc_exempt_objects_add((const void *)(uintptr_t)one.address, sizeof(uint32_t));
}

/* Prepares a request for asynchronous input or output (aio_read), and its buffer: threads of the C
 * library use them later, with SIGSEGV blocked. So their pages are never protected again. The
 * request may be read directly, as the C library does. */
void sc_prefault_request(struct sc_prefault *prefault, const struct aiocb *request)
{
    (void)prefault;
    if (!request)
        return;
    sc_exempt_objects_add(request, sizeof *request);
    sc_exempt_objects_add((const void *)(uintptr_t)request->aio_buf, request->aio_nbytes);
}

/* Prepares the requests of lio_listio, each as sc_prefault_request does. */
void sc_prefault_requests(struct sc_prefault *prefault, struct aiocb *const *requests, int count)
{
    for (int i = 0; i < count; i++)
        sc_prefault_request(prefault, requests[i]);
}
