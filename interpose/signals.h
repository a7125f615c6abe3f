/* SIGSEGV, shared with the program.
 *
 * From the first protected page on, the handler that the kernel knows is ours; the one that the
 * program installs (sigaction, signal) is kept here, is what the program is told of, and gets every
 * fault that is not ours, as the kernel would have delivered it. Until then, and in a process
 * without CUDA, the wrappers pass everything through.
 *
 * A thread that has SIGSEGV blocked is killed by the kernel when it faults, so from the start of
 * the process no signal-mask call really blocks it; the program is told what it asked for.
 *
 * Everything here is async-signal-safe, as what it stands for is.
 */
#ifndef SC_INTERPOSE_SIGNALS_H
#define SC_INTERPOSE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes our handler the one that the kernel knows, and the former one the program's. False if the
 * kernel refuses. Cheap when it is in place already (one system call, to see whether somebody has
 * replaced it past us, for whom it is then taken over again). */
bool sc_signals_take_over(void);

/* Does the interval touch a stack on which a thread handles signals (sigaltstack), or the calling
 * thread's own stack? Such pages must never be protected: the kernel could not deliver there. */
bool sc_signals_is_stack(uintptr_t address, size_t size_bytes);

/* A mask that the kernel is to get, NULL or not: in `room` without SIGSEGV, if that is in it. */
const sigset_t *sc_signals_without_fault(const sigset_t *set, sigset_t *room);

#endif
