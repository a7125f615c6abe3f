/* By which mechanism pages are to be kept off: the choice that guard=on leaves to the library, and
 * that `safecopy doctor` tells.
 *
 * Signal safe; errno is kept. A few system calls.
 */
#ifndef SC_REPORT_MECHANISM_H
#define SC_REPORT_MECHANISM_H

enum sc_guard_mode;

/* SC_MECHANISM_USERFAULTFD means userfaultfd for the memory that it can serve, and mprotect for the
 * rest. If no descriptor can be had (report/userfaultfd.h), all is mprotect's. */
enum sc_mechanism {
    SC_MECHANISM_NONE,
    SC_MECHANISM_MPROTECT,
    SC_MECHANISM_MPROTECT_FOR_SWAP,   /* userfaultfd would be chosen if there were no swap */
    SC_MECHANISM_MPROTECT_FOR_FILTER, /* or no seccomp filter */
    SC_MECHANISM_USERFAULTFD,
};

/* The mechanism that the option `guard` leads to on this system. */
enum sc_mechanism sc_mechanism_of(enum sc_guard_mode guard);

#endif
