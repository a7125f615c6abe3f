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
 * kernel does not know that an alternate stack is still in use below a spare one, a handler may not
 * come back, and a collector that stops the thread there would look for its stack in vain. There is
 * no cancellation point there. Waits until a stack is free. Without memory for any, the current
 * stack has to do. Unwinding leads through. */
void sc_spare_stack_call(sc_spare_function *function, void *argument);

/* The same, with a way out where the function waits for a lock of the library's and holds none
 * itself: whoever has that lock may be stopped until this thread takes a signal. False: such a
 * signal is pending, and the function was left in the midst. `outside`: the mask that the thread
 * has when it gets on, or NULL for the caller's. The function may be called again from its
 * beginning. */
bool sc_spare_stack_try(sc_spare_function *function, void *argument, const uint64_t *outside);

/* On such a stack: the one lock that is held from here on does not keep the thread, since
 * undo(lock) gives it back, and nothing is half done. NULL: it does. Elsewhere does nothing. */
void sc_spare_stack_undo_by(void (*undo)(void *lock), void *lock);

/* The same until the function has returned. The caller's signals come in between. */
void sc_spare_stack_repeat(sc_spare_function *function, void *argument);

/* Calls function(argument) on the current stack, at the end of the process. Who has a lock of the
 * library's may be stopped for good: a wait for one ends after a second, and with it the call. */
void sc_spare_stack_call_last(sc_spare_function *function, void *argument);

/* sc_spare_stack_call on a stack that is mapped for the call, so the function may wait for the
 * device: the signal by which setuid reaches all threads is not blocked. For a thread that is at
 * its end. */
void sc_spare_stack_call_alone(sc_spare_function *function, void *argument);

/* Does the calling thread run on a spare stack that is shared? */
bool sc_spare_stack_is_current(void);

/* Does the address lie on one, or on that which the calling thread has alone? */
bool sc_spare_stack_holds(uintptr_t address);

/* sc_spare_stack_call where less than SC_ROOM_BYTES may be left on the current stack
 * (interpose/base/own_stack.h), and a plain call elsewhere. */
enum { SC_ROOM_BYTES = 32 << 10 };
void sc_spare_stack_make_room(sc_spare_function *function, void *argument);

#endif
