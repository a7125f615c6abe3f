/* Runs the interrupted instruction, and that one alone, before anything else happens on the thread:
 * who has opened a page for the instruction closes it again behind it.
 *
 * The processor traps behind an instruction that runs with its trap flag set, which is a SIGTRAP.
 * So the signal is ours for as long as the instruction takes. Nothing is stepped where the program
 * has an action of its own for SIGTRAP, or blocks it, nor under a debugger, whose signal it is, nor
 * where the machine or what emulates it does not trap. One thread at a time is stepped. A change of
 * the action for SIGTRAP waits for the step to end.
 *
 * The stepped thread blocks all signals but those of faults, and gets its mask back behind the
 * instruction. A handler would find the trap flag in its frame, and what it makes of the frame may
 * run with the flag: a scheduler's switch to another context, a child, a frame with SIGTRAP
 * blocked.
 *
 * Thread safe and signal safe; errno is kept. Locks: sc_signals_lock for a moment.
 */
#ifndef SC_INTERPOSE_SIGNALS_SINGLE_STEP_H
#define SC_INTERPOSE_SIGNALS_SINGLE_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct sc_fault;

/* Called on the stepped thread behind the instruction, on a spare stack, with signals blocked.
 * `is_repeated`: the instruction has done a part of its work, and goes on. Left where it would wait
 * for a lock whose owner may be stopped (sc_spare_stack_try): the page stays as it is then. */
typedef void sc_single_step_done(uintptr_t page, bool is_repeated);

/* In the handler of the fault. True: the instruction that faulted runs when the handler returns,
 * and then `done` is called. */
bool sc_single_step_begin(const struct sc_fault *fault, uintptr_t page, sc_single_step_done *done);

/* In that handler: is the step of its frame still to be made? */
bool sc_single_step_is_begun(const void *context);

/* First of all in the handler of a signal, with its frame. If a step is in the frame, because the
 * stepped instruction has faulted or the signal was sent, then the step is over: `done` has been
 * called, and the frame is as the program left it. */
void sc_single_step_cancel(void *context);

/* In the handler of a fault, which has begun a step perhaps, and the page was not opened for it. */
void sc_single_step_forget(const struct sc_fault *fault);

/* In a forked child, where no thread is stepped. */
void sc_single_step_child(void);

/* Is a thread being stepped? Under sc_signals_lock none begins. */
bool sc_single_step_is_under_way(void);

#endif
