/* Stacks of the library's own, for calls that may find no room on the current stack.
 *
 * A fault is handled on the thread's own stack, which may be nearly used up, or on the alternate
 * stack that the program gave. That often has 8 KB, most of which the kernel's frame takes.
 * Coroutines run on stacks of any size.
 *
 * All functions are thread-safe and async-signal-safe. No lock; errno is kept.
 */
#ifndef SC_INTERPOSE_BASE_SPARE_STACK_H
#define SC_INTERPOSE_BASE_SPARE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* A function that runs on a spare stack. It must not wait: the stacks are few, and all threads
 * share them. */
typedef void sc_spare_function(void *argument);

/* Maps the stacks, before the process can map nothing more. Otherwise the first call that needs one
 * maps them. */
void sc_spare_stack_start(void);

/* Calls function(argument) on a spare stack, with all signals blocked but those of faults. Handlers
 * must not run there: the kernel does not know that an alternate stack below is still in use, a
 * handler may never come back, and a collector that stops the thread would not find its stack. The
 * call is no cancellation point. Waits until a stack is free. Without memory for stacks the
 * function runs on the current stack. Unwinding leads through. */
void sc_spare_stack_call(sc_spare_function *function, void *argument);

/* The same, but the call can be left while the function waits for a lock of the library's and holds
 * none itself: whoever has that lock may be stopped until this thread takes a signal. False: such a
 * signal is pending, and the function was left in the midst; it may be called again from its
 * beginning. `outside`: the signal mask that the thread will have when it goes on, or NULL for the
 * caller's. */
bool sc_spare_stack_try(sc_spare_function *function, void *argument, const uint64_t *outside);

/* On a spare stack: from here on the call may be abandoned while it holds one lock, since
 * undo(lock) gives that back with nothing half done. `undo` NULL: no longer. Does nothing on other
 * stacks. */
void sc_spare_stack_undo_by(void (*undo)(void *lock), void *lock);

/* sc_spare_stack_try, again and again until the function has returned. The caller's signals come in
 * between. */
void sc_spare_stack_repeat(sc_spare_function *function, void *argument);

/* Calls function(argument) on the current stack, at the end of the process. A thread that has a
 * lock of the library's may be stopped for good by then. So a wait for a lock ends after a second,
 * and the call with it. */
void sc_spare_stack_call_last(sc_spare_function *function, void *argument);

/* The same as sc_spare_stack_call, on a stack that is mapped for this call alone, so the function
 * may wait for the device. The signal by which setuid reaches all threads is not blocked. For a
 * thread that is at its end. */
void sc_spare_stack_call_alone(sc_spare_function *function, void *argument);

/* Does the calling thread run on a shared spare stack? */
bool sc_spare_stack_is_current(void);

/* Does the address lie on a shared spare stack, or on the one that the calling thread has alone? */
bool sc_spare_stack_holds(uintptr_t address);

/* Calls function(argument) on a spare stack if less than SC_ROOM_BYTES may be left on the current
 * one (interpose/base/thread_stack.h). Else calls it plainly. */
enum { SC_ROOM_BYTES = 32 << 10 };
void sc_spare_stack_make_room(sc_spare_function *function, void *argument);

#endif
