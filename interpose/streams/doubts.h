/* Decides, in mode=report, whether a touch of memory in flight is reported if a host function of
 * the program stands before the operation and has not returned. Such a function may wait for the
 * accessing thread, and then the access is correct.
 *
 * In mode=report an access is not delayed, so nothing shows at once whether the function would have
 * returned without what the thread did. So the access raises a doubt about each such function: may
 * the function have waited for the accessing thread? The access is reported only if each function
 * is seen to go on while that thread can no longer be what it waits for: while the thread waits for
 * the operation itself, or has ended. A function that polls for the thread would not go on then. A
 * function that returns before the accessing call has returned has not waited for what the thread
 * does after that call.
 *
 * Locks: one of its own, a leaf. */

/* Terms (docs/glossary.md):
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_STREAMS_DOUBTS_H
#define SC_INTERPOSE_STREAMS_DOUBTS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_op_info;
struct sc_point;
struct sc_ticket;

/* Called when the calling thread, or a call of it, touches memory of the operation `ticket`, before
 * which host functions have not returned: keeps these until the verdict. `op`: the same operation,
 * with the stream's id replaced by sc_host_functions_stream_now. Returns the doubt's number, for
 * sc_doubts_end once; 0: there is no room. Signal-safe. */
unsigned sc_doubts_begin(const struct sc_op_info *op, const struct sc_ticket *ticket);
void sc_doubts_end(unsigned doubt);

/* Called around the check of a call, before the driver's: a function that returns during the call
 * has not waited for what the thread does after it. `before`: what sc_doubts_raised() returned at
 * first; doubts raised since are the call's. sc_doubts_wait_ends() ends the call. One load if there
 * is none. */
uint64_t sc_doubts_raised(void);
void sc_doubts_call_begins(uint64_t before);

/* Called when a host function has returned, on its thread, before the stream goes on: it has not
 * waited for threads that have done nothing since their touch. `call`: what
 * sc_host_functions_launched has returned. `is_plain`: by its code it can wait for nobody. One load
 * if there is no doubt. */
void sc_doubts_function_returned(unsigned call, bool is_plain);

/* Looks whether the host functions that may wait for the doubt's thread go on or sleep. Called
 * about every millisecond until they have returned. Makes some system calls; does nothing for 0. */
void sc_doubts_look(unsigned doubt);

/* Returns true if one of the host functions may have waited for the thread that touched, as far as
 * is known: then the touch may have been meant. True for 0. */
bool sc_doubts_remain(unsigned doubt);

/* Called around a call in which the calling thread waits for all work in the point: during the wait
 * it can let no host function go on, so one that goes on has not waited for it. One load if there
 * is no doubt. */
void sc_doubts_wait_begins(const struct sc_point *point);
void sc_doubts_wait_ends(void);

#endif
