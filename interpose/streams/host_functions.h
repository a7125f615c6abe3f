/* Host functions of the program that wait for its threads.
 *
 * What is issued behind a host function is in flight. The program may use its bytes all the same if
 * the function ends only when it is told to, as a gate does, or work that is handed to another
 * thread. A touch that waited for the copy would wait for itself, and be accused of what is right.
 * So a function that waits for a semaphore, a condition or a barrier, or by a futex without a time
 * limit, is taken to wait for the program's threads. Others are looked at while a touch waits. A
 * function counts as waiting if it is found asleep in a call that threads of this process end
 * (interpose/base/sleeping_threads.h), again and again in one that anybody ends, or, where a touch
 * really waits (mode=fix), if it does not return for long.
 * It counts so from then on, each time that it runs. What was issued behind such a function is not
 * watched until it has returned (unguarded: unseen).
 *
 * A function that can wait for nobody (interpose/streams/plain_functions.h) is none of these: in
 * the questions below it is not open.
 *
 * Locks: none. All are async-signal-safe, and from any thread.
 */
#ifndef SC_INTERPOSE_STREAMS_HOST_FUNCTIONS_H
#define SC_INTERPOSE_STREAMS_HOST_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_op_info;

/* Before the launch, with sc_ticks(); what it gives names the call below, or is 0. Those that are
 * launched while too many are open are only counted. `function`: by which it is known again, or
 * 0. */
unsigned sc_host_functions_launched(uint64_t ticks, uint32_t stream, uintptr_t function);

/* It was not launched after all. */
void sc_host_functions_dropped(unsigned call);

/* On the thread that runs it, around it, with sc_ticks() of its launch. */
void sc_host_functions_runs(unsigned call, uint64_t launched_ticks);
void sc_host_functions_ran(unsigned call);

/* While the calling thread runs a host function of a stream: when that was launched. 0: it does
 * not. */
uint64_t sc_host_functions_own_ticks(void);

/* Does the calling thread run one? Nodes of graphs are some. */
bool sc_host_functions_is_here(void);

/* The calling thread is about to wait for another one. */
void sc_host_functions_waits(void);

/* What an operation is to name in the place of its stream in the questions below, where they are
 * asked again later: by then the stream may not have to do any more with what it has joined. */
uint32_t sc_host_functions_stream_now(uint32_t stream);

/* Is one open, launched or running, that the operation may be behind? */
bool sc_host_functions_are_open(const struct sc_op_info *op);

/* Looks at those that run. `waits_since_ns` (sc_now_ns): since when somebody waits for what is
 * behind them, by rights the calling thread; 0: nobody does, and who is asleep now counts at once.
 * A few system calls for each that runs, at most every ten milliseconds. */
void sc_host_functions_look(uint64_t waits_since_ns);

/* Those that are open, and that the operation may be behind: when each was launched, by which it is
 * known below. Returns how many there are; the first ones are stored. More than are stored: of one
 * at least nothing will be known. */
enum { SC_HOST_FUNCTIONS_LISTED = 24 };
unsigned sc_host_functions_list(const struct sc_op_info *op, uint64_t *launched);
bool sc_host_functions_is_open(uint64_t launched);

/* On the thread of a stream's host function, when it has returned: is it one that waits for nobody,
 * as is known at last? Only of one that was asked about while it was open. */
bool sc_host_functions_was_plain(unsigned call);

/* What names the call, if no other that is open has the same name; else 0. */
uint64_t sc_host_functions_last_of(unsigned call);

/* The one that the calling thread runs, by the same; 0: none. */
uint64_t sc_host_functions_own(void);

/* In how many milliseconds the function was seen to do something since it has begun, of those in
 * which this was asked. A system call. */
unsigned sc_host_functions_steps(uint64_t launched);

/* Is this one launched before the operation, on a stream that this may be behind? */
bool sc_host_functions_precede(unsigned call, const struct sc_op_info *op);

/* The time that a thread of the process has used, in nanoseconds. 0: it has ended. A system call.
 */
uint64_t sc_host_functions_time_of(int32_t thread);

/* Is the operation behind one that has been found to wait for the program, and had not returned at
 * the time of the touch (sc_ticks(); 0: that is not known)? */
bool sc_host_functions_excuse(const struct sc_op_info *op, uint64_t touched_ticks);

#endif
