/* Tells whether a touch or a wait is the driver's own and not the program's, by where the running
 * code lies. The driver touches memory that the program gave it, and waits for nothing while it
 * does.
 *
 * Thread-safe. Locks: none, but for those that note something, which take the loader's. The
 * questions are async-signal-safe. */
#ifndef SC_INTERPOSE_DRIVER_DRIVER_CODE_H
#define SC_INTERPOSE_DRIVER_DRIVER_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Notes where the driver's and the C library's code lie. Called once, when the driver is attached,
 * before the driver can have started a thread. */
void sc_driver_code_note(void);

/* Notes where CUPTI's code lies, before CUPTI can have started a thread. `function`: one of
 * CUPTI's. */
void sc_driver_code_note_cupti(const void *function);

/* Does the address lie in CUPTI? False until that is noted. */
bool sc_driver_code_is_cupti(uintptr_t address);

/* Does the address lie in the driver? False until that is noted. A load and a comparison. */
bool sc_driver_code_has(uintptr_t address);

/* Notes that the calling thread was started by the driver, which runs host functions there. */
void sc_driver_code_note_thread(void);

/* Does the instruction at `pc` belong to the driver, or to a function of the C library that the
 * driver has called? `context` (ucontext_t): the interrupted context, by which the callers are
 * found. Async-signal-safe; wants 12 KB of stack. */
bool sc_driver_code_runs(uintptr_t pc, const void *context);

/* Was the code at `pc` called by the driver, as host functions are? True on the driver's own
 * threads. On another thread the stack tells, if stacks are walked. `context` NULL: the caller's
 * own. */
bool sc_driver_code_has_called(uintptr_t pc, const void *context);

#endif
