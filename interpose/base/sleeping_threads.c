#include "interpose/base/sleeping_threads.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/peek.h"
#include "common/text.h"
#include "report/file.h"

#include "common/poison.h"

enum { DESCRIPTORS_MAX = 1024, ARGUMENTS = 6 };

struct sleep {
    long number; /* of the system call */
    uint64_t values[ARGUMENTS];
};

/* Reads from /proc in which system call the thread sleeps. The file has "running", or the call's
 * number and its arguments: "202 0x7ffc... ...". Linux always shows the process's own threads.
 * False: the thread runs, or has ended. */
static bool read_sleep(int32_t thread, struct sleep *sleep)
{
    char line[256];
    SC_TEXT(text, 64);
    sc_text_format(&text, "/proc/self/task/%d/syscall", thread);
    char *rest = line;
    long size = sc_file_read(text.bytes, line, sizeof line - 1);
    line[size > 0 ? size : 0] = 0;
    sleep->number = strtol(line, &rest, 10);
    bool is_read = rest != line;
    for (unsigned i = 0; i < ARGUMENTS; i++)
        sleep->values[i] = strtoul(rest, &rest, 16);
    return is_read;
}

/* ---- descriptors ---- */

/* Is it a descriptor that the program may have? A tool that runs the process (valgrind) keeps its
 * own above the limit. */
static bool is_of_program(int fd)
{
    struct rlimit limit;
    return fd >= 0 && sc_kernel_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 &&
           (rlim_t)fd < limit.rlim_cur;
}

/* Is the descriptor an eventfd? Usually only threads of this process have one, so one of them must
 * write it. */
static bool is_eventfd(int fd)
{
    char path[64], target[64];
    struct sc_text text = sc_text_in(path, sizeof path);
    sc_text_format(&text, "/proc/self/fd/%d", fd);
    sc_file_link(path, target, sizeof target);
    return strcmp(target, "anon_inode:[eventfd]") == 0;
}

/* Has this process a descriptor that writes to the pipe? Then one of its threads may end a read of
 * the pipe. */
static bool has_writer(const struct sc_file_identity *pipe)
{
    for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
        if (sc_file_is_same(fd, pipe) &&
            (sc_kernel_call(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
            return true;
    return false;
}

/* Is the other end of the socket in this process, as with socketpair? Linux tells who made it. */
static bool is_paired_here(int fd)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    return sc_kernel_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.pid == getpid();
}

/* Is what can be read from `fd` written by threads of this process? True of an eventfd, a pipe with
 * a writer here, and a socket whose other end is here. */
static bool is_written_here(int fd)
{
    if (!is_of_program(fd))
        return false;
    struct sc_file_identity file = sc_file_identify(fd);
    if (S_ISFIFO(file.mode))
        return has_writer(&file);
    return S_ISSOCK(file.mode) ? is_paired_here(fd) : is_eventfd(fd);
}

/* Does poll, with this array of descriptors, wait to read one that this process itself writes? The
 * array is the sleeping thread's, and may be gone. */
static bool polls_own(uint64_t address, uint64_t count)
{
    struct pollfd polled;
    for (uint64_t i = 0; i < count && i < DESCRIPTORS_MAX; i++)
        if (sc_peek(&polled, address + i * sizeof polled, sizeof polled) &&
            (polled.events & POLLIN) && is_written_here(polled.fd))
            return true;
    return false;
}

/* Does select, with this set of descriptors, wait to read one that this process itself writes? The
 * set is the sleeping thread's, and may be gone. A larger set than fd_set is not looked at. */
static bool selects_own(uint64_t count, uint64_t address)
{
    fd_set set;
    size_t size_bytes = (count + 63) / 64 * 8;
    if (!address || size_bytes > sizeof set || !sc_peek(&set, address, size_bytes))
        return false;
    for (int fd = 0; (uint64_t)fd < count; fd++)
        if (FD_ISSET(fd, &set) && is_written_here(fd))
            return true;
    return false;
}

/* Does the epoll descriptor wait for a descriptor that only this process writes? Linux lists what
 * it waits for: "tfd: 5 events: ...". */
static bool epoll_has_own(int fd)
{
    static const char key[] = "tfd:";
    char lines[1024];
    SC_TEXT(text, 64);
    sc_text_format(&text, "/proc/self/fdinfo/%d", fd);
    long size = sc_file_read(text.bytes, lines, sizeof lines - 1);
    lines[size > 0 ? size : 0] = 0;
    for (const char *at = strstr(lines, key); at; at = strstr(at + 1, key))
        if (is_written_here((int)strtol(at + strlen(key), NULL, 10)))
            return true;
    return false;
}

/* ---- futexes ---- */

/* Is there a thread of this process with the id? tgkill with signal 0 sends nothing. */
static bool is_thread_alive(uint32_t id)
{
    return id != 0 && sc_kernel_call(SYS_tgkill, getpid(), id, 0) == 0;
}

/* Does the thread join another one (pthread_join)? It then waits at a futex that has that thread's
 * id, until Linux clears it at the thread's end. glibc makes this wait as one between processes. */
static bool joins(const struct sleep *sleep, uint32_t word)
{
    bool is_private = sleep->values[1] & FUTEX_PRIVATE_FLAG;
    return !is_private && word == (uint32_t)sleep->values[2] && is_thread_alive(word);
}

/* Does `waiter` hold the lock whose futex is at the address? glibc's mutexes store their owner 8
 * bytes after the futex, or in the futex itself with priority inheritance and if they are robust.
 * Its read-write locks store the writer 16 or 12 bytes after it. */
static bool is_owner(uint64_t address, int32_t waiter)
{
    uint32_t words[5] = {0};
    uint32_t id = (uint32_t)waiter;
    if (!sc_peek(words, address, sizeof words))
        return false;
    return (words[0] & FUTEX_TID_MASK) == id || words[2] == id || words[3] == id || words[4] == id;
}

/* Says what a thread that sleeps in a futex call waits for: a lock of `waiter`'s or the end of a
 * thread (SC_SLEEPS_FOR_OWN), or something else. The latter, too, if the wait has a time limit, or
 * if the futex cannot be read. */
static enum sc_sleep kind_of_futex(const struct sleep *sleep, int32_t waiter)
{
    uint32_t word = 0;
    if (sleep->values[3]) /* a time limit */
        return SC_SLEEPS;
    bool is_read = sc_peek(&word, sleep->values[0], sizeof word);
    return is_read && (joins(sleep, word) || is_owner(sleep->values[0], waiter)) ? SC_SLEEPS_FOR_OWN
                                                                                 : SC_SLEEPS;
}

/* ---- all of them ---- */

/* Turns the answer whether only this process can end the sleep into the result. */
static enum sc_sleep own_if(bool is_own)
{
    return is_own ? SC_SLEEPS_FOR_OWN : SC_SLEEPS;
}

/* Says what a thread waits for that reads from `fd`. A descriptor that is closed by now is not read
 * any more; a regular file only waits for a disk. */
static enum sc_sleep kind_of_reading(int fd)
{
    mode_t mode = sc_file_identify(fd).mode;
    return mode == 0 || S_ISREG(mode) ? SC_AWAKE : own_if(is_written_here(fd));
}

/* Does this command of fcntl wait for a lock of a file? */
static bool waits_for_lock(uint64_t command)
{
    enum { SETLKW = 7, OFD_SETLKW = 38 };
    return command == SETLKW || command == OFD_SETLKW;
}

/* Has the wait no time limit? poll and epoll say that by a negative number. */
static bool is_endless(uint64_t milliseconds)
{
    return (int)milliseconds < 0;
}

/* Says how the thread sleeps in this system call: not at all, which includes time limits and disks;
 * until this process wakes it; or until somebody does. A last argument of 0 (values[2] or [3], [4])
 * is a wait without a time limit. Numbers are given for calls that older headers lack. */
static enum sc_sleep kind_of_call(const struct sleep *sleep, int32_t waiter)
{
    enum { FUTEX_WAITV = 449, FUTEX_WAIT_NEW = 455, EPOLL_PWAIT2 = 441 };
    const uint64_t *values = sleep->values;
    switch (sleep->number) {
    case SYS_futex:
        return kind_of_futex(sleep, waiter);
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
        return kind_of_reading((int)values[0]);
    case SYS_ppoll:
        return own_if(!values[2] && polls_own(values[0], values[1]));
    case SYS_pselect6:
        return own_if(!values[4] && selects_own(values[0], values[1]));
    case SYS_epoll_pwait:
        return own_if(is_endless(values[3]) && epoll_has_own((int)values[0]));
    case EPOLL_PWAIT2:
        return own_if(!values[3] && epoll_has_own((int)values[0]));
    case SYS_rt_sigtimedwait:
        return own_if(!values[2]);
#ifdef __x86_64__
    case SYS_poll:
        return own_if(is_endless(values[2]) && polls_own(values[0], values[1]));
    case SYS_select:
        return own_if(!values[4] && selects_own(values[0], values[1]));
    case SYS_epoll_wait:
        return own_if(is_endless(values[3]) && epoll_has_own((int)values[0]));
    case SYS_pause:
#endif
    case FUTEX_WAITV:
    case FUTEX_WAIT_NEW:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_rt_sigsuspend:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_mq_timedreceive:
    case SYS_flock:
        return SC_SLEEPS;
    case SYS_fcntl:
        return waits_for_lock(values[1]) ? SC_SLEEPS : SC_AWAKE;
    default:
        return SC_AWAKE;
    }
}

/* Does the process run under valgrind? Its threads take turns by a lock of its own, and sleep for
 * that, which shows nothing about the program. Valgrind answers a client request, a sequence of
 * instructions without effect elsewhere, in rdx. */
static bool is_under_valgrind(void)
{
    uint64_t answer = 0;
#if defined(__x86_64__)
    volatile uint64_t request[6] = {0x1001};
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
#endif
    return answer != 0;
}

/* Says whether the thread sleeps for what only this process, or even `waiter`, can do: the caller
 * then must not make `waiter` wait for that thread, or both might wait for ever. Under valgrind all
 * threads take turns by a lock, so a sleep says less. */
enum sc_sleep sc_sleeping_threads_check(int32_t thread, int32_t waiter)
{
    struct sleep sleep;
    enum sc_sleep seen = read_sleep(thread, &sleep) ? kind_of_call(&sleep, waiter) : SC_AWAKE;
    return seen == SC_SLEEPS_FOR_OWN && is_under_valgrind() ? SC_SLEEPS : seen;
}
