/* What signals ask of the guard, and lower modules of the signals of higher ones.
 *
 * Async-signal-safe. Locks: those that are said.
 */
#ifndef SC_INTERPOSE_SIGNALS_UPWARDS_H
#define SC_INTERPOSE_SIGNALS_UPWARDS_H

#include <stdbool.h>
#include <stdint.h>

/* A page fault that a signal told of. */
struct sc_fault {
    uintptr_t address;
    uintptr_t pc;
    const void *context; /* the interrupted one, ucontext_t */
    uint64_t mask;       /* its signal mask, as the kernel has it */
    bool write;
    bool executes; /* the instruction itself was to be read */
    bool denied;   /* mapped, but not accessible (SEGV_ACCERR) */
};

/* guard/touches.c: called by the SIGSEGV handler on the faulting thread, with signals blocked.
 * True: the instruction is to be repeated. The fault was ours and is handled, or a signal is
 * pending that the program is to get before. False: the fault is the program's. Locks: the guard's
 * and the tracker's, one after the other. */
bool sc_guard_fault(const struct sc_fault *fault);

/* guard/guard.c: in the child of a fork: lets go of all pages, and returns true. Made by a system
 * call of the program's own, the child has run no handler of the library's. No lock. */
bool sc_guard_is_done_by_child(void);

/* guard/guard.c: a stack lies there, on which the thread may be in a moment. Of a range around it
 * no page is protected from now on of which an operation uses a part only. Not within a lock of the
 * library's. Locks: the guard's and the tracker's. */
void sc_guard_note_stack(uintptr_t place);

/* signals/signals.c: called by what notes that a thread believes SIGSEGV blocked. One that is sent
 * is to be kept then, and must not find the default action, which would kill. Takes the lock of
 * actions. */
void sc_signals_keep_blocked(void);

#endif
