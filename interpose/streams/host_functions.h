/* Host functions of the program that wait for its threads.
 *
 * Work behind a host function is in flight. Still, the program may use the bytes of that work if
 * the function ends only when the program tells it to: a gate, or work that is handed to another
 * thread. A touch that waited for the copy would wait for itself, and would be accused though it is
 * right.
 *
 * So functions that wait for the program's threads are found out. A function that waits for a
 * semaphore, a condition, a barrier, or a futex without a time limit counts as one. Others are
 * looked at while a touch waits. A function counts as waiting if it is asleep in a call that
 * threads of this process end (interpose/base/sleeping_threads.h); if it is asleep again and again
 * in a call that anybody ends; or, where a touch really waits (mode=fix), if it does not return for
 * long. From then on the function counts as waiting each time that it runs. Work behind such a
 * function is not watched until the function has returned (unguarded: unseen).
 *
 * A function that can wait for nobody (interpose/streams/plain_functions.h) never counts as open in
 * the questions below.
 *
 * Locks: none. All functions are async-signal-safe, and for any thread.
 */
#ifndef SC_INTERPOSE_STREAMS_HOST_FUNCTIONS_H
#define SC_INTERPOSE_STREAMS_HOST_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_op_info;

/* Notes a host function that is about to be launched, at sc_ticks() `ticks`. Returns a number for
 * the functions below. If too many are open, this one is only counted for its stream; 0: it is not
 * even counted, since it can wait for nobody (plain_functions.h). `function`: the address by which
 * it is known again, or 0. */
unsigned sc_host_functions_launched(uint64_t ticks, uint32_t stream, uintptr_t function);

/* The function was not launched after all. */
void sc_host_functions_dropped(unsigned call);

/* Called before and after the function, on the thread that runs it. `launched_ticks`: sc_ticks() of
 * its launch. */
void sc_host_functions_note_begun(unsigned call, uint64_t launched_ticks);
void sc_host_functions_note_ended(unsigned call);

/* If the calling thread runs a host function of a stream: the time of the function's launch; else
 * 0. */
uint64_t sc_host_functions_own_ticks(void);

/* Does the calling thread run a host function, of a stream or of a graph's node? */
bool sc_host_functions_is_here(void);

/* The calling thread is about to wait for another one. */
void sc_host_functions_waits(void);

/* The id that an operation is to have in the place of its stream's id if the questions below are
 * asked again later: by then the stream may be done with the work that it has joined now. */
uint32_t sc_host_functions_stream_now(uint32_t stream);

/* Is a function open (launched or running) that the operation may be behind? */
bool sc_host_functions_are_open(const struct sc_op_info *op);

/* Looks at the functions that run. `waits_since_ns` (sc_now_ns): since when somebody, normally the
 * calling thread, waits for work behind them; 0: nobody waits, and a function that is asleep now
 * counts as waiting at once. A few system calls for each function, at most every ten milliseconds.
 */
void sc_host_functions_poll(uint64_t waits_since_ns);

/* Lists the open functions that the operation may be behind, by the times of their launches, which
 * name them below. Returns how many there are, of which the first SC_HOST_FUNCTIONS_LISTED are
 * stored. If there are more, nothing will be known of at least one. */
enum { SC_HOST_FUNCTIONS_LISTED = 24 };
unsigned sc_host_functions_list(const struct sc_op_info *op, uint64_t *launched);
bool sc_host_functions_is_open(uint64_t launched);

/* On the thread of a stream's host function that has returned: is the function known to wait for
 * nobody? True only if it was asked about while it was open. */
bool sc_host_functions_was_plain(unsigned call);

/* The time of the call's launch, if no other open call has the same; else 0. */
uint64_t sc_host_functions_last_of(unsigned call);

/* The time of the launch of the host function that the calling thread runs; 0: it runs none. */
uint64_t sc_host_functions_own(void);

/* In how many milliseconds the function was seen to do something since it began, of those in which
 * this was asked. A system call. */
unsigned sc_host_functions_steps(uint64_t launched);

/* Was this call launched before the operation, on a stream that the operation may be behind? */
bool sc_host_functions_precede(unsigned call, const struct sc_op_info *op);

/* The processor time that a thread of the process has used, in nanoseconds. 0: the thread has
 * ended. A system call. */
uint64_t sc_host_functions_time_of(int32_t thread);

/* Is a touch of the operation's memory excused: was the operation behind a function that waits for
 * the program, and that had not returned at the time of the touch? `touched_ticks`: sc_ticks(); 0:
 * not known. */
bool sc_host_functions_excuses(const struct sc_op_info *op, uint64_t touched_ticks);

#endif
