/* Stacks of ours, for what a signal handler must do where there may be no room.
 *
 * A handler runs on the thread's own stack, which may be nearly used up, or on the alternate stack
 * that the program gave, often of 8 KB, most of which the kernel's frame takes.
 */
#ifndef SC_INTERPOSE_SPARE_STACK_H
#define SC_INTERPOSE_SPARE_STACK_H

/* Calls function(argument) on a spare stack, with all signals blocked but those that tell of a
 * fault; on the current stack if there is none left. Async-signal-safe. */
void sc_spare_stack_call(void (*function)(void *argument), void *argument);

#endif
