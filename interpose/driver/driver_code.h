/* Tells whether an access to memory, or a wait, is made by the driver and not by the program, by
 * the address of the running code. The driver accesses memory that the program has passed to it,
 * and must not be made to wait.
 *
 * Thread-safe. Locks: none, except that the functions which note something take the loader's. The
 * other functions are async-signal-safe. */

/* Terms (docs/glossary.md):
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 */

#ifndef SC_INTERPOSE_DRIVER_DRIVER_CODE_H
#define SC_INTERPOSE_DRIVER_DRIVER_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Notes where the code of the driver and of the C library lies. Called once, when the library
 * attaches to the driver, before the driver can have started a thread. */
void sc_driver_code_note(void);

/* Notes where CUPTI's code lies, before CUPTI can have started a thread. `function`: one of CUPTI's
 * functions. */
void sc_driver_code_note_cupti(const void *function);

/* Returns true if the address lies in CUPTI's code, so that a thread that runs there is none of the
 * program's; false until it is noted where that code lies. */
bool sc_driver_code_is_cupti(uintptr_t address);

/* Returns true if the address lies in the driver's code; false until it is noted where that lies. A
 * load and a comparison. */
bool sc_driver_code_has(uintptr_t address);

/* Notes that the driver has started the calling thread, on which it runs host functions. */
void sc_driver_code_note_thread(void);

/* Returns true if the instruction at `pc` belongs to the driver, or to a function of the C library
 * that the driver has called. `context`: the interrupted context (ucontext_t), from which the
 * callers are found. Async-signal-safe; needs 12 KB of stack. */
bool sc_driver_code_runs(uintptr_t pc, const void *context);

/* Returns true if the driver has called the code at `pc`, as it calls host functions. Always true
 * on the driver's own threads; on other threads the stack is walked, if stacks are walked at all.
 * `context` NULL: the caller's own. */
bool sc_driver_code_has_called(uintptr_t pc, const void *context);

#endif
