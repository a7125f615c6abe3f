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

/* Could pages of it become guarded? */
static bool may_be_in_range(const void *address, size_t size_bytes)
{
    return sc_blocks_may_hold(sc_track_parts.range_blocks, (uintptr_t)address, size_bytes) &&
           sc_track_may_have(&sc_track, SC_NEAR_RANGES, (uintptr_t)address, size_bytes);
}

static bool was_guarded_near(const void *address, size_t size_bytes)
{
    return sc_blocks_may_hold(sc_track_parts.guarded_blocks, (uintptr_t)address, size_bytes);
}

/* Can a buffer have that size? If not, Linux refuses the call. */
static bool is_interval(const void *address, size_t size_bytes)
{
    return size_bytes - 1 < SSIZE_MAX && (uintptr_t)address < UINTPTR_MAX - size_bytes;
}

/* Touches protected pages as the program would. The wait is no cancellation point, and an
 * asynchronous cancellation must not end the thread within a lock of the library. */
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

/* Is anything guarded, or has the call failed as if something was? */
static bool may_be_guarded(const struct sc_prefault *prefault)
{
    return sc_unlikely(sc_guard_busy() || !prefault->loans);
}

/* Prefaults memory that a system call is about to read or write: puts it on loan, handles the touch
 * as the program's, and unprotects the pages. */
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

/* Prefaults memory of which only the address is known. The page is unprotected without a report:
 * what follows the first byte may belong to an operation that the call does not touch. */
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

/* Is the word mapped and readable? FUTEX_CMP_REQUEUE reads it first of all. As no thread is to be
 * woken or moved, none is. */
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

/* Reads memory of this process directly, if it is mapped, on systems where process_vm_readv is
 * forbidden (by a seccomp filter). An argument of a call stays mapped meanwhile, unless the program
 * is wrong. */
static bool copy_if_there(void *into, const void *address, size_t size_bytes)
{
    char own = 0;
    char copy;
    /* If sc_peek works at all, it has shown that the address is bad. */
    if (sc_peek(&copy, (uintptr_t)&own, 1) || !are_words_there((uintptr_t)address, size_bytes))
        return false;
    memcpy(into, address, size_bytes);
    return true;
}

/* Reads memory of the program. False: it cannot be read, for example because its page is protected.
 * Most addresses that programs pass to system calls are of locals, which are read directly. The
 * calls for others are marked as the library's own. */
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

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/* Returns the length of the string with its NUL, as far as it can be read. No piece of TEXT bytes
 * crosses a page. */
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

void sc_prefault_string(struct sc_prefault *prefault, const char *string, size_t most_bytes)
{
    if (prefault->loans ? may_be_in_range(string, 1) : was_guarded_near(string, 1))
        sc_prefault_buffer(prefault, string, string_bytes(prefault, string, most_bytes),
                           SC_TOUCH_READ);
}

/* Prefaults the strings one by one, since the end of the array is not known before. */
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

/* Prefaults a list of pieces, as of readv, and each of the pieces. */
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

/* Prefaults all that a message of sendmsg or recvmsg points to. */
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

/* Prefaults all messages of sendmmsg or recvmmsg. The call writes the length of each message, also
 * when it sends them. */
void sc_prefault_messages(struct sc_prefault *prefault, const struct mmsghdr *messages,
                          unsigned count, enum sc_touch touch)
{
    for (size_t i = 0; i < at_most(count, PIECES_MAX); i++) {
        sc_prefault_buffer(prefault, &messages[i], sizeof messages[i], SC_TOUCH_WRITE);
        sc_prefault_message(prefault, &messages[i].msg_hdr, touch);
    }
}

/* Prefaults a buffer whose size is an argument by address, as that of getsockname. */
void sc_prefault_sized(struct sc_prefault *prefault, const void *address, const socklen_t *size)
{
    socklen_t size_bytes;
    sc_prefault_buffer(prefault, size, sizeof *size, SC_TOUCH_WRITE);
    if (address && sc_prefault_peek(&size_bytes, size, sizeof size_bytes))
        sc_prefault_buffer(prefault, address, size_bytes, SC_TOUCH_WRITE);
}

/* ---- numbers that define what an argument is ---- */

/* Prefaults the argument of ioctl. If the request has no size, it may be no address at all. */
void sc_prefault_ioctl(struct sc_prefault *prefault, unsigned long request, const void *argument)
{
    if (_IOC_SIZE(request) && _IOC_DIR(request) != _IOC_NONE)
        sc_prefault_buffer(prefault, argument, _IOC_SIZE(request),
                           _IOC_DIR(request) & _IOC_READ ? SC_TOUCH_WRITE : SC_TOUCH_READ);
    else
        sc_prefault_page(prefault, argument);
}

/* Prefaults the argument of fcntl, whose size depends on the command. */
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

/* Does the futex command have a second word? */
static bool has_second(int command)
{
    return command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_WAKE_OP ||
           command == FUTEX_WAIT_REQUEUE_PI || command == FUTEX_CMP_REQUEUE_PI;
}

static bool has_timeout(int command)
{
    enum { LOCK_PI2 = 13 }; /* Linux 5.14 */
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == LOCK_PI2 || command == FUTEX_WAIT_REQUEUE_PI;
}

/* Exempts the words of a futex, which Linux also uses while no call runs, and prefaults the
 * timeout. */
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

/* Prefaults the array of futex_waitv, and exempts the words that it points to. */
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

/* Exempts a request for asynchronous input or output, and its buffer. The request itself may be
 * read directly: the C library, which performs it, does that as well. */
void sc_prefault_request(struct sc_prefault *prefault, const struct aiocb *request)
{
    (void)prefault;
    if (!request)
        return;
    sc_exempt_objects_add(request, sizeof *request);
    sc_exempt_objects_add((const void *)(uintptr_t)request->aio_buf, request->aio_nbytes);
}

void sc_prefault_requests(struct sc_prefault *prefault, struct aiocb *const *requests, int count)
{
    for (int i = 0; i < count; i++)
        sc_prefault_request(prefault, requests[i]);
}
