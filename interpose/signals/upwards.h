/* Functions of the guard that this folder calls, and functions of this folder's higher modules that
 * its lower ones call. Async-signal-safe. Locks: those stated. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_SIGNALS_UPWARDS_H
#define SC_INTERPOSE_SIGNALS_UPWARDS_H

#include <stdbool.h>
#include <stdint.h>

/* A page fault, as described by its SIGSEGV. */
struct sc_fault {
    uintptr_t address;
    uintptr_t pc;
    const void *context; /* the interrupted context, a ucontext_t */
    uint64_t mask;       /* the context's signal mask, as Linux has it */
    bool write;          /* the instruction was to write */
    bool executes;       /* the instruction itself could not be read */
    bool denied;         /* the page is mapped, but not accessible (SEGV_ACCERR) */
};

/* guard/touches.c: handles a fault; called by the handler of SIGSEGV on the faulting thread, with
 * signals blocked. True: the instruction is to be repeated, since the fault was the guard's and is
 * handled, or a signal is pending that the program must get first. False: the fault is the
 * program's own. Locks: takes the guard's and the tracker's, one after the other. */
bool sc_guard_fault(const struct sc_fault *fault);

/* guard/guard.c: in a forked child, unprotects all pages, and returns true; elsewhere returns
 * false. A child that was made by a system call of the program has not run the library's fork
 * handler. No lock. */
bool sc_guard_unprotect_in_child(void);

/* guard/guard.c: records that a stack lies at `place`, on which the thread may soon run. From now
 * on no page of the range around it is protected of which an operation uses only a part. Not within
 * a lock of the library. Locks: takes the guard's and the tracker's. */
void sc_guard_note_stack(uintptr_t place);

/* signals/signals.c: prepares for a SIGSEGV that is sent to a thread which believes it blocked: it
 * must be kept, and must not meet the default action, which would kill. Called when a belief is
 * recorded. Takes sc_signals_lock. */
void sc_signals_prepare_pending(void);

#endif
