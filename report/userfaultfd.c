#include "report/userfaultfd.h"

#include "common/kernel.h"
#include "report/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "common/poison.h"

/* Newer than the headers of some systems. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CLOSE_UNSHARED (1U << 1) /* CLOSE_RANGE_UNSHARE */
#ifndef USER_MODE_ONLY
#define USER_MODE_ONLY 1 /* UFFD_USER_MODE_ONLY, Linux 5.11; not so in tests/full_kind */
#endif
#define MINOR_SHMEM (1 << 10)   /* UFFD_FEATURE_MINOR_SHMEM */
#define EXACT_ADDRESS (1 << 11) /* UFFD_FEATURE_EXACT_ADDRESS, Linux 5.18 */
#define THREAD_ID (1 << 8)      /* UFFD_FEATURE_THREAD_ID */
#define WP_SHMEM (1 << 12)      /* UFFD_FEATURE_WP_HUGETLBFS_SHMEM, Linux 5.19 */
#define NEW_DESCRIPTOR 0xAA00   /* USERFAULTFD_IOC_NEW, Linux 6.1 */

enum { FLAGS = O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY, CHILD_STACK_BYTES = 4096 };

/* Opens a userfaultfd descriptor by the file /dev/userfaultfd (Linux 6.1), if the process may: a
 * seccomp filter against the system call does not stop that. Not instrumented by sanitizers, since
 * try_in_child calls it, which may access nothing but its own stack. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static long open_by_file(void)
{
    long file = sc_kernel_call(SYS_openat, AT_FDCWD, "/dev/userfaultfd", O_RDWR | O_CLOEXEC);
    if (file < 0)
        return file;
    long descriptor = sc_kernel_call(SYS_ioctl, file, NEW_DESCRIPTOR, FLAGS);
    sc_kernel_call(SYS_close, file);
    return descriptor;
}

/* ---- asking in a child ---- */

/* Makes in a child all system calls that only userfaultfd needs, so that a filter that kills for
 * one kills the child. The child shares our memory, so it accesses nothing but its own stack. With
 * all signals blocked, a filter's SIGSYS ends the child, whatever handler the program has. That
 * must not leave a core of the whole process, nor a crash report where cores go to a program: a
 * limit of 1 byte prevents both. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static int try_in_child(void *unused)
{
    (void)unused;
    struct uffdio_api api = {.api = UFFD_API};
    const uint64_t all = ~UINT64_C(0);
    const struct rlimit no_core = {1, 1};
    sc_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
    sc_kernel_call(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, NULL);
    long descriptor = sc_kernel_call(SYS_userfaultfd, FLAGS);
    if (descriptor < 0)
        descriptor = open_by_file();
    if (descriptor >= 0)
        sc_kernel_call(SYS_ioctl, descriptor, UFFDIO_API, &api);
    sc_kernel_call(SYS_close_range, 3, ~0U, CLOSE_UNSHARED);
    sc_kernel_call(SYS_exit_group, 0);
    return 0;
}

/* Does a child survive the system calls that userfaultfd needs? If not, a filter kills for them,
 * and the process itself must not make them. With clone's flags no signal reports the child's end
 * to the program. If somebody else has waited for the child, nothing is known: false. */
static bool child_survives(void)
{
    static _Alignas(16) char stack[CHILD_STACK_BYTES];
    sigset_t before;
    int status = 0;
    sc_file_block_signals(&before);
    int child = clone(try_in_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK, NULL);
    long ended;
    do
        ended = child < 0 ? -1 : sc_kernel_call(SYS_wait4, child, &status, __WALL, NULL);
    while (ended == -EINTR);
    sc_file_restore_signals(&before);
    return child > 0 && ended == child && WIFEXITED(status);
}

/* Is the running kernel older than that version? True also if it does not say. */
static bool is_before(unsigned long major, unsigned long minor)
{
    struct utsname name;
    if (sc_kernel_call(SYS_uname, &name) != 0)
        return true;
    char *rest;
    unsigned long own = strtoul(name.release, &rest, 10);
    return own < major || (own == major && *rest == '.' && strtoul(rest + 1, NULL, 10) < minor);
}

/* ---- opening ---- */

/* Is the process's address space limited (RLIMIT_AS)? Memory that userfaultfd protects lies in 16
 * GB of reserved addresses, which such a limit counts. */
static bool has_limited_space(void)
{
    struct rlimit limit;
    return sc_kernel_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) != 0 ||
           limit.rlim_cur != RLIM_INFINITY;
}

/* Returns for the report why opening failed with `error`. With a seccomp filter an error is the
 * filter's, but for EINVAL. Before Linux 5.11, which has the flag for faults in user mode alone, a
 * refusal says only that the kernel is too old. */
static enum sc_userfaultfd_state state_of(long error, bool filtered)
{
    if (error == -EMFILE || error == -ENFILE || error == -ENOMEM)
        return SC_USERFAULTFD_NO_DESCRIPTOR;
    if (filtered && error != -EINVAL)
        return SC_USERFAULTFD_FILTERED;
    bool forbidden = error == -EPERM || error == -EACCES;
    return forbidden && !is_before(5, 11) ? SC_USERFAULTFD_FORBIDDEN : SC_USERFAULTFD_OLD_KERNEL;
}

/* Asks for the features that we need. -errno: Linux does not know all of them (5.19 does). */
static long ask_for_features(long descriptor)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features = THREAD_ID | MINOR_SHMEM | EXACT_ADDRESS | WP_SHMEM};
    return sc_kernel_call(SYS_ioctl, descriptor, UFFDIO_API, &api);
}

/* Opens a userfaultfd descriptor with all features, or stores in *state why not. Each step sets
 * the state that holds if it fails. A seccomp filter may kill for the call, so a child tries
 * first; before Linux 5.16 a child that dies so takes down all who share its memory, so the call
 * is not made. */
static int find_descriptor(enum sc_userfaultfd_state *state)
{
    bool filtered = sc_kernel_is_filtered();
    *state = SC_USERFAULTFD_ADDRESS_LIMIT;
    if (has_limited_space())
        return -1;
    *state = SC_USERFAULTFD_OLD_KERNEL;
    if (filtered && is_before(5, 16))
        return -1;
    *state = SC_USERFAULTFD_KILLED;
    if (filtered && !child_survives())
        return -1;
    long descriptor = sc_kernel_call(SYS_userfaultfd, FLAGS);
    *state = state_of(descriptor, filtered);
    if (descriptor < 0 && *state != SC_USERFAULTFD_NO_DESCRIPTOR)
        descriptor = open_by_file();
    if (descriptor < 0)
        return -1;
    *state = SC_USERFAULTFD_OLD_KERNEL;
    long agreed = ask_for_features(descriptor);
    if (agreed == 0) {
        *state = SC_USERFAULTFD_OPENED;
        return sc_file_move_high((int)descriptor);
    }
    *state = state_of(agreed, filtered);
    sc_kernel_call(SYS_close, descriptor);
    return -1;
}

/* Opens the descriptor by which the library learns of accesses to protected pages; -1 with *state
 * says why there is none. errno is kept. */
int sc_userfaultfd_open(enum sc_userfaultfd_state *state)
{
    int saved = errno;
    int descriptor = find_descriptor(state);
    if (descriptor < 0 && *state == SC_USERFAULTFD_OPENED)
        *state = SC_USERFAULTFD_NO_DESCRIPTOR;
    errno = saved;
    return descriptor < 0 ? -1 : descriptor;
}

/* ---- words ---- */

static const struct {
    const char *name, *words, *remedy;
} rows[] = {
#define X(state, name, words, remedy) [SC_USERFAULTFD_##state] = {name, words, remedy},
    SC_USERFAULTFD_STATES(X)
#undef X
};

/* Returns the word for the state in the report. */
const char *sc_userfaultfd_name(enum sc_userfaultfd_state state)
{
    return rows[state].name;
}

/* Returns the state in words for people. */
const char *sc_userfaultfd_words(enum sc_userfaultfd_state state)
{
    return rows[state].words;
}

/* Returns what the user can do to get a descriptor; NULL: nothing. */
const char *sc_userfaultfd_remedy(enum sc_userfaultfd_state state)
{
    return rows[state].remedy;
}
