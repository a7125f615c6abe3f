/* Decides by which mechanism, mprotect or userfaultfd, the guard protects pages. With guard=on the
 * library makes this choice, and `safecopy doctor` tells it.
 *
 * Signal-safe; errno is kept. Makes a few system calls. */
#ifndef SC_REPORT_MECHANISM_H
#define SC_REPORT_MECHANISM_H

enum sc_guard_mode;

/* USERFAULTFD: userfaultfd for the memory that it can protect, and mprotect for all other. Whether
 * the process can have a descriptor for it (report/userfaultfd.h) is not asked here. If it can have
 * none, mprotect protects all. */
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
