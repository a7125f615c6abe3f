/* Opens a userfaultfd descriptor, by which the guard learns of touches of pages that it keeps off,
 * or says why the process cannot have one. The library and `safecopy doctor` share this code.
 *
 * The descriptor is for faults in user mode alone (UFFD_USER_MODE_ONLY), so every user may open it.
 * It asks for features of Linux 5.19: minor faults and write-protection of shared memory, exact
 * addresses.
 *
 * A seccomp filter may refuse the system call, or kill the process for it. If there is a filter, a
 * child process tries the call first. If the filter refuses the call, the file /dev/userfaultfd
 * (Linux 6.1) gives a descriptor, if the process may open it.
 *
 * No function allocates, takes a lock or changes errno. sc_userfaultfd_open is for one thread at a
 * time, and for no signal handler. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_REPORT_USERFAULTFD_H
#define SC_REPORT_USERFAULTFD_H

/* X(state, name in the report, words, remedy) */
#define SC_USERFAULTFD_STATES(X)                                                                   \
    X(UNASKED, "unasked", "nothing asked for it", NULL)                                            \
    X(OPENED, "opened", "there is one", NULL)                                                      \
    X(OLD_KERNEL, "old-kernel", "the kernel is older than Linux 5.19, or built without it",        \
      "Use Linux 5.19 or later, with CONFIG_USERFAULTFD")                                          \
    X(FILTERED, "filtered", "a seccomp filter refuses it, as Docker's default one does",           \
      "docker run --security-opt seccomp=FILE with userfaultfd let pass, or --device "             \
      "/dev/userfaultfd (Linux 6.1) with, in udev, KERNEL==\"userfaultfd\", MODE=\"0666\"")        \
    X(KILLED, "killed", "a seccomp filter kills for it",                                           \
      "Have it let userfaultfd, close_range and ioctl pass: SystemCallFilter= of systemd, "        \
      "docker run --security-opt seccomp=FILE")                                                    \
    X(FORBIDDEN, "forbidden", "the system does not permit it to this user",                        \
      "sysctl -w vm.unprivileged_userfaultfd=1 (as root), or have the security module (SELinux) "  \
      "let it pass")                                                                               \
    X(ADDRESS_LIMIT, "address-limit", "the address space is limited (RLIMIT_AS)",                  \
      "ulimit -v unlimited")                                                                       \
    X(NO_DESCRIPTOR, "no-descriptor", "no descriptor or memory is left for it",                    \
      "ulimit -n 1024, or more")                                                                   \
    X(LOST, "lost", "the program has closed it, or the system refuses its use later on",           \
      "Have the program close no descriptor but its own")

enum sc_userfaultfd_state {
#define X(state, name, words, remedy) SC_USERFAULTFD_##state,
    SC_USERFAULTFD_STATES(X)
#undef X
        SC_USERFAULTFD_STATE_COUNT
};

/* Opens a descriptor with a high number. Returns -1 if the process cannot have one, and stores the
 * reason in *state. */
int sc_userfaultfd_open(enum sc_userfaultfd_state *state);

/* Returns the name of the state in the report, which never changes. The string lives for ever. */
const char *sc_userfaultfd_name(enum sc_userfaultfd_state state);

/* Returns the state in words for people, which follow "userfaultfd: ". */
const char *sc_userfaultfd_words(enum sc_userfaultfd_state state);

/* Returns what the user can do to get a descriptor; NULL: nothing has to be done. */
const char *sc_userfaultfd_remedy(enum sc_userfaultfd_state state);

#endif
