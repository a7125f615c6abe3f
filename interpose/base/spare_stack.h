/* Stacks of ours, for what may find no room on the current stack.
 *
 * A fault is handled on the thread's own stack, which may be nearly used up, or on the alternate
 * stack that the program gave. That one often has 8 KB, and the kernel's frame takes most of them.
 * Coroutines run on stacks of any size.
 *
 * All functions are thread-safe and async-signal-safe. No lock; errno is kept.
 */
#ifndef SC_INTERPOSE_BASE_SPARE_STACK_H
#define SC_INTERPOSE_BASE_SPARE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* What runs on a spare stack. It must not wait: the stacks are few, and all threads share them. */
typedef void sc_spare_function(void *argument);

/* Maps them, so that there are some when the process may map nothing more. Whoever needs one before
 * that maps them, too. */
void sc_spare_stack_start(void);

/* Calls function(argument) on a spare stack, with all signals blocked but those of faults: the
 * kernel does not know that an alternate stack is still in use below a spare one, and a handler may
 * not come back. There is no cancellation point there. Waits until a stack is free. Without memory
 * for any, the current stack has to do. Unwinding leads through. */
void sc_spare_stack_call(sc_spare_function *function, void *argument);

/* The same on a stack that nobody shares meanwhile, so the function may wait: the signal by which
 * setuid reaches all threads is not blocked. Where the few that are kept are in use, one is made
 * for the call, and without memory for it the current stack has to do. */
void sc_spare_stack_call_alone(sc_spare_function *function, void *argument);

/* Does the calling thread run on a spare stack that is shared? */
bool sc_spare_stack_is_current(void);

/* Does the address lie on one, or on that which the calling thread has alone? */
bool sc_spare_stack_holds(uintptr_t address);

/* sc_spare_stack_call where less than SC_ROOM_BYTES may be left on the current stack
 * (interpose/base/own_stack.h), and a plain call elsewhere. */
enum { SC_ROOM_BYTES = 32 << 10 };
void sc_spare_stack_make_room(sc_spare_function *function, void *argument);

/* For what may wait, or needs more: sc_spare_stack_call_alone where less than SC_MUCH_ROOM_BYTES
 * may be left, and a plain call elsewhere. */
enum { SC_MUCH_ROOM_BYTES = 96 << 10 };
void sc_spare_stack_make_much_room(sc_spare_function *function, void *argument);

/* The same for what calls the driver, which may take more of the stack than the call that wants it.
 * Not for a signal handler: the calling thread's own stack is learnt first. */
void sc_spare_stack_call_driver(sc_spare_function *function, void *argument);

#endif
