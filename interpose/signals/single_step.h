/* Lets the interrupted instruction run alone, and then calls a function before anything else
 * happens on the thread. So a page that was opened for the instruction can be closed again right
 * after it.
 *
 * The processor traps after an instruction that runs with its trap flag set; that is a SIGTRAP. So
 * SIGTRAP is ours while the instruction runs. Nothing is stepped if the program has an action of
 * its own for SIGTRAP or blocks it, if a debugger, whose signal it is, traces the process, or if
 * the machine or its emulator does not trap. One thread is stepped at a time. A change of the
 * action for SIGTRAP waits for the end of the step.
 *
 * The stepped thread blocks all signals but those of faults, and gets its mask back after the
 * instruction. A handler would find the trap flag in its frame. What it makes of the frame would
 * run with the flag, too: another context of a scheduler's, a child, or code with SIGTRAP blocked.
 *
 * Thread safe and signal safe; errno is kept. Locks: sc_signals_lock for a moment. */
#ifndef SC_INTERPOSE_SIGNALS_SINGLE_STEP_H
#define SC_INTERPOSE_SIGNALS_SINGLE_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct sc_fault;

/* Called on the stepped thread after the instruction, on a spare stack, with signals blocked.
 * `is_repeated`: the instruction has done only a part of its work, and will go on (rep). The call
 * is left where it would wait for a lock whose owner may be stopped (sc_spare_stack_try); then the
 * page stays as it is. */
typedef void sc_single_step_done(uintptr_t page, bool is_repeated);

/* In the handler of a fault. True: the faulting instruction runs when the handler returns, and
 * after it `done` is called. */
bool sc_single_step_begin(const struct sc_fault *fault, uintptr_t page, sc_single_step_done *done);

/* In the handler of a fault: has a step been begun for its frame, and is the instruction still to
 * be run? */
bool sc_single_step_is_begun(const void *context);

/* To be called first in the handler of any signal, with its frame. If the frame has a step, because
 * the stepped instruction has faulted or a signal was sent, the step ends here: `done` has been
 * called, and the frame is as the program left it. */
void sc_single_step_cancel(void *context);

/* In the handler of a fault: takes back the step that was begun for its frame, if any, since the
 * page was not opened after all. `done` is not called. */
void sc_single_step_forget(const struct sc_fault *fault);

/* In a forked child: no thread is stepped. */
void sc_single_step_child(void);

/* Is a thread running a stepped instruction? No step begins while sc_signals_lock is held. */
bool sc_single_step_is_under_way(void);

#endif
