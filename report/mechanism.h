/* By which mechanism pages are to be kept off: the choice that `guard` leaves to the library, and
 * that `safecopy doctor` tells of.
 *
 * Signal safe; errno is kept. A few system calls.
 */
#ifndef SC_REPORT_MECHANISM_H
#define SC_REPORT_MECHANISM_H

enum sc_guard_mode;

/* Userfaultfd is for the memory that it can serve. The rest, and all where it is not to be had
 * (report/userfaultfd.h), is mprotect's. */
enum sc_mechanism {
    SC_MECHANISM_NONE,
    SC_MECHANISM_MPROTECT,
    SC_MECHANISM_MPROTECT_FOR_SWAP,   /* the library would choose userfaultfd, but for swap, */
    SC_MECHANISM_MPROTECT_FOR_FILTER, /* or a seccomp filter */
    SC_MECHANISM_USERFAULTFD,
};

enum sc_mechanism sc_mechanism_of(enum sc_guard_mode guard);

#endif
