/* The C library's functions that hand memory of the program to the kernel.
 *
 * Where a load or store would fault and be settled by the guard, a system call fails with EFAULT.
 * So what a call is about to touch is touched first, here, as far as it is guarded, and is not
 * guarded until the call is back (interpose/loans.h). Where that is not known, because memory was
 * registered meanwhile or the loans are too many, a call that fails with EFAULT has transferred
 * nothing, and is settled and repeated.
 *
 * In a process that has no pinned memory, a wrapper is two loads around the real function. All are
 * async-signal-safe where that is, cancellation points where that is, and change neither result nor
 * errno. They never look into the program's memory where the kernel would refuse to: a bad pointer
 * is the kernel's to find.
 *
 * Out of sight: system calls that are not made through these functions, io_uring, and whoever reads
 * this process from outside.
 */
#undef _FORTIFY_SOURCE /* its inline definitions would stand in for the functions defined here */

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose/driver.h"
#include "interpose/guard.h"
#include "interpose/loader.h"
#include "interpose/loans.h"
#include "interpose/process.h"
#include "interpose/signals.h"
#include "interpose/unwind.h"
#include "track/peek.h"

#include "track/poison.h"

#undef fread_unlocked
#undef fwrite_unlocked

enum {
    PIECES_MAX = 1024,         /* the kernel refuses more, or ignores the rest */
    CHUNK = 16,                /* of an array, on the stack */
    REPEATS_MAX = 8,           /* of a call whose EFAULT may be the program's own */
    TRANSFER_MAX = 0x7ffff000, /* MAX_RW_COUNT of the kernel */
};

/* What one call touches, as far as it was looked at. */
struct look {
    struct sc_culprit culprit;
    struct sc_loans *loans; /* NULL: they were made before */
    bool may_be_ours;       /* some of it lies where pages were guarded at some time */
};

static struct sc_grid *ranges(void)
{
    return &sc_track.inflight.range_grid;
}

/* ---- what the kernel touches ---- */

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/* Could pages of it become guarded? */
static bool may_be_in_range(const void *address, size_t size_bytes)
{
    return sc_blocks_may_hold(&sc_track.inflight.range_blocks, (uintptr_t)address, size_bytes) &&
           sc_grid_may_overlap(ranges(), (uintptr_t)address, size_bytes);
}

static bool was_guarded_near(const void *address, size_t size_bytes)
{
    return sc_blocks_may_hold(&sc_track.inflight.guards.ever, (uintptr_t)address, size_bytes);
}

/* Waiting here is no cancellation point, and an asynchronous cancellation must not take the thread
 * out of a lock of ours. */
static void settle(struct look *look, const void *address, size_t size_bytes, enum sc_touch touch)
{
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    sc_guard_touch(address, size_bytes, touch, &look->culprit);
    pthread_setcancelstate(cancel_state, NULL);
}

/* The size may reach beyond the buffer, if the program knows that less comes. The kernel refuses
 * what no buffer can have. */
static void see(struct look *look, const void *address, size_t size_bytes, enum sc_touch touch)
{
    if (size_bytes == 0 || size_bytes > SSIZE_MAX || (uintptr_t)address >= UINTPTR_MAX - size_bytes)
        return;
    if (look->loans && may_be_in_range(address, size_bytes))
        sc_loans_add(look->loans, address, size_bytes, touch);
    if (sc_likely(!sc_guard_busy() && look->loans) || !was_guarded_near(address, size_bytes))
        return;
    look->may_be_ours = true;
    if (sc_guard_overlaps(address, size_bytes))
        settle(look, address, size_bytes, touch);
}

/* The look itself is a call of ours. */
static bool peek(void *into, const void *address, size_t size_bytes)
{
    SC_INSIDE();
    return sc_peek(into, (uintptr_t)address, size_bytes);
}

static void see_each(struct look *look, const struct iovec *pieces, size_t given,
                     enum sc_touch touch)
{
    struct iovec some[CHUNK];
    size_t count = given <= PIECES_MAX ? given : 0; /* a negative one is large, too */
    see(look, pieces, count * sizeof *pieces, SC_TOUCH_READ);
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t now = at_most(count - done, CHUNK);
        if (!peek(some, pieces + done, now * sizeof *some))
            return;
        for (size_t i = 0; i < now; i++)
            see(look, some[i].iov_base, some[i].iov_len, touch);
    }
}

static void see_message(struct look *look, const struct msghdr *message, enum sc_touch touch)
{
    struct msghdr header;
    see(look, message, sizeof *message, touch);
    if (!peek(&header, message, sizeof header))
        return;
    see(look, header.msg_name, header.msg_namelen, touch);
    see(look, header.msg_control, header.msg_controllen, touch);
    see_each(look, header.msg_iov, header.msg_iovlen, touch);
}

/* The kernel writes the length of each, also of those that it sends. */
static void see_messages(struct look *look, const struct mmsghdr *messages, unsigned count,
                         enum sc_touch touch)
{
    for (size_t i = 0; i < at_most(count, PIECES_MAX); i++) {
        see(look, &messages[i], sizeof messages[i], SC_TOUCH_WRITE);
        see_message(look, &messages[i].msg_hdr, touch);
    }
}

static void see_sized(struct look *look, const void *address, const socklen_t *size)
{
    socklen_t size_bytes;
    if (!address)
        return;
    see(look, size, sizeof *size, SC_TOUCH_WRITE);
    if (peek(&size_bytes, size, sizeof size_bytes))
        see(look, address, size_bytes, SC_TOUCH_WRITE);
}

static size_t fd_set_bytes(int count)
{
    return count > 0 ? ((size_t)count + NFDBITS - 1) / NFDBITS * sizeof(fd_mask) : 0;
}

static size_t product(size_t size, size_t count)
{
    size_t bytes;
    return __builtin_mul_overflow(size, count, &bytes) ? SIZE_MAX : bytes;
}

/* What the kernel moves of it in one call. */
static size_t transfer(size_t size)
{
    return size <= SSIZE_MAX ? at_most(size, TRANSFER_MAX) : size;
}

/* A pipe is read from or written to, which the flags of the descriptor say. */
static enum sc_touch touch_of_pipe(int fd)
{
    int saved = errno;
    int flags = fcntl(fd, F_GETFL);
    errno = saved;
    return (flags & O_ACCMODE) == O_RDONLY ? SC_TOUCH_WRITE : SC_TOUCH_READ;
}

/* ---- the functions ---- */

#define READS(address, size) see(look, address, transfer(size), SC_TOUCH_READ)
#define WRITES(address, size) see(look, address, transfer(size), SC_TOUCH_WRITE)
#define READS_ITEMS(address, size, n) see(look, address, product(size, n), SC_TOUCH_READ)
#define WRITES_ITEMS(address, size, n) see(look, address, product(size, n), SC_TOUCH_WRITE)
#define READS_EACH(pieces, count) see_each(look, pieces, count, SC_TOUCH_READ)
#define WRITES_EACH(pieces, count) see_each(look, pieces, count, SC_TOUCH_WRITE)
#define MOVES_EACH(fd, pieces, count) see_each(look, pieces, count, touch_of_pipe(fd))
#define READS_MESSAGE(message) see_message(look, message, SC_TOUCH_READ)
#define WRITES_MESSAGE(message) see_message(look, message, SC_TOUCH_WRITE)
#define READS_MESSAGES(first, count) see_messages(look, first, count, SC_TOUCH_READ)
#define WRITES_MESSAGES(first, count) see_messages(look, first, count, SC_TOUCH_WRITE)
#define WRITES_SIZED(address, size) see_sized(look, address, size)

/* The mask for as long as the call lasts: SIGSEGV is never really blocked. */
#define MASKED(mask) sc_signals_without_fault(mask, &(sigset_t){0})

#define LIST(...) __VA_ARGS__

static inline bool may_look(void)
{
    return sc_active() && !sc_is_inside();
}

/* What may be guarded lies in ranges; a page may still be so for a moment when the last is gone. */
static inline bool is_watched(void)
{
    return (!sc_grid_is_empty(ranges()) || sc_guard_busy()) && sc_options.guard && may_look();
}

#define NEXT(name) SC_NEXT(__typeof__(&name), #name)

#define DEFINE_LOOK(type, name, parameters, ...)                                                   \
    SC_EXPORT type name parameters;                                                                \
    static __attribute__((noinline)) bool look_##name(struct sc_loans *loans, void *site,          \
                                                      LIST parameters)                             \
    {                                                                                              \
        struct look looked = {{.api = #name, .site = site}, loans, false}, *const look = &looked;  \
        __VA_ARGS__;                                                                               \
        return looked.may_be_ours;                                                                 \
    }

#define LEND(name, arguments)                                                                      \
    struct sc_loans loans;                                                                         \
    loans.count = 0;                                                                               \
    if (is_watched()) {                                                                            \
        loans.frame = SC_FRAME();                                                                  \
        look_##name(&loans, SC_SITE(), LIST arguments);                                            \
    }

#define SC_IO(type, name, parameters, arguments, ...)                                              \
    DEFINE_LOOK(type, name, parameters, __VA_ARGS__)                                               \
    type name parameters                                                                           \
    {                                                                                              \
        LEND(name, arguments)                                                                      \
        type result = NEXT(name) arguments;                                                        \
        for (unsigned repeats = 0;                                                                 \
             sc_unlikely(result == -1) && errno == EFAULT && repeats < REPEATS_MAX &&              \
             may_look() && look_##name(NULL, SC_SITE(), LIST arguments);                           \
             repeats++)                                                                            \
            result = NEXT(name) arguments;                                                         \
        sc_loans_end(&loans);                                                                      \
        return result;                                                                             \
    }

#define SC_STREAM(type, name, parameters, arguments, ...)                                          \
    DEFINE_LOOK(type, name, parameters, __VA_ARGS__)                                               \
    type name parameters                                                                           \
    {                                                                                              \
        LEND(name, arguments)                                                                      \
        type result = NEXT(name) arguments;                                                        \
        sc_loans_end(&loans);                                                                      \
        return result;                                                                             \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* of look_*: most look at the memory alone */
#include "interpose/io.def"
#pragma GCC diagnostic pop
