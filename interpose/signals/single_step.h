/* Single-steps an instruction: lets the faulting instruction run alone, and then calls a function
 * before anything else happens on the thread. So a page that was made accessible for the
 * instruction can be protected again right after it.
 *
 * The processor traps after an instruction that runs with its trap flag set; Linux sends a SIGTRAP
 * then. So the library's handler is installed for SIGTRAP while the instruction runs. No
 * instruction is stepped if the program has an action for SIGTRAP or blocks it, if a debugger,
 * which uses SIGTRAP, traces the process, or if the machine or its emulator does not trap. One
 * thread is stepped at a time. A change of the action for SIGTRAP waits for the end of the step.
 *
 * The stepped thread blocks all signals but those of faults, and gets its mask back after the
 * instruction. Otherwise a handler would find the trap flag in its frame, and what it makes of the
 * frame would run with the flag, too: another context of a scheduler, a child, or code with SIGTRAP
 * blocked.
 *
 * Thread-safe and signal-safe; errno is kept. Locks: takes sc_signals_lock for a moment. */
#ifndef SC_INTERPOSE_SIGNALS_SINGLE_STEP_H
#define SC_INTERPOSE_SIGNALS_SINGLE_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct sc_fault;

/* A function called on the stepped thread after the instruction, on a spare stack
 * (interpose/base/spare_stack.h), with signals blocked. `is_repeated`: the instruction has done
 * only a part of its work and will go on (rep). If the function would have to wait for a lock whose
 * owner may be stopped, it is abandoned (sc_spare_stack_try), and the page stays as it is. */
typedef void sc_single_step_done(uintptr_t page, bool is_repeated);

/* Begins a step, in the handler of a fault. True: the faulting instruction runs when the handler
 * returns, and `done` is called after it. False: the instruction cannot be stepped. */
bool sc_single_step_begin(const struct sc_fault *fault, uintptr_t page, sc_single_step_done *done);

/* Has a step been begun for this frame of a fault's handler, whose instruction is still to run? */
bool sc_single_step_is_begun(const void *context);

/* Ends the step of this frame, if it has one: the stepped instruction has faulted, or a signal was
 * sent. `done` has been called on return, and the frame is as the program left it. To be called
 * first in the handler of any signal. */
void sc_single_step_cancel(void *context);

/* Cancels the step that was begun for the frame of this fault, if any, without calling `done`: the
 * page was not made accessible after all. */
void sc_single_step_forget(const struct sc_fault *fault);

/* Resets the state in a forked child, where no thread is stepped. */
void sc_single_step_child(void);

/* Is a thread running a stepped instruction? No step begins while sc_signals_lock is held. */
bool sc_single_step_is_under_way(void);

#endif
