#include "interpose/base/sleeping_threads.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
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
    uint64_t of[ARGUMENTS];
};

/* "running", or the call's number and its arguments: "202 0x7ffc... ...". Threads of the own
 * process may always be looked at. */
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
        sleep->of[i] = strtoul(rest, &rest, 16);
    return is_read;
}

/* ---- descriptors ---- */

/* Those that programs may have: a tool that carries the process keeps its own above. */
static bool is_programs(int fd)
{
    struct rlimit limit;
    return fd >= 0 && sc_kernel_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 &&
           (rlim_t)fd < limit.rlim_cur;
}

static bool is_eventfd(int fd)
{
    char path[64], target[64];
    struct sc_text text = sc_text_in(path, sizeof path);
    sc_text_format(&text, "/proc/self/fd/%d", fd);
    sc_file_link(path, target, sizeof target);
    return strcmp(target, "anon_inode:[eventfd]") == 0;
}

static bool has_writer(const struct sc_file_identity *pipe)
{
    for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
        if (sc_file_is_same(fd, pipe) &&
            (sc_kernel_call(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
            return true;
    return false;
}

static bool is_paired_here(int fd)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    return sc_kernel_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.pid == getpid();
}

/* Do the process's own threads write what is read there? */
static bool is_own(int fd)
{
    if (!is_programs(fd))
        return false;
    struct sc_file_identity file = sc_file_identify(fd);
    if (S_ISFIFO(file.mode))
        return has_writer(&file);
    return S_ISSOCK(file.mode) ? is_paired_here(fd) : is_eventfd(fd);
}

static bool polls_own(uint64_t address, uint64_t count)
{
    struct pollfd polled;
    for (uint64_t i = 0; i < count && i < DESCRIPTORS_MAX; i++)
        if (sc_peek(&polled, address + i * sizeof polled, sizeof polled) &&
            (polled.events & POLLIN) && is_own(polled.fd))
            return true;
    return false;
}

static bool selects_own(uint64_t count, uint64_t address)
{
    fd_set set;
    size_t size_bytes = (count + 63) / 64 * 8;
    if (!address || size_bytes > sizeof set || !sc_peek(&set, address, size_bytes))
        return false;
    for (int fd = 0; (uint64_t)fd < count; fd++)
        if (FD_ISSET(fd, &set) && is_own(fd))
            return true;
    return false;
}

/* The kernel lists what is waited for: "tfd:        5 events: ...". */
static bool epoll_has_own(int fd)
{
    static const char key[] = "tfd:";
    char lines[1024];
    SC_TEXT(text, 64);
    sc_text_format(&text, "/proc/self/fdinfo/%d", fd);
    long size = sc_file_read(text.bytes, lines, sizeof lines - 1);
    lines[size > 0 ? size : 0] = 0;
    for (const char *at = strstr(lines, key); at; at = strstr(at + 1, key))
        if (is_own((int)strtol(at + strlen(key), NULL, 10)))
            return true;
    return false;
}

/* ---- futexes ---- */

static bool is_thread(uint32_t id)
{
    return id != 0 && sc_kernel_call(SYS_tgkill, getpid(), id, 0) == 0;
}

/* Its word is the number of a thread, and the kernel clears it when that ends. */
static bool is_join(const struct sleep *sleep, uint32_t word)
{
    bool is_private = sleep->of[1] & FUTEX_PRIVATE_FLAG;
    return !is_private && word == (uint32_t)sleep->of[2] && is_thread(word);
}

/* glibc's mutexes have their owner 8 bytes behind the word that threads sleep on, or, with priority
 * inheritance or where they are robust, in it; its locks for reading and writing have the writer 16
 * or 12 bytes behind. */
static bool is_held_by(uint64_t address, int32_t waiter)
{
    uint32_t words[5] = {0};
    uint32_t is = (uint32_t)waiter;
    if (!sc_peek(words, address, sizeof words))
        return false;
    return (words[0] & FUTEX_TID_MASK) == is || words[2] == is || words[3] == is || words[4] == is;
}

static enum sc_sleep of_futex(const struct sleep *sleep, int32_t waiter)
{
    uint32_t word = 0;
    if (sleep->of[3]) /* a time limit */
        return SC_SLEEPS;
    bool is_read = sc_peek(&word, sleep->of[0], sizeof word);
    return is_read && (is_join(sleep, word) || is_held_by(sleep->of[0], waiter)) ? SC_SLEEPS_FOR_OWN
                                                                                 : SC_SLEEPS;
}

/* ---- all of them ---- */

static enum sc_sleep for_own_if(bool is)
{
    return is ? SC_SLEEPS_FOR_OWN : SC_SLEEPS;
}

/* One that is closed by now was read when the thread was looked at, and is read no more. */
static enum sc_sleep of_reading(int fd)
{
    mode_t mode = sc_file_identify(fd).mode;
    return mode == 0 || S_ISREG(mode) ? SC_AWAKE : for_own_if(is_own(fd));
}

static bool waits_for_lock(uint64_t command)
{
    enum { SETLKW = 7, OFD_SETLKW = 38 };
    return command == SETLKW || command == OFD_SETLKW;
}

static bool is_less_than_0(uint64_t milliseconds)
{
    return (int)milliseconds < 0;
}

static enum sc_sleep of_call(const struct sleep *sleep, int32_t waiter)
{
    enum { FUTEX_WAITV = 449, FUTEX_WAIT_NEW = 455, EPOLL_PWAIT2 = 441 };
    const uint64_t *of = sleep->of;
    switch (sleep->number) {
    case SYS_futex:
        return of_futex(sleep, waiter);
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
        return of_reading((int)of[0]);
    case SYS_ppoll:
        return for_own_if(!of[2] && polls_own(of[0], of[1]));
    case SYS_pselect6:
        return for_own_if(!of[4] && selects_own(of[0], of[1]));
    case SYS_epoll_pwait:
        return for_own_if(is_less_than_0(of[3]) && epoll_has_own((int)of[0]));
    case EPOLL_PWAIT2:
        return for_own_if(!of[3] && epoll_has_own((int)of[0]));
    case SYS_rt_sigtimedwait:
        return for_own_if(!of[2]);
#ifdef __x86_64__
    case SYS_poll:
        return for_own_if(is_less_than_0(of[2]) && polls_own(of[0], of[1]));
    case SYS_select:
        return for_own_if(!of[4] && selects_own(of[0], of[1]));
    case SYS_epoll_wait:
        return for_own_if(is_less_than_0(of[3]) && epoll_has_own((int)of[0]));
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
        return waits_for_lock(of[1]) ? SC_SLEEPS : SC_AWAKE;
    default:
        return SC_AWAKE;
    }
}

/* Valgrind's threads take turns by a lock of its own, and sleep for that. It answers a client's
 * request, a sequence that does nothing elsewhere, in rdx. */
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

enum sc_sleep sc_sleeping_threads_look(int32_t thread, int32_t waiter)
{
    struct sleep sleep;
    enum sc_sleep seen = read_sleep(thread, &sleep) ? of_call(&sleep, waiter) : SC_AWAKE;
    return seen == SC_SLEEPS_FOR_OWN && is_under_valgrind() ? SC_SLEEPS : seen;
}
