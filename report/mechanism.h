/* Chooses the mechanism, mprotect or userfaultfd, by which the guard protects pages. With guard=on
 * the library makes this choice; `safecopy doctor` shows it.
 *
 * Signal-safe; errno is kept. Makes a few system calls. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 */

#ifndef SC_REPORT_MECHANISM_H
#define SC_REPORT_MECHANISM_H

enum sc_guard_mode;

/* SC_MECHANISM_USERFAULTFD: userfaultfd for the memory that it can protect, and mprotect for the
 * rest. Whether the process can get a userfaultfd descriptor (report/userfaultfd.h) is not checked
 * here; if it cannot, mprotect protects all. */
enum sc_mechanism {
    SC_MECHANISM_NONE,
    SC_MECHANISM_MPROTECT,
    SC_MECHANISM_MPROTECT_FOR_SWAP,   /* without swap userfaultfd would be chosen */
    SC_MECHANISM_MPROTECT_FOR_FILTER, /* without the seccomp filter userfaultfd would be chosen */
    SC_MECHANISM_USERFAULTFD,
};

/* Returns by which mechanism pages are protected on this system with this value of the option
 * `guard`. */
enum sc_mechanism sc_mechanism_of(enum sc_guard_mode guard);

#endif
