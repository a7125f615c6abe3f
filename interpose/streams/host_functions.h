/* Finds host functions of the program that wait for its threads.
 *
 * Work after a host function is in flight until the function has returned. Still, the program may
 * correctly use the memory of that work if the function returns only when the program tells it to,
 * as when it waits for a semaphore that the program posts. If the library let an access wait for
 * that work, the access would wait for itself.
 *
 * So functions that wait for the program's threads have to be recognised. A function that waits for
 * a semaphore, a condition, a barrier, or a futex without a time limit counts as waiting. Others
 * are checked while an access waits. A function counts as waiting if it sleeps in a system call
 * that threads of this process end (interpose/base/sleeping_threads.h); if it is found asleep again
 * and again in a call that any process may end; or, where an access really waits (mode=fix), if it
 * does not return for long. From then on the function counts as waiting each time that it runs.
 * Work after such a function is not watched until the function has returned (it is counted as not
 * watched: unseen).
 *
 * A function that can wait for nobody, by its machine code (interpose/streams/plain_functions.h),
 * never counts as open in the questions below.
 *
 * Locks: none. All functions are async-signal-safe, and for any thread. */

/* Terms (docs/glossary.md):
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   in flight: issued, and the host does not know yet that it is done
 *   not watched: of an operation: an early touch of it could not be seen
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   ticks: a time of the processor's counter
 */

#ifndef SC_INTERPOSE_STREAMS_HOST_FUNCTIONS_H
#define SC_INTERPOSE_STREAMS_HOST_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_op_info;

/* Called before a host function is launched, at sc_ticks() `ticks`: keeps it until it has returned.
 * Returns a number for the functions below. If too many functions are open it is only counted for
 * its stream; 0: not even that, since it can wait for nobody. `function`: its address, by which it
 * is recognised again, or 0. */
unsigned sc_host_functions_launched(uint64_t ticks, uint32_t stream, uintptr_t function);

/* Forgets a function that has returned, or that will not run since the driver has refused its
 * launch. */
void sc_host_functions_dropped(unsigned call);

/* Called before and after the program's function, on the thread of the driver that runs it.
 * `launched_ticks`: sc_ticks() at its launch. */
void sc_host_functions_note_begun(unsigned call, uint64_t launched_ticks);
void sc_host_functions_note_ended(unsigned call);

/* Returns when the stream's host function that the calling thread runs was launched, in ticks; 0:
 * it runs none. */
uint64_t sc_host_functions_own_ticks(void);

/* Returns true if the calling thread runs a host function, of a stream or of a graph's node. */
bool sc_host_functions_is_here(void);

/* Called when the calling thread is about to wait for another one: if it runs a host function, that
 * is found to wait for the program. */
void sc_host_functions_waits(void);

/* Returns the id to be kept in place of the operation's stream, for the questions below. It stands
 * for what the operation comes after now; later the stream may be done with the work that it has
 * joined. */
uint32_t sc_host_functions_stream_now(uint32_t stream);

/* Returns true if a function that the operation may come after was launched and has not returned;
 * one that can wait for nobody does not count. */
bool sc_host_functions_are_open(const struct sc_op_info *op);

/* Looks at the threads that run functions: which of them wait for the program? `waits_since_ns`
 * (sc_now_ns): since when a thread waits for work after them; 0: nobody waits, and a function that
 * is asleep now counts as waiting. A few system calls for each function, at most every ten
 * milliseconds. */
void sc_host_functions_poll(uint64_t waits_since_ns);

/* Lists the open functions that the operation may come after, by the times of their launches, which
 * name them in is_open and others. Returns how many there are; the first SC_HOST_FUNCTIONS_LISTED
 * are stored. More than that: nothing will be known of at least one. */
enum { SC_HOST_FUNCTIONS_LISTED = 24 };
unsigned sc_host_functions_list(const struct sc_op_info *op, uint64_t *launched);
bool sc_host_functions_is_open(uint64_t launched);

/* Returns true if the stream's host function that has just returned on the calling thread can wait
 * for nobody, by its code. Known only if that was asked while it was open. */
bool sc_host_functions_was_plain(unsigned call);

/* Returns the time of the function's launch, if no other open one has the same; else 0. The host
 * nodes of a graph have one launch. */
uint64_t sc_host_functions_last_of(unsigned call);

/* Returns the time of the launch of the host function that the calling thread runs; 0: it runs
 * none. */
uint64_t sc_host_functions_own(void);

/* Returns at how many calls of this function, a millisecond apart, functions of the launch were
 * seen to run. A system call. */
unsigned sc_host_functions_steps(uint64_t launched);

/* Returns true if this function was launched before the operation, on a stream that the operation
 * may come after: it may have ordered the operation. */
bool sc_host_functions_precede(unsigned call, const struct sc_op_info *op);

/* Returns the processor time that a thread of the process has used, in nanoseconds; 0: the thread
 * has ended. A system call. */
uint64_t sc_host_functions_time_of(int32_t thread);

/* Returns true if a touch of the operation's memory is excused: the operation comes after a
 * function that waits for the program, and had not returned at the time of the touch.
 * `touched_ticks`: that time, by sc_ticks(); 0: not known. */
bool sc_host_functions_excuses(const struct sc_op_info *op, uint64_t touched_ticks);

#endif
