/* Generates the hooks of the C library's functions that pass memory of the program to system calls.
 *
 * On a protected page a load or store faults, and the guard handles that; a system call fails with
 * EFAULT. So a hook first prefaults the memory that the call will use: it reports and waits as for
 * a touch by the program, unprotects the pages, and keeps them unprotected until the call returns
 * (prefault.h, interpose/guard/loans.h). The call may still fail with EFAULT if memory was
 * registered meanwhile, or if there are too many loans. Such a call has transferred nothing: the
 * memory is prefaulted and the call repeated. So is a call that fails with EIO when it writes
 * through a descriptor of /proc/self/mem (own_memory.h).
 *
 * In a process without pinned memory, a hook is two loads around the real function. A hook is
 * async-signal-safe and a cancellation point if the real function is, and changes neither its
 * result nor errno.
 *
 * Not handled: system calls that are made neither through these functions nor through syscall(),
 * io_uring, and other processes that read or write this one's memory.
 *
 * Only the .c file of a table (io.def and the like) includes this header, after it has defined
 * NEXT_RECORD. Each row of the table becomes a hook, and a function that prefaults its arguments.
 */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   loan: memory that a system call uses, unprotected until the call returns
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_SYSTEM_CALLS_IO_ROWS_H
#define SC_INTERPOSE_SYSTEM_CALLS_IO_ROWS_H

/* Inline definitions in fortified headers, and in those of glibc before 2.33, would replace the
 * functions that are defined here. */
#undef _FORTIFY_SOURCE
#define __NO_INLINE__ 1

#include "interpose/system_calls/io.h"

#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "interpose/base/unwinder_pipe.h"
#include "interpose/guard/data_limit.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/loans.h"
#include "interpose/signals/signal_mask.h"
#include "interpose/signals/timer_threads.h"
#include "interpose/system_calls/exempt_objects.h"
#include "interpose/system_calls/own_memory.h"
#include "interpose/system_calls/parameters.h"
#include "interpose/system_calls/prefault.h"

#include "common/poison.h"

#undef fread_unlocked
#undef fwrite_unlocked

enum {
    TRANSFER_MAX = 0x7ffff000, /* Linux's MAX_RW_COUNT */
    COMMAND_MAX = 128 * 1024,  /* the longest argument of a program */
    MASK_BYTES = _NSIG / 8,    /* the part of a sigset_t that Linux uses */
    KERNEL_ACTION_BYTES = 3 * sizeof(long) + MASK_BYTES, /* of Linux's struct sigaction */
    NAME_BYTES = 16,                                     /* of a thread's name */
};

/* Returns how many bytes of an fd_set select uses for so many descriptors. */
static inline size_t fd_set_bytes(int count)
{
    return count > 0 ? ((size_t)count + NFDBITS - 1) / NFDBITS * sizeof(fd_mask) : 0;
}

/* Returns size times count; SIZE_MAX if that overflows, which no buffer has: the call will fail. */
static inline size_t product(size_t size, size_t count)
{
    size_t bytes;
    return __builtin_mul_overflow(size, count, &bytes) ? SIZE_MAX : bytes;
}

/* Returns how much of `size` Linux transfers in one call at most, so that no more is waited for. A
 * size that Linux refuses is returned as it is. */
static inline size_t transfer(size_t size)
{
    return size <= SSIZE_MAX && size > TRANSFER_MAX ? TRANSFER_MAX : size;
}

/* Returns how vmsplice touches the program's memory: it reads it, or writes it if the descriptor is
 * the pipe's end for reading. */
static inline enum sc_touch touch_of_pipe(int fd)
{
    long flags = sc_kernel_call(SYS_fcntl, fd, F_GETFL);
    return (flags & O_ACCMODE) == O_RDONLY ? SC_TOUCH_WRITE : SC_TOUCH_READ;
}

/* ---- the memory that a system call reads and writes ---- */

#define READS(address, size) sc_prefault_buffer(prefault, address, transfer(size), SC_TOUCH_READ)
#define WRITES(address, size) sc_prefault_buffer(prefault, address, transfer(size), SC_TOUCH_WRITE)
#define IN(object) READS(object, sizeof *(object))
#define OUT(object) WRITES(object, sizeof *(object))
#define PATH(string) sc_prefault_string(prefault, string, PATH_MAX)
#define STRING(string, most) sc_prefault_string(prefault, string, most)
#define READS_ITEMS(address, size, n)                                                              \
    sc_prefault_buffer(prefault, address, product(size, n), SC_TOUCH_READ)
#define WRITES_ITEMS(address, size, n)                                                             \
    sc_prefault_buffer(prefault, address, product(size, n), SC_TOUCH_WRITE)
#define READS_EACH(pieces, count) sc_prefault_pieces(prefault, pieces, count, SC_TOUCH_READ)
#define WRITES_EACH(pieces, count) sc_prefault_pieces(prefault, pieces, count, SC_TOUCH_WRITE)
#define STORES(from, size, fd, at) READS(from, size), sc_own_memory_prefault(prefault, fd, at, size)
#define STORES_EACH(pieces, count, fd, at)                                                         \
    READS_EACH(pieces, count),                                                                     \
        sc_own_memory_prefault_pieces(prefault, fd, at, pieces, (size_t)(count))
#define MOVES_EACH(fd, pieces, count) sc_prefault_pieces(prefault, pieces, count, touch_of_pipe(fd))
#define READS_MESSAGE(message) sc_prefault_message(prefault, message, SC_TOUCH_READ)
#define WRITES_MESSAGE(message) sc_prefault_message(prefault, message, SC_TOUCH_WRITE)
#define READS_MESSAGES(first, count) sc_prefault_messages(prefault, first, count, SC_TOUCH_READ)
#define WRITES_MESSAGES(first, count) sc_prefault_messages(prefault, first, count, SC_TOUCH_WRITE)
#define WRITES_SIZED(address, size) sc_prefault_sized(prefault, address, size)
#define SOME(address) sc_prefault_page(prefault, address)
#define BY_IOCTL(request, argument) sc_prefault_ioctl(prefault, request, argument)
#define BY_FCNTL(command, argument) sc_prefault_fcntl(prefault, command, argument)
#define LATER(request) sc_prefault_request(prefault, (const struct aiocb *)(request))
#define LATER_EACH(list, count) sc_prefault_requests(prefault, (struct aiocb *const *)(list), count)

#define BY_PRCTL(option, name) prefault_prctl(prefault, option, name)
#define BY_LIMIT(which, to) unprotect_for_limit(prefault, which, to)
#define BY_PTRACE(request, a, b) prefault_ptrace(prefault, request, a, b)
#define BY_PROCESS(pid, pieces, count, touch) prefault_process(prefault, pid, pieces, count, touch)

/* prctl: prefaults the argument of the two options for a thread's name. Others take no memory that
 * is known. */
static inline void prefault_prctl(struct sc_prefault *prefault, int option, const void *name)
{
    if (option == PR_GET_NAME)
        WRITES(name, NAME_BYTES);
    if (option == PR_SET_NAME)
        STRING(name, NAME_BYTES);
}

/* setrlimit(RLIMIT_DATA), called before the limit is set: unprotects all pages, as Linux may then
 * refuse to make them accessible again. No page is guarded by mprotect from then on. Nothing to do
 * if the limit is only read (`to` NULL), or after the call has failed (no loans). */
static inline void unprotect_for_limit(struct sc_prefault *prefault, int which, const void *to)
{
    if (!prefault->loans || which != RLIMIT_DATA || !to)
        return;
    sc_data_limit_note_change();
    if (sc_prefault_is_needed())
        sc_guard_unprotect_all(false);
}

/* process_vm_readv and the like: prefaults the pieces of memory that the call uses in process
 * `pid`, if that is this one (by its id or, as is usual, the calling thread's); else only the list
 * of pieces lies here. */
static inline void prefault_process(struct sc_prefault *prefault, pid_t pid,
                                    const struct iovec *pieces, size_t count, enum sc_touch touch)
{
    if (pid == sc_kernel_call(SYS_getpid) || pid == sc_kernel_call(SYS_gettid))
        sc_prefault_pieces(prefault, pieces, count, touch);
    else
        READS_ITEMS(pieces, sizeof *pieces, count);
}

/* ptrace: prefaults the records about another process, which lie in this one's memory. Addresses in
 * that process's memory are skipped. */
static inline void prefault_ptrace(struct sc_prefault *prefault, int request, const void *a,
                                   void *b)
{
    switch (request) {
    case PTRACE_GETREGSET:
    case PTRACE_SETREGSET:
        WRITES(b, sizeof(struct iovec));
        WRITES_EACH(b, 1);
        break;
    case PTRACE_PEEKSIGINFO:
        SOME(a);
        SOME(b);
        break;
#ifdef __x86_64__
    case PTRACE_GETREGS:
    case PTRACE_SETREGS:
    case PTRACE_GETFPREGS:
    case PTRACE_SETFPREGS:
#endif
    case PTRACE_GETEVENTMSG:
    case PTRACE_GETSIGINFO:
    case PTRACE_SETSIGINFO:
    case PTRACE_GETSIGMASK:
    case PTRACE_SETSIGMASK:
    case PTRACE_GET_SYSCALL_INFO:
        SOME(b);
        break;
    default:
        break;
    }
}

/* ---- the functions ---- */

#define LIST(...) __VA_ARGS__

/* Defines sc_io_prefault_HOOK, the function that prefaults the memory of a call. raw_calls.def uses
 * these functions as well. */
#define PREFAULT(hook, symbol, parameters, ...)                                                    \
    bool sc_io_prefault_##hook(struct sc_loans *loans, void *site, SC_PARAMETERS_OF(parameters));  \
    __attribute__((noinline)) bool sc_io_prefault_##hook(struct sc_loans *loans, void *site,       \
                                                         SC_PARAMETERS_OF(parameters))             \
    {                                                                                              \
        struct sc_prefault state = {.culprit = {.api = symbol, .site = site}, .loans = loans};     \
        struct sc_prefault *const prefault __attribute__((unused)) = &state;                       \
        __VA_ARGS__;                                                                               \
        return state.may_be_ours && (errno != EIO || state.into_own_memory);                       \
    }

#define NEXT(hook) ((__typeof__(&hook))sc_loader_get(&next_##hook))

/* Defines repeat_HOOK, called when the call has failed: makes the memory accessible and repeats the
 * call, as long as that may have been because of a protected page. */
#define REPEAT(type, call, hook, parameters)                                                       \
    static __attribute__((noinline))                                                               \
    type repeat_##hook(type result, void *site, SC_PARAMETERS_OF(parameters))                      \
    {                                                                                              \
        for (unsigned repeats = 0; result == -1 && sc_io_may_be_guards(errno) &&                   \
                                   sc_prefault_is_allowed() && repeats < SC_IO_REPEATS_MAX &&      \
                                   sc_io_prefault_##hook(NULL, site, SC_ARGUMENTS_OF(parameters)); \
             repeats++)                                                                            \
            result = call(hook)(SC_ARGUMENTS_OF(parameters));                                      \
        return result;                                                                             \
    }

#define IF_FAILED(hook, parameters)                                                                \
    if (sc_unlikely(result == -1))                                                                 \
        result = repeat_##hook(result, SC_SITE(), SC_ARGUMENTS_OF(parameters));

#define NO_REPEAT(type, call, hook, parameters)
#define NO_MATTER(hook, parameters)

/* Defines with_loans_HOOK, which prefaults the call's memory and makes the call. */
#define WITH_LOANS(version, call, repeat, if_failed, type, hook, symbol, parameters, ...)          \
    NEXT_RECORD(next_##hook, symbol, version);                                                     \
    PREFAULT(hook, symbol, parameters, __VA_ARGS__)                                                \
    repeat(type, call, hook, parameters) static __attribute__((noinline))                          \
    type with_loans_##hook(void *site, SC_PARAMETERS_OF(parameters))                               \
    {                                                                                              \
        struct sc_loans loans = {.frame = SC_FRAME()};                                             \
        sc_io_prefault_##hook(&loans, site, SC_ARGUMENTS_OF(parameters));                          \
        type result = call(hook)(SC_ARGUMENTS_OF(parameters));                                     \
        if_failed(hook, parameters) sc_loans_end(&loans);                                          \
        return result;                                                                             \
    }

/* Defines with_loans_HOOK, and the hook, which calls it if `needed`. If nothing can be guarded the
 * hook is a load, a branch and the call. */
#define HOOK(version, call, repeat, if_failed, needed, type, hook, symbol, parameters, ...)        \
    WITH_LOANS(version, call, repeat, if_failed, type, hook, symbol, parameters, __VA_ARGS__)      \
    type hook(SC_PARAMETERS_OF(parameters))                                                        \
    {                                                                                              \
        if (sc_unlikely(needed))                                                                   \
            return with_loans_##hook(SC_SITE(), SC_ARGUMENTS_OF(parameters));                      \
        type result = call(hook)(SC_ARGUMENTS_OF(parameters));                                     \
        if_failed(hook, parameters) return result;                                                 \
    }

#define DECLARE(type, name, parameters) SC_EXPORT type name(SC_PARAMETERS_OF(parameters));
#define DECLARE_AS(type, hook, symbol, parameters)                                                 \
    SC_EXPORT type hook(SC_PARAMETERS_OF(parameters)) __asm__(symbol);

/* Define the hook of a row of the table. IO: the function fails with -1 and errno, and may be
 * repeated. ONCE: it may not. `needed`: may there be memory to prefault? */
#define IO(version, call, needed, type, name, parameters, ...)                                     \
    DECLARE(type, name, parameters)                                                                \
    HOOK(version, call, REPEAT, IF_FAILED, needed, type, name, #name, parameters, __VA_ARGS__)
#define ONCE(version, type, name, parameters, ...)                                                 \
    DECLARE(type, name, parameters)                                                                \
    HOOK(version, NEXT, NO_REPEAT, NO_MATTER, sc_prefault_is_needed(), type, name, #name,          \
         parameters, __VA_ARGS__)

#define SC_IO(...) IO(NULL, NEXT, sc_prefault_is_needed(), __VA_ARGS__)
#define SC_IO_SINCE(version, ...)                                                                  \
    IO(SC_GLIBC_SINCE(version), NEXT, sc_prefault_is_needed(), __VA_ARGS__)
#define SC_IO_LIMIT(...)                                                                           \
    IO(NULL, NEXT, which == RLIMIT_DATA || sc_prefault_is_needed(), __VA_ARGS__)
/* Defines the hook of a function that writes one object, `into`. That is mostly far from all memory
 * that can be guarded: then the hook is three loads and a jump, without a frame. */
#define SC_IO_QUICK(type, name, parameters, into)                                                  \
    DECLARE(type, name, parameters)                                                                \
    WITH_LOANS(NULL, NEXT, REPEAT, IF_FAILED, type, name, #name, parameters, OUT(into))            \
    static __attribute__((noinline)) type check_##name(SC_PARAMETERS_OF(parameters))               \
    {                                                                                              \
        return sc_track_range_may_be_near(&sc_track, into) && sc_prefault_is_needed()              \
                   ? with_loans_##name(SC_SITE(), SC_ARGUMENTS_OF(parameters))                     \
                   : NEXT(name)(SC_ARGUMENTS_OF(parameters));                                      \
    }                                                                                              \
    type name(SC_PARAMETERS_OF(parameters))                                                        \
    {                                                                                              \
        __typeof__(&name) next = sc_loader_found(&next_##name);                                    \
        return sc_unlikely(!next || sc_track_is_among_ranges(&sc_track, (uintptr_t)into, 1))       \
                   ? check_##name(SC_ARGUMENTS_OF(parameters))                                     \
                   : next(SC_ARGUMENTS_OF(parameters));                                            \
    }
#define SC_IO_AS(type, hook, symbol, parameters, ...)                                              \
    DECLARE_AS(type, hook, symbol, parameters)                                                     \
    HOOK(NULL, NEXT, REPEAT, IF_FAILED, sc_prefault_is_needed(), type, hook, symbol, parameters,   \
         __VA_ARGS__)
#define SC_ONCE(...) ONCE(NULL, __VA_ARGS__)
#define SC_ONCE_SINCE(version, ...) ONCE(SC_GLIBC_SINCE(version), __VA_ARGS__)
#define SC_ONCE_AS(type, hook, symbol, parameters, ...)                                            \
    DECLARE_AS(type, hook, symbol, parameters)                                                     \
    HOOK(NULL, NEXT, NO_REPEAT, NO_MATTER, sc_prefault_is_needed(), type, hook, symbol,            \
         parameters, __VA_ARGS__)

/* Define the hook of a function and of its variant for large files (open64 and the like), whose
 * arguments are the same on this machine. */
#define SC_IO_LARGE(type, name, ...)                                                               \
    SC_IO(type, name, __VA_ARGS__) SC_IO_AS(type, name##_64, #name "64", __VA_ARGS__)
#define SC_IO_LARGE_AS(type, hook, symbol, ...)                                                    \
    SC_IO_AS(type, hook, symbol, __VA_ARGS__) SC_IO_AS(type, hook##64, symbol "64", __VA_ARGS__)
#define SC_ONCE_LARGE(type, name, ...)                                                             \
    SC_ONCE(type, name, __VA_ARGS__) SC_ONCE_AS(type, name##_64, #name "64", __VA_ARGS__)
#define SC_ONCE_LARGE_AS(type, hook, symbol, ...)                                                  \
    SC_ONCE_AS(type, hook, symbol, __VA_ARGS__)                                                    \
    SC_ONCE_AS(type, hook##64, symbol "64", __VA_ARGS__)

/* Defines the hook of a function that waits under another signal mask than the thread's, as ppoll
 * does. */
#define UNDER_MASK(hook) masked_##hook
#define SC_IO_MASKED(type, name, parameters, ...)                                                  \
    static type masked_##name(SC_PARAMETERS_OF(parameters));                                       \
    IO(NULL, UNDER_MASK, sc_prefault_is_needed(), type, name, parameters, READS(mask, MASK_BYTES), \
       __VA_ARGS__)                                                                                \
    static __attribute__((noinline)) type masked_##name(SC_PARAMETERS_OF(parameters))              \
    {                                                                                              \
        struct sc_masked_wait wait;                                                                \
        mask = sc_signal_mask_begin_wait(&wait, mask, SC_FRAME());                                 \
        type result = NEXT(name)(SC_ARGUMENTS_OF(parameters));                                     \
        sc_signal_mask_end_wait(&wait);                                                            \
        return result;                                                                             \
    }

/* Defines the hook of a function by which the C library may start threads that call the program. */
#define OF_THREADS(hook) threaded_##hook
#define SC_IO_TIMER(version, type, name, parameters, ...)                                          \
    static type threaded_##name(SC_PARAMETERS_OF(parameters));                                     \
    IO(SC_GLIBC_SINCE(version), OF_THREADS, sc_prefault_is_needed(), type, name, parameters,       \
       __VA_ARGS__)                                                                                \
    static __attribute__((noinline)) type threaded_##name(SC_PARAMETERS_OF(parameters))            \
    {                                                                                              \
        struct sigevent room;                                                                      \
        event = sc_timer_threads_wrap_event(event, &room);                                         \
        return NEXT(name)(SC_ARGUMENTS_OF(parameters));                                            \
    }

/* Defines the hook of a function that libunwind calls as well: a call by libunwind returns `answer`
 * (interpose/base/unwinder_pipe.h). */
#define SC_IO_ANSWERED(type, name, parameters, prefault, is_libunwind, answer)                     \
    IO(NULL, NEXT, ({                                                                              \
           if (sc_unlikely(is_libunwind))                                                          \
               return answer;                                                                      \
           sc_prefault_is_needed();                                                                \
       }),                                                                                         \
       type, name, parameters, prefault)

#pragma GCC diagnostic ignored                                                                     \
    "-Wunused-parameter" /* sc_io_prefault_* use some of their parameters only */

#endif
