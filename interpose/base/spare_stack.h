/* Spare stacks: the library's own stacks, for calls that may find too little room on the current
 * one.
 *
 * A fault is handled on the thread's stack, which may be nearly used up, or on the program's
 * alternate stack. That often has 8 KB, most of which Linux's signal frame takes. Coroutines run on
 * stacks of any size.
 *
 * All functions are thread-safe and async-signal-safe. No lock; errno is kept. */
#ifndef SC_INTERPOSE_BASE_SPARE_STACK_H
#define SC_INTERPOSE_BASE_SPARE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* A function that runs on a spare stack. It must not wait long: the stacks are few, and all threads
 * share them. */
typedef void sc_spare_function(void *argument);

/* Maps the stacks, before the process runs out of mappings. Otherwise the first call that needs one
 * maps them. */
void sc_spare_stack_start(void);

/* Calls function(argument) on a spare stack, with all signals blocked but those of faults. Handlers
 * must not run there: Linux does not know that an alternate stack below is still in use, a handler
 * may never return, and a garbage collector that stops the thread would not find its stack. The
 * call is no cancellation point. Waits until a stack is free. Without memory for stacks the
 * function runs on the current stack. The stack can be unwound through the switch. */
void sc_spare_stack_call(sc_spare_function *function, void *argument);

/* Calls function(argument) as sc_spare_stack_call does, but abandons the call if the function waits
 * for a lock of the library, holds none itself, and a signal is pending: the owner of the lock may
 * be stopped until this thread handles that signal. False: the call was abandoned, and may be made
 * again. `outside`: the signal mask with which the thread will continue, or NULL for the caller's.
 */
bool sc_spare_stack_try(sc_spare_function *function, void *argument, const uint64_t *outside);

/* Allows the running call of sc_spare_stack_try to be abandoned although it holds one lock:
 * undo(lock) then releases that. The caller must have left nothing half done. `undo` NULL: no
 * longer. Does nothing on other stacks. */
void sc_spare_stack_undo_by(void (*undo)(void *lock), void *lock);

/* Calls sc_spare_stack_try again and again until the function has returned. The caller's signals
 * are handled in between. */
void sc_spare_stack_repeat(sc_spare_function *function, void *argument);

/* Calls function(argument) on the current stack, at the end of the process. A thread that holds a
 * lock of the library may be stopped for good by then. So a wait for a lock ends after a second,
 * and the call is abandoned with it. */
void sc_spare_stack_call_last(sc_spare_function *function, void *argument);

/* Calls function(argument) as sc_spare_stack_call does, but on a stack that is mapped for this call
 * alone, so the function may wait for the device. The signal by which setuid reaches all threads is
 * not blocked. For a thread that is about to end. */
void sc_spare_stack_call_alone(sc_spare_function *function, void *argument);

/* Does the calling thread run on a shared spare stack? */
bool sc_spare_stack_is_current(void);

/* Does the address lie on a shared spare stack, or on the calling thread's of
 * sc_spare_stack_call_alone? */
bool sc_spare_stack_holds(uintptr_t address);

/* Calls function(argument) on a spare stack if less than SC_ROOM_BYTES may be left on the current
 * one (interpose/base/thread_stack.h); else calls it directly. */
enum { SC_ROOM_BYTES = 32 << 10 };
void sc_spare_stack_make_room(sc_spare_function *function, void *argument);

#endif
